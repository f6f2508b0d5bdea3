// Commit variables and what they cover (XFDetector, section 3.2), as the program registered them: blackout_commit_var()
// and blackout_commit_range() in the recorded run.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "events/error.h"
#include "events/site.h"

namespace blackout {

// Bytes of a line in the range, as a mask.
std::uint64_t maskIn(LineNo line, const PmRange& range);

struct CommitVariable {
  PmRange variable;
  EventNo at = 0;               // registered here
  std::vector<PmRange> ranges;  // what it covers; none: everything else
  // Bytes of a line that it covers.
  std::uint64_t covers(LineNo line) const;
};

// In the order of their registration. An error that says where (`place` of the event): variables or ranges overlap
// (equation 2), a range of a variable that is none, several variables of which one covers everything.
Result<std::vector<CommitVariable>> commitVariables(const Trace& trace,
                                                    const std::function<std::string(EventNo)>& place);

}  // namespace blackout
