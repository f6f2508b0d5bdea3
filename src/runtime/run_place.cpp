// Where a thread of a run is when a signal or the worker interrupts it: a fatal signal leaves its frames, and a thread
// that the worker holds tells them.

#include <signal.h>
#include <string.h>
#include <sys/syscall.h>
#include <ucontext.h>
#include <unistd.h>

#include "runtime/held_thread.h"
#include "runtime/modules.h"
#include "runtime/recorder.h"
#include "runtime/recovery.h"
#include "runtime/run_worker.h"
#include "runtime/trap/patched_access.h"
#include "runtime/trap/sites.h"

namespace blackout::rt {

namespace {

alignas(16) char handlerStack[65536];

// libc keeps no frame pointers: from inside abort() the program's own frames are found by looking up the stack for a
// return into it, and from there for a saved frame pointer.
void keepScanned(uintptr_t at) {
  constexpr uintptr_t kWords = 2048;
  uintptr_t end = at + kWords * 8 < self.stackTop - 16 ? at + kWords * 8 : self.stackTop - 16;
  at = (at + 7) & ~uintptr_t{7};
  auto word = [](uintptr_t a) { return *reinterpret_cast<const uintptr_t*>(a); };
  while (at < end && !inInstrumented(word(at))) at += 8;
  if (at >= end) return;
  worker->frames[worker->frame_count++] = word(at);
  for (at += 8; at < end; at += 8)
    if (word(at) > at && word(at) < self.stackTop && inInstrumented(word(at + 8))) return void(keepChain(at, at));
}

// Unwind tables lead through every library, where they are known.
bool keepUnwound(const Frame& from) {
  uint32_t& n = worker->frame_count;
  int more = unwind(from, self.stackLow, self.stackTop, worker->frames + n, int(BLACKOUT_MAX_RUN_FRAMES - n));
  n += uint32_t(more);
  return more != 0;
}

// Where a thread is, from its registers: the stack from the interrupted instruction up.
void keepPlace(const ucontext_t& u, uintptr_t pc) {
  auto low = uintptr_t(u.uc_mcontext.gregs[REG_RSP]);
  worker->frames[0] = pc;
  worker->frame_count = 1;
  if (keepUnwound(frameOf(u))) return;
  if (recordsEvents() && !inInstrumented(uintptr_t(u.uc_mcontext.gregs[REG_RIP])))
    keepScanned(low);
  else
    keepChain(uintptr_t(u.uc_mcontext.gregs[REG_RBP]), low);
}

// A jump to where no code is tells nothing of its own: the call that led there lies before the address on the stack.
bool jumpedAway(const siginfo_t* info, const ucontext_t& u) {
  auto pc = uintptr_t(u.uc_mcontext.gregs[REG_RIP]), sp = uintptr_t(u.uc_mcontext.gregs[REG_RSP]);
  bool fetching = (u.uc_mcontext.gregs[REG_ERR] & 0x10) != 0;  // of the page fault
  // An address that is none at all is refused before it is fetched from, and named nowhere.
  constexpr int kUserBits = 47;
  bool impossible = info->si_signo == SIGSEGV && pc >> kUserBits != 0;
  bool faulted = (info->si_signo == SIGSEGV || info->si_signo == SIGBUS) && info->si_code > 0;
  return faulted && (impossible || (fetching && reinterpret_cast<uintptr_t>(info->si_addr) == pc)) &&
         sp >= self.stackLow && sp < self.stackTop - 16;
}

void fatal(int signal, siginfo_t* info, void* context) {
  const auto* u = static_cast<const ucontext_t*>(context);
  if (tellsMore(BLACKOUT_END_FATAL, 0)) {
    if (jumpedAway(info, *u)) {
      ucontext_t caller = *u;
      greg_t* r = caller.uc_mcontext.gregs;
      r[REG_RIP] = *reinterpret_cast<const greg_t*>(r[REG_RSP]) - 1;  // in the call
      r[REG_RSP] += 8;
      keepPlace(caller, uintptr_t(r[REG_RIP]));
    } else {
      keepPlace(*u, uintptr_t(u->uc_mcontext.gregs[REG_RIP]));
    }
    if (info->si_code > 0) worker->fault_address = reinterpret_cast<uint64_t>(info->si_addr);
  }
  // The handler is gone (SA_RESETHAND): a fault comes again by itself, what somebody sent is sent again.
  if (info->si_code <= 0) syscall(SYS_tgkill, syscall(SYS_getpid), syscall(SYS_gettid), signal);
}

}  // namespace

void watchSignals() {
  stack_t stack{};
  stack.ss_sp = handlerStack;
  stack.ss_size = sizeof handlerStack;
  sigaltstack(&stack, nullptr);
  struct sigaction action{};
  action.sa_sigaction = fatal;
  action.sa_flags = SA_SIGINFO | SA_ONSTACK | int(SA_RESETHAND) | SA_NODEFER;
  const int signals[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT, SIGTRAP, SIGSYS, SIGXFSZ};
  for (int s : signals) sigaction(s, &action, nullptr);
}

char* placeStackTop() { return handlerStack + sizeof handlerStack; }

// What a handler of ours interrupted, if the thread is in one that has a stack of its own: it is kept above the frame
// that returns to the kernel. Our frames have frame pointers.
static const ucontext_t* interrupted(const ucontext_t* u) {
  constexpr uintptr_t kStackLimit = sizeof handlerStack * 16;
  constexpr unsigned char kReturn[] = {0x48, 0xc7, 0xc0, 0x0f, 0, 0, 0, 0x0f, 0x05};  // rt_sigreturn
  auto sp = uintptr_t(u->uc_mcontext.gregs[REG_RSP]), at = uintptr_t(u->uc_mcontext.gregs[REG_RBP]);
  if (sp >= self.stackLow && sp < self.stackTop) return u;
  for (uintptr_t low = sp; at >= low && at < sp + kStackLimit && (at & 7) == 0;) {
    const auto* frame = reinterpret_cast<const uintptr_t*>(at);
    if (frame[1] == 0) break;
    if (memcmp(reinterpret_cast<const void*>(frame[1]), kReturn, sizeof kReturn) == 0)
      return reinterpret_cast<const ucontext_t*>(frame + 2);
    low = at + 1;
    at = frame[0];
  }
  return u;
}

void keepPlaceAndStop(void* context) {
  const ucontext_t* u = interrupted(static_cast<const ucontext_t*>(context));
  static ucontext_t patched;
  if (accessUnderWay(patched)) u = &patched;
  worker->frame_count = 0;
  worker->end_kind = BLACKOUT_END_FATAL;
  // As if the instruction were a call that it has yet to return from.
  keepPlace(*u, uintptr_t(u->uc_mcontext.gregs[REG_RIP]) + 1);
  for (;;) __asm__ volatile("int3");
}

}  // namespace blackout::rt
