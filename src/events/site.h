// Places, sites, stacks, pool files and program files, as values: the rows of a trace's tables. Headers that only hand
// a Trace on need no more than this; trace.h is for those who read one.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "events/event.h"

namespace blackout {

class Trace;

struct Place {
  std::string function;  // linkage name; empty: unknown
  std::string file;
  std::uint32_t line = 0;
  std::uint32_t column = 0;
  std::uint32_t discriminator = 0;
  auto operator<=>(const Place&) const = default;
};

// Where an instruction comes from: the place itself, then the calls into which it was inlined.
struct Source {
  std::uint64_t id = 0;
  std::vector<Place> chain;
  bool operator==(const Source&) const = default;
};

// An instrumented instruction. One that an optimiser merged has several sources.
struct Site {
  std::uint64_t id = 0;
  SiteKind kind{};
  std::uint16_t size = 0;
  bool atomic = false;
  std::vector<Source> sources;
  std::string type;  // "Struct.field"; empty: unknown
  // In code that has no site table. As the runtime writes it, it has no sources and an id of trapped_id.h; the tool
  // adds a record with the sources, the id that they have, and the program file (binary/trapped_sites.h).
  bool trapped = false;
  std::string module = {};
  bool operator==(const Site&) const = default;
};

using SiteNo = Id<struct SiteNoTag, std::uint32_t>;

// A site and the calls that led to it: return addresses, innermost first.
struct CallStack {
  SiteNo site = 0;
  std::span<const std::uint64_t> frames;
};

struct PoolFile {
  FileNo number = 0;
  std::string path;      // its last one
  bool before = false;   // it was there before the recording
  bool removed = false;  // it was gone at the end
  EventNo born = 0;
};

struct LoadedModule {
  std::string path;
  std::uint64_t bias = 0;
  std::uint64_t begin = 0;
  std::uint64_t end = 0;
  bool instrumented = false;
  bool trapped = false;  // what it does without being instrumented is followed
  // Its fences, flushes and locked instructions: how many are followed, and how many were not proved to be
  // instructions.
  std::uint32_t patched = 0;
  std::uint32_t unproved = 0;
};

}  // namespace blackout
