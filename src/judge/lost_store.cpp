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

namespace {

// The bytes of the store that `e` replaces by others: what is stored once more is still there.
std::uint64_t replacedBy(const Event& s, const Event& e) {
  std::uint64_t both = maskOf(s) & maskOf(e), replaced = 0;
  for (unsigned i = 0; i < BLACKOUT_LINE; ++i) {
    if ((both >> i & 1) == 0) continue;
    auto byteOf = [&](const Event& of) { return of.value >> (8 * (i - of.addr % BLACKOUT_LINE)) & 0xff; };
    if (byteOf(s) != byteOf(e)) replaced |= std::uint64_t{1} << i;
  }
  return replaced;
}

bool fenceFollows(const Trace& trace, EventNo n) {
  ThreadNo thread = threadOf(trace[n]);
  for (n = trace.next(n); n < trace.end(); n = trace.next(n)) {
    EventKind kind = kindOf(trace[n]);
    if ((kind == EventKind::Sfence || kind == EventKind::Mfence) && threadOf(trace[n]) == thread) return true;
  }
  return false;
}

}  // namespace

LostStore whyLost(const Index& index, StoreNo store, EventNo relied) {
  const Trace& trace = index.trace();
  EventNo stored = index.stores()[store].event;
  const Event& s = trace[stored];
  // A non-temporal store needs no flush, only the fence that did not come.
  if (kindOf(s) == EventKind::StoreNt)
    return {FindingKind::MissingFence, std::nullopt, false, fenceFollows(trace, stored)};

  LineNo line = lineOf(s.addr);
  const Operation* operation = index.operationOf(stored);
  std::uint64_t left = maskOf(s);
  bool again = false;  // the line was stored to again after what relies on it
  LostStore out{FindingKind::MissingFlush, std::nullopt, false, false};
  bool open = true;  // a flush would still be for this store
  for (EventNo n = trace.next(stored); n < trace.end(); n = trace.next(n)) {
    const Event& e = trace[n];
    if (isStore(e) && lineOf(e.addr) == line) {
      // A flush after the bytes were replaced is for what replaced them.
      left &= ~replacedBy(s, e);
      if (left == 0) open = false;
      bool repeats = (maskOf(e) & ~maskOf(s)) == 0 && replacedBy(s, e) == 0;
      again |= n > relied && !repeats;
    }
    if (!flushes(e, line)) continue;
    out.everFlushed = true;
    if (!open) break;
    if (n < relied) {
      out.kind = FindingKind::MissingFence;
    } else {
      // A flush of a later operation, or where none is marked for the sake of another store, only happens to cover
      // this one.
      if (operation != nullptr ? n > operation->end : again) break;
      out.kind = FindingKind::WrongOrder;
    }
    out.flush = n;
    out.everFenced = fenceFollows(trace, n);
    break;
  }
  return out;
}

}  // namespace blackout
