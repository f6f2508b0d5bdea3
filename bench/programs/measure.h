// What the benchmark programs have in common: time of a loop per operation, a mapped pool, and
// random numbers that are the same in every run.
#pragma once

#include <fcntl.h>
#include <immintrin.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>

namespace measure {

// Runs the loop once and prints the only line that bench/run reads.
template <typename Loop>
void perOperation(uint64_t operations, Loop loop) {
  const auto begin = std::chrono::steady_clock::now();
  loop();
  const std::chrono::duration<double, std::nano> time = std::chrono::steady_clock::now() - begin;
  std::printf("ns_per_op %.4f\n", time.count() / static_cast<double>(operations));
}

// The same in processor time of the thread.
template <typename Loop>
void processorTimePerOperation(uint64_t operations, Loop loop) {
  const auto now = [] {
    timespec time{};
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
    return static_cast<double>(time.tv_sec) * 1e9 + static_cast<double>(time.tv_nsec);
  };
  const double begin = now();
  loop();
  std::printf("ns_per_op %.4f\n", (now() - begin) / static_cast<double>(operations));
}

inline void* mapPool(const char* path, size_t size) {
  const int file = open(path, O_RDWR | O_CREAT | O_TRUNC, 0644);
  if (file < 0 || ftruncate(file, static_cast<off_t>(size)) != 0) {
    std::perror(path);
    std::exit(1);
  }
  // Populated, so that the loop measures no page faults.
  void* memory = mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_POPULATE, file, 0);
  close(file);
  if (memory == MAP_FAILED) {
    std::perror("mmap");
    std::exit(1);
  }
  return memory;
}

inline void flush(const void* p) { _mm_clwb(const_cast<void*>(p)); }
inline void fence() { _mm_sfence(); }

// A kernel has no persistent data, but a recording wants a pool: one durable store before the loop puts
// the whole apparatus in action. Without an argument, nothing.
inline void touchPool(int argc, char** argv) {
  if (argc < 2) return;
  auto* word = static_cast<uint64_t*>(mapPool(argv[1], 4096));
  *word = 1;
  flush(word);
  fence();
}

// splitmix64.
struct Random {
  uint64_t state;
  uint64_t operator()() {
    uint64_t z = (state += 0x9e3779b97f4a7c15);
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
    z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
    return z ^ (z >> 31);
  }
};

// The compiler can't know that the result isn't looked at.
template <typename T>
void keep(const T& value) {
  asm volatile("" : : "r,m"(value) : "memory");
}

}  // namespace measure
