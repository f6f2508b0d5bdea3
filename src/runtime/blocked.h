// A look at what the kernel says of all threads of a run: what they take of the machine, and whether all of them wait
// for ever. A thread is blocked if it sleeps in a call without a time limit that nobody but the run's own threads can
// end. What can't be told counts as going on, so that no program that is merely slow is taken for one that is stuck.
// The client of a server is looked at with it while it talks: if both are blocked, nobody is left.
#pragma once

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

namespace blackout::rt {

struct ThreadId {
  pid_t process = 0;
  pid_t thread = 0;
};

struct WaitingThread {
  ThreadId id;
  const char* what = nullptr;  // "a lock or a condition"
};

// All threads of the run at one look.
struct RunLook {
  uint32_t threads = 0;
  uint32_t blocked = 0;
  uint64_t ran = 0;     // a sum over which thread was put on a processor how often
  WaitingThread waits;  // of those that are blocked, the one whose place tells most
  static constexpr size_t kMostWaiting = 16;
  WaitingThread waiting[kMostWaiting];  // the first ones that are blocked, in the order in which they were made
  ThreadId goes;                        // one that is not blocked
  bool computes = false;                // it runs, or could
  bool forLock = false;                 // one that is blocked waits for a lock, a condition or the like
  uint32_t byOwn = 0;                   // of those that are blocked: neither a client nor a signal can wake them
  uint32_t client = 0;                  // threads of the client, which are none of the above
  uint32_t clientBlocked = 0;
  uint64_t computedMs = 0;  // on processors, all of them together
  uint64_t memory = 0;      // bytes of its own
  uint64_t queuedMs = 0;    // waiting for a processor that somebody else had
};

// `run` is below the calling process, as everything that came of it is. `driver`, if it is one, and what is below it is
// none of the run: the client. Where that `talks`, what server and client wait for from each other counts as the run's
// own.
RunLook lookAt(pid_t run, pid_t driver, bool talks);

// Two looks that find everybody blocked, and nobody having run in between: there was a moment at which all of them
// were.
inline bool stuck(const RunLook& before, const RunLook& now) {
  return now.threads != 0 && now.blocked == now.threads && before.blocked == before.threads &&
         before.threads == now.threads && now.clientBlocked == now.client && before.clientBlocked == before.client &&
         before.client == now.client && before.ran == now.ran;
}

}  // namespace blackout::rt
