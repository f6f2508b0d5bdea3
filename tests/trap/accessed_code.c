// Code whose accesses are patched: short instructions at the end of a function, behind each other, in a loop, behind a jump by a table,
// and one that is entered in the middle of what a jump lies over.
#include "accessed_code.h"

void storeLast(uint64_t* p, uint64_t v) { *(volatile uint64_t*)p = v; }

void storeMany(uint64_t* p, uint64_t v) {
  volatile uint64_t* q = p;
  q[0] = v;
  q[1] = v + 1;
  ((volatile uint32_t*)q)[4] = (uint32_t)v;
  ((volatile uint16_t*)q)[12] = (uint16_t)v;
  ((volatile uint8_t*)q)[30] = (uint8_t)v;
  q[4] += v;
}

uint64_t sum(const uint64_t* p, uint64_t n) {
  uint64_t s = 0;
  for (uint64_t i = 0; i < n; ++i) s = s * 31 + ((const volatile uint64_t*)p)[i];
  return s;
}

void byTable(uint64_t* p, uint64_t which) {
  volatile uint64_t* q = p;
  switch (which % 8) {
    case 0: q[0] = 1; break;
    case 1: q[1] += 5; break;
    case 2: q[2] = q[1] + 7; break;
    case 3: q[3] ^= 9; break;
    case 4: q[4] = 11; break;
    case 5: q[5] = q[0] * 3; break;
    case 6: q[6] -= 2; break;
    default: q[7] = 13; break;
  }
}

// With `inside` it jumps, by an address that is computed, to the second of the instructions that make room together.
__asm__(
    "  .text\n"
    "  .globl entered\n"
    "  .type entered, @function\n"
    "entered:\n"
    "  .cfi_startproc\n"
    "  leaq 1f(%rip), %rax\n"
    "  testq %rdx, %rdx\n"
    "  je 2f\n"
    "  jmp *%rax\n"
    "2:\n"
    "  movq %rsi, (%rdi)\n"
    "1:\n"
    "  addq $3, %rsi\n"
    "  movq %rsi, 8(%rdi)\n"
    "  ret\n"
    "  .cfi_endproc\n"
    "  .size entered, . - entered\n");
