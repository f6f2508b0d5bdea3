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

// Strategies that look at a part of all states, by a crash space alone: a new one is among them by itself.
std::vector<StrategyKind> partStrategies();

struct Wanted {
  PointsMode points = PointsMode::Enough;
  unsigned workers = 1;
  std::uint64_t order = 0;
  StrategyChoice strategy;
  std::uint64_t seed = 1;
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
  std::unique_ptr<Explorer> explorer;

  // Words of the outcomes that a space leads to, or all spaces of a point and level.
  std::set<std::string> words(SpaceNo s) const;
  std::set<std::string> wordsAt(PointNo pointNo, unsigned level) const;
  std::set<std::string> words() const;
  // Everything that must not depend on the order of runs: spaces, recoveries with all their observations, outcomes.
  std::string everything() const;
};

}  // namespace blackout::test
