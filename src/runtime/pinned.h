// Time and chance in a recovery run are fixed, so that a recovery is a function of what it reads of the
// crash and of nothing else. The clock is the run's own: each look at it is one small step, and sleeping moves it
// on and returns at once, so that loops with a deadline end. Random numbers are one stream, the same in every run.
// The word pin=0 lets the real ones through; the run then says that it used them.
#pragma once

#include <errno.h>
#include <stddef.h>
#include <stdint.h>
#include <time.h>

#include "runtime/options.h"
#include "runtime/recovery.h"
#include "runtime/schedule.h"

namespace blackout::rt {

constexpr uint64_t kPinRecording = 2;
inline bool pinned() { return options.pin != 0 && (isRestart() || (options.pin == kPinRecording && recordsEvents())); }

// The run depends on something that may differ from run to run: BLACKOUT_USED_*.
inline void used(uint32_t bits) {
  if (isRestart()) __atomic_fetch_or(&worker->used, bits, __ATOMIC_RELAXED);
}

// The next bytes of the stream of random numbers.
void randomBytes(void* to, size_t size);
// A descriptor that gives this stream, if the path names a source of random numbers; -1 otherwise.
int openRandom(const char* path, int flags);

// The run's clock, for a program that the run executes: nanoseconds since the run began.
uint64_t pinnedElapsed();
void setPinnedElapsed(uint64_t nanoseconds);

// Waiting until a moment of the program's clock: the same distance of the real one, or not at all where nobody
// is there who could end the wait. `clock` -1: whichever the moment looks like.
const timespec* realMoment(clockid_t clock, const timespec* moment, timespec& room);
void passMoment(clockid_t clock, const timespec* moment);
// The run's clock for threads under control; null: it is not pinned.
const TurnClock* pinnedClock();
// The same moment for threads under control (schedule.h).
uint64_t momentOf(clockid_t clock, const timespec* moment);
// So long from now.
uint64_t momentIn(const timespec* time);
bool isMoment(const timespec* moment);
template <class Call>
int waitUntil(clockid_t clock, const timespec* moment, Call call) {
  if (moment == nullptr || (!isRestart() && !pinned())) return call(moment);
  timespec room;
  int r = call(realMoment(clock, moment, room));
  if (r == ETIMEDOUT || (r == -1 && errno == ETIMEDOUT)) passMoment(clock, moment);
  return r;
}

}  // namespace blackout::rt
