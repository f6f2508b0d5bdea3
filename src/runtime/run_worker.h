// What the fork server (zygote.cpp), the worker that waits for a run (run_wait.cpp) and the run itself (run_end.cpp,
// run_place.cpp) ask of each other.
#pragma once

#include <stdint.h>
#include <sys/types.h>

namespace blackout::rt {

// --- run_environment.cpp ---
// What the run's children are started with: they join the run instead of becoming zygotes.
void setRunEnvironment();
// What a client is started with: to it no path is a pool.
void setClientEnvironment();

// --- run_wait.cpp ---
// The pipes of all runs of this worker; their writing ends are the standard output and error of what comes after.
void makeOutputs();
// In a run: they are the worker's.
void closeOutputs();
// Waits for a run and everything that came of it, and for its client if it has one; false if the tool is gone.
bool waitForRun(pid_t run, int socket);
// What is left in the pipes.
void keepRest();

// --- run_place.cpp ---
// From here on a fatal signal leaves its place.
void watchSignals();

// --- run_end.cpp ---
// Before each run: the turns of loops that are left to it.
void beginTurns();
// Whether the frames of an end of this kind are to be kept: they tell more than what is there, which goes then.
bool tellsMore(uint32_t kind, int code);
// Appends the chain of frames at `at` to those of the run; false if it has none.
bool keepChain(uintptr_t at, uintptr_t low);

}  // namespace blackout::rt
