// What the operations of a recording came by, so that lists of operations can be compared without their traces. Two
// sets of hashes:
//
// - `stores` is what an exploration depends on: each instruction that stores to PM, and which store of the same
//   operation came before it, so another branch between two stores is another element;
// - `hints` is what is worth going on from: which access follows which in an operation, and how often, by powers of two
//   (a chain that gets longer, a node that gets fuller), how often each store came by in the whole run, and which way
//   each branch went, of code that was compiled with -mllvm -blackout-events=branch.
#pragma once

#include <cstdint>
#include <vector>

namespace blackout {

class Trace;

struct Reached {
  std::vector<std::uint64_t> stores, hints;  // ascending, each once
  bool operator==(const Reached&) const = default;
};

// Loads count if the trace has them.
Reached reachedBy(const Trace& trace);

}  // namespace blackout
