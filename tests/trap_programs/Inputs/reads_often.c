// A word that a restart reads again and again, by one instruction.
#include "Inputs/pool.h"

int main(int argc, char** argv) {
  volatile uint64_t* p = (volatile uint64_t*)mapPool(argv[1], 8192);
  if (p[0] != 0) {
    uint64_t sum = 0;
    for (int i = 0; i < 100; ++i) sum += p[512];
    printf("%lu\n", sum);
    return 0;
  }
  p[0] = 1;
  __asm__ volatile("clflush %0\n mfence" : : "m"(p[0]) : "memory");
  p[512] = 1;
  p[520] = 1;
  __asm__ volatile("clflush %0\n clflush %1\n mfence" : : "m"(p[512]), "m"(p[520]) : "memory");
  return argc < 2;
}
