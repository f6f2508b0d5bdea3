// How a recovery run ended, as the runtime and its worker say (recovery_contract.h), as a plain value: what explorers
// compare, oracles judge and replay files keep.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "events/history.h"

namespace blackout {

class ByteReader;
class ByteWriter;

enum class Ending : std::uint8_t {
  Exited,       // code: exit status
  Signalled,    // code: the signal
  Hung,         // more steps than the limit
  Expectation,  // blackout_expect() did not hold; text: its words
  TimedOut,     // the wall clock's guard: nothing can be said
  Broken,       // the run could not be made or followed; text: why
  Bound,        // it took more of the machine than a run may; text: of what
};

struct Outcome {
  Ending ending = Ending::Exited;
  int code = 0;
  std::string text;
  std::string output;  // standard output and error, the first part
  bool outputCut = false;
  std::uint64_t faultAddress = 0;     // of a signal that has one
  std::vector<std::uint64_t> frames;  // where it ended, innermost first; empty: unknown
  History history;                    // the operations that it said it made (blackout_history_begin)
  bool operator==(const Outcome&) const = default;
};

// As it stands in saved files (byte_stream.h). The reader is rejected if the bytes are no outcome.
void encode(ByteWriter& out, const Outcome& outcome);
Outcome decodeOutcome(ByteReader& in);

}  // namespace blackout
