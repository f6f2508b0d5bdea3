// What a restart may take of the machine is bounded, and running into a bound is a failure with its place: a program that
// does that after a crash only has lost its way.
// What takes a restart long to run into is in bounds_all.test.
// RUN: rm -rf %t.dir && mkdir %t.dir && cd %t.dir && %cc -O1 -g -pthread %s -o compiled && %plain-cc -O1 -g -pthread %s -o plain
// RUN: for p in compiled plain; do for m in "output printed.16.MiB.in.take" "threads threads.and.processes"; do \
// RUN:   set -- $m; %blackout check --detect=none --jobs 1 --pm pool -- ./$p pool $1 > %t.out 2>&1; code=$?; rm -f pool; \
// RUN:   { test $code = 1 && grep -q "takes more than a restart may: it .*$2" %t.out && ! grep -q deterministic %t.out; } || { echo $p $m $code; cat %t.out; exit 1; }; done; done
// RUN: %blackout check --detect=none --jobs 1 --run-memory 64 --pm pool -- ./compiled pool memory > %t.out 2>&1; test $? = 1 && grep -q 'it has 64 MiB of memory besides its pools in take' %t.out && rm -f pool
// RUN: for m in processes bomb; do %blackout check --detect=none --jobs 1 --pm pool -- ./compiled pool $m > %t.out 2>&1; code=$?; rm -f pool; \
// RUN:   { test $code = 1 && grep -q 'takes more than a restart may: it has more than 128 processes' %t.out; } || { echo $m $code; cat %t.out; exit 1; }; done
// More than can be followed, one after the other: neither a finding nor clean.
// RUN: %blackout check --detect=none --jobs 1 --pm pool -- ./compiled pool many > %t.out 2>&1; test $? = 3 || { cat %t.out; exit 1; }
// RUN: grep -q 'a restart with more than 256 processes' %t.out && rm -f pool
// What the program needs without any crash as well is no bug of crashes.
// RUN: %blackout check --detect=none --jobs 1 --pm pool -- ./compiled pool always > %t.out 2>&1; test $? = 3 || { cat %t.out; exit 1; }
// RUN: FileCheck %s < %t.out
// CHECK: could not be judged: takes more than a restart may: it printed 16 MiB
#include <emmintrin.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

static volatile uint64_t* p;
static void* volatile block_;
static void* sleeps(void* arg) {
  pause();
  return arg;
}

__attribute__((noinline)) static void take(const char* what) {
  static char block[65536];
  if (!strcmp(what, "memory"))
    for (;;) memset((char*)(block_ = malloc(sizeof block)), 1, sizeof block);
  if (!strcmp(what, "output"))
    for (uint64_t i = 0;; ++i) printf("entry %lu\n", i);
  if (!strcmp(what, "names"))
    for (int i = 0; i < 20000; ++i) {
      char name[32];
      snprintf(name, sizeof name, "name-%d", i);
      close(open(name, O_CREAT | O_WRONLY, 0600));
    }
  if (!strcmp(what, "file")) {
    int fd = open("endless", O_CREAT | O_WRONLY, 0600);
    for (;;)
      if (write(fd, block, sizeof block) < 0) return;
  }
  if (!strcmp(what, "processes"))
    for (;;)
      if (fork() == 0) pause();
  if (!strcmp(what, "many"))
    for (int i = 0; i < 400; ++i) {
      if (fork() == 0) _exit(0);
      wait(NULL);
    }
  if (!strcmp(what, "bomb"))
    for (;;) fork();
  if (!strcmp(what, "threads"))
    for (pthread_t t;;) pthread_create(&t, NULL, sleeps, NULL);
}

int main(int argc, char** argv) {
  int fd = open(argv[1], O_RDWR | O_CREAT, 0600);
  if (ftruncate(fd, 4096) != 0) return 9;
  p = mmap(0, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  if (p[16] == 1) {
    if (!strcmp(argv[2], "always")) take("output");
    if (p[8] == 1 && p[0] == 0) take(argv[2]);
    return 0;
  }
  p[16] = 1;
  _mm_clflush((void*)(p + 16));
  _mm_sfence();
  p[0] = 1;
  p[8] = 1;
  _mm_clflush((void*)p);
  _mm_clflush((void*)(p + 8));
  _mm_sfence();
  return 0;
}
