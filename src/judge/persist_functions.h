// How the program itself makes things durable: a function of its own that flushes and fences and stores nothing, one
// that only fences, and one that adds ranges to a transaction. Read off the recorded run: a flush and the fence that
// follows it come from one call.
#pragma once

#include <optional>

#include "binary/stacks.h"

namespace blackout {

struct PersistFunctions {
  std::optional<Frame> persists;  // a place inside it
  std::optional<Frame> fencing;
};

PersistFunctions persistFunctionsOf(const Trace& trace, Stacks& stacks);

struct LogFunction {
  std::optional<Frame> adds;  // a place inside it
  bool libpmemobj = false;    // ranges are added by libpmemobj's own functions
};

LogFunction logFunctionOf(const Trace& trace, Stacks& stacks);

}  // namespace blackout
