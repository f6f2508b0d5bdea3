// A finding replayed: what the crash left is laid into a private folder, the restart is run on it alone, as in the
// exploration, and its outcome is compared with the one that was found.
#pragma once

#include <memory>
#include <string>

#include "findings/replay_file.h"
#include "judge/oracle.h"
#include "run/process_runner.h"

namespace blackout {

struct Replayed {
  Outcome outcome;
  Verdict now;
  Verdict expected;
  // The finding is about what the restart says or reads, not about a failure: does it end and print as it did?
  bool wasFine() const { return expected.judgement == Judgement::Fine; }
  bool sameAnswer = false;
  bool same() const { return now.judgement == Judgement::Failed && now.key == expected.key; }
};

class FindingReplay {
 public:
  // The file must outlive it. The command runs in the present folder.
  static Result<FindingReplay> prepare(const ReplayFile& file);

  Result<Replayed> run();
  // After run(): the words of a debugger's command that starts the same restart under it. Everything that it needs
  // lives as long as this object.
  Result<std::vector<std::string>> debuggerCommand();

 private:
  struct Parts;  // trace, index, baseline and runner, which refer to each other
  explicit FindingReplay(std::shared_ptr<Parts> parts) : parts_(std::move(parts)) {}
  std::shared_ptr<Parts> parts_;
};

// Writes the pools as the crash left them: to a file, or to a folder if it is one or there are several. Holes stay
// holes. Returns how many bytes of content they have; if that is more than `most`, nothing is written.
Result<std::uint64_t> keepPools(const ReplayFile& file, const std::string& to, std::uint64_t most = UINT64_MAX);

}  // namespace blackout
