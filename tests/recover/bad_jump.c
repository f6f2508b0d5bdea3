// A call through a pointer that leads nowhere has the place of the call, in compiled and in plain code.
// RUN: rm -rf %t.dir && mkdir %t.dir && cd %t.dir && %cc -O1 -g %s -o compiled && %plain-cc -O1 -g %s -o plain
// RUN: for p in compiled plain; do for m in null wild data; do \
// RUN:   %blackout check --detect=none --pm pool -- ./$p pool $m > %t.out 2>&1; code=$?; rm -f pool; \
// RUN:   { test $code = 1 && grep -q 'crashes with SIGSEGV in callIt (bad_jump.c:27)' %t.out; } || { echo $p $m $code; cat %t.out; exit 1; }; done; done
#include <emmintrin.h>
#include <fcntl.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

struct pool {
  uint64_t data __attribute__((aligned(64)));
  uint64_t done __attribute__((aligned(64)));
  uint64_t made __attribute__((aligned(64)));
};

static char bytes[64];
static volatile int calls;
typedef int (*function)(int);

__attribute__((noinline)) static int callIt(function f) {
  calls = calls + 1;
  // clang-format off

  int result = f(calls);
  // clang-format on
  calls = calls + result;
  return result;
}

int main(int argc, char** argv) {
  int fd = open(argv[1], O_RDWR | O_CREAT, 0600);
  if (ftruncate(fd, 4096) != 0) return 9;
  struct pool* p = mmap(0, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  if (p->made) {
    uintptr_t target = !strcmp(argv[2], "null") ? 0 : !strcmp(argv[2], "wild") ? 0x1234567890abcdef : (uintptr_t)bytes;
    if (p->done == 1 && p->data == 0) callIt((function)target);
    return 0;
  }
  p->made = 1;
  _mm_clflush(&p->made);
  _mm_sfence();
  p->data = 1;
  p->done = 1;
  _mm_clflush(&p->data);
  _mm_clflush(&p->done);
  _mm_sfence();
  return 0;
}
