/* What the examples share: a pool of one page, and how to make bytes durable. */
#include <fcntl.h>
#include <immintrin.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define LINE _Alignas(64) /* in a cache line of its own */

/* A new pool is all zero. */
static inline void* open_pool(const char* path) {
  int fd = open(path, O_RDWR | O_CREAT, 0600);
  if (fd < 0 || ftruncate(fd, 4096) != 0) exit(2);
  void* p = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  close(fd);
  return p == MAP_FAILED ? NULL : p;
}
static inline void flush(const volatile void* p) { _mm_clflushopt((void*)p); }
static inline void fence(void) { _mm_sfence(); }
static inline void persist(const volatile void* p) {
  flush(p);
  fence();
}
