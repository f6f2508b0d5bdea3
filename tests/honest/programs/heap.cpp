// The heap as PM (--heap): what libc and libstdc++ write into it.
//
//   heap WAY bug|right
//
// The recorded run allocates a Node, has libc or libstdc++ write into it, makes it durable (right) or not, and
// publishes it in a root slot. A restart, of the same command, checks what it finds there.
#include <blackout/blackout.h>
#include <pthread.h>
#include <stdlib.h>
#include <time.h>

#include <cstdio>
#include <list>
#include <map>
#include <memory>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

#include "ways.h"

struct Node {
  uint64_t kind;
  void* data;
  uint64_t apart[6];
  uint64_t words[8];
  char text[64];
};

// What was written, checked by a restart: a run of bytes, kept beside the root.
using Builder = Written (*)(Node*, bool right);
#define HEAP(name)                                                                  \
  extern "C" __attribute__((noinline)) Written heap_##name(Node* node, bool right); \
  static Way<Builder> builder_##name(#name, heap_##name);                           \
  Written heap_##name([[maybe_unused]] Node* node, [[maybe_unused]] bool right)

HEAP(direct) {
  *const_cast<volatile uint64_t*>(node->words) = 4711;
  WRITTEN(node->words, 8);
}
HEAP(posix_memalign) {
  // The pointer is written by libc, into PM.
  if (posix_memalign(&node->data, 64, 64) != 0) abort();
  WRITTEN(&node->data, 8);
}
HEAP(strdup) {
  char* copy = strdup("alpha beta gamma delta");
  WRITTEN(copy, 22);
}
HEAP(realloc) {
  char* block = static_cast<char*>(malloc(40));
  memset(block, 'a', 40);
  persist(block, 40);
  block = static_cast<char*>(realloc(block, 4000));
  WRITTEN(block, 40);
}
HEAP(asprintf) {
  char* text = nullptr;
  if (asprintf(&text, "%d-%s", 4711, "cologne") < 0) abort();
  WRITTEN(text, 12);
}
HEAP(snprintf) {
  snprintf(node->text, sizeof node->text, "%d-%s", 4711, "cologne");
  WRITTEN(node->text, 12);
}
HEAP(string) {
  auto* text = new std::string("a string that is too long for the object itself");
  if (right) persist(text, sizeof *text);
  WRITTEN(text->data(), text->size());
}
HEAP(string_append) {
  auto* text = new std::string();
  for (int i = 0; i < 10; ++i) *text += "alpha ";
  if (right) persist(text, sizeof *text);
  WRITTEN(text->data(), text->size());
}
HEAP(vector) {
  auto* numbers = new std::vector<int>();
  for (int i = 1; i < 20; ++i) numbers->push_back(i);
  if (right) persist(numbers, sizeof *numbers);
  WRITTEN(numbers->data(), 76);
}
HEAP(list) {
  // Nodes are linked inside libstdc++.
  auto* numbers = new std::list<int>();
  numbers->push_back(4711);
  if (right) persist(&numbers->front(), 4);
  WRITTEN(numbers, 16);
}
HEAP(map) {
  // The tree is balanced inside libstdc++.
  auto* numbers = new std::map<int, int>();
  for (int i = 0; i < 3; ++i) (*numbers)[i] = i;
  if (right)
    for (auto& entry : *numbers) persist(reinterpret_cast<char*>(&entry) - 32, 40);
  if (right) persist(numbers, sizeof *numbers);
  return {reinterpret_cast<char*>(numbers) + 16, 8};  // the root
}
HEAP(pthread_create) {
  auto* thread = reinterpret_cast<pthread_t*>(node->words);
  pthread_create(thread, nullptr, [](void*) -> void* { return nullptr; }, nullptr);
  pthread_join(*thread, nullptr);
  WRITTEN(thread, 8);
}
HEAP(time) {
  time(reinterpret_cast<time_t*>(node->words));
  WRITTEN(node->words, 8);
}
HEAP(mutex) {
  pthread_mutex_lock(reinterpret_cast<pthread_mutex_t*>(node->words));
  WRITTEN(node->words, 4);
}
HEAP(threads) {
  // A vector of threads; what is published is a field that one of them writes.
  std::vector<std::thread> threads;
  for (int i = 0; i < 2; ++i) threads.emplace_back([=] { const_cast<volatile uint64_t*>(node->words)[i] = 4711; });
  for (auto& thread : threads) thread.join();
  WRITTEN(node->words, 16);
}

struct Published {
  Written what;
  unsigned char head[16];
};

static int check(const Published* published) {
  const auto* bytes = static_cast<const volatile unsigned char*>(published->what.at);
  for (size_t i = 0; i < published->what.size && i < 16; ++i)
    if (bytes[i] != published->head[i]) return 1;
  return 0;
}

int main(int, char** argv) {
  void** root = blackout_root(0);
  if (*root != nullptr) return check(static_cast<Published*>(*root));
  const Builder way = Way<Builder>::find(argv[1]);
  if (way == nullptr) return 8;
  if (blackout_recovering()) return 0;
  Node* node = static_cast<Node*>(aligned_alloc(64, sizeof(Node)));
  memset(static_cast<void*>(node), 0, sizeof *node);
  persist(node, sizeof *node);
  auto* published = static_cast<Published*>(aligned_alloc(64, 64));
  published->what = way(node, strcmp(argv[2], "right") == 0);
  for (size_t i = 0; i < 16; ++i)
    published->head[i] = i < published->what.size ? static_cast<const unsigned char*>(published->what.at)[i] : 0;
  persist(published, sizeof *published);
  __atomic_store_n(root, static_cast<void*>(published), __ATOMIC_RELEASE);
  persist(root, sizeof *root);
  return 0;
}
