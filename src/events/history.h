// What a restart did, operation by operation, as it says itself (blackout_history_begin): part of its outcome. The
// encoding is that of the worker's control block (recovery_contract.h); saved files use it too.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "events/value.h"

namespace blackout {

struct HistoryOperation {
  static constexpr std::uint32_t kUnfinished = UINT32_MAX;
  std::uint32_t thread = 0;  // from 1, in the order in which the run's threads first marked an operation
  std::string name;
  Values arguments;
  Values results;
  // Its begin and its end among all begins and ends of the run, from 0: what came before what, in all threads.
  std::uint32_t began = 0;
  std::uint32_t ended = kUnfinished;

  bool finished() const { return ended != kUnfinished; }
  bool operator==(const HistoryOperation&) const = default;
};

// The mark that blackout_recovered() makes.
inline constexpr std::string_view kRecoveredMark = "recovered";

// In the order of their begins. An end without a begin of its thread is left out.
using History = std::vector<HistoryOperation>;

std::string encodeHistory(const History& history);
// A record that was still being written when the run ended (its size is 0) is the end. None: the bytes are damaged.
std::optional<History> decodeHistory(std::string_view bytes);

// get("key") = 3, put(1, 2) unfinished
std::string textOf(const History& history);

}  // namespace blackout
