// The two worst states around a store that makes an operation visible (Durinn, 5.3.1 and 5.3.2). Incompletely durable:
// it is durable, and nothing else that need not be. Unrecovered durable: everything is durable but this store. And the
// two states of an update of which one side is durable, and the other is not.
#pragma once

#include <map>
#include <optional>
#include <string_view>
#include <vector>

#include "explore/crash_space.h"
#include "explore/strategy.h"
#include "model/test_stage.h"

namespace blackout {

struct AdversarialTest {
  PointNo point = 0;  // of the crash, after the store
  EventNo store = 0;
  TestStage pattern{};  // one of the two
  auto operator<=>(const AdversarialTest&) const = default;
};

// Only these tests, and no other state.
class AdversarialTests : public Strategy {
 public:
  explicit AdversarialTests(const std::vector<AdversarialTest>& tests);
  std::string_view name() const override { return "tests"; }
  std::uint64_t count(const CrashSpace& space) const override;
  Restriction restriction(const CrashSpace& space, std::uint64_t number) const override;

 private:
  // Those that there are states for.
  std::vector<Restriction> restrictionsAt(const CrashSpace& space) const;
  std::map<PointNo, std::vector<AdversarialTest>> tests_;
};

// None: at that point there is no such state, because the store is durable in any case.
std::optional<Restriction> restrictionOf(const AdversarialTest& test, const CrashSpace& space);

// One side of an update that should be all or nothing: everything is durable but the stores that are lost.
struct OneSidedTest {
  PointNo point = 0;                // of the crash, after the update
  std::vector<EventNo> kept, lost;  // stores, ascending
  auto operator<=>(const OneSidedTest&) const = default;
};

// None: at that point there is no such state.
std::optional<Restriction> restrictionOf(const OneSidedTest& test, const CrashSpace& space);

}  // namespace blackout
