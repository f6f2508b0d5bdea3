// From places of a trace to calls with names and lines. An interface because findings are made where no debug
// information is read; src/report has the implementation.
#pragma once

#include <vector>

#include "events/trace.h"
#include "explore/run.h"
#include "findings/finding.h"

namespace blackout {

class Stacks {
 public:
  virtual ~Stacks() = default;
  // The calls at a place, innermost first; empty: unknown.
  virtual std::vector<Frame> at(const Trace& trace, WhereNo where) = 0;
  // The calls in which the run that the trace is of ended.
  virtual std::vector<Frame> endOf(const Trace& trace, const Outcome& outcome) = 0;
};

}  // namespace blackout
