// A library that is loaded later: VALUE tells two of them apart.
#include <stdint.h>

void work(volatile uint64_t* p) {
  p[VALUE] = VALUE;
  __asm__ volatile("clflush %0" : : "m"(p[VALUE]) : "memory");
  __asm__ volatile("sfence" : : : "memory");
#if VALUE == 2
  __asm__ volatile("mfence" : : : "memory");
#endif
}
