// The strategies that there are (strategies.def), which of them was chosen, as a value, and the factory that makes it.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "events/error.h"
#include "explore/adversary.h"
#include "explore/strategy.h"

namespace blackout {

enum class StrategyKind : std::uint8_t {
#define BLACKOUT_STRATEGY(kind, name, shown, help) kind,
#include "explore/strategies.def"
};
std::string_view nameOf(StrategyKind kind);
const std::vector<StrategyKind>& strategyKinds();
// "NAME: which states it tries; ..." of all.
std::string strategyHelp();

// Which of all stores "tests" is about (Durinn, figure 11): those that both rules leave, or the hand marks; that one
// rule alone leaves; that the hand marks; all.
enum class LikelySet : std::uint8_t { Likely, Guardians, Published, Marked, All };

struct StrategyChoice {
  StrategyKind kind = StrategyKind::Lazy;
  std::uint64_t samples = 16;            // sample: states per space
  std::uint64_t most = 1U << 20;         // exhaustive: refuses above
  LikelySet around = LikelySet::Likely;  // tests
  bool pairs = false;                    // plans: also for each two stores
  bool operator==(const StrategyChoice&) const = default;

  // As --strategy takes it: "sample:100", say. One sentence if it can't be.
  static Result<StrategyChoice> parse(std::string_view text);
};

// What strategies are made of that only some checks have.
struct StrategySources {
  std::uint64_t seed = 1;                               // of what is chosen at random
  const std::vector<AdversarialTest>* tests = nullptr;  // of "tests"
  std::shared_ptr<const Strategy> plans;                // of "plans": mechanisms/plans.h
};

// An error if what it is made of is missing.
Result<std::shared_ptr<const Strategy>> makeStrategy(const StrategyChoice& choice, const StrategySources& sources = {});

}  // namespace blackout
