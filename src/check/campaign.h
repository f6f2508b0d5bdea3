// The same program with one list of operations after another (blackout fs): each is recorded, what is new in it is
// explored, and there is one report of all. With a folder the result of each is kept (check/results.h) when it is done.
#pragma once

#include <optional>

#include "check/one_recording.h"

namespace blackout {

Result<void> checkCampaign(CheckOptions options, Judged& all);

// The report of campaigns over parts of the workloads, from what they have kept in their folders: as if one campaign
// had made them all.
Result<void> mergeCampaigns(const std::vector<std::string>& folders, Judged& all);

// What an operation does to persistent memory, as a number: its stores, flushes and fences by their instructions. Two
// operations with the same one went the same way through the code (Silhouette, section 4.4). None: not every
// instruction is known, so it is like no other.
std::vector<std::optional<std::uint64_t>> operationFingerprints(const Trace& trace, const Operations& operations);

}  // namespace blackout
