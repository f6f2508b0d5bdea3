// Plain code that does not touch persistent memory, though a pool is mapped: what a recording of code that was not
// built with Blackout costs where nothing is recorded.
//
//   trap_elsewhere POOL KIND
#include <pthread.h>

#include <atomic>
#include <cstring>
#include <map>
#include <thread>

#include "measure.h"

namespace {

void compute() {
  constexpr uint64_t kSteps = 400'000'000;
  measure::processorTimePerOperation(kSteps, [] {
    measure::Random random{1};
    uint64_t sum = 0;
    for (uint64_t i = 0; i < kSteps; ++i) sum ^= random();
    measure::keep(sum);
  });
}

// Blocks of all small sizes that live for a while.
void allocate() {
  constexpr uint64_t kSteps = 20'000'000;
  measure::processorTimePerOperation(kSteps, [] {
    void* blocks[256] = {};
    measure::Random random{1};
    for (uint64_t i = 0; i < kSteps; ++i) {
      const uint64_t value = random();
      void*& block = blocks[value % 256];
      std::free(block);
      block = std::malloc(16 + (value >> 8) % 512);
      measure::keep(block);
    }
    for (void* block : blocks) std::free(block);
  });
}

pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

// An update of a small table under the lock that protects it.
void mutex() {
  constexpr uint64_t kSteps = 10'000'000;
  static uint64_t keys[1024];
  static uint64_t counts[1024];
  measure::processorTimePerOperation(kSteps, [] {
    measure::Random random{1};
    for (uint64_t i = 0; i < kSteps; ++i) {
      const uint64_t key = random() % 4096;
      pthread_mutex_lock(&lock);
      uint64_t at = key * 0x9e3779b97f4a7c15 >> 54;
      for (int probes = 0; probes < 8 && keys[at] != key; ++probes) at = (at + 1) % 1024;
      keys[at] = key;
      measure::keep(++counts[at]);
      pthread_mutex_unlock(&lock);
    }
  });
}

// The same, with a tree that has outgrown the first cache.
void mutexTree() {
  constexpr uint64_t kSteps = 5'000'000;
  static std::map<uint64_t, uint64_t> counts;
  measure::processorTimePerOperation(kSteps, [] {
    measure::Random random{1};
    for (uint64_t i = 0; i < kSteps; ++i) {
      const uint64_t key = random() % 4096;
      pthread_mutex_lock(&lock);
      ++counts[key];
      pthread_mutex_unlock(&lock);
    }
  });
}

void bareMutex() {
  constexpr uint64_t kSteps = 40'000'000;
  measure::processorTimePerOperation(kSteps, [] {
    for (uint64_t i = 0; i < kSteps; ++i) {
      pthread_mutex_lock(&lock);
      pthread_mutex_unlock(&lock);
    }
  });
}

void atomics() {
  constexpr uint64_t kSteps = 40'000'000;
  static std::atomic<uint64_t> counter;
  static std::atomic<uint64_t> largest;
  measure::processorTimePerOperation(kSteps, [] {
    measure::Random random{1};
    for (uint64_t i = 0; i < kSteps; ++i) {
      counter.fetch_add(1);
      const uint64_t value = random();
      uint64_t seen = largest.load();
      while (seen < value && !largest.compare_exchange_weak(seen, value)) {
      }
      counter.store(i);
    }
  });
}

void calls() {
  constexpr uint64_t kSteps = 1'000'000;
  int ends[2];
  if (pipe(ends) != 0) std::exit(1);
  measure::processorTimePerOperation(kSteps, [&] {
    char bytes[64] = {};
    for (uint64_t i = 0; i < kSteps; ++i)
      if (write(ends[1], bytes, sizeof bytes) != sizeof bytes || read(ends[0], bytes, sizeof bytes) != sizeof bytes)
        std::exit(1);
  });
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 3) return 2;
  measure::mapPool(argv[1], size_t{1} << 20);
  // libc and libstdc++ leave out locked instructions in a program that never had a second thread.
  std::thread([] {}).join();
  const struct {
    const char* name;
    void (*run)();
  } kinds[] = {{"compute", compute},      {"allocate", allocate}, {"mutex", mutex}, {"mutex-tree", mutexTree},
               {"bare-mutex", bareMutex}, {"atomics", atomics},   {"calls", calls}};
  for (const auto& kind : kinds) {
    if (std::strcmp(kind.name, argv[2]) != 0) continue;
    kind.run();
    return 0;
  }
  return 2;
}
