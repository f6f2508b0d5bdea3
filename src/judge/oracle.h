// The oracle: was a recovery run all right? It judges an outcome by how the run ended and by what
// sanitizers, assertions and the C library said in its output, and puts what went wrong into a few words that
// go on from "the restarted program ...". A run of which nothing can be said is neither right nor wrong.
#pragma once

#include <cstdint>
#include <string>

#include "run/run.h"

namespace blackout {

enum class Judgement : std::uint8_t { Fine, Failed, Unknown };

struct OracleRules {
  // A non-zero exit is a failure: for a checker always, for a restart if the recorded run and a restart
  // on the intact final image both exit with 0.
  bool exitCodeCounts = false;
  std::uint64_t stepLimit = 0;  // said with a hang; 0: not known
  unsigned seconds = 0;         // said with a run that took too long; 0: not known
};

struct Verdict {
  Judgement judgement = Judgement::Fine;
  std::string symptom;  // "crashes with SIGSEGV"; Unknown: why
  // The kind of failure: the symptom without what differs from state to state (numbers, addresses). Two
  // failing states with one key may have one cause.
  std::string key;
};

// Whether two restarts ended, printed and said of their operations the same, wherever they were then. Exit codes are no
// part of it: where they count, all but one are failures, and where they don't, they may be any.
bool sameAnswer(const Outcome& a, const Outcome& b);

// The same but for what they printed.
bool sameButOutput(const Outcome& a, const Outcome& b);

Verdict judge(const Outcome& outcome, const OracleRules& rules);
// A failure of a restart that had read a file which is no pool and which the recorded run had changed: it is not known
// whether a crash would lead to it. `notes` are those of all restarts.
Verdict unjudgedByOtherFile(const Verdict& failed, const std::vector<std::string>& notes);

inline bool exitsWithError(const Outcome& o) { return o.ending == Ending::Exited && o.code != 0; }

// "exits with 1 and says "no memory"": the ending and the last line of the output, for a sentence about one restart.
std::string lastWords(const Outcome& outcome);

}  // namespace blackout
