// Random recovery programs and what one of them does on a given memory: loads of any width, stores of its own, branches
// and addresses that depend on what was read, early exits, questions for paths and operations. It logs its first
// observations of what it is told to watch, as the runtime does, and knows nothing of trees, spaces or points.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "run/run.h"

namespace blackout::test {

using Genes = std::vector<std::uint32_t>;

// What a crash left, as the program sees it.
class CrashedMemory {
 public:
  virtual ~CrashedMemory() = default;
  struct File {
    FileNo number = 0;
    std::uint64_t size = 0;
  };
  virtual std::optional<File> open(const std::string& path) const = 0;
  virtual std::byte read(PmAddr addr) const = 0;
  virtual std::uint32_t opState(std::uint32_t n) const = 0;
};

// What is tracked: the log's numbers.
struct WatchedNames {
  std::function<std::optional<TrackedNo>(LineNo)> line;
  std::function<std::uint64_t(TrackedNo)> mask;
  std::vector<std::string> paths;
  std::uint32_t operations = 0;
};

enum class Does : std::uint8_t {
  Open,
  Load,
  Group,  // under blackout_checksum; with `value` 1 by one mem* call instead
  Tally,  // a load that only counts whether it is 0
  Test,   // what was read last is from now on whether the tally is `value`
  Store,
  StoreNt,  // non-temporal
  Rmw,
  Flush,
  Fence,
  Skip,
  Op,
  Print,
  Exit,
  Create,    // a file at the path, of `offset` bytes, unless there is one; it is open then
  Truncate,  // the open file, to `offset` bytes
  Unlink,    // the open file
};

struct Instruction {
  Does does{};
  std::string path;
  std::uint64_t offset = 0;  // in the open file; added to `stride` times what was read last
  std::uint64_t stride = 0;
  unsigned size = 1;
  std::uint64_t value = 0;
  std::uint64_t site = 0;
};

struct RecoveryProgram {
  std::vector<Instruction> instructions;

  // Random, on these paths.
  struct Kinds {
    std::uint32_t operations = 0;  // that it may ask for
    bool files = false;            // it may make, resize and remove files
    bool sites = true;             // each instruction has its own site; otherwise they share a few
  };
  static RecoveryProgram random(const Genes& genes, const std::vector<std::string>& paths, const Kinds& kinds);

  struct Did {
    Outcome outcome;
    std::vector<Query> queries;
    std::string trace;  // bytes of a trace file
    EventNo begin = 0;  // where its own events begin, behind the table of files
  };
  // `beginning`: the files of the trace, in the order of their numbers: path and size of those that are there.
  struct TableFile {
    bool exists = false;
    std::string path;
    std::uint64_t size = 0;
  };
  Did run(const CrashedMemory& memory, const WatchedNames& tracked, const std::vector<TableFile>& files) const;
};

}  // namespace blackout::test
