#include "model/index.h"

#include <algorithm>
#include <cassert>

#include "events/trace.h"
#include "model/persistency_model.h"

namespace blackout {

namespace {

// So that the arrays are allocated once and at their size. The halves of a 16-byte store
// are counted as two, which is room to spare.
std::size_t countStores(const Trace& trace) {
  std::size_t count = 0;
  for (EventNo n = 0; n < trace.end(); n = trace.next(n)) count += isStore(trace[n]) ? 1 : 0;
  return count;
}

// A flush or fence that is the programmer's word (a client request) and no instruction.
bool isAnnotation(const Trace& trace, const Event& e) {
  if (groupOf(e) != EventGroup::Flush && groupOf(e) != EventGroup::Fence) return false;
  const Site* site = trace.siteOf(e);
  return site != nullptr && site->kind == SiteKind::Request;
}

// The model takes in the event at `n`; returns the event's last slot.
EventNo takeIn(const Trace& trace, EventNo n, PersistencyModel& model, Histories& histories) {
  const Event& e = trace[n];
  EventNo first = n;
  model.event(n, e, histories);
  if (!isStore(e)) return n;
  StoreNo s = histories.append(n);
  if ((e.len & BLACKOUT_JOINED) != 0) ++n;  // its other half is no event of its own
  model.stored(s, first, trace[n], histories);
  return n;
}

// The programmer's word costs nothing, so it is no waste; and it often stands beside the instruction that it is about,
// before or behind it, so neither may make the other one look idle. What is left is the waste of instructions that is
// one with the annotations and would be one without them.
std::vector<Waste> wasteOfInstructions(const Trace& trace, const ModelOptions& options, const ModelFactory& factory,
                                       const Histories& with) {
  auto model = factory(options);
  assert(model.has_value());
  Histories without(trace, options, with.stores().size());
  for (EventNo n = 0; n < trace.end(); n = trace.next(n))
    if (!isAnnotation(trace, trace[n])) n = takeIn(trace, n, **model, without);
  std::vector<Waste> out;
  auto also = with.wastes().begin();
  for (const Waste& w : without.wastes()) {
    while (also != with.wastes().end() && also->at < w.at) ++also;
    if (also != with.wastes().end() && also->at == w.at) out.push_back(w);
  }
  return out;
}

}  // namespace

Result<Index> Index::build(const Trace& trace, const ModelOptions& options, ModelFactory factory) {
  auto made = factory(options);
  if (!made) return tl::unexpected(made.error());
  PersistencyModel& model = **made;
  Index index(trace, options, std::move(factory), countStores(trace));
  Histories& histories = index.histories_;
  PointCollector points;
  bool annotations = false;
  for (EventNo n = 0; n < trace.end(); n = trace.next(n)) {
    const Event& e = trace[n];
    const EventNo first = n;
    std::size_t guarantees = histories.guaranteeLog().size();
    n = takeIn(trace, n, model, histories);
    bool narrows = histories.guaranteeLog().size() != guarantees;
    bool fileChange = groupOf(e) == EventGroup::File && index.files_.event(first);
    index.operations_.event(trace, first);
    if (fileChange || groupOf(e) == EventGroup::Sync) {
      std::size_t open = index.files_.open().size();
      model.fileEvent(first, e, index.files_);
      narrows = narrows || index.files_.open().size() != open;
    }
    points.event(first, e, narrows, fileChange);
    annotations = annotations || isAnnotation(trace, e);
  }
  points.finish(trace.end());
  index.points_ = points.take();
  if (annotations) histories.setWastes(wasteOfInstructions(trace, options, index.factory_, histories));
  histories.finish();
  index.files_.finish();
  return index;
}

const Operation* Index::operationOf(EventNo n) const { return operations_.outermost(threadOf((*trace_)[n]), n); }

LineStore Index::lineStore(LineId id, std::uint32_t number) const {
  StoreNo s = history(id)[number];
  EventNo n = stores()[s].event;
  const Event& e = (*trace_)[n];
  LineStore out;
  out.number = number;
  out.store = s;
  out.wide = histories_.wideGroup(s);
  out.offset = static_cast<std::uint8_t>(e.addr % BLACKOUT_LINE);
  out.size = static_cast<std::uint8_t>(bytesOf(e));
  out.nt = kindOf(e) == EventKind::StoreNt;
  out.value[0] = e.value;
  if ((e.len & BLACKOUT_JOINED) != 0) {
    out.size = 16;
    out.value[1] = (*trace_)[n + 1].value;
  }
  return out;
}

StoreNo Index::storeOf(EventNo n) const {
  auto rows = stores();
  auto it = std::upper_bound(rows.begin(), rows.end(), n, [](EventNo at, const StoreRow& s) { return at < s.event; });
  if (it == rows.begin()) return kNoStore;
  --it;
  bool second = it->event + 1 == n && ((*trace_)[it->event].len & BLACKOUT_JOINED) != 0;
  return it->event == n || second ? static_cast<StoreNo>(it - rows.begin()) : kNoStore;
}

std::vector<EventNo> Index::points(PointsMode mode) const {
  switch (mode) {
    case PointsMode::Enough:
      return points_;
    case PointsMode::All:
      return allPoints(*trace_);
  }
  return {};
}

std::uint32_t Index::historyLength(LineId id, EventNo at) const {
  auto h = history(id);
  auto it = std::partition_point(h.begin(), h.end(), [&](StoreNo s) { return stores()[s].event < at; });
  return static_cast<std::uint32_t>(it - h.begin());
}

std::vector<LineStore> Index::openStores(LineId id, EventNo at, std::uint32_t from, std::uint32_t length) const {
  std::vector<LineStore> open;
  LineNo line = lineNo(id);
  bool zeros = !files_.zeroRanges(fileOf(addressOf(line))).empty();
  for (std::uint32_t i = from; i < length; ++i) {
    const StoreRow& row = stores()[history(id)[i]];
    if (row.guaranteedAt < at) continue;
    open.push_back(lineStore(id, i));
    if (zeros) open.back().live = ~files_.zeroedMask(line, row.event, at);
  }
  return open;
}

Version Index::leastVersion(LineId id, EventNo at) const {
  std::uint32_t length = historyLength(id, at);
  std::vector<bool> taken(length);
  for (std::uint32_t i = 0; i < length; ++i) taken[i] = stores()[history(id)[i]].guaranteedAt < at;
  return versionOf(taken);
}

Version Index::versionIn(const CrashLevel& level, LineId id) const {
  if (auto named = level.persisted.find(lineNo(id)); named != level.persisted.end()) return named->second;
  switch (level.unnamed) {
    case UnnamedLines::Least:
      return leastVersion(id, level.at);
    case UnnamedLines::Newest:
      return {historyLength(id, level.at), {}};
  }
  return {};
}

Version Index::filesIn(const CrashLevel& level) const {
  if (level.files) return *level.files;
  return level.unnamed == UnnamedLines::Least ? files_.leastAt(level.at) : files_.newestAt(level.at);
}

LineBytes Index::contentOf(LineId id, EventNo at, const Version& version, const LineBytes* under) const {
  LineBytes bytes;
  LineNo line = lineNo(id);
  if (under != nullptr)
    bytes = *under;
  else
    files_.initialBytes(line, bytes);
  bool zeros = !files_.zeroRanges(fileOf(addressOf(line))).empty();
  if (zeros) {
    std::uint64_t mask = files_.zeroedMask(line, 0, at);
    for (unsigned i = 0; i < BLACKOUT_LINE; ++i)
      if ((mask >> i) & 1) bytes[i] = std::byte{0};
  }
  auto apply = [&](std::uint32_t number) {
    LineStore s = lineStore(id, number);
    if (zeros) s.live = ~files_.zeroedMask(line, stores()[s.store].event, at);
    s.applyTo(bytes);
  };
  for (std::uint32_t i = 0; i < version.prefix; ++i) apply(i);
  for (std::uint32_t i : version.extra) apply(i);
  return bytes;
}

LineVersions Index::versionsOf(LineNo line, EventNo at, const LineBytes* under, std::size_t limit) const {
  LineId id = lineId(line);
  if (id == kNoLine) {
    LineVersions out;
    out.downSets = 1;
    LineVersion& only = out.versions.emplace_back();
    if (under != nullptr)
      only.bytes = *under;
    else
      files_.initialBytes(line, only.bytes);
    std::uint64_t mask = files_.zeroedMask(line, 0, at);
    for (unsigned i = 0; i < BLACKOUT_LINE; ++i)
      if ((mask >> i) & 1) only.bytes[i] = std::byte{0};
    return out;
  }
  Version least = leastVersion(id, at);
  return enumerateVersions(least, contentOf(id, at, least, under), openStores(id, at, 0, historyLength(id, at)),
                           options_, limit);
}

bool Index::isFeasible(LineNo line, EventNo at, const Version& version) const {
  LineId id = lineId(line);
  if (id == kNoLine) return version == Version{};
  std::uint32_t length = historyLength(id, at);
  if (version.prefix > length || (!version.extra.empty() && version.extra.back() >= length)) return false;
  if (!std::is_sorted(version.extra.begin(), version.extra.end())) return false;
  std::vector<bool> taken(length);
  for (std::uint32_t i = 0; i < length; ++i) {
    taken[i] = version.contains(i);
    if (!taken[i] && stores()[history(id)[i]].guaranteedAt < at) return false;
  }
  if (versionOf(taken) != version) return false;
  // Stores below the prefix are all there, so only the others can lack one ordered before them.
  for (std::uint32_t later : version.extra) {
    LineStore l = lineStore(id, later);
    for (std::uint32_t i = version.prefix; i < later; ++i)
      if (!taken[i] && ordered(lineStore(id, i), l, options_)) return false;
  }
  return true;
}

}  // namespace blackout
