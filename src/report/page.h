// The report as one page that needs nothing else: the bundle of page/, with the report as JSON in it and the lines of
// the source that findings name. What comes from a program stays data: it can't end the script that it stands in.
#pragma once

#include <string>
#include <string_view>

#include "events/error.h"

namespace blackout {

// `json`: as report/json.h writes a report. `name`: what the complaint calls it.
Result<std::string> renderPage(std::string_view json, const std::string& name);

}  // namespace blackout
