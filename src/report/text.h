// The report for reading: findings worst first with numbered places and source excerpts, what the
// result means, and one summary line at the end that scripts may look for.
#pragma once

#include <string>

#include "findings/report.h"

namespace blackout {

struct TextOptions {
  bool color = false;
  std::string root;           // paths below it are shown relative to it; empty: all as they are
  unsigned contextLines = 2;  // of source on each side
  unsigned maxFrames = 8;     // of a stack; the rest is counted
};

std::string renderText(const Report& report, const TextOptions& options);

// "SUMMARY: blackout: 2 suspected, 3 performance; 12,345 events ..."
std::string summaryLine(const Report& report);

// Whether a stream should be coloured: a terminal, and NO_COLOR not set (https://no-color.org).
bool wantsColor(int fd);

}  // namespace blackout
