// In which program file or shared library an instruction lies. The calls of an event begin with the caller of the
// instrumented function; that function itself is known by the id of its site, which stands in the site table of its
// object. Code of a header may stand in several objects under one id: then it is said of none of them.
#pragma once

#include <cstdint>
#include <string>
#include <unordered_map>
#include <vector>

#include "events/site.h"

namespace blackout {

class SiteObjects {
 public:
  // What has no table is passed over.
  explicit SiteObjects(const std::vector<std::string>& programs);
  // The path as it was given; null: unknown, or in several.
  const std::string* of(std::uint64_t siteId) const;

 private:
  std::vector<std::string> programs_;
  std::unordered_map<std::uint64_t, std::size_t> objects_;  // kSeveral, or the place in programs_
};

// Paths of the trace's program files that are instrumented, each once.
std::vector<std::string> instrumentedObjects(const Trace& trace);

}  // namespace blackout
