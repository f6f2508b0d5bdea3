// Stores whose places are found by debug information or by symbols: in an inlined function, in a template, in a
// callback of libc's qsort, and in code without frame pointers.
#include "Inputs/pool.h"

template <class T>
__attribute__((noinline)) void put(T* at, T value) {
  *const_cast<volatile T*>(at) = value;  // TEMPLATE
}

static inline __attribute__((always_inline)) void inlined(volatile uint64_t* at) {
  *at = 2;  // INLINED
}
extern "C" __attribute__((noinline)) void outer(volatile uint64_t* at) {
  inlined(at);  // OUTER
  at[1] = 3;    // AFTER
}

static volatile uint64_t* calls;
extern "C" __attribute__((noinline)) int compare(const void* a, const void* b) {
  *calls = *calls + 1;  // CALLBACK
  return *static_cast<const int*>(a) - *static_cast<const int*>(b);
}

// A frame of a size that only its unwind table tells.
extern "C" __attribute__((noinline)) void deep(int n, volatile uint64_t* at) {
  volatile char room[400];
  room[n] = char(n);
  if (n == 0)
    *at = 4;  // DEEP
  else
    deep(n - 1, at);
  room[0] = room[1];
}

int main(int argc, char** argv) {
  auto* p = static_cast<uint64_t*>(mapPool(argv[1], 4096));
  put<unsigned>(reinterpret_cast<unsigned*>(p), 1u);
  put<unsigned short>(reinterpret_cast<unsigned short*>(p + 1), 1);
  outer(p + 8);
  int numbers[2] = {2, 1};
  calls = p + 16;
  qsort(numbers, 2, sizeof *numbers, compare);
  deep(3, p + 24);
  return argc == 2 && numbers[0] == 1 ? 0 : 3;
}
