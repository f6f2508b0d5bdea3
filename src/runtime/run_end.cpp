// How a run ends, told by itself: the frames of a fatal signal, of an exit or of a bound that it ran into, and which of
// several ends of its processes tells most.

#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <ucontext.h>
#include <unistd.h>

#include "runtime/modules.h"
#include "runtime/real.h"
#include "runtime/recorder.h"
#include "runtime/recovery.h"
#include "runtime/run_worker.h"
#include "runtime/trap/trap.h"

namespace blackout::rt {

namespace {

alignas(16) char handlerStack[65536];

// Appends the chain of frames at `at` to those of the run; false if it has none.
bool keepChain(uintptr_t at, uintptr_t low) {
  uint32_t n = worker->frame_count;
  uint32_t first = n;
  while (n < BLACKOUT_MAX_RUN_FRAMES && at >= low && at < self.stackTop - 16 && (at & 7) == 0) {
    uint64_t pc = reinterpret_cast<const uint64_t*>(at)[1];
    if (pc == 0) break;
    worker->frames[n++] = pc;
    low = at + 1;
    at = *reinterpret_cast<const uintptr_t*>(at);
  }
  worker->frame_count = n;
  return n > first;
}

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

// A trapped program has unwind tables instead of frame pointers.
void keepUnwound(const Frame& from) {
  uint32_t& n = worker->frame_count;
  n += uint32_t(unwind(from, self.stackLow, self.stackTop, worker->frames + n, int(BLACKOUT_MAX_RUN_FRAMES - n)));
}

// Whether the frames of an end of this kind are to be kept: they tell more than what is there. A first process that
// exits with its child's code only passes it on.
bool tellsMore(uint32_t kind, int code) {
  if (kind == BLACKOUT_END_EXIT && !firstOfRun) kind = BLACKOUT_END_CHILD_EXIT;
  bool passedOn = kind == BLACKOUT_END_EXIT && worker->end_kind == BLACKOUT_END_CHILD_EXIT && worker->end_code == code;
  if (worker->frame_count != 0 && (kind <= worker->end_kind || passedOn)) return false;
  worker->end_kind = kind;
  worker->end_code = code;
  worker->frame_count = 0;
  return true;
}

// Where a signal found the run: the stack by frame pointers, from the interrupted instruction up.
void fatal(int signal, siginfo_t* info, void* context) {
  auto* u = static_cast<ucontext_t*>(context);
  if (tellsMore(BLACKOUT_END_FATAL, 0)) {
    auto pc = uintptr_t(u->uc_mcontext.gregs[REG_RIP]);
    auto low = uintptr_t(u->uc_mcontext.gregs[REG_RSP]);
    worker->frames[0] = pc;
    worker->frame_count = 1;
    if (plainCode)
      keepUnwound(frameOf(*u));
    else if (traced && !inInstrumented(pc))
      keepScanned(low);
    else
      keepChain(uintptr_t(u->uc_mcontext.gregs[REG_RBP]), low);
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
  const int signals[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT, SIGTRAP, SIGSYS};
  for (int s : signals) sigaction(s, &action, nullptr);
}

void noteEnd(uint32_t kind, int code, const void* frame) {
  if (!tellsMore(kind, code)) return;
  if (plainCode && (frame != nullptr || self.trapped != nullptr)) {
    Stack stack;
    if (self.trapped != nullptr)
      stack = *self.trapped;
    else
      walkCallers(stack, frame);
    worker->frame_count = uint32_t(stack.count);
    memcpy(worker->frames, stack.frames, size_t(stack.count) * sizeof(uint64_t));
  } else if (frame != nullptr) {
    keepChain(reinterpret_cast<uintptr_t>(frame), self.stackLow);
  }
}

void endRun(uint32_t how, const char* text, const void* frame) {
  noteEnd(BLACKOUT_END_FATAL, 0, frame);
  snprintf(worker->text, sizeof worker->text, "%s", text);
  worker->ended = how;
  syscall(SYS_exit_group, 0);
  __builtin_unreachable();
}

}  // namespace blackout::rt

using namespace blackout::rt;

// Where the program gave up.
BLACKOUT_EXPORT __attribute__((noreturn)) void exit(int status) {
  if (recovering() && status != 0) noteEnd(BLACKOUT_END_EXIT, status & 0xff, BLACKOUT_FRAME());
  BLACKOUT_REAL(exit)(status);
  __builtin_unreachable();
}
