// A report, with the files that replay its findings, as bytes and back: what a database of results keeps of each
// recording, so that it can be added up later as if it had just been made. Every member of every struct is there, one
// after the other; report_bytes.cpp has the table of how many each struct has.
//
// Reading believes nothing: sizes, enumerators and numbers of places are checked.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "findings/replay_file.h"
#include "findings/report.h"

namespace blackout {

struct KeptReport {
  Report report;
  std::vector<ReplayableFinding> replayable;
};

std::string encodeReport(const KeptReport& kept);
// None: the bytes are no report.
std::optional<KeptReport> decodeReport(std::string_view bytes);

// Differs between versions of Blackout whose reports have other members, which can't read each other's.
std::uint64_t reportShape();

}  // namespace blackout
