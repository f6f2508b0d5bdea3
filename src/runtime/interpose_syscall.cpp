// syscall(): programs older than libc's functions ask the kernel by number for what a recovery run pins, or for files.
// The runtime itself means the kernel's own answer: its calls are linked to __wrap_syscall (-Wl,--wrap=syscall). Both
// are declared with all six arguments, which is the same to a caller.

#include <errno.h>
#include <stdarg.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "runtime/options.h"
#include "runtime/real.h"
#include "runtime/recorder.h"
#include "runtime/recovery.h"
#include "runtime/system_calls.h"

using namespace blackout::rt;

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

void blackout::rt::filtersItself() {
  static bool said = false;
  if (!recording() || recovering() || said) return;
  said = true;
  say("the program installs a seccomp filter of its own; if that forbids mmap, mprotect, fallocate or rt_sigreturn, it "
      "ends the recording: leave the filter out for the check");
}

BLACKOUT_EXPORT int prctl(int option, ...) noexcept {
  va_list list;
  va_start(list, option);
  unsigned long a[4];
  for (unsigned long& argument : a) argument = va_arg(list, unsigned long);
  va_end(list);
  if (option == PR_SET_SECCOMP) filtersItself();
  return int(__wrap_syscall(SYS_prctl, option, long(a[0]), long(a[1]), long(a[2]), long(a[3]), 0));
}

BLACKOUT_EXPORT long programCall(long number, long a, long b, long c, long d, long e, long f) __asm__("syscall");
BLACKOUT_EXPORT long programCall(long number, long a, long b, long c, long d, long e, long f) {
  if (long r; callByNumber(number, {a, b, c, d, e, f}, r)) return r;
  return callForProgram(number, a, b, c, d, e, f);
}
