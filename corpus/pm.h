/* What every program of the corpus needs of persistent memory, in C and C++: a pool that is always mapped at the same
 * address (so pointers inside it stay good), flush and fence, a bump allocator, and what a verify has in common.
 * Nothing here is a bug of any variant. */
#ifndef CORPUS_PM_H
#define CORPUS_PM_H

#include <fcntl.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "blackout/blackout.h"

#ifndef BUG
#define BUG 0 /* the correct version */
#endif

#define PM_LINE 64u
#define PM_BASE ((void*)0x280000000000)

static inline void pm_die(const char* what) {
  fprintf(stderr, "%s\n", what);
  exit(1);
}

/* What holds here in every run; unlike blackout_expect() it is checked without Blackout too. */
#ifdef __BLACKOUT__
#define pm_expect blackout_expect
#else
static inline void pm_expect(int condition, const char* what) {
  if (condition) return;
  fprintf(stderr, "expected: %s\n", what);
  abort();
}
#endif

/* Starts the write-back of every line of [addr, addr + len); durable after the next fence. */
static inline void pm_flush(const void* addr, size_t len) {
  uintptr_t end = (uintptr_t)addr + len;
  for (uintptr_t line = (uintptr_t)addr & ~(uintptr_t)(PM_LINE - 1); line < end; line += PM_LINE)
    __asm__ volatile("clwb %0" : "+m"(*(volatile char*)line));
}

static inline void pm_fence(void) { __asm__ volatile("sfence" ::: "memory"); }

/* [addr, addr + len) is durable when it returns. */
static inline void pm_persist(const void* addr, size_t len) {
  pm_flush(addr, len);
  pm_fence();
}

/* The 8-byte store that makes visible what was stored before it: the compiler keeps that order too. */
#define PM_PUBLISH(place, value) __atomic_store_n(&(place), (value), __ATOMIC_RELEASE)

/* Maps the pool, made with this size if it is missing or was left unfinished; new bytes are 0. */
static inline void* pm_map(const char* path, size_t size) {
  struct stat status;
  int file = open(path, O_RDWR | O_CREAT, 0644);
  if (file < 0 || fstat(file, &status) != 0 || ((size_t)status.st_size < size && ftruncate(file, (off_t)size) != 0)) {
    perror(path);
    exit(1);
  }
  munmap(PM_BASE, size); /* of the phase before, where all phases run in one process */
  void* pool = mmap(PM_BASE, size, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  close(file);
  if (pool != PM_BASE) pm_die("the pool can't be mapped at its address");
  return pool;
}

/* Takes `size` bytes, rounded up to whole lines, from [*top, end). The new *top is durable before the block is handed
 * out, so a crash loses a block at most and never hands one out twice; and so a block is all zeros unless a pool that
 * was left unfinished is made again. */
static inline void* pm_bump(char** top, const char* end, size_t size) {
  char* block = *top;
  size = (size + PM_LINE - 1) & ~(size_t)(PM_LINE - 1);
  if ((size_t)(end - block) < size) pm_die("the pool is full");
  *top = block + size;
  pm_persist(top, sizeof *top);
  return block;
}

/* Whether a crash may leave just the first n operations of the recorded run done, `total` in all: the last of them
 * has begun and the next has not ended. For operations that follow one another this says what asking for each
 * would, with two questions. Ask after everything else was read. */
static inline int pm_done(uint64_t n, uint64_t total) {
  if (n > 0 && !blackout_op_begun(n - 1)) return 0;
  return n == total || !blackout_op_ended(n); /* without Blackout all have ended */
}

/* blackout_test() of harness.hpp, for C. */
static inline int pm_test(void (*setup)(void), void (*operations)(void), void (*recover)(void), void (*verify)(void)) {
  if (!blackout_recovering()) {
    setup();
    operations();
    if (blackout_active()) return 0;
  }
  recover();
  verify();
  return 0;
}

#endif
