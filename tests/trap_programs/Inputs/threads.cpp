// Four threads that fault at once: on one page, on pages of their own, and on words that all of them increment.
#include <atomic>
#include <thread>
#include <vector>

#include "Inputs/pool.h"

constexpr int kThreads = 4;
constexpr int kTimes = 250;

struct Pool {
  std::atomic<uint64_t> locked;       // offset 0x0
  uint64_t shared[kThreads][kTimes];  // one page, and the next ones
  alignas(4096) struct {
    uint64_t words[kTimes];
    uint64_t rest[512 - kTimes];
  } own[kThreads];
};

__attribute__((noinline)) static void onShared(Pool* pool, int t, int i) {
  *const_cast<volatile uint64_t*>(&pool->shared[t][i]) = uint64_t(t) << 32 | uint64_t(i);
}
__attribute__((noinline)) static void onOwn(Pool* pool, int t, int i) {
  *const_cast<volatile uint64_t*>(&pool->own[t].words[i]) = uint64_t(t) << 32 | uint64_t(i);
}
__attribute__((noinline)) static void increment(Pool* pool) { pool->locked.fetch_add(1); }

static void work(Pool* pool, std::atomic<int>* ready, int t) {
  for (ready->fetch_add(1); ready->load() < kThreads;) {
  }
  for (int i = 0; i < kTimes; ++i) {
    onShared(pool, t, i);
    onOwn(pool, t, i);
    increment(pool);
  }
}

int main(int argc, char** argv) {
  auto* pool = static_cast<Pool*>(mapPool(argv[1], sizeof(Pool)));
  std::atomic<int> ready{0};
  std::vector<std::thread> threads;
  for (int t = 0; t < kThreads; ++t) threads.emplace_back(work, pool, &ready, t);
  for (std::thread& t : threads) t.join();
  bool right = pool->locked.load() == kThreads * kTimes;
  for (int t = 0; t < kThreads; ++t)
    for (int i = 0; i < kTimes; ++i) {
      uint64_t value = uint64_t(t) << 32 | uint64_t(i);
      right = right && pool->shared[t][i] == value && pool->own[t].words[i] == value;
    }
  return right && argc == 2 ? 0 : 3;
}
