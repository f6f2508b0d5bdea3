// PM holds a pointer to volatile memory of the process that stored it, and the restart follows it: a finding of its own
// kind, at the store of the pointer. A restart that sets it anew is right.
// RUN: rm -rf %t.dir && mkdir %t.dir && cd %t.dir && %cc -O1 -g %s -o compiled && %plain-cc -O1 -g %s -o plain
// RUN: for p in compiled plain; do for m in read call; do \
// RUN:   %blackout check --detect=none --pm pool -- ./$p pool $m > %t.out 2>&1; code=$?; rm -f pool; \
// RUN:   test $code = 1 || { echo $p $m $code; cat %t.out; exit 1; }; FileCheck %s < %t.out || exit 1; done; done
// CHECK: shown: pointer of the earlier process used after a crash [stale-pointer]
// CHECK-NEXT: leads to memory of the process that stored it: after a crash the restarted program crashes with SIGSEGV in use (stale_pointer.c:
// CHECK: (1) the pointer is stored here: {{.*}}stale_pointer.c:[[# @LINE + 33]]:
// CHECK: fails here: {{.*}} in use
// CHECK: SUMMARY: blackout: 1 shown
// RUN: for p in compiled plain; do for m in read call; do %blackout check --detect=none --pm pool -- ./$p pool $m anew || exit 1; rm -f pool; done; done
#include <emmintrin.h>
#include <fcntl.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

struct pool {
  uint64_t* buffer __attribute__((aligned(64)));
  uint64_t is_open __attribute__((aligned(64)));
};

static volatile uint64_t sum;
static void persist(void* p) {
  _mm_clflush(p);
  _mm_sfence();
}

__attribute__((noinline)) static void use(struct pool* p, int call) {
  if (call)
    sum = sum + ((uint64_t(*)(void))p->buffer)();
  else
    sum = sum + p->buffer[3];
  sum = sum + 1;
}

__attribute__((noinline)) static void set(struct pool* p) {
  unsigned char* code = mmap((void*)0x123400000000, 4096, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  memcpy(code, "\x31\xc0\xc3", 3);  // return 0
  p->buffer = (uint64_t*)code;
  persist(&p->buffer);
}

int main(int argc, char** argv) {
  int fd = open(argv[1], O_RDWR | O_CREAT, 0600);
  if (ftruncate(fd, 4096) != 0) return 9;
  struct pool* p = mmap(0, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  int call = !strcmp(argv[2], "call");
  if (p->is_open) {
    // The last run did not close it.
    if (argc > 3) set(p);
    use(p, call);
    return 0;
  }
  set(p);
  p->is_open = 1;
  persist(&p->is_open);
  use(p, call);
  p->is_open = 0;
  persist(&p->is_open);
  return 0;
}
