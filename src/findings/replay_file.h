// A finding as a file that stands alone: what the crash left, the command that restarts on it, and
// what came of that. What the crash left is the beginning of a trace (its files with their content, where
// they are mapped, which operations had ended; crash_trace.h), so that a replay is an ordinary recovery run at the
// only point of that trace, and there is no second representation of memory.
//
// The file is a saved one (events/saved_file.h). Reading bounds everything: a file from a stranger is refused in a
// sentence or read without a fault.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "events/outcome.h"
#include "events/pool_pattern.h"
#include "findings/finding.h"

namespace blackout {

struct ReplayFile {
  std::string blackout;              // the version that wrote it
  std::vector<std::string> command;  // the restart's
  std::string folder;                // in which it runs
  std::vector<PoolPattern> pools;    // which paths are pools
  std::string input;                 // its standard input
  std::string model;                 // as --model takes it
  std::string trace;                 // a sealed one: what the crash left
  EventNo at = 0;                    // the point in it
  std::uint64_t stepLimit = 0;       // of a hang
  std::uint32_t seconds = 0;         // wall clock
  std::string runtimeOptions;        // further ones (run/runtime_options.h)
  bool exitCodeCounts = false;
  Outcome expected;
  std::string finding;  // JSON, as in the report
  bool operator==(const ReplayFile&) const = default;
};

// A finding with the file that replays it, which is still without the finding's JSON.
struct ReplayableFinding {
  Finding finding;
  ReplayFile replay;
};

Result<std::string> encodeReplay(const ReplayFile& file);
// `name` is what the complaint calls it.
Result<ReplayFile> decodeReplay(std::string_view bytes, const std::string& name);

// The same without header and compression: for the fuzzer, which could not guess a checksum.
std::string encodeReplayBody(const ReplayFile& file);
Result<ReplayFile> decodeReplayBody(std::string_view body, const std::string& name);

Result<ReplayFile> openReplay(const std::string& path);

}  // namespace blackout
