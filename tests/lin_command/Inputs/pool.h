// A pool of one struct, for the harnesses of these tests.
#pragma once

#include <emmintrin.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstddef>
#include <cstdint>
#include <cstdio>

// Which mistake to make; 0: none.
inline int bug() {
  static const int number = getenv("BUG") != nullptr ? atoi(getenv("BUG")) : 0;
  return number;
}

template <class Root>
Root* mapPool(const char* path) {
  int file = ::open(path, O_RDWR | O_CREAT, 0600);
  if (file < 0 || ftruncate(file, sizeof(Root)) != 0) {
    perror(path);
    exit(1);
  }
  void* pool = mmap(nullptr, sizeof(Root), PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  ::close(file);
  return static_cast<Root*>(pool);
}

inline void flush(const void* p) { __asm__ volatile("clwb %0" : "+m"(*(volatile char*)p)); }
inline void fence() { __asm__ volatile("sfence" ::: "memory"); }
inline void persist(const void* p) {
  flush(p);
  fence();
}
