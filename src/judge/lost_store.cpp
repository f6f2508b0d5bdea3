#include "judge/lost_store.h"

#include "events/trace.h"

namespace blackout {

namespace {

// Bytes of its line that a store event writes.
std::uint64_t maskOf(const Event& e) { return ((std::uint64_t{1} << bytesOf(e)) - 1) << (e.addr % BLACKOUT_LINE); }

bool flushes(const Event& e, LineNo line) {
  switch (kindOf(e)) {
    case EventKind::Clflush:
    case EventKind::Clflushopt:
    case EventKind::Clwb:
      return lineOf(e.addr) == line;
    case EventKind::Msync:
      return e.addr < addressOf(line) + BLACKOUT_LINE && e.addr + e.value > addressOf(line);
    case EventKind::Fsync:
      return fileOf(e.addr) == fileOf(addressOf(line));
    default:
      return false;
  }
}

}  // namespace

LostStore whyLost(const Index& index, StoreNo store, EventNo relied) {
  const Trace& trace = index.trace();
  EventNo stored = index.stores()[store].event;
  const Event& s = trace[stored];
  // A non-temporal store needs no flush, only the fence that did not come.
  if (kindOf(s) == EventKind::StoreNt) return {FindingKind::MissingFence, std::nullopt};

  LineNo line = lineOf(s.addr);
  const Operation* operation = index.operationOf(stored);
  std::uint64_t left = maskOf(s);
  bool again = false;  // the line was stored to again after what relies on it
  for (EventNo n = trace.next(stored); n < trace.end(); n = trace.next(n)) {
    const Event& e = trace[n];
    if (isStore(e) && lineOf(e.addr) == line) {
      // A flush after the bytes were replaced is for what replaced them.
      left &= ~maskOf(e);
      if (left == 0) break;
      again |= n > relied;
    }
    if (!flushes(e, line)) continue;
    if (n < relied) return {FindingKind::MissingFence, n};
    // A flush of a later operation, or where none is marked for the sake of another store, only happens to cover this
    // one.
    if (operation != nullptr ? n > operation->end : again) break;
    return {FindingKind::WrongOrder, n};
  }
  return {FindingKind::MissingFlush, std::nullopt};
}

}  // namespace blackout
