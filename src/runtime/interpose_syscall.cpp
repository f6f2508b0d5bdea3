// syscall(): programs older than libc's functions ask the kernel by number for what a recovery run pins, or for files.
// The runtime itself means the kernel's own answer: its calls are linked to __wrap_syscall (-Wl,--wrap=syscall). Both
// are declared with all six arguments, which is the same to a caller.

#include <errno.h>
#include <signal.h>
#include <stdarg.h>
#include <sys/prctl.h>
#include <sys/random.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

#include "runtime/options.h"
#include "runtime/pinned.h"
#include "runtime/real.h"
#include "runtime/recorder.h"
#include "runtime/recovery.h"
#include "runtime/syscall_files.h"
#include "runtime/trap/signals.h"

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

// The same by another instruction, which the filter sees.
__attribute__((noinline)) long blackout::rt::callForProgram(long number, long a, long b, long c, long d, long e,
                                                            long f) {
  long r;
  register long r10 __asm__("r10") = d;
  register long r8 __asm__("r8") = e;
  register long r9 __asm__("r9") = f;
  __asm__ volatile("syscall"
                   : "=a"(r)
                   : "0"(number), "D"(a), "S"(b), "d"(c), "r"(r10), "r"(r8), "r"(r9)
                   : "rcx", "r11", "memory");
  if (r < 0 && r >= -4095) {
    errno = int(-r);
    return -1;
  }
  return r;
}

// A filter of the program's own stands beside ours, but it may forbid what the runtime itself calls.
static void filtersItself() {
  static bool said = false;
  if (!isRecording() || said) return;
  said = true;
  say("the program installs a seccomp filter of its own; if that forbids mmap, mprotect, fallocate or rt_sigreturn, it "
      "ends "
      "the recording: leave the filter out for the check");
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
  if (number == SYS_seccomp) filtersItself();
  if (long r; inRun() && callOnFile(number, {a, b, c, d, e, f}, r)) return r;
  if (number == SYS_rt_sigprocmask && trapping && d == long(sizeof(uint64_t))) {
    int error = changeBlocked(int(a), reinterpret_cast<const uint64_t*>(b), reinterpret_cast<uint64_t*>(c));
    if (error != 0) errno = error;
    return error == 0 ? 0 : -1;
  }
  // Of a trapped program the filter must see it: not by our own instruction.
  auto call = [&] {
    return trapping ? BLACKOUT_REAL(syscall)(number, a, b, c, d, e, f) : __wrap_syscall(number, a, b, c, d, e, f);
  };
  if (__builtin_expect(!isRestart(), 1)) return call();
  switch (number) {
    case SYS_getpid:
      return getpid();
    case SYS_getppid:
      return getppid();
    case SYS_gettid:
      return gettid();
    case SYS_kill:
      return kill(pid_t(a), int(b));
    case SYS_tgkill:
      return tgkill(pid_t(a), pid_t(b), int(c));
    case SYS_tkill:
      return tgkill(getpid(), pid_t(a), int(b));
    case SYS_getrandom:
      return getrandom(reinterpret_cast<void*>(a), size_t(b), unsigned(c));
    case SYS_time:
      return time(reinterpret_cast<time_t*>(a));
    case SYS_gettimeofday:
      return gettimeofday(reinterpret_cast<struct timeval*>(a), reinterpret_cast<void*>(b));
    case SYS_clock_gettime:
      return clock_gettime(clockid_t(a), reinterpret_cast<struct timespec*>(b));
    default:
      return call();
  }
}
