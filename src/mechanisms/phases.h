// What every store is to the consistency mechanisms of a program: the mechanism, the transaction and the phase that it
// belongs to (Silhouette, section 3); which rules were broken; which stores are protected, because no rule of their
// transaction was. Data only.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "binary/typed_objects.h"
#include "findings/mechanism_words.h"
#include "model/index.h"

namespace blackout {

// Numbers in the description's list.
using MechanismNo = Id<struct MechanismNoTag, std::uint32_t>;
using TransactionNo = Id<struct TransactionNoTag, std::uint32_t>;
inline constexpr TransactionNo kNoTransaction{UINT32_MAX};

struct StoreTag {
  MechanismPhase phase = MechanismPhase::None;
  MechanismNo mechanism = 0;
  TransactionNo transaction = kNoTransaction;
};

struct MechanismTransaction {
  MechanismNo mechanism = 0;
  bool broken = false;
};

// One rule broken once. The first store should have been durable before the second, or is where it should not be, or
// has bytes that it should not have.
struct Violation {
  MechanismNo mechanism = 0;
  TransactionNo transaction = kNoTransaction;
  MechanismRule rule{};
  MechanismPhase firstPhase{};
  MechanismPhase secondPhase{};
  StoreNo first = kNoStore;
  StoreNo second = kNoStore;  // kNoStore: the rule is about one store
};

struct Phases {
  IdVector<StoreNo, StoreTag> tags;
  IdVector<TransactionNo, MechanismTransaction> transactions;
  std::vector<Violation> violations;
  std::vector<std::uint64_t> instances;  // by mechanism: how many objects it was found in
  TypedCount typed;

  bool isProtected(StoreNo s) const {
    const StoreTag& tag = tags[s];
    return tag.transaction != kNoTransaction && !transactions[tag.transaction].broken;
  }
};

}  // namespace blackout
