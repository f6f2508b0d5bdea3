// A change of the program that was tried in the simulation, on all that was explored, and after which nothing of the
// finding is left; as data: report/patch.h makes a diff of it. Tried that way are flushes, fences and ranges of a
// transaction that are added, and flushes and fences that guarantee nothing and are taken out (decision 0027).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "binary/frame.h"

namespace blackout {

struct Fix {
  enum class Where : std::uint8_t {
    AfterStore,  // right after each of the stores: their lines are flushed, and a fence waits for it
    Before,      // the same once, before what relies on them is stored
    AfterFlush,  // a fence, right after a flush or a non-temporal store
    Log,         // right before each of the stores: the bytes are added to the transaction in which they are stored
    Remove,      // the statements go: all that they flush and fence is wasted
  };
  struct Store {
    Frame at;
    std::string type;        // "Struct.field"; empty: unknown
    std::uint32_t size = 0;  // bytes; 0: varies
    bool operator==(const Store&) const = default;
  };

  Where where{};
  std::vector<Store> stores;  // whose lines are flushed, or whose bytes are logged; none: only a fence is added
  std::vector<Frame> at;      // the statements that it comes after, or before
  // What it adds to the recorded run, or takes out of it.
  std::uint64_t flushes = 0;
  std::uint64_t fences = 0;
  std::uint64_t ranges = 0;  // of transactions
  std::uint64_t states = 0;  // of the finding, which can't come about any more
  // Calls inside functions of the program's own that flush and fence, that only fence; none: not known.
  std::optional<Frame> persists;
  std::optional<Frame> fencing;
  std::optional<Frame> logging;  // that adds a range to a transaction
  bool libpmemobj = false;       // the transactions are libpmemobj's
  bool operator==(const Fix&) const = default;
};
std::string_view nameOf(Fix::Where where);  // "after-store", "before", "after-flush", "log", "remove"

}  // namespace blackout
