// Uses a library with look-alikes of fences in its text: they stay what they are.
#include "Inputs/pool.h"

int sum(void);
void keep(volatile uint64_t* p, uint64_t value);

int main(int argc, char** argv) {
  volatile uint64_t* p = (volatile uint64_t*)mapPool(argv[1], 4096);
  *p = 1;
  __asm__ volatile("clflush %0\n sfence" : : "m"(*p) : "memory");
  keep(p, 2);
  return argc == 2 && sum() == 2 * (0x0f + 0xae + 0x06) + 0xf8 + 0xf0 ? 0 : 3;
}
