#include "detect/by_site.h"

#include <algorithm>

#include "binary/symbolizer.h"
#include "events/trace.h"

namespace blackout {

SiteKey siteKey(const Trace& trace, const Event& e) {
  const Site* site = trace.siteOf(e);
  return site != nullptr ? SiteKey{true, site->id} : SiteKey{false, e.kind};
}

namespace {

bool isOf(AccessClass wanted, const Event& e) {
  switch (wanted) {
    case AccessClass::Store:
      return isStore(e) || kindOf(e) == EventKind::StoreOutside;
    case AccessClass::Flush:
      return groupOf(e) == EventGroup::Flush || kindOf(e) == EventKind::FlushOutside;
    case AccessClass::Fence:
      return groupOf(e) == EventGroup::Fence;
  }
  return false;
}

}  // namespace

IdVector<StoreNo, StoreNo> executionsOf(const Index& index) {
  auto stores = index.stores();
  const Trace& trace = index.trace();
  IdVector<StoreNo, StoreNo> first(stores.size());
  for (StoreNo s : idRange<StoreNo>(stores.size())) {
    first[s] = s;
    if (s == 0) continue;
    // The last event of the store before; the slot before this one might be some other event's payload.
    EventNo last = stores[s - 1].event;
    if ((trace[last].len & BLACKOUT_JOINED) != 0) ++last;
    if (last + 1 == stores[s].event && (trace[last].len & BLACKOUT_WIDE) != 0 &&
        threadOf(trace[last]) == threadOf(trace[last + 1]))
      first[s] = first[s - 1];
  }
  return first;
}

// In the order of the trace: line by line every store would be looked for in another part of it.
ChangedBytes::ChangedBytes(const Index& index) : index_(&index), own_(index.stores().size()) {
  struct Line {
    LineBytes bytes;
    EventNo last = kNever;  // its last store; kNever: none yet
  };
  const Trace& trace = index.trace();
  auto stores = index.stores();
  IdVector<LineId, Line> lines(index.lineCount());
  for (StoreNo s : idRange<StoreNo>(stores.size())) {
    Line& line = lines[stores[s].line];
    LineNo number = index.lineNo(stores[s].line);
    EventNo n = stores[s].event;
    if (line.last == kNever) {
      index.files().initialBytes(number, line.bytes);
      line.last = 0;
    }
    if (!index.files().zeroRanges(fileOf(addressOf(number))).empty()) {
      std::uint64_t mask = index.files().zeroedMask(number, line.last, n);
      for (unsigned b = 0; b < BLACKOUT_LINE; ++b)
        if ((mask >> b) & 1) line.bytes[b] = std::byte{0};
    }
    line.last = n;
    // The halves of a 16-byte store are one.
    unsigned halves = (trace[n].len & BLACKOUT_JOINED) != 0 ? 2 : 1;
    for (unsigned h = 0; h < halves; ++h) {
      const Event& e = trace[n + h];
      const auto* value = reinterpret_cast<const std::byte*>(&e.value);
      unsigned offset = static_cast<unsigned>(e.addr % BLACKOUT_LINE);
      for (unsigned b = 0; b < bytesOf(e); ++b) {
        if (line.bytes[offset + b] != value[b]) own_[s] |= static_cast<std::uint16_t>(1U << (8 * h + b));
        line.bytes[offset + b] = value[b];
      }
    }
  }
}

std::uint64_t ChangedBytes::operator[](StoreNo s) const {
  return std::uint64_t{own_[s]} << (index_->trace()[index_->stores()[s].event].addr % BLACKOUT_LINE);
}

Executions::Executions(const Trace& trace, const Interest& interest, AccessClass wanted) {
  // By place first: a lookup of the site per event would cost more than the rest.
  IdVector<StackId, std::uint64_t> byWhere(trace.stackEnd());
  bool follows = false;  // the next event goes on with this one's store
  for (EventNo n = 0; n < trace.end(); n = trace.next(n)) {
    const Event& e = trace[n];
    if (!isOf(wanted, e)) {
      follows = false;
      continue;
    }
    bool first = !follows;
    follows = isStore(e) && (e.len & (BLACKOUT_WIDE | BLACKOUT_JOINED)) != 0;
    if (!first || !interest.contains(n)) continue;
    if (e.where != 0)
      ++byWhere[stackOf(e)];
    else
      ++counts_[siteKey(trace, e)];
  }
  for (StackId w = 1; w < byWhere.endId(); ++w)
    if (byWhere[w] > 0)
      if (const Site* site = trace.site(trace.callStack(w)->site)) counts_[{true, site->id}] += byWhere[w];
}

std::uint64_t Executions::of(SiteKey key) const {
  auto it = counts_.find(key);
  return it == counts_.end() ? 0 : it->second;
}

NumberedPlace placeOfEvent(const Trace& trace, std::string label, EventNo n) {
  NumberedPlace place = placeOf(trace, std::move(label), stackOf(trace[n]));
  if (place.access.empty()) place.access = nameOf(kindOf(trace[n]));
  return place;
}

std::string functionOf(const Trace& trace, const Event& e) {
  const Site* site = trace.siteOf(e);
  if (site == nullptr || site->sources.empty() || site->sources.front().chain.empty()) return {};
  return site->sources.front().chain.back().function;
}

std::optional<EventNo> lastPlaceBefore(const Trace& trace, EventNo at) {
  std::optional<EventNo> last;
  for (EventNo n = 0; n < at && n < trace.end(); n = trace.next(n))
    if (stackOf(trace[n]) != 0) last = n;
  return last;
}

AffectedBytes affected(const Trace& trace, PmAddr addr, std::uint64_t size, const Event& e) {
  NamedBytes b = namedBytes(trace, addr, size, e);
  return {std::move(b.file), b.offset, b.size, std::move(b.type)};
}

SeenStore seenStore(const Index& index, StoreNo store, unsigned level, PlaceNo place, const LineBytes* under) {
  EventNo event = index.stores()[store].event;
  return {level, event, ByteNames(index, level == 1).ofStore(store, under),
          frameAt(index.trace(), stackOf(index.trace()[event])), place};
}

void addExample(Finding& finding, AffectedBytes example, bool furtherPiece) {
  auto& examples = finding.examples;
  if (furtherPiece && !examples.empty()) {
    AffectedBytes& last = examples.back();
    if (last.file == example.file && last.offset + last.size == example.offset) {
      last.size += example.size;
      return;
    }
  }
  if (examples.size() < kMaxExamples && std::find(examples.begin(), examples.end(), example) == examples.end())
    examples.push_back(std::move(example));
}

}  // namespace blackout
