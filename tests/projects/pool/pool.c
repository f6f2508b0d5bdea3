/* The list: a header line with the count, then the numbers. A number is made durable before
 * the count that includes it, so a crash between the two loses only what was not yet appended. */
#include "pool.h"

#include <fcntl.h>
#include <immintrin.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#define MAGIC UINT64_C(0x6c6f6f70)
#define CAPACITY 1000

struct pool {
  uint64_t magic;
  uint64_t count;
  uint64_t unused[6];
  uint64_t values[CAPACITY];
};

static void persist(const void* p) {
#ifdef __CLWB__
  _mm_clwb((void*)p);
  _mm_sfence();
#else
  _mm_clflush(p); /* ordered with stores: needs no fence */
#endif
}

struct pool* pool_open(const char* path) {
  const int file = open(path, O_RDWR | O_CREAT, 0644);
  if (file < 0 || ftruncate(file, sizeof(struct pool)) != 0) return NULL;
  struct pool* pool = mmap(NULL, sizeof(struct pool), PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  close(file);
  if (pool == MAP_FAILED) return NULL;
  if (pool->magic != MAGIC) {
    pool->magic = MAGIC;
    persist(&pool->magic);
  }
  return pool;
}

void pool_append(struct pool* pool, uint64_t value) {
  if (pool->count == CAPACITY) abort();
  pool->values[pool->count] = value;
  persist(&pool->values[pool->count]);
  pool->count += 1;
  persist(&pool->count);
}

uint64_t pool_count(const struct pool* pool) { return pool->count; }

uint64_t pool_sum(const struct pool* pool) {
  uint64_t sum = 0;
  for (uint64_t i = 0; i < pool->count; ++i) sum += pool->values[i];
  return sum;
}

void pool_close(struct pool* pool) { munmap(pool, sizeof(struct pool)); }
