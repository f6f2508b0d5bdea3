// The site table of a program file, for `blackout sites`.
#pragma once

#include <string>
#include <vector>

#include "events/site.h"

namespace blackout {

std::string renderSitesText(const std::vector<Site>& sites);
std::string renderSitesJson(const std::string& path, const std::vector<Site>& sites);

}  // namespace blackout
