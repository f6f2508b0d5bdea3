// The two worst states around a store that makes an operation visible (Durinn, 5.3.1 and 5.3.2). Incompletely durable:
// it is durable, and nothing else that need not be. Unrecovered durable: everything is durable but this store.
#pragma once

#include <optional>

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

// None: at that point there is no such state, because the store is durable in any case.
std::optional<Restriction> restrictionOf(const AdversarialTest& test, const CrashSpace& space);

}  // namespace blackout
