// The runtime's own system call instructions. It means the kernel's own answer: its calls of syscall() are linked to
// __wrap_syscall (-Wl,--wrap=syscall). Declared with all six arguments, which is the same to a caller.

#include <errno.h>

#include "runtime/real.h"

// Once, at an address that the filter of trap/syscalls.cpp knows.
extern "C" __attribute__((noinline)) long __wrap_syscall(long number, long a, long b, long c, long d, long e, long f) {
  long r;
  register long r10 __asm__("r10") = d;
  register long r8 __asm__("r8") = e;
  register long r9 __asm__("r9") = f;
  __asm__ volatile(
      "syscall\n"
      ".globl blackout_after_syscall\n"
      ".hidden blackout_after_syscall\n"
      "blackout_after_syscall:"
      : "=a"(r)
      : "0"(number), "D"(a), "S"(b), "d"(c), "r"(r10), "r"(r8), "r"(r9)
      : "rcx", "r11", "memory");
  if (r < 0 && r >= -4095) {
    errno = int(-r);
    return -1;
  }
  return r;
}

// The same by another instruction, which the filter sees. What it is handed is the program's, and so is the place: that
// of whoever called the runtime.
__attribute__((noinline)) long blackout::rt::callForProgram(long number, long a, long b, long c, long d, long e,
                                                            long f) {
  long r;
  register long r10 __asm__("r10") = d;
  register long r8 __asm__("r8") = e;
  register long r9 __asm__("r9") = f;
  __asm__ volatile(
      "syscall\n"
      ".globl blackout_after_program_call\n"
      ".hidden blackout_after_program_call\n"
      "blackout_after_program_call:"
      : "=a"(r)
      : "0"(number), "D"(a), "S"(b), "d"(c), "r"(r10), "r"(r8), "r"(r9)
      : "rcx", "r11", "memory");
  if (r < 0 && r >= -4095) {
    errno = int(-r);
    return -1;
  }
  return r;
}
