// Why a crash could lose a store that something relies on: what the program did, or did not do, to make it
// durable before that something was stored. Reads the trace and its index; no run is needed.
#pragma once

#include <optional>

#include "findings/finding.h"
#include "model/index.h"

namespace blackout {

struct LostStore {
  FindingKind kind{};  // MissingFlush, MissingFence or WrongOrder
  // The flush that no fence completed in time, or that came too late. None: a non-temporal store, or no flush.
  std::optional<EventNo> flush;
  bool everFlushed = false;  // some flush of its line follows the store, for whatever reason and however late
  bool everFenced = false;   // some fence of the thread follows that flush, or the non-temporal store
};

// `relied`: the event that relies on the store (a store, the end of an operation), or the crash itself if nothing
// else is known. The store is not guaranteed there.
LostStore whyLost(const Index& index, StoreNo store, EventNo relied);

}  // namespace blackout
