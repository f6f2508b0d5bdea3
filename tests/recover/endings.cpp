// Every way in which a restart can go wrong is caught and named, and none that is right.
// RUN: %cxx -O1 -g -I%include %s -o %t && rm -rf %t.img %t.dir && mkdir %t.dir && cd %t.dir
// RUN: not %blackout check --detect=none --pm %t.img -- %t %t.img segv 2>&1 | FileCheck %s --check-prefix=SEGV
// SEGV: crashes with SIGSEGV
// SEGV: fails here: {{.*}}endings.cpp:{{[0-9]+}}:{{[0-9]+}} in crash
// RUN: not %blackout check --detect=none --pm %t.img -- %t %t.img assert 2>&1 | FileCheck %s --check-prefix=ASSERT
// ASSERT: the second is there
// RUN: not %blackout check --detect=none --pm %t.img -- %t %t.img hang 2>&1 | FileCheck %s --check-prefix=HANG
// HANG: hangs
// RUN: not %blackout check --detect=none --pm %t.img -- %t %t.img exit 2>&1 | FileCheck %s --check-prefix=EXIT
// EXIT: exits with 3
// RUN: not %blackout check --detect=none --pm %t.img -- %t %t.img expect 2>&1 | FileCheck %s --check-prefix=EXPECT
// EXPECT: 'both are there'
// RUN: not %blackout check --detect=none --pm %t.img -- %t %t.img malloc 2>&1 | FileCheck %s --check-prefix=MALLOC
// MALLOC: aborts: free(): double free
// A loop that touches no PM and has not made its turns yet (of which there are so many here that no machine makes them in a second): unknown, and so inconclusive.
// RUN: not %blackout check --detect=none --steps 1000000000000 --run-timeout 1 --pm %t.img -- %t %t.img spin > %t.spin 2>&1; test $? = 0
// RUN: FileCheck %s --check-prefix=SPIN < %t.spin
// SPIN-NOT: shown:
// SPIN: inconclusive
// Output beyond what is kept was not judged.
// RUN: %blackout check --detect=none --pm %t.img -- %t %t.img flood; test $? -eq 3
// A process that stays: what it would have done nobody knows. Standard input: nothing is wrong with it.
// RUN: %blackout check --detect=none --pm %t.img -- %t %t.img orphan > %t.out 2>&1; test $? -eq 3 && grep -q 'it leaves a process behind, which was ended with it' %t.out || { cat %t.out; exit 1; }
// RUN: %blackout check --detect=none --pm %t.img -- %t %t.img input > %t.out 2>&1 || { cat %t.out; exit 1; }
// RUN: echo 12345 > %t.in && %blackout check --detect=none --recover-stdin %t.in --pm %t.img -- %t %t.img file
#include <assert.h>
#include <blackout/blackout.h>
#include <emmintrin.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

static void crash() { *reinterpret_cast<volatile int*>(16) = 1; }

int main(int, char** argv) {
  int fd = open(argv[1], O_RDWR | O_CREAT, 0600);
  if (ftruncate(fd, 4096) != 0) return 9;
  auto* p = static_cast<volatile uint64_t*>(mmap(nullptr, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0));
  auto is = [&](const char* mode) { return strcmp(argv[2], mode) == 0; };
  if (!blackout_recovering()) {
    p[0] = 1;
    p[8] = 1;
    _mm_clflush(const_cast<uint64_t*>(p));
    _mm_clflush(const_cast<uint64_t*>(p + 8));
    return 0;
  }
  bool broken = p[8] == 1 && p[0] == 0;
  if (is("input")) return getchar() == EOF ? 0 : 9;
  if (is("file")) return getchar() == '1' ? 0 : 9;
  if (is("flood")) {
    for (int i = 0; i < 100000; ++i) puts("0123456789abcdef");
  } else if (is("orphan")) {
    if (fork() == 0) {
      setsid();
      for (;;) pause();
    }
  }
  if (!broken) return 0;
  if (is("segv")) crash();
  if (is("assert")) assert(p[0] == 1 && "the second is there");
  if (is("hang"))
    while (p[0] == 0) {
    }
  if (is("exit")) exit(3);
  if (is("expect")) blackout_expect(p[0] == 1, "both are there");
  if (is("malloc")) {
    static void* volatile block;
    block = malloc(16);
    free(block);
    free(block);
  }
  if (is("spin"))
    for (volatile int i = 0;; i = i + 1) {
    }
  return 0;
}
