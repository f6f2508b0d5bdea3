// Counting-related atomicity ("Inferring Likely Counting-related Atomicity Program Properties for Persistent Memory",
// ATC'25): an array and a number that says how much of it counts must change together. The number is told by how the
// code reads: every read stays below it. The result of the static analysis, as plain values.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "infer/guardians.h"

namespace blackout {

// What bounds a read.
enum class CountingRule : std::uint8_t {
  Size,        // below the counter
  Power,       // below two to the power of the counter
  Complement,  // below a constant less the counter
  Ring,        // modulo the size of the array: from another counter, its start, to before this one
  RingLength,  // the same: from its start on, as many as the counter says
};
const char* nameOf(CountingRule rule);

enum class ReadProof : std::uint8_t { Proven, Refuted, Unknown };
const char* nameOf(ReadProof proof);

struct CountedRead {
  Source at;
  ReadProof proof{};
  std::string why;  // the values that refute it ("Node.count = 0, i = 3"), or why nothing can be said
  bool operator==(const CountedRead&) const = default;
};

struct CountingProperty {
  CountingRule rule{};
  FieldKey array;  // "Node.children[]"
  FieldKey counter;
  FieldKey start;             // of Ring and RingLength: where it begins
  FieldKey pointer;           // "Dir.slots": the member that leads to the array; empty: the array is a member itself
  std::int64_t constant = 0;  // of Complement
  std::int64_t mask = 0;      // the counter is these bits of its field; 0: all of it
  // How an object has them: bytes from the array, or the pointer to it, to the counter; bytes of an array inside it.
  std::int64_t counterAt = 0;
  std::uint64_t arrayBytes = 0;    // 0: not known
  bool notZero = false;            // proven only for a counter that is not 0, as a capacity is
  std::vector<CountedRead> reads;  // in order of place
  std::size_t proven = 0, refuted = 0, unknown = 0;
  // In functions that change both.
  std::vector<Source> arrayWrites, pointerWrites, counterWrites;

  bool strict() const { return proven == reads.size(); }
  // From 0 to 1: how much speaks for it.
  double score() const;
  bool operator==(const CountingProperty&) const = default;
};

struct DroppedPair {
  FieldKey array, counter;
  std::string reason;
  std::vector<CountedRead> reads;  // that were looked at, in order of place
  bool operator==(const DroppedPair&) const = default;
};

struct CountingProperties {
  std::vector<CountingProperty> properties;  // by score, then by name
  std::vector<DroppedPair> dropped;          // in order of array and counter
  std::vector<std::string> incomplete;       // sentences: what was left out
  std::size_t arrays = 0, reads = 0;         // that were looked at
  std::uint64_t questions = 0;               // to the solver
  bool operator==(const CountingProperties&) const = default;
};

// "every one of 12 reads stays below count", "31 of 33 reads stay between head and tail (2 unknown)".
std::string boundText(const CountingProperty& property);

}  // namespace blackout
