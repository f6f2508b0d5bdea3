// A strategy: which of the states that a crash may leave are looked at. At each crash space it proposes restrictions,
// by number, so that nothing is stored and any of them can be asked for in any order. docs/design.md, "The one idea".
// Which there are: strategies.h.
#pragma once

#include <cstdint>
#include <string_view>
#include <utility>
#include <vector>

#include "explore/crash_space.h"

namespace blackout {

// What lines may take that a restriction does not name. Unlike UnnamedLines of a crash state it need not be one
// version.
enum class Unrestricted : std::uint8_t {
  Any,      // chosen when recovery observes it
  Least,    // nothing more than guaranteed
  Newest,   // everything persisted
  Sampled,  // one version, by the restriction's seed
};

// Which versions are allowed: numbers in UncertainLine::versions, ascending, at least one.
struct Restriction {
  std::vector<std::pair<TrackedNo, std::vector<std::uint32_t>>> allowed;  // by line, ascending
  Unrestricted unnamed = Unrestricted::Any;
  std::uint64_t seed = 0;  // for Unrestricted::Sampled
  // Of the pool files: numbers in UncertainFiles::versions, ascending; none: as of an unnamed line.
  std::vector<std::uint32_t> files{};
};

class Strategy {
 public:
  virtual ~Strategy() = default;
  virtual std::string_view name() const = 0;
  // How many restrictions it has at a space; UINT64_MAX if more than fit.
  virtual std::uint64_t count(const CrashSpace& space) const = 0;
  virtual Restriction restriction(const CrashSpace& space, std::uint64_t number) const = 0;
  // Whether its restrictions leave one version of every line, so that it makes sense to say how many of all states it
  // looks at.
  virtual bool choosesStates() const { return true; }
  // 0, or how many restrictions over all spaces it agrees to; more are refused before anything is run.
  virtual std::uint64_t bound() const { return 0; }
};

}  // namespace blackout
