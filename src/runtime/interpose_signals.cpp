// Signals that the trap front end needs (faults and breakpoints), as the program sees them: it installs handlers for
// them, asks for them and blocks them, and none of that reaches the kernel. When such a signal is the program's own,
// its handler is called with the same arguments, mask and stack as the kernel would have given it.

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <ucontext.h>
#include <unistd.h>

#include "runtime/options.h"
#include "runtime/real.h"
#include "runtime/recorder.h"
#include "runtime/regions.h"
#include "runtime/role.h"
#include "runtime/trap/patched_access.h"
#include "runtime/trap/signals.h"
#include "runtime/unfollowed.h"

using namespace blackout::rt;

namespace {

constexpr int kSignals = 32;
bool taken[kSignals];
struct sigaction theirs[kSignals];

// Of signals that are not taken: the program's handlers, which ours calls, so that none runs in the middle of the event
// of a patched access.
constexpr int kAllSignals = 65;
struct sigaction relayed[kAllSignals];

// A handler of the program's may end by a jump instead of a return: what was blocked before the outermost one began.
thread_local __attribute__((tls_model("initial-exec"))) constinit int delivering = 0;
thread_local __attribute__((tls_model("initial-exec"))) constinit uint64_t blockedOutside = 0;

uint64_t wordOf(const sigset_t& set) {
  uint64_t word;
  memcpy(&word, &set, sizeof word);
  return word;
}
void setWord(sigset_t& set, uint64_t word) { memcpy(&set, &word, sizeof word); }

long kernelMask(int how, const uint64_t* set, uint64_t* old) {
  return syscall(SYS_rt_sigprocmask, how, set, old, sizeof *set);
}

// What the kernel would do without a handler. A fault comes again by itself.
void byDefault(int signal, const siginfo_t* info) {
  struct sigaction plain{};
  plain.sa_handler = SIG_DFL;
  BLACKOUT_REAL(sigaction)(signal, &plain, nullptr);
  if (info->si_code <= 0 || signal == SIGTRAP || signal == SIGSYS)
    syscall(SYS_tgkill, syscall(SYS_getpid), syscall(SYS_gettid), signal);
}

int changeMask(int how, const sigset_t* set, sigset_t* old) {
  uint64_t given = set == nullptr ? 0 : wordOf(*set);
  uint64_t before = 0;
  if (int error = changeBlocked(how, set == nullptr ? nullptr : &given, &before)) return error;
  if (old == nullptr) return 0;
  sigemptyset(old);
  setWord(*old, before);
  return 0;
}

}  // namespace

namespace blackout::rt {

bool isTaken(int signal) { return signal > 0 && signal < kSignals && taken[signal]; }

uint64_t takenSignals() {
  uint64_t mask = 0;
  for (int s = 1; s < kSignals; ++s)
    if (taken[s]) mask |= uint64_t{1} << (s - 1);
  return mask;
}

int changeBlocked(int how, const uint64_t* given, uint64_t* old) {
  uint64_t mine = takenSignals();
  uint64_t passed = given == nullptr ? 0 : *given & ~mine;
  uint64_t before = 0;
  if (kernelMask(how, given == nullptr ? nullptr : &passed, &before) != 0) return errno;
  if (old != nullptr) *old = (before & ~mine) | self.blocked;
  if (given == nullptr) return 0;
  if (how == SIG_BLOCK)
    self.blocked |= *given & mine;
  else if (how == SIG_UNBLOCK)
    self.blocked &= ~*given;
  else
    self.blocked = *given & mine;
  return 0;
}

void takeSignal(int signal, void (*handler)(int, siginfo_t*, void*)) {
  struct sigaction action{};
  action.sa_sigaction = handler;
  // Nothing interrupts an event but a fault inside it.
  sigfillset(&action.sa_mask);
  const int synchronous[] = {SIGSEGV, SIGBUS, SIGTRAP, SIGSYS, SIGFPE, SIGILL, SIGABRT};
  for (int s : synchronous) sigdelset(&action.sa_mask, s);
  action.sa_flags = SA_SIGINFO | SA_ONSTACK | SA_NODEFER;
  BLACKOUT_REAL(sigaction)(signal, &action, &theirs[signal]);
  taken[signal] = true;
  // A parent may have blocked it.
  uint64_t bit = uint64_t{1} << (signal - 1);
  kernelMask(SIG_UNBLOCK, &bit, nullptr);
}

void deliver(int signal, siginfo_t* info, void* context) {
  auto& u = *static_cast<ucontext_t*>(context);
  uint64_t bit = uint64_t{1} << (signal - 1);
  struct sigaction action = theirs[signal];
  bool sent = info->si_code <= 0;
  if (sent && action.sa_handler == SIG_IGN) return;
  // A fault that is ignored or blocked ends the process.
  if (action.sa_handler == SIG_DFL || action.sa_handler == SIG_IGN || (self.blocked & bit) != 0)
    return byDefault(signal, info);
  if ((action.sa_flags & int(SA_RESETHAND)) != 0) {
    theirs[signal] = {};
    theirs[signal].sa_handler = SIG_DFL;
  }
  uint64_t mine = takenSignals();
  uint64_t outer = self.blocked;
  if (delivering++ == 0) blockedOutside = outer;
  uint64_t wanted = wordOf(action.sa_mask);
  if ((action.sa_flags & SA_NODEFER) == 0) wanted |= bit;
  self.blocked |= wanted & mine;
  uint64_t mask = (wordOf(u.uc_sigmask) | wanted) & ~mine;
  kernelMask(SIG_SETMASK, &mask, nullptr);
  if ((action.sa_flags & SA_SIGINFO) != 0)
    action.sa_sigaction(signal, info, context);
  else
    action.sa_handler(signal);
  // The kernel takes the mask from the context when our handler returns.
  self.blocked = outer;
  if (delivering > 0) --delivering;
}

void leaveHandlers(bool restoresMask) {
  if (delivering == 0 || !restoresMask) return;
  delivering = 0;
  self.blocked = blockedOutside;
}

}  // namespace blackout::rt

namespace {

void relay(int signal, siginfo_t* info, void* context) {
  if (deferSignal(*info, *static_cast<ucontext_t*>(context), takenSignals())) return;
  const struct sigaction action = relayed[signal];
  if ((action.sa_flags & SA_SIGINFO) != 0)
    action.sa_sigaction(signal, info, context);
  else
    action.sa_handler(signal);
}

// A handler that is gone when it is called must not wait.
bool canRelay(int signal, const struct sigaction& action) {
  return trapping && options.patches != 0 && signal > 0 && signal < kAllSignals && action.sa_handler != SIG_DFL &&
         action.sa_handler != SIG_IGN && action.sa_sigaction != relay && (action.sa_flags & int(SA_RESETHAND)) == 0;
}

}  // namespace

BLACKOUT_EXPORT int sigaction(int signal, const struct sigaction* action, struct sigaction* old) {
  if (!isTaken(signal)) {
    // While the program's handler runs, faults must be delivered too.
    struct sigaction passed{};
    if (action != nullptr) {
      passed = *action;
      setWord(passed.sa_mask, wordOf(passed.sa_mask) & ~takenSignals());
    }
    bool known = signal > 0 && signal < kAllSignals;
    struct sigaction before = known ? relayed[signal] : passed;
    if (action != nullptr && canRelay(signal, *action)) {
      relayed[signal] = *action;
      passed.sa_sigaction = relay;
      passed.sa_flags |= SA_SIGINFO;
    }
    int r = BLACKOUT_REAL(sigaction)(signal, action == nullptr ? nullptr : &passed, old);
    if (r != 0 && known) relayed[signal] = before;
    if (r == 0 && old != nullptr && old->sa_sigaction == relay) {
      int flags = old->sa_flags;
      *old = before;
      old->sa_flags = (flags & ~SA_SIGINFO) | (before.sa_flags & SA_SIGINFO);
    }
    return r;
  }
  struct sigaction before = theirs[signal];
  if (action != nullptr) theirs[signal] = *action;
  if (old != nullptr) *old = before;
  return 0;
}

namespace {

using Handler = void (*)(int);

Handler install(int signal, Handler handler, int flags) {
  Handler before = theirs[signal].sa_handler;
  struct sigaction action{};
  action.sa_handler = handler;
  action.sa_flags = flags;
  if ((flags & SA_NODEFER) == 0) sigaddset(&action.sa_mask, signal);
  theirs[signal] = action;
  return before;
}

}  // namespace

BLACKOUT_EXPORT Handler signal(int number, Handler handler) {
  if (isTaken(number)) return install(number, handler, SA_RESTART);
  if (!trapping || options.patches == 0) return BLACKOUT_REAL(signal)(number, handler);
  struct sigaction action{}, old{};
  action.sa_handler = handler;
  action.sa_flags = SA_RESTART;
  sigaddset(&action.sa_mask, number);
  return sigaction(number, &action, &old) == 0 ? old.sa_handler : SIG_ERR;
}
BLACKOUT_EXPORT Handler bsd_signal(int number, Handler handler) { return signal(number, handler); }
static Handler handlerOf(int number, Handler before) {
  struct sigaction ours{};
  ours.sa_sigaction = relay;
  return before == ours.sa_handler ? relayed[number].sa_handler : before;
}
BLACKOUT_EXPORT Handler __sysv_signal(int number, Handler handler) {
  return isTaken(number) ? install(number, handler, int(SA_RESETHAND) | SA_NODEFER)
                         : handlerOf(number, BLACKOUT_REAL(__sysv_signal)(number, handler));
}
BLACKOUT_EXPORT Handler sysv_signal(int number, Handler handler) { return __sysv_signal(number, handler); }

BLACKOUT_EXPORT int pthread_sigmask(int how, const sigset_t* set, sigset_t* old) {
  if (!trapping) return BLACKOUT_REAL(pthread_sigmask)(how, set, old);
  int saved = errno;
  int r = changeMask(how, set, old);
  errno = saved;
  return r;
}
BLACKOUT_EXPORT int sigprocmask(int how, const sigset_t* set, sigset_t* old) {
  if (!trapping) return BLACKOUT_REAL(sigprocmask)(how, set, old);
  int saved = errno;
  int r = changeMask(how, set, old);
  errno = r == 0 ? saved : r;
  return r == 0 ? 0 : -1;
}

// Handlers run while it waits.
BLACKOUT_EXPORT int sigsuspend(const sigset_t* set) {
  sigset_t passed = *set;
  setWord(passed, wordOf(passed) & ~takenSignals());
  return BLACKOUT_REAL(sigsuspend)(&passed);
}

// The kernel can't push a frame onto protected pages: a stack in PM is replaced by one of ours, as large.
BLACKOUT_EXPORT int sigaltstack(const stack_t* stack, stack_t* old) noexcept {
  stack_t given{};
  if (inRun() && stack != nullptr && (stack->ss_flags & SS_DISABLE) == 0 && mayBePm(stack->ss_sp, stack->ss_size)) {
    unfollowed("a signal stack lies in PM, and was replaced by another: what handlers would store there is not seen");
    long memory = syscall(SYS_mmap, nullptr, stack->ss_size, PROT_READ | PROT_WRITE,
                          MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_STACK, -1L, 0L);
    if (memory != -1) {
      given = *stack;
      given.ss_sp = reinterpret_cast<void*>(memory);
      stack = &given;
    }
  }
  return int(callForProgram(SYS_sigaltstack, reinterpret_cast<long>(stack), reinterpret_cast<long>(old)));
}
