// Places of instructions that are known by their ids only: a recovery run names the load that read something by the
// id of its site, which stands in the site table of the program file.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "events/site.h"

namespace blackout {

class SitePlaces {
 public:
  // The sites of these program files; what has no table is passed over.
  explicit SitePlaces(const std::vector<std::string>& programs);
  // "map.cpp:60"; empty: unknown.
  std::string at(std::uint64_t id) const;

 private:
  std::map<std::uint64_t, std::string> places_;
};

std::string shortPlace(const Site& site);
// The same for a place of a trace.
std::string shortPlace(const Trace& trace, StackId where);

}  // namespace blackout
