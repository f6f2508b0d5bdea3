// The heap as PM: what instrumented code allocates survives, root slots lead to it, and a restart can free it, ask its
// size and allocate beside it. A list that is not flushed is caught, one that is flushed is clean, for crashes in
// restarts too.
//
// RUN: %cxx -O1 -std=c++20 %s -o %t
// RUN: %blackout check --heap 8 --failures 2 --findings %t.found -- %t right 2>&1 | FileCheck --check-prefix=RIGHT %s
// RUN: not %blackout check --heap 8 --findings %t.found -- %t wrong 2>&1 | FileCheck --check-prefix=WRONG %s
// RUN: not %blackout replay %t.found/finding-1.blackout 2>&1 | FileCheck --check-prefix=REPLAY %s
// RUN: not %blackout check --heap 1 --findings %t.found -- %t full 2>&1 | FileCheck --check-prefix=FULL %s
// RUN: %t plain | FileCheck --check-prefix=PLAIN %s
// RIGHT: restarts: {{ *[1-9][0-9]}} of
// RIGHT: SUMMARY: blackout: no findings;{{.*}},tso=off{{$}}
// WRONG: Node.{{value|name}}, stored at (1), is never flushed
// REPLAY: The same failure again
// FULL: the persistent heap is full; it never gives memory out twice, so give it more
// PLAIN: ordinary memory
#include <blackout/blackout.h>
#include <emmintrin.h>
#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <memory>
#include <vector>

struct Node {
  Node* next;
  uint64_t value;
  char* name;
  uint64_t rest[5];
};
static_assert(sizeof(Node) == 64);

#define EXPECT(condition) blackout_expect((condition) ? 1 : 0, #condition)

static void persist(const void* p, size_t size) {
  for (size_t i = 0; i < size; i += 64) _mm_clflush(static_cast<const char*>(p) + i);
  _mm_sfence();
}

static void push(Node** root, uint64_t value, bool flushed) {
  Node* node = new Node{};
  char* name = strdup("node");
  persist(name, 5);
  node->value = value;
  node->name = name;
  node->next = *root;
  if (flushed) persist(node, sizeof *node);
  *root = node;
  persist(root, sizeof *root);
}

static void walk(Node* node) {
  for (; node != nullptr; node = node->next) {
    EXPECT(node->value == 42);
    EXPECT(strcmp(node->name, "node") == 0);
    EXPECT(malloc_usable_size(node) >= 64 && malloc_usable_size(node->name) == 16);
  }
}

// Every way to allocate gives what it promises, and none leaves the heap's file open in the program.
static void ways() {
  struct stat st;
  for (int fd = 3; fd < 100; ++fd) EXPECT(fstat(fd, &st) != 0 || !S_ISREG(st.st_mode) || st.st_size != 8 << 20);
  auto aligned = [](void* p, size_t a) { return reinterpret_cast<uintptr_t>(p) % a == 0; };
  auto* zeros = static_cast<uint64_t*>(calloc(100, 8));
  for (int i = 0; i < 100; ++i) EXPECT(zeros[i] == 0);
  void* page = nullptr;
  EXPECT(posix_memalign(&page, 4096, 100) == 0 && aligned(page, 4096));
  void* line = aligned_alloc(64, 192);
  EXPECT(aligned(line, 64));
  struct alignas(256) Wide {
    char bytes[512];
  };
  auto wide = std::make_unique<Wide[]>(3);
  EXPECT(aligned(wide.get(), 256));
  auto* large = static_cast<char*>(malloc(70000));
  memset(large, 7, 70000);
  large = static_cast<char*>(realloc(large, 140000));
  EXPECT(large[69999] == 7 && large[70000] == 0x11 && malloc_usable_size(large) >= 140000);
  EXPECT(realloc(large, 10) == large);
  free(large);
  free(line);
  free(page);
  free(zeros);
  // A child's heap is its own.
  uint64_t* mine = new uint64_t(1);
  if (fork() == 0) {
    *mine = 2;
    _exit(malloc(10) == nullptr);
  }
  int status = 1;
  wait(&status);
  EXPECT(status == 0 && *mine == 1);
  delete mine;
}

int main(int, char** argv) {
  auto** root = reinterpret_cast<Node**>(blackout_root(0));
  bool flushed = strcmp(argv[1], "wrong") != 0;
  if (strcmp(argv[1], "plain") == 0) {
    void* p = malloc(10);
    bool ordinary = (reinterpret_cast<uintptr_t>(p) >> 44) != 2 && *blackout_root(3) == nullptr;
    puts(ordinary ? "ordinary memory" : "PM");
    return 0;
  }
  if (strcmp(argv[1], "full") == 0)
    for (int i = 0; i < 3000; ++i) *blackout_root(1) = malloc(1000);
  walk(*root);
  if (blackout_recovering()) {
    // What a restart allocates lies apart from everything that the recorded run did.
    Node* old = *root;
    push(root, 42, flushed);
    EXPECT(*root != old && (*root)->next == old);
    walk(*root);
    if (old != nullptr) {
      auto* grown = static_cast<Node*>(realloc(old, 1000));
      EXPECT(grown != old && (!flushed || grown->value == 42));
      persist(grown, sizeof *grown);
      (*root)->next = grown;
      persist(*root, sizeof **root);
    }
    return 0;
  }
  ways();
  push(root, 42, flushed);
  push(root, 42, flushed);
}
