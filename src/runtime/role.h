// What this process is to Blackout: one role. It is decided before anything of the program runs, and it stays. Whoever
// does different things in different roles asks one of the questions below, which are about what is to be done; each is
// one load and one test, because hooks ask them on every access.
#pragma once

#include <stdint.h>

namespace blackout::rt {

// What the questions ask for.
constexpr uint8_t kInRun = 1;
constexpr uint8_t kRecords = 2;
constexpr uint8_t kRestarts = 4;
constexpr uint8_t kTalks = 8;

enum class Role : uint8_t {
  Idle = 0,                                       // no run of Blackout's: the program is left alone. The zygote too
  Recording = kInRun | kRecords,                  // the run that gives the trace
  Restart = kInRun | kRestarts,                   // a run after a crash: what it observes is logged. Its worker too
  TracedRestart = kInRun | kRestarts | kRecords,  // a restart with a trace of its own, for a crash in it or its places
  Client = kInRun | kRestarts | kTalks,           // of a restarted server: no pool is its own
};
extern Role role;

inline bool has(uint8_t bits) { return (uint8_t(role) & bits) != 0; }

// Whether Blackout follows this process at all: there is a table of files, and PM is known.
inline bool inRun() { return has(kInRun); }
// Whether what it does becomes events of a trace.
inline bool recordsEvents() { return has(kRecords); }
// Whether it is the run that gives the trace: no crash was before it.
inline bool isRecording() { return role == Role::Recording; }
// Whether a crash was before it: it works on what that left, with time and chance pinned, and all that it changes goes
// when it ends.
inline bool isRestart() { return has(kRestarts); }
// Whether its accesses to PM are observed: what it reads of the crash, what it overwrites.
inline bool observesCrash() { return isRestart(); }
// Whether that is all that is wanted of it.
inline bool observesOnly() { return isRestart() && !recordsEvents(); }
// Whether it sees files that are no pools as they were before the recording, and changes only copies (overlay.h).
inline bool redirectsFiles() { return isRestart(); }
inline bool isClient() { return has(kTalks); }

// A restart that has private copies of its pools: made by this process, or by one before it in the run.
extern bool privatePools;
inline bool hasPrivatePools() { return privatePools; }
// A restart whose pools are still the image that all runs of the worker share, mapped privately.
inline bool mapsImage() { return isRestart() && !privatePools; }

// Beside the role, whatever that is:
// Whether PM is protected in this process: the option "trap".
extern bool trapping;
// Whether code that was not compiled by Blackout is expected to work on PM: the program itself, or a library that is
// made for it. Stacks are walked by unwind tables then; frame pointers are faster and say as much of compiled code.
extern bool plainCode;

}  // namespace blackout::rt
