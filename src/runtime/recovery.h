// The recovery role: this process is a restart after a simulated crash. Its pools lie in its worker's
// folder with the crash's content in place; what it observes of them is logged for the tool, and nothing that it
// writes outlives it. Contract: events/recovery_contract.h.
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "events/contract.h"
#include "events/recovery_contract.h"
#include "runtime/role.h"

namespace blackout::rt {

struct Region;

// The control block of this run's worker; null outside the role.
extern blackout_worker* worker;
extern const blackout_plan* plan;
// The folder of this run's worker.
extern const char* workerFolder;
// By number: files that the run made itself, so that nothing in them is the crash's.
extern const bool* madeFiles;

// The fork server. Returns only in a recovery run, with everything in place.
void becomeZygote();
// A program that a recovery run has executed: it belongs to the same run.
void joinRun();

// --- what the run observes of the crash (observe.cpp) ---
// It reads [p, p + size), of which some may be PM. Cheap where nothing is tracked. True: something was not seen before.
bool observe(const void* p, size_t size, blackout_site* site, const void* frame, uint32_t group = 0);
// Whether one process observes: then the two above and below are loads and stores only.
bool observesAlone();
// It reads or writes bytes of a pool through its descriptor.
void observeFile(uint32_t file, uint64_t offset, uint64_t size);
void overwriteFile(uint32_t file, uint64_t offset, uint64_t size);
// It writes [p, p + size): from now on these bytes are its own. True as above.
bool overwrite(const void* p, size_t size);
// It asks what is at a pool's canonical path, or below a folder of pools.
void observePath(const char* canonicalPath);
void observeAllPaths();
// It asks for a recorded operation. `question`: 1, had it begun; 2, had it ended.
bool operationReached(uint64_t n, unsigned question, const void* frame);
// A number for reads that belong together: one mem* call.
uint32_t newGroup();
// Whether all that is tracked in these addresses of a region has been read or written.
bool allSeen(const Region& region, uintptr_t begin, uintptr_t end);
// The run made this file itself: nothing in it is the crash's, whatever its number was in other runs.
void noteMadeFile(uint32_t file);
// Per line of the file: 0, or the number of the tracked line + 1. Null if nothing of it is tracked.
const uint32_t* trackedSlots(uint32_t file, uint64_t& lines);
// Per BLACKOUT_PLAN_STRETCH lines of a file that has slots: whether any is tracked.
const uint8_t* trackedMarks(uint32_t file);
void mapPlan(const char* path);
void mapSeen();
// Before another process of the run is made: from here on they observe as one.
void shareObserved();
// In that process.
void joinObserved();

// --- its pools (private_pools.cpp) ---
// Before anything that the private mappings can't hold (a write through a descriptor, a change of size or
// name, a second mapping of the same bytes, another process): from here on the run has files of its own and works on
// them as a recording does. Does something once per restart, and nothing elsewhere. Not inside a Scope that another
// thread could wait for: it takes one itself.
void makePrivatePools();
// Inside a Scope. A run without files of its own unmaps these addresses; what it stored there would go with its private
// mapping. So it is put aside, out of the program's reach, until the run asks for the file again, which most never do.
// The rest of the addresses is unmapped. False: there is nothing to keep.
bool putAside(uintptr_t begin, uintptr_t end);
// Whether something is put aside: of the file, or at these addresses.
bool isAside(uint32_t file);
bool isAside(uintptr_t begin, uintptr_t end);
// Where the recording mapped these bytes; 0: it didn't.
uintptr_t recordedAddress(uint32_t file, uint64_t offset, size_t size);

// Whether this is the run's first process: how it ends is how the run ends.
extern bool firstOfRun;

// Ends the run at once: BLACKOUT_ENDED_*.
[[noreturn]] void endRun(uint32_t how, const char* text, const void* frame);
// One more step of the run: an access to PM, a look at the clock, a sleep. Past the limit it has hung.
void stepsAreOver(const void* frame);
inline void step(const void* frame) {
  if (__builtin_expect(++worker->steps > worker->step_limit, 0)) stepsAreOver(frame);
}
// Keeps where the run is, as the place where it ended: BLACKOUT_END_*, and the code of an exit.
void noteEnd(uint32_t kind, int code, const void* frame);

// The real clock, for what things cost.
uint64_t realNanoseconds();

// A sentence for the user, each once.
void note(const char* text, const char* detail);
// The same, of what can't be observed: the result is inconclusive then.
void unseen(const char* text, const char* detail);
// A program file of a process that the run executed.
void noteRunModule(const char* path);

}  // namespace blackout::rt
