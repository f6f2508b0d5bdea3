// The layout of the payloads of a trace's tables, used by every writer and by the reader.
#pragma once

#include <string>
#include <string_view>

#include "events/error.h"
#include "events/site.h"

namespace blackout {

std::string encodeSite(const Site& site);
Result<Site> decodeSite(std::string_view payload);
std::string encodeModule(const LoadedModule& module);

}  // namespace blackout
