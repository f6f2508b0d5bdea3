// Eight threads store, copy and swap on the same few lines, in every width and through every kind of
// hook. Each recording checks itself: were trace order not memory order, the replayed trace would not
// end in the pool that the threads left.
//
// RUN: %cxx -O2 -mcx16 -mavx2 -pthread %s -o %t
// RUN: for i in $(seq 15); do rm -f %t.img; %blackout record --schedule system --pm %t.img -o %t.trace -- %t %t.img $i || exit 1; done
// RUN: %blackout trace --count-by kind %t.trace | FileCheck %s
// CHECK-DAG: store
// CHECK-DAG: store-nt
// CHECK-DAG: rmw
// CHECK-DAG: 8 thread-create
#include <immintrin.h>

#include <atomic>
#include <mutex>
#include <random>
#include <thread>
#include <vector>

#include "Inputs/pool.h"

static std::mutex lock;

static void work(char* pool, unsigned seed) {
  std::mt19937 random(seed);
  constexpr unsigned kBytes = 256;
  for (int i = 0; i < 400; ++i) {
    unsigned at = random() % (kBytes - 64);
    uint64_t v = (uint64_t{random()} << 32) | random();
    switch (random() % 12) {
      case 0: *reinterpret_cast<volatile uint8_t*>(pool + at) = uint8_t(v); break;
      case 1: *reinterpret_cast<volatile uint16_t*>(pool + at) = uint16_t(v); break;
      case 2: *reinterpret_cast<volatile uint32_t*>(pool + at) = uint32_t(v); break;
      case 3: *reinterpret_cast<volatile uint64_t*>(pool + at) = v; break;
      case 4: reinterpret_cast<std::atomic<uint64_t>*>(pool + (at & ~7U))->fetch_add(v); break;
      case 5: {
        auto* a = reinterpret_cast<std::atomic<uint32_t>*>(pool + (at & ~3U));
        uint32_t old = a->load(std::memory_order_relaxed);
        a->compare_exchange_strong(old, uint32_t(v));
        break;
      }
      case 6: memset(pool + at, int(v), 1 + v % 40); break;
      case 7: {
        char bytes[40];
        for (char& b : bytes) b = char(random());
        memcpy(pool + at, bytes, 1 + v % sizeof bytes);
        break;
      }
      case 8: _mm256_storeu_si256(reinterpret_cast<__m256i*>(pool + at), _mm256_set1_epi64x(int64_t(v))); break;
      case 9: _mm_stream_si64(reinterpret_cast<long long*>(pool + (at & ~7U)), int64_t(v)); break;
      case 10: {
        std::lock_guard<std::mutex> held(lock);
        memmove(pool + at, pool + (at + 3) % (kBytes - 64), 1 + v % 24);
        break;
      }
      default: {
        auto* pair = reinterpret_cast<unsigned __int128*>(pool + (at & ~15U));
        unsigned __int128 old = 0;
        __sync_bool_compare_and_swap(pair, old, (static_cast<unsigned __int128>(v) << 64) | v);
        reinterpret_cast<std::atomic<uint8_t>*>(pool + at)->exchange(uint8_t(v));
      }
    }
    if (i % 16 == 0) _mm_sfence();
  }
}

int main(int, char** argv) {
  auto* pool = static_cast<char*>(mapPool(argv[1], 4096));
  unsigned seed = unsigned(atoi(argv[2])) * 1000;
  std::vector<std::thread> threads;
  for (unsigned t = 0; t < 8; ++t) threads.emplace_back(work, pool, seed + t);
  for (std::thread& t : threads) t.join();
}
