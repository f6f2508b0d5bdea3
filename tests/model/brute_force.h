// docs/semantics.md a second time, by brute force: an explicit machine that interprets a trace event by
// event. It has no histories with minima and no closure; it has, for each line, the set of all
// memories that are possible now. Between events any store may move from the cache or a write
// buffer into memory, one at a time, whenever what must go first has gone; a flush that takes
// effect throws out the memories in which the move has not happened. Slow, and independent of
// the index on purpose: it uses nothing of src/model but the options.
#pragma once

#include <map>
#include <set>
#include <string>
#include <vector>

#include "events/site.h"
#include "model/model_options.h"

namespace blackout::test {

using LineContent = std::string;  // 64 bytes

struct BruteFile {
  bool exists = false;
  std::uint64_t size = 0;
  std::string path;
  bool operator==(const BruteFile&) const = default;
};

// What a crash just before event `at` may leave.
struct BruteSnapshot {
  EventNo at = 0;
  bool wanted = true;  // whether the program's marks leave a crash here
  std::map<LineNo, std::set<LineContent>> lines;
  std::map<FileNo, BruteFile> files;
};

// One snapshot before each event (not between the halves of a 16-byte store) and one at the end. `initial` is what
// lines hold at first instead of what the trace says: for a recovery's trace.
std::vector<BruteSnapshot> bruteForce(const Trace& trace, const ModelOptions& options,
                                      const std::map<LineNo, LineContent>* initial = nullptr);

}  // namespace blackout::test
