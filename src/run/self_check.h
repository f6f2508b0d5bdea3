// Every recording checks itself: the trace, replayed over what was there before, must give the
// pools that the program left, byte for byte. If it doesn't, somebody wrote whom we don't see.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "events/error.h"
#include "events/site.h"

namespace blackout {

// The differences in words, "pool.img: bytes 0x1000 to 0x1008"; empty if the trace explains everything.
Result<std::vector<std::string>> unexplainedBytes(const Trace& trace, const std::filesystem::path& shadow);

}  // namespace blackout
