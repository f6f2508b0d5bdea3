// Bytes compressed in memory (zstd), with a bound on what they may grow to: they may come from a file that somebody
// damaged.
#pragma once

#include <string>
#include <string_view>

#include "events/error.h"

namespace blackout {

Result<std::string> pack(std::string_view bytes);
Result<std::string> unpack(std::string_view packed, std::uint64_t most);

}  // namespace blackout
