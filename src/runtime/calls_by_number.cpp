#include "runtime/calls_by_number.h"

#undef _FORTIFY_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <linux/futex.h>
#include <linux/openat2.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/file.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/msg.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/random.h>
#include <sys/resource.h>
#include <sys/select.h>
#include <sys/sem.h>
#include <sys/sendfile.h>
#include <sys/shm.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/timerfd.h>
#include <sys/times.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <sys/xattr.h>
#include <time.h>
#include <unistd.h>
#include <utime.h>

extern "C" {
#include <sys/pidfd.h>  // says nothing of C++
}

#include "runtime/chosen_path.h"
#include "runtime/options.h"
#include "runtime/pinned.h"
#include "runtime/pools.h"
#include "runtime/process_numbers.h"
#include "runtime/real.h"
#include "runtime/recorder.h"
#include "runtime/recovery.h"
#include "runtime/regions.h"
#include "runtime/role.h"
#include "runtime/schedule.h"
#include "runtime/trap/signals.h"
#include "runtime/trap/syscalls.h"
#include "runtime/unfollowed.h"

namespace blackout::rt {

namespace {

long address(const void* p) { return reinterpret_cast<long>(p); }
long asErrno(int error) {
  if (error == 0) return 0;
  errno = error;
  return -1;
}

// As the kernel has it.
struct KernelAction {
  void (*handler)(int);
  unsigned long flags;
  void (*restorer)();
  uint64_t mask;
};

long changeHandler(int signal, const KernelAction* action, KernelAction* old, size_t maskSize) {
  if (!isTaken(signal)) {
    KernelAction passed{};
    if (action != nullptr) {
      passed = *action;
      passed.mask &= ~takenSignals();
    }
    return syscall(SYS_rt_sigaction, signal, action == nullptr ? nullptr : &passed, old, maskSize);
  }
  struct sigaction wanted{}, before{};
  if (action != nullptr) {
    wanted.sa_handler = action->handler;
    wanted.sa_flags = int(action->flags);
    memcpy(&wanted.sa_mask, &action->mask, sizeof action->mask);
  }
  if (sigaction(signal, action == nullptr ? nullptr : &wanted, &before) != 0) return -1;
  if (old == nullptr) return 0;
  *old = {before.sa_handler, static_cast<unsigned long>(before.sa_flags), nullptr, 0};
  memcpy(&old->mask, &before.sa_mask, sizeof old->mask);
  return 0;
}

long changeMask(int how, const uint64_t* set, uint64_t* old, size_t size) {
  if (!trapping || size != sizeof *set) return syscall(SYS_rt_sigprocmask, how, set, old, size);
  return asErrno(changeBlocked(how, set, old));
}

long waitForSignal(const uint64_t* set, size_t size) {
  if (set == nullptr || size != sizeof *set) return syscall(SYS_rt_sigsuspend, set, size);
  sigset_t waited;
  sigemptyset(&waited);
  memcpy(&waited, set, sizeof *set);
  return sigsuspend(&waited);
}

long workingFolder(char* out, size_t size) { return getcwd(out, size) == nullptr ? -1 : long(strlen(out)) + 1; }

// With rules of its own for the way, the kernel must see the path itself.
long openHow(int folder, const char* path, const open_how* how, size_t size) {
  if (how != nullptr && how->resolve == 0 && size == sizeof *how)
    return openat(folder, path, int(how->flags), mode_t(how->mode));
  ChosenPath chosen(folder, path, how == nullptr ? Use::Look : useOf(int(how->flags)));
  if (chosen.pool) {
    unfollowed("it opens a pool with rules for the way to it (openat2, RESOLVE_...), which are left out");
    return openat(folder, path, int(how->flags), mode_t(how->mode));
  }
  return callForProgram(SYS_openat2, folder, address(path), address(how), long(size));
}

long closeRange(unsigned from, unsigned to, unsigned flags) {
  long r = syscall(SYS_close_range, from, to, flags);
  constexpr unsigned kKnown = 65536;  // as many as pools.cpp knows
  for (unsigned fd = from; r == 0 && (flags & CLOSE_RANGE_CLOEXEC) == 0 && fd <= to && fd < kKnown; ++fd)
    forgetDescriptor(int(fd));
  return r;
}

long executeAt(int folder, const char* path, char* const* arguments, char* const* environment, int flags) {
  if ((flags & AT_EMPTY_PATH) != 0 && *path == '\0') return fexecve(folder, arguments, environment);
  if (folder == AT_FDCWD || *path == '/') return execve(path, arguments, environment);
  char whole[PATH_MAX];
  if (snprintf(whole, sizeof whole, "/proc/self/fd/%d/%s", folder, path) >= PATH_MAX) return asErrno(ENAMETOOLONG);
  return execve(whole, arguments, environment);
}

long reachProcess(const long (&a)[kCallArguments]) {
  if (a[0] != PTRACE_TRACEME)
    unfollowed("it controls another process (ptrace): what that does to PM, and what is done to it there, is not seen");
  return callForProgram(SYS_ptrace, a[0], realNumber(pid_t(a[1])), a[2], a[3]);
}

long makeProcess(long number, const long (&a)[kCallArguments]) {
  if (!makesTask(number, a)) return fork();
  unfollowedTask();
  return callForProgram(number, a[0], a[1], a[2], a[3], a[4]);
}

// A filter of the program's own stands beside ours, but it may forbid what the runtime itself calls.
void filtersItself() {
  static bool said = false;
  if (!isRecording() || said) return;
  said = true;
  say("the program installs a seccomp filter of its own; if that forbids mmap, mprotect, fallocate or rt_sigreturn, it "
      "ends the recording: leave the filter out for the check");
}

long installFilter(const long (&a)[kCallArguments]) {
  filtersItself();
  return syscall(SYS_seccomp, a[0], a[1], a[2]);
}

// Each path is another for the run. What is at it is no event.
long withPaths(const SystemCall& call, const long (&a)[kCallArguments], Use use) {
  long passed[kCallArguments];
  memcpy(passed, a, sizeof passed);
  for (int i = 0; i < kCallArguments; ++i) {
    if (call.arguments[i].kind != CallArgument::Kind::Path || a[i] == 0) continue;
    bool at = i > 0 && call.arguments[i - 1].kind == CallArgument::Kind::Folder;
    ChosenPath chosen(at ? int(a[i - 1]) : AT_FDCWD, reinterpret_cast<const char*>(a[i]), use);
    if (at) passed[i - 1] = chosen.fd;
    passed[i] = address(chosen.path);
    // No row has two paths: the chosen one lives until the call.
    return callForProgram(call.number, passed[0], passed[1], passed[2], passed[3], passed[4], passed[5]);
  }
  return callForProgram(call.number, a[0], a[1], a[2], a[3], a[4], a[5]);
}

// The rows' calls.
struct OwnCalls {
  const long (&a)[kCallArguments];
  int number(int i) const { return int(a[i]); }
  size_t size(int i) const { return size_t(a[i]); }
  const char* path(int i) const { return reinterpret_cast<const char*>(a[i]); }
  void* memory(int i) const { return reinterpret_cast<void*>(a[i]); }
  template <class T>
  T* at(int i) const {
    return reinterpret_cast<T*>(a[i]);
  }

  bool call(const SystemCall& row, long& result) const {
    auto is = [&](long value) {
      result = value;
      return true;
    };
    switch (row.number) {
#define BLACKOUT_OWN(nr, name, arguments, ...) \
  case nr:                                     \
    return is(long(__VA_ARGS__));
#define BLACKOUT_PINNED(nr, name, arguments, ...) \
  case nr:                                        \
    return isRestart() && is(long(__VA_ARGS__));
#define BLACKOUT_PATHS(nr, name, arguments, use) \
  case nr:                                       \
    return is(withPaths(row, a, Use::use));
#include "runtime/system_calls.def"
      default:
        return false;
    }
  }
};

void sayUnseen(const SystemCall& row, const long (&a)[kCallArguments]) {
  // What it does to a mapping matters where that is PM.
  if (row.arguments[0].kind == CallArgument::Kind::Mapping && !mayBePm(reinterpret_cast<void*>(a[0]), 1)) return;
  unfollowed(row.what);
}

}  // namespace

bool callByNumber(long number, const long (&a)[kCallArguments], long& result) {
  if (!inRun()) return false;
  const SystemCall* row = systemCall(number);
  if (row != nullptr && row->becomes != Becomes::Unseen) return OwnCalls{a}.call(*row, result);
  result = callForProgram(number, a[0], a[1], a[2], a[3], a[4], a[5]);
  int saved = errno;
  if (row != nullptr) {
    sayUnseen(*row, a);
  } else if (result != -1 || errno != ENOSYS) {
    char what[128];
    snprintf(what, sizeof what, "it makes system call %ld, which is not known here: what that does to PM is not seen",
             number);
    unfollowed(what);
  }
  errno = saved;
  return true;
}

}  // namespace blackout::rt

using namespace blackout::rt;

BLACKOUT_EXPORT int prctl(int option, ...) noexcept {
  va_list list;
  va_start(list, option);
  unsigned long a[4];
  for (unsigned long& argument : a) argument = va_arg(list, unsigned long);
  va_end(list);
  if (option == PR_SET_SECCOMP) filtersItself();
  return int(callForProgram(SYS_prctl, option, long(a[0]), long(a[1]), long(a[2]), long(a[3])));
}

// A futex among threads under control: what std::atomic waits by, and the C++ library for its statics. False: it is one
// of the other operations, which the kernel makes.
static bool futexInTurn(long word, int operation, uint32_t value, long timeout, uint32_t bits, long& result) {
  const auto* at = reinterpret_cast<const uint32_t*>(word);
  bool bitset = (operation & FUTEX_CMD_MASK) == FUTEX_WAIT_BITSET || (operation & FUTEX_CMD_MASK) == FUTEX_WAKE_BITSET;
  if ((bitset && bits != FUTEX_BITSET_MATCH_ANY) || mayBePm(at, sizeof *at)) return false;
  switch (operation & FUTEX_CMD_MASK) {
    case FUTEX_WAIT:
    case FUTEX_WAIT_BITSET: {
      switchPoint(at);
      if (__atomic_load_n(at, __ATOMIC_SEQ_CST) != value) {
        result = asErrno(EAGAIN);
        return true;
      }
      const auto* t = reinterpret_cast<const timespec*>(timeout);
      uint64_t moment = kNever;
      if (t != nullptr) {
        if (!isMoment(t)) return false;
        clockid_t clock = (operation & FUTEX_CLOCK_REALTIME) != 0 ? CLOCK_REALTIME : CLOCK_MONOTONIC;
        moment = bitset ? momentOf(clock, t) : momentIn(t);
      }
      result = waitTurn(at, Retry::No, moment) ? 0 : asErrno(ETIMEDOUT);
      return !waitForEver();
    }
    case FUTEX_WAKE:
    case FUTEX_WAKE_BITSET: {
      unsigned woken = wakeWaiting(at, value);
      result = long(woken);
      switchPoint(at);
      return true;
    }
    default:
      return false;
  }
}

BLACKOUT_EXPORT long programCall(long number, long a, long b, long c, long d, long e, long f) __asm__("syscall");
BLACKOUT_EXPORT long programCall(long number, long a, long b, long c, long d, long e, long f) {
  if (long r; controlled && number == SYS_futex && futexInTurn(a, int(b), uint32_t(c), d, uint32_t(f), r)) return r;
  if (long r; callByNumber(number, {a, b, c, d, e, f}, r)) return r;
  return callForProgram(number, a, b, c, d, e, f);
}
