// Every kind of finding has a detector, and every detector a kind.

#include "judge/recovery_detectors.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace blackout {

namespace {

const Detector* rowNamed(std::string_view name) {
  auto rows = detectors();
  auto at = std::find_if(rows.begin(), rows.end(), [&](const Detector& d) { return d.name == name; });
  return at == rows.end() ? nullptr : &*at;
}

TEST(RecoveryDetectors, EveryKindIsFoundByOne) {
  for (const FindingKindRow& row : findingKinds()) {
    SCOPED_TRACE(row.name);
    const Detector* switched = rowNamed(row.name);
    auto table = recoveryDetectors();
    auto here =
        std::count_if(table.begin(), table.end(), [&](const RecoveryDetector& d) { return d.id == foundBy(row.kind); });
    switch (foundBy(row.kind)) {
      case FoundBy::Trace:
        ASSERT_NE(switched, nullptr);
        EXPECT_NE(switched->run, nullptr);
        EXPECT_EQ(here, 0);
        break;
      case FoundBy::Description:
      case FoundBy::IntactRestart:
        EXPECT_EQ(here, 0);
        break;
      case FoundBy::FailingRestarts:
      case FoundBy::FollowedPointers:
      case FoundBy::RacingRestarts:
      case FoundBy::ReadsOfRestarts:
      case FoundBy::CrashPlans:
        EXPECT_EQ(here, 1);
        if (switched != nullptr) EXPECT_EQ(switched->run, nullptr);
        break;
    }
  }
}

TEST(RecoveryDetectors, EveryOneFindsSomeKind) {
  for (const RecoveryDetector& d : recoveryDetectors()) {
    const auto& kinds = findingKinds();
    EXPECT_TRUE(
        std::any_of(kinds.begin(), kinds.end(), [&](const FindingKindRow& row) { return foundBy(row.kind) == d.id; }));
    EXPECT_NE(d.run, nullptr);
  }
}

}  // namespace

}  // namespace blackout
