// Code that no hook sees: which of the loaded program files have functions that are not instrumented and
// flush cache lines. What such code makes durable is unknown, so nothing can be said about
// durability; it is found by decoding, not by name.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "events/site.h"

namespace blackout {

// Whether a function of a program file has clflush, clflushopt or clwb and is not instrumented.
bool hasUnseenFlushes(const std::string& path);

// Base names of the trace's program files with such functions, in order.
std::vector<std::string> flushingModules(std::span<const LoadedModule> modules);

// The libraries that instrumented program files call directly and that are not instrumented themselves,
// without those of the C and C++ languages.
std::vector<std::string> uninstrumentedLibraries(std::span<const LoadedModule> modules);

// Why nothing can be said about durability: the trace is not whole, or code that it doesn't see
// touched PM. Empty if everything was seen.
std::string unseenReason(const Trace& trace);

}  // namespace blackout
