// Places in the source for instructions of code that Blackout did not compile: from their ids (events/trapped_id.h) by
// the debug info and symbols of the program files. A place that is known gets the id that the compiler's front end
// gives it, so that the two can be compared; instructions of one place are one site. Without debug info each
// instruction is its own, with the function that symbols name.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include "events/error.h"
#include "events/site.h"

namespace blackout {

class Trace;

// gcc names the parts and copies that it makes of a function: "insert.isra.0" is part of insert.
inline std::string withoutClone(const std::string& function) {
  for (const char* suffix : {".isra.", ".constprop.", ".part.", ".cold", ".lto_priv."})
    if (std::size_t at = function.find(suffix); at != std::string::npos && at > 0) return function.substr(0, at);
  return function;
}

class TrappedSites {
 public:
  TrappedSites();
  ~TrappedSites();

  // A program file in which such instructions may lie.
  void addModule(const std::string& path);
  // The site of an id that the runtime made; null: it is in no known program file.
  const Site* at(std::uint64_t trappedId);
  // One that at() has given, by the id that it has now; null: none.
  const Site* known(std::uint64_t id) const;

  // Gives the sites of a trace that is not sealed their places, in its file.
  Result<void> nameSites(const Trace& trace);

 private:
  struct Engine;
  std::unique_ptr<Engine> engine_;
  std::unordered_map<std::uint32_t, std::string> modules_;  // by blackout_name_hash
  std::unordered_map<std::uint64_t, std::unique_ptr<Site>> sites_;
  std::unordered_map<std::uint64_t, const Site*> byId_;
};

}  // namespace blackout
