// A mutex in PM that the crash left locked: whoever takes it after a restart waits for ever, which is said with the place,
// in compiled and in plain code. A restart that initialises it anew is right.
// RUN: rm -rf %t.dir && mkdir %t.dir && cd %t.dir && %cc -O1 -g %s -o compiled && %plain-cc -O1 -g %s -o plain
// RUN: for p in compiled plain; do %blackout check --detect=none --pm pool -- ./$p pool > %t.out 2>&1; test $? = 1 || exit 1; FileCheck %s < %t.out || exit 1; rm -f pool; done
// CHECK: hangs: nobody is left to wake it, and it waits for a lock or a condition in persistent memory in main (locked_mutex.c:[[# LOCK:]])
// CHECK: fails here: {{.*}}locked_mutex.c:[[# LOCK]]:{{[0-9]+}} in main
// CHECK: evidence:  Whoever held that lock ended with the power
// CHECK: hint:      a lock in persistent memory must be initialised again at every restart
// CHECK: SUMMARY: blackout: 1 shown
// RUN: for p in compiled plain; do %blackout check --detect=none --pm pool -- ./$p pool anew || exit 1; rm -f pool; done
#include <emmintrin.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
struct pool { pthread_mutex_t m; char pad[64]; uint64_t ready __attribute__((aligned(64))); uint64_t v __attribute__((aligned(64))); };
int main(int argc, char** argv) {
  int fd = open(argv[1], O_RDWR | O_CREAT, 0600);
  if (ftruncate(fd, 4096) != 0) return 9;
  struct pool* p = mmap(0, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  if (!p->ready) { pthread_mutex_init(&p->m, 0); _mm_clflush(&p->m); _mm_sfence(); p->ready = 1; _mm_clflush(&p->ready); _mm_sfence(); }
  if (argc > 2) pthread_mutex_init(&p->m, 0);
  pthread_mutex_lock(&p->m);
  p->v++;
  _mm_clflush(&p->m); _mm_clflush(&p->v); _mm_sfence();
  pthread_mutex_unlock(&p->m);
  _mm_clflush(&p->m); _mm_sfence();
  return 0;
}
