// How a run ends, told by itself: the frames of an exit or of a bound that it ran into, and which of several ends of
// its processes tells most.

#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "events/waits.h"
#include "runtime/real.h"
#include "runtime/recorder.h"
#include "runtime/recovery.h"
#include "runtime/run_worker.h"

namespace blackout::rt {

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

// A first process that exits with its child's code only passes it on.
bool tellsMore(uint32_t kind, int code) {
  if (kind == BLACKOUT_END_EXIT && !firstOfRun) kind = BLACKOUT_END_CHILD_EXIT;
  bool passedOn = kind == BLACKOUT_END_EXIT && worker->end_kind == BLACKOUT_END_CHILD_EXIT && worker->end_code == code;
  if (worker->frame_count != 0 && (kind <= worker->end_kind || passedOn)) return false;
  worker->end_kind = kind;
  worker->end_code = code;
  worker->frame_count = 0;
  return true;
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
  __atomic_store_n(&worker->ended, how, __ATOMIC_RELEASE);  // who sees it finds the words
  syscall(SYS_exit_group, 0);
  __builtin_unreachable();
}

// Whether it repeats itself is asked first: the worker may have seen that before, or not, and the answer is to be the
// same. True: that can't be told.
static bool deniedToRepeat() {
  if (uint32_t nobody = __atomic_load_n(&worker->asks, __ATOMIC_ACQUIRE); nobody == 0)
    __atomic_compare_exchange_n(&worker->asks, &nobody, uint32_t(syscall(SYS_gettid)), false, __ATOMIC_ACQ_REL,
                                __ATOMIC_ACQUIRE);
  struct timespec moment{0, 1000000};
  while (__atomic_load_n(&worker->asks, __ATOMIC_ACQUIRE) < BLACKOUT_ASKS_TRIED)
    syscall(SYS_nanosleep, &moment, nullptr);
  return worker->asks == BLACKOUT_ASKS_DENIED;
}

void stepsAreOver(const void* frame) {
  if (deniedToRepeat()) endRun(BLACKOUT_ENDED_HUNG, "more steps than the limit", frame);
}

// Turns are counted in rounds, at whose ends it is looked whether something new was observed: a run that goes on and on
// may be on its way as long as it learns something.
constexpr uint64_t kRounds = 64;
static int64_t turnsOfRound() {
  constexpr uint64_t kTurnsPerStep = 128, kMost = INT64_MAX;
  uint64_t steps = worker->step_limit;
  return int64_t(steps > kMost / kTurnsPerStep ? kMost : steps * kTurnsPerStep / kRounds);
}

void beginTurns() {
  worker->turns_rounds = worker->turns_queries = 0;
  worker->turns_left = turnsOfRound();
}

static void turnsAreOver(const void* frame) {
  if (worker->turns_queries != worker->query_count) worker->turns_rounds = 0;
  worker->turns_queries = worker->query_count;
  if (worker->turns_rounds < kRounds) ++worker->turns_rounds;
  worker->turns_left = worker->turns_rounds < kRounds ? turnsOfRound() : 1;
  if (worker->turns_rounds < kRounds || !deniedToRepeat()) return;
  char text[128];
  snprintf(text, sizeof text, "more than %llu %s",
           static_cast<unsigned long long>(turnsOfRound()) * static_cast<unsigned long long>(kRounds), kTurns);
  endRun(BLACKOUT_ENDED_HUNG, text, frame);
}

}  // namespace blackout::rt

using namespace blackout::rt;

BLACKOUT_EXPORT BLACKOUT_HOOK void __blackout_turns_over() { turnsAreOver(BLACKOUT_FRAME()); }

// Where the program gave up.
BLACKOUT_EXPORT __attribute__((noreturn)) void exit(int status) {
  if (isRestart() && status != 0) noteEnd(BLACKOUT_END_EXIT, status & 0xff, BLACKOUT_FRAME());
  BLACKOUT_REAL(exit)(status);
  __builtin_unreachable();
}
