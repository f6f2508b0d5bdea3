// From a where record of a trace to a stack that a person can read. The innermost frames are the
// site's own places (the pass wrote them, so they need no debug info at run time); the outer ones are
// return addresses, looked up in the debug info of the program files that the trace names.
// Frames of the runtime itself are left out, and the stack ends at main or a thread's first function.
#pragma once

#include <memory>
#include <vector>

#include "binary/stacks.h"
#include "events/site.h"

namespace blackout {

// A site's source as frames, innermost first, with demangled functions.
std::vector<Frame> framesOf(const Source& source);
// The line of the source that a place of a trace is, as its site says; empty: unknown.
Frame frameAt(const Trace& trace, StackId where);

// What debug information says of an address is found once: the recordings of a check are of the same program files.
class Symbolizer {
 public:
  // What reads debug information. Whoever makes several symbolizers gives them one, so that each file is read once.
  struct Engine;
  explicit Symbolizer(const Trace& trace, std::shared_ptr<Engine> engine = makeEngine());
  ~Symbolizer();
  static std::shared_ptr<Engine> makeEngine();

  std::vector<Frame> stackOf(StackId where);
  // Where the run of the trace ended.
  std::vector<Frame> stackOf(const Outcome& outcome);
  // The other sources of an instruction that an optimiser merged, each with the calls into which it was inlined.
  std::vector<std::vector<Frame>> mergedWith(StackId where) const;

 private:
  // The frames of one return address, inlined ones first; empty if it is in no program file.
  const std::vector<Frame>& lookUp(std::uint64_t returnAddress);
  // Adds the calls that the return addresses name, up to main or a thread's first function.
  void append(std::vector<Frame>& stack, std::span<const std::uint64_t> returnAddresses);

  struct Cache;
  const Trace& trace_;
  std::shared_ptr<Engine> engine_;
  std::unique_ptr<Cache> cache_;
};

// The symbolizer as findings want it: for any trace.
class SymbolizedStacks : public Stacks {
 public:
  std::vector<Frame> at(const Trace& trace, StackId where) override {
    return Symbolizer(trace, engine_).stackOf(where);
  }
  std::vector<Frame> endOf(const Trace& trace, const Outcome& outcome) override {
    return Symbolizer(trace, engine_).stackOf(outcome);
  }

 private:
  std::shared_ptr<Symbolizer::Engine> engine_ = Symbolizer::makeEngine();
};

}  // namespace blackout
