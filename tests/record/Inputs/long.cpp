// A million stores, each made durable, and a word at the end.
#include <immintrin.h>

#include "pool.h"

int main(int, char** argv) {
  auto* pool = static_cast<volatile uint64_t*>(mapPool(argv[1], 1 << 20));
  for (uint64_t i = 0; i < 1000000; ++i) {
    pool[i % 1000] = i;
    _mm_clwb(const_cast<uint64_t*>(&pool[i % 1000]));
    _mm_sfence();
  }
  puts("done");
}
