// How the program itself makes things durable: a function of its own that flushes and fences and stores nothing, and
// one that only fences. Read off the recorded run: a flush and the fence that follows it come from one call.
#pragma once

#include <optional>

#include "binary/stacks.h"

namespace blackout {

struct PersistFunctions {
  std::optional<Frame> persists;  // a place inside it
  std::optional<Frame> fencing;
};

PersistFunctions persistFunctionsOf(const Trace& trace, Stacks& stacks);

}  // namespace blackout
