// A program with a pool, for tests of what its restarts see: the recorded run makes two stores of which a crash may
// lose either, so that there are several restarts, and each of them checks itself.
#pragma once
#include <blackout/blackout.h>
#include <emmintrin.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define EXPECT(condition) blackout_expect((condition) ? 1 : 0, #condition)

inline volatile uint64_t* mapPool(const char* path) {
  int fd = open(path, O_RDWR);
  void* p = fd < 0 ? MAP_FAILED : mmap(nullptr, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  if (p == MAP_FAILED) {
    perror(path);
    exit(9);
  }
  close(fd);
  return static_cast<volatile uint64_t*>(p);
}

// Four crash states, told apart by the restart that calls it too.
inline void twoStores(volatile uint64_t* pool) {
  uint64_t sum = pool[0] + pool[8];
  if (sum > 2) exit(9);
  pool[0] = 1;
  pool[8] = 1;
  _mm_clflush(const_cast<uint64_t*>(pool));
  _mm_clflush(const_cast<uint64_t*>(pool + 8));
  _mm_sfence();
}
