// What a long exploration shows while it runs: one line that is written anew on a terminal, a plain line every ten
// seconds or so elsewhere.
#pragma once

#include <cstdint>
#include <cstdio>
#include <string>

#include "check/check.h"

namespace blackout::cli {

struct ProgressState {
  unsigned level = 1;      // which crash in a row
  std::uint64_t done = 0;  // points
  std::uint64_t total = 0;
  std::uint64_t runs = 0;
  double runsPerSecond = 0;
  std::uint64_t failing = 0;  // different failures so far
  double seconds = 0;         // since the beginning
};

// "point 120 of 1,204 · 3,410 restarts, 1,520/s · 2 failures · 8 s left"
std::string progressText(const ProgressState& state);
// "workload 17 of 151 · 3 only made · 1 finding · 4.2/s · 32 s left"
std::string progressText(const Campaign::Progress& state);
// "3 s", "2 min 5 s", "1 h 12 min": at most two units.
std::string durationText(double seconds);

class ProgressLine {
 public:
  explicit ProgressLine(std::FILE* out);
  ~ProgressLine() { clear(); }
  ProgressLine(const ProgressLine&) = delete;
  ProgressLine& operator=(const ProgressLine&) = delete;

  void show(const ProgressState& state);
  void show(const std::string& text, double seconds);
  // Takes the line away, so that something else can be printed.
  void clear();

 private:
  std::FILE* out_;
  bool terminal_;
  bool shown_ = false;
  double next_ = 10;  // seconds, when not a terminal
};

}  // namespace blackout::cli
