// A value that is valid before it is durable, read by the restart in one WAY.
#include <immintrin.h>

#include "Inputs/pool.h"

struct Pool {
  volatile uint64_t valid __attribute__((aligned(64)));
  char value[64] __attribute__((aligned(64)));
  char copy[64] __attribute__((aligned(64)));
};

static void flush(volatile void* p) { __asm__ volatile("clflush %0\n mfence" : : "m"(*(volatile char*)p) : "memory"); }

static const char kNew[32] = "seventeen letters..............";

__attribute__((noinline)) static int isNew(struct Pool* pool, const char* way) {
  char got[32];
  if (strcmp(way, "load") == 0) return *(volatile uint64_t*)pool->value == *(const uint64_t*)kNew;
  if (strcmp(way, "rmw") == 0) return __sync_fetch_and_add((uint64_t*)pool->value, 0) == *(const uint64_t*)kNew;
  if (strcmp(way, "cas") == 0) return __sync_bool_compare_and_swap((uint64_t*)pool->value, *(const uint64_t*)kNew, 5);
  if (strcmp(way, "memcpy") == 0) {
    char* (*volatile copy)(void*, const void*, size_t) = (char* (*)(void*, const void*, size_t))memcpy;
    copy(got, pool->value, 32);
    return memcmp(got, kNew, 32) == 0;
  }
  if (strcmp(way, "memcmp") == 0) {
    int (*volatile compare)(const void*, const void*, size_t) = memcmp;
    return compare(pool->value, kNew, 32) == 0;
  }
  if (strcmp(way, "strcmp") == 0) {
    int (*volatile compare)(const char*, const char*) = strcmp;
    return compare(pool->value, kNew) == 0;
  }
  if (strcmp(way, "strlen") == 0) {
    size_t (*volatile length)(const char*) = strlen;
    return length(pool->value) == 31;
  }
  if (strcmp(way, "movs") == 0) {
    void* to = got;
    const void* from = pool->value;
    size_t n = 32;
    __asm__ volatile("rep movsb" : "+D"(to), "+S"(from), "+c"(n) : : "memory");
    return memcmp(got, kNew, 32) == 0;
  }
  __m128i a = _mm_load_si128((const __m128i*)pool->value);
  __m128i b = _mm_cmpeq_epi8(a, _mm_loadu_si128((const __m128i*)kNew));
  return _mm_movemask_epi8(b) == 0xffff;
}

int main(int argc, char** argv) {
  struct Pool* pool = (struct Pool*)mapPool(argv[1], 4096);
  if (pool->valid != 0) return isNew(pool, argv[2]) ? 0 : 3;
  memcpy(pool->value, kNew, 32);
  __asm__ volatile("" : : : "memory");
  pool->valid = 1;
  flush(&pool->valid);
  flush(pool->value);
  return argc == 3 ? 0 : 9;
}
