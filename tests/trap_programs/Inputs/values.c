// A word that is stored five times before it is flushed, and another one beside it that the restart never reads.
#include "Inputs/pool.h"

int main(int argc, char** argv) {
  volatile uint64_t* p = (volatile uint64_t*)mapPool(argv[1], 8192);
  if (p[0] != 0) {
    printf("%d\n", (int)p[512]);
    return 0;
  }
  p[0] = 1;
  __asm__ volatile("clflush %0\n mfence" : : "m"(p[0]) : "memory");
  for (uint64_t i = 1; i <= 5; ++i) {
    p[512] = i;
    p[520] = i;
  }
  __asm__ volatile("clflush %0\n clflush %1\n mfence" : : "m"(p[512]), "m"(p[520]) : "memory");
  return argc < 2;
}
