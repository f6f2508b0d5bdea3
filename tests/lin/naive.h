// The definitions, written down a second time and as plainly as they go: every choice of calls that take effect, in
// every order that respects time. Knows nothing of linearize.hpp but its types.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "blackout/specifications.hpp"

namespace blackout::lin::test {

enum class Kind { Map, Register, Counter, Queue, Stack };

using Calls = CrashHistory<StructureCall>;

// Whether there is an order.
bool naivelyExplained(Kind kind, const Calls& history, Criterion criterion);

// The same by linearize.hpp.
Answer explained(Kind kind, const Calls& history, Criterion criterion);

// What the structure, whole, replies to a call after those before.
class Whole {
 public:
  Reply reply(Kind kind, const StructureCall& call);

 private:
  std::vector<std::pair<Word, Word>> pairs_;  // of keys and values
  std::vector<Word> items_;
  Word sum_ = 0;
};

std::string textOf(const Calls& history);

}  // namespace blackout::lin::test
