// How much of the code that changes persistent structs a recorded run came by: of all instrumented places that store to
// a struct which the run stored to persistent memory, those that it reached, and the lines of the others. What was not
// reached was not tested, whatever the result says.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace blackout {

class Trace;

struct SiteCoverage {
  std::uint64_t places = 0;        // lines of the source
  std::uint64_t reached = 0;       // of them
  std::vector<std::string> never;  // the others: "map.cpp:60", ascending
};

// `programs`: files with site tables. Nothing is counted where there is none, as in a plain build.
SiteCoverage siteCoverage(const Trace& trace, const std::vector<std::string>& programs);

}  // namespace blackout
