// The histories of all lines while a trace is read: which stores each line has, in order, and
// when each became guaranteed. A persistency model says what an event guarantees; this class
// closes it downwards (a guaranteed store drags in what is ordered before it), so that the
// guaranteed stores of a line are a down-set at every moment.
//
// Flat arrays only: a store is a number, and everything about it is a row.
#pragma once

#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "events/site.h"
#include "model/crash_state.h"
#include "model/line_map.h"
#include "model/model_options.h"

namespace blackout {

// Number of a store, over the whole trace, in trace order. The halves of an atomic 16-byte
// store are one store.
using StoreNo = Id<struct StoreNoTag, std::uint32_t>;
inline constexpr StoreNo kNoStore{UINT32_MAX};

struct StoreRow {
  EventNo event = 0;  // the first of its one or two events
  LineId line = 0;
  // The event that made it guaranteed: it is so at every point after that number.
  EventNo guaranteedAt = kNever;
};

// Work that guaranteed nothing, as the model saw it.
enum class WasteKind : std::uint8_t {
  CleanFlush,  // of a line with nothing to write back that nobody had flushed before
  AgainFlush,  // of a line with nothing new since somebody's flush of it
  IdleFence,   // nothing was flushed, or stored around the cache, since the thread's last fence
};
struct Waste {
  EventNo at = 0;
  WasteKind kind{};
};

class Histories {
 public:
  Histories(const Trace& trace, const ModelOptions& options, std::size_t storeCount);

  // --- while the trace is read ---
  StoreNo append(EventNo n);
  LineId touch(LineNo line);
  LineId find(LineNo line) const { return lines_.find(line); }
  StoreNo lastCached(LineId line) const { return growing_[line].lastCached; }
  // Whether the line has a cached store that is not guaranteed.
  bool hasOpenCached(LineId line) const;
  bool isNt(StoreNo s) const;
  LineNo lineOfStore(StoreNo s) const { return lines_[stores_[s].line]; }
  bool guaranteed(StoreNo s) const { return stores_[s].guaranteedAt != kNever; }

  // The cached stores of the line up to `last`, which is one of them, become guaranteed.
  void guaranteeCached(LineId line, StoreNo last, EventNo at);
  // The cached stores of the line with numbers below `bound` do.
  void guaranteeCachedBelow(LineId line, StoreNo bound, EventNo at);
  void guaranteeNt(StoreNo s, EventNo at);

  // Lines in [begin, end) that may have stores which are not guaranteed, in the order of their first store.
  std::vector<LineId> openLines(LineNo begin, LineNo end);

  // What a model remembers per line: an index into the pending flushes of the thread that
  // flushed it last.
  struct FlushHint {
    std::uint32_t index = 0;
    ThreadNo thread = 0;
    bool flushed = false;  // by anybody, ever
    bool listed = false;   // in open_ (it lives here because there is room)
  };
  FlushHint& flushHint(LineId line) { return growing_[line].flush; }
  void waste(EventNo at, WasteKind kind) { wastes_.push_back({at, kind}); }
  void setWastes(std::vector<Waste> wastes) { wastes_ = std::move(wastes); }

  // --- afterwards ---
  // Lays the histories out by line and drops what only reading needed.
  void finish();
  const LineMap& lines() const { return lines_; }
  IdSpan<StoreNo, const StoreRow> stores() const { return stores_; }
  std::span<const StoreNo> history(LineId line) const {
    return std::span(byLine_).subspan(firsts_[line], firsts_[line + 1] - firsts_[line]);
  }
  // Stores in the order in which they became guaranteed.
  std::span<const StoreNo> guaranteeLog() const { return log_; }
  std::span<const Waste> wastes() const { return wastes_; }
  // Stores with the same number are pieces of one wide store.
  StoreNo wideGroup(StoreNo s) const { return wide_.empty() ? s : wide_[s]; }
  std::size_t memory() const;

 private:
  struct GrowingLine {
    StoreNo tail = kNoStore;  // its last store; under nt-order=any the last that is not guaranteed
    StoreNo lastCached = kNoStore;
    FlushHint flush;
  };

  void guaranteePrefix(StoreNo last, EventNo at);
  void guaranteeClosure(LineId line, StoreNo cachedBelow, StoreNo nt, EventNo at);
  std::uint8_t unitsOf(StoreNo s) const;
  void mark(StoreNo s, EventNo at) {
    stores_[s].guaranteedAt = at;
    log_.push_back(s);
  }

  const Trace* trace_;
  bool anyNt_;
  bool anyWide_;
  LineMap lines_;
  IdVector<StoreNo, StoreRow> stores_;
  std::vector<StoreNo> log_;
  std::vector<Waste> wastes_;
  IdVector<StoreNo, StoreNo> wide_;  // only for wide-order=any
  // Only while reading:
  IdVector<LineId, GrowingLine> growing_;
  IdVector<StoreNo, StoreNo> prev_;  // the store before it in its line's chain
  std::vector<LineId> open_;
  // Only afterwards: the stores of line l are byLine_[firsts_[l] .. firsts_[l + 1]).
  std::vector<StoreNo> byLine_;
  IdVector<LineId, std::uint32_t> firsts_;
};

}  // namespace blackout
