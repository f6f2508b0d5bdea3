// From places of a trace to calls with names and lines. An interface, so that tests of what is found need no debug
// information; symbolizer.h has the implementation.
#pragma once

#include <vector>

#include "binary/frame.h"
#include "events/outcome.h"
#include "events/site.h"

namespace blackout {

class Stacks {
 public:
  virtual ~Stacks() = default;
  // The calls at a place, innermost first; empty: unknown.
  virtual std::vector<Frame> at(const Trace& trace, StackId where) = 0;
  // The calls in which the run that the trace is of ended.
  virtual std::vector<Frame> endOf(const Trace& trace, const Outcome& outcome) = 0;
};

}  // namespace blackout
