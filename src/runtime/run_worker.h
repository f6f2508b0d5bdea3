// What the fork server (zygote.cpp), the worker that waits for a run (run_wait.cpp) and the end of a run (run_end.cpp)
// ask of each other.
#pragma once

#include <sys/types.h>

namespace blackout::rt {

// --- zygote.cpp ---
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

// --- run_end.cpp ---
// From here on a fatal signal leaves its place.
void watchSignals();

}  // namespace blackout::rt
