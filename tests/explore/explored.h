// An exploration in a test: a traced program, what is tracked of it, a fake runner and the explorer over them, and what
// it found in a form that can be compared.
#pragma once

#include <memory>
#include <set>
#include <string>
#include <vector>

#include "explore/explorer.h"
#include "fake_runner.h"
#include "model/index.h"

namespace blackout::test {

// An outcome in a word.
std::string wordOf(const Outcome& o);

struct Wanted {
  PointsMode points = PointsMode::Enough;
  unsigned workers = 1;
  std::uint64_t order = 0;
  std::string strategy = "lazy";
  StrategyOptions strategyOptions;
  ExploreOptions options;  // strategy and trackedGrew are set here
};

struct Explored {
  Explored(const Index& index, const RecoveryProgram& program, Wanted setup);

  // Explores; `explorer` is there afterwards, if it did not fail.
  Result<void> explore();
  // The same, which must not fail.
  void run();

  Wanted setup;
  TrackedBytes tracked;
  Baseline baseline;
  FakeRunner runner;
  std::unique_ptr<Strategy> strategy;
  std::unique_ptr<Explorer> explorer;

  // Words of the outcomes that a space leads to, or all spaces of a point and level.
  std::set<std::string> words(SpaceNo s) const;
  std::set<std::string> wordsAt(PointNo pointNo, unsigned level) const;
  std::set<std::string> words() const;
  // Everything that must not depend on the order of runs: spaces, recoveries with all their observations, outcomes.
  std::string everything() const;
};

}  // namespace blackout::test
