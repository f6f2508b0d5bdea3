// How much of the code that changes persistent structs a recorded run came by: of all instrumented places that store to
// a struct which the run stored to persistent memory, those that it reached, and the lines of the others. What was not
// reached was not tested, whatever the result says.
#pragma once

#include <cstdint>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace blackout {

class ByteReader;
class ByteWriter;
class Trace;

struct SiteCoverage {
  std::uint64_t places = 0;        // lines of the source
  std::uint64_t reached = 0;       // of them
  std::vector<std::string> never;  // the others: "map.cpp:60", ascending
};

// Over any number of runs of one program. Nothing is counted where a program file has no site table, as in a plain
// build.
class LinesReached {
 public:
  using Line = std::pair<std::string, std::uint32_t>;  // a file's name and a line in it
  // Places that store to a struct, each with its name.
  using StoringLines = std::set<std::pair<Line, std::string>>;
  // All that these program files have.
  static StoringLines storingLines(const std::set<std::string>& programs);

  void add(const Trace& trace);
  void add(const LinesReached& more);
  // Of a restart what it does before its first operation: recovery is code that only restarts reach.
  void addRecovery(const Trace& trace);
  SiteCoverage coverage() const { return coverage(storingLines(programs_)); }
  // Where the program files are not at hand.
  SiteCoverage coverage(const StoringLines& all) const;
  const std::set<std::string>& programs() const { return programs_; }

  // As it stands in saved files (byte_stream.h).
  friend void encode(ByteWriter& out, const LinesReached& reached);
  friend LinesReached decodeLinesReached(ByteReader& in);

 private:
  void addStores(const Trace& trace, bool recovery);

  std::set<Line> reached_;
  std::set<std::string> structs_;   // that are in persistent memory
  std::set<std::string> programs_;  // that were loaded
};

void encode(ByteWriter& out, const LinesReached& reached);
LinesReached decodeLinesReached(ByteReader& in);

// A sentence; empty: all were reached. `generated`: the operations are a generator's, which options change.
std::string neverReached(const SiteCoverage& coverage, bool generated);

}  // namespace blackout
