// The report for reading: the verdict and one line for each finding, as editors take it; then each with its numbered
// places and source excerpts, worst first; what the result means; and one summary line at the end that scripts may look
// for.
#pragma once

#include <string>

#include "findings/report.h"

namespace blackout {

// How much is told.
enum class Detail : std::uint8_t {
  Quiet,    // the verdict, a line for each finding, and what makes the result inconclusive
  Normal,   // a screen for each finding
  Verbose,  // more of the source and of stacks, and what is the same in every report: what kinds mean, general limits
};

struct TextOptions {
  bool color = false;
  std::string root;  // paths below it are shown relative to it; empty: all as they are
  Detail detail = Detail::Normal;
};

std::string renderText(const Report& report, const TextOptions& options);
// One finding as it stands there.
std::string renderFinding(const Finding& finding, const TextOptions& options);

// "blackout: findings: 2 suspected, 3 performance", "blackout: clean: ...", "blackout: inconclusive: ..."
std::string verdictLine(const Report& report);
// "list.cpp:11:8: error: List.head, stored here, is never flushed: ... [missing-flush]": as compilers write them, and
// editors read them. What is suspected, or only costs time, is a warning.
std::string findingLine(const Finding& finding, const std::string& root);

// "SUMMARY: blackout: 2 suspected, 3 performance; 12,345 events ..."
std::string summaryLine(const Report& report);

// Whether a stream should be coloured: a terminal, and NO_COLOR not set (https://no-color.org).
bool wantsColor(int fd);

}  // namespace blackout
