// The same program with one list of operations after another (blackout fs): each is recorded, what is new in it is
// explored, and there is one report of all.
#pragma once

#include "check/one_recording.h"

namespace blackout {

Result<void> checkCampaign(CheckOptions options, Judged& all);

// What an operation does to persistent memory, as a number: its stores, flushes and fences by their instructions. Two
// operations with the same one went the same way through the code (Silhouette, section 4.4).
std::vector<std::uint64_t> operationFingerprints(const Trace& trace, const Operations& operations);

}  // namespace blackout
