// The operations whose answers no order explains, as lines of a report: what was done and answered, what had been
// acknowledged, where the power failed and with what lost, and in words why the last answer can't be right.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "findings/finding.h"

namespace blackout {

struct HistoryLine {
  std::string operation;  // "insert(7, 70) -> true", or "crash"
  std::string remark;     // "acknowledged"
  bool operator==(const HistoryLine&) const = default;
};

// Empty: the finding is not shown by such an answer.
std::vector<HistoryLine> historyBlock(const Finding& finding);

// What became of the operation: "lost after it was acknowledged"; empty as above.
std::string_view historyTitle(const Finding& finding);

}  // namespace blackout
