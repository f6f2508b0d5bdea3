#include "model/histories.h"

#include <algorithm>
#include <cassert>

#include "events/trace.h"

namespace blackout {

Histories::Histories(const Trace& trace, const ModelOptions& options, std::size_t storeCount)
    : trace_(&trace), anyNt_(options.ntOrder == NtOrder::Any), anyWide_(options.wideOrder == WideOrder::Any) {
  stores_.reserve(storeCount);
  log_.reserve(storeCount);
  prev_.reserve(storeCount);
  // As if every store had a line of its own: memory that is not touched is not taken, and growing
  // arrays would be copied.
  lines_.reserve(storeCount);
  growing_.reserve(storeCount);
  open_.reserve(storeCount);
  if (anyWide_) wide_.reserve(storeCount);
}

LineId Histories::touch(LineNo line) {
  LineId id = lines_.touch(line);
  if (id == growing_.endId()) growing_.emplace_back();
  return id;
}

StoreNo Histories::append(EventNo n) {
  const Event& e = (*trace_)[n];
  StoreNo s = stores_.endId();
  LineId id = touch(lineOf(e.addr));
  GrowingLine& line = growing_[id];
  stores_.push_back({n, id, kNever});
  prev_.push_back(line.tail);
  line.tail = s;
  if (kindOf(e) != EventKind::StoreNt) line.lastCached = s;
  if (!line.flush.listed) {
    line.flush.listed = true;
    open_.push_back(id);
  }
  if (anyWide_) {
    // The event just before this one belongs to the store before it if it has the flag.
    bool goesOn = s > 0 && n > 0 && n - 1 - stores_[s - 1].event <= 1 && isStore((*trace_)[n - 1]) &&
                  ((*trace_)[n - 1].len & BLACKOUT_WIDE) != 0;
    wide_.push_back(goesOn ? wide_[s - 1] : s);
  }
  return s;
}

void Histories::guaranteePrefix(StoreNo last, EventNo at) {
  std::size_t begin = log_.size();
  for (StoreNo s = last; s != kNoStore && !guaranteed(s); s = prev_[s]) mark(s, at);
  std::reverse(log_.begin() + static_cast<std::ptrdiff_t>(begin), log_.end());
}

std::uint8_t Histories::unitsOf(StoreNo s) const {
  const Event& e = (*trace_)[stores_[s].event];
  unsigned unit = (e.addr % BLACKOUT_LINE) / 8;
  return static_cast<std::uint8_t>(((e.len & BLACKOUT_JOINED) != 0 ? 3U : 1U) << unit);
}

// With nt-order=any the order is partial. The chain of a line then holds only stores that are not
// guaranteed; they are visited from the last to the first, and each is taken if one that was
// taken already is ordered after it.
void Histories::guaranteeClosure(LineId line, StoreNo cachedBelow, StoreNo nt, EventNo at) {
  std::size_t begin = log_.size();
  std::uint8_t units = 0;
  StoreNo group = kNoStore;  // wide store of the cached store that was taken last
  bool others = false;       // a cached store of another wide store was taken too
  StoreNo* link = &growing_[line].tail;
  for (StoreNo s = *link; s != kNoStore; s = *link) {
    bool cached = !isNt(s);
    bool forced = (units & unitsOf(s)) != 0 || s == nt;
    if (cached && !forced) forced = s < cachedBelow || (group != kNoStore && (wideGroup(s) != group || others));
    if (!forced) {
      link = &prev_[s];
      continue;
    }
    units |= unitsOf(s);
    if (cached && wideGroup(s) != group) {
      others = group != kNoStore;
      group = wideGroup(s);
    }
    *link = prev_[s];
    mark(s, at);
  }
  std::reverse(log_.begin() + static_cast<std::ptrdiff_t>(begin), log_.end());
}

bool Histories::isNt(StoreNo s) const { return kindOf((*trace_)[stores_[s].event]) == EventKind::StoreNt; }

bool Histories::hasOpenCached(LineId line) const {
  StoreNo last = growing_[line].lastCached;
  if (last == kNoStore) return false;
  // The guaranteed ones come before the others, so the last one tells all; except where a
  // non-temporal store has dragged in one piece of a wide store and not its neighbours.
  if (!guaranteed(last) || !(anyNt_ && anyWide_)) return !guaranteed(last);
  for (StoreNo s = growing_[line].tail; s != kNoStore; s = prev_[s])
    if (!isNt(s)) return true;
  return false;
}

void Histories::guaranteeCached(LineId line, StoreNo last, EventNo at) {
  if (guaranteed(last) && !(anyNt_ && anyWide_)) return;  // see hasOpenCached
  if (anyNt_)
    guaranteeClosure(line, last + 1, kNoStore, at);
  else
    guaranteePrefix(last, at);
}

void Histories::guaranteeCachedBelow(LineId line, StoreNo bound, EventNo at) {
  if (anyNt_) return guaranteeClosure(line, bound, kNoStore, at);
  StoreNo s = growing_[line].tail;
  while (s != kNoStore && !guaranteed(s) && (s >= bound || isNt(s))) s = prev_[s];
  guaranteePrefix(s, at);
}

void Histories::guaranteeNt(StoreNo s, EventNo at) {
  if (guaranteed(s)) return;
  if (anyNt_)
    guaranteeClosure(stores_[s].line, 0, s, at);
  else
    guaranteePrefix(s, at);
}

std::vector<LineId> Histories::openLines(LineNo begin, LineNo end) {
  std::vector<LineId> found;
  std::size_t kept = 0;
  for (LineId id : open_) {
    // Lines that have become settled since the last call leave the list here, not at every fence.
    StoreNo tail = growing_[id].tail;
    if (tail == kNoStore || guaranteed(tail)) {
      growing_[id].flush.listed = false;
      continue;
    }
    open_[kept++] = id;
    if (lines_[id] >= begin && lines_[id] < end) found.push_back(id);
  }
  open_.resize(kept);
  return found;
}

void Histories::finish() {
  auto drop = [](auto& v) { std::remove_reference_t<decltype(v)>().swap(v); };
  drop(growing_);
  drop(prev_);
  drop(open_);
  lines_.shrink();
  firsts_.assign(std::size_t{lines_.size()} + 1, 0);
  for (const StoreRow& s : stores_) ++firsts_[s.line];
  // firsts_[l] becomes the end of line l, and filling backwards turns it into the begin.
  std::uint32_t sum = 0;
  for (std::uint32_t& f : firsts_) f = sum += f;
  byLine_.resize(stores_.size());
  for (StoreNo s = stores_.endId(); s > 0;) {
    --s;
    byLine_[--firsts_[stores_[s].line]] = s;
  }
}

std::size_t Histories::memory() const {
  auto of = [](const auto& v) { return v.capacity() * sizeof(v[0]); };
  return lines_.memory() + of(stores_) + of(log_) + of(wastes_) + of(wide_) + of(growing_) + of(prev_) + of(open_) +
         of(byLine_) + of(firsts_);
}

}  // namespace blackout
