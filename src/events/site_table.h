// The site table as it lies in a program file or in memory: see contract.h for its layout.
#pragma once

#include <string>
#include <vector>

#include "events/error.h"
#include "events/site.h"

namespace blackout {

// All sites of an instrumented program file, in the order of the table. An error if the
// file is no ELF file or has no table.
Result<std::vector<Site>> readSiteTable(const std::string& path);

}  // namespace blackout
