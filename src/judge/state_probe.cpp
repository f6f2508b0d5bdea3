#include "judge/state_probe.h"

#include <algorithm>
#include <cstring>
#include <set>

#include "events/trace.h"

namespace blackout {

CrashTraces::CrashTraces(const Explorer& explorer, const Index& recording)
    : explorer_(explorer), recording_(recording) {}
CrashTraces::~CrashTraces() = default;

Result<std::vector<const Index*>> CrashTraces::of(SpaceNo space) {
  std::vector<const Index*> indexes;
  for (SpaceNo s = space; explorer_.space(s).level > 1; s = explorer_.space(s).parent) {
    RecoveryNo through = explorer_.space(s).through;
    auto [at, fresh] = opened_.try_emplace(through);
    Opened& o = at->second;
    if (fresh) {
      auto bytes = explorer_.traceOf(through);
      if (!bytes) return tl::unexpected(bytes.error());
      o.bytes = std::move(*bytes);
      auto trace = Trace::fromBytes(std::as_bytes(std::span(o.bytes)), "the restart's trace");
      if (!trace) return tl::unexpected(trace.error());
      o.trace = std::make_unique<Trace>(std::move(*trace));
      auto index = recording_.like(*o.trace);
      if (!index) return tl::unexpected(index.error());
      o.index = std::make_unique<Index>(std::move(*index));
    }
    indexes.push_back(o.index.get());
  }
  indexes.push_back(&recording_);
  std::reverse(indexes.begin(), indexes.end());
  return indexes;
}

LineBytes& lineIn(Run& request, const Baseline& baseline, TrackedNo line) {
  auto at = std::lower_bound(request.lines.begin(), request.lines.end(), line,
                             [](const auto& row, TrackedNo number) { return row.first < number; });
  if (at == request.lines.end() || at->first != line)
    at = request.lines.insert(at, {line, baseline.least(request.pointNo, line)});
  return at->second;
}

std::uint64_t maskOf(const Index& index, StoreNo store) {
  const Event& e = index.trace()[index.stores()[store].event];
  unsigned size = (e.len & BLACKOUT_JOINED) != 0 ? 16 : bytesOf(e);
  return ((std::uint64_t{1} << size) - 1) << (e.addr % BLACKOUT_LINE);
}

namespace {

bool agree(const LineBytes& a, const LineBytes& b, std::uint64_t mask) {
  for (unsigned i = 0; i < BLACKOUT_LINE; ++i)
    if ((mask >> i & 1) != 0 && a[i] != b[i]) return false;
  return true;
}

// The stores of a line before `at` that the version does not hold. A store that changed nothing, or that later
// stores undid, is not missed by anybody: the largest version with the same content counts. (`exact`: what the line
// held before the trace is not known, so contents can't be compared.)
std::vector<StoreNo> lostInLine(const Index& index, LineNo line, EventNo at, Version version, bool exact = false) {
  LineId id = index.lineId(line);
  if (id == kNoLine) return {};
  std::uint32_t length = index.historyLength(id, at);
  constexpr std::uint32_t kLook = 64;  // stores ahead; a line with more that are open is a counter
  if (!exact && version.extra.empty()) {
    LineBytes content = index.contentOf(id, at, version);
    for (std::uint32_t p = std::min(length, version.prefix + kLook); p > version.prefix; --p) {
      Version larger{p, {}};
      if (index.contentOf(id, at, larger) == content && index.isFeasible(line, at, larger)) {
        version = larger;
        break;
      }
    }
  }
  std::vector<StoreNo> lost;
  for (std::uint32_t n = version.prefix; n < length; ++n)
    if (!version.contains(n)) lost.push_back(index.history(id)[n]);
  return lost;
}

}  // namespace

std::vector<StoreNo> piecesOf(const Index& index, StoreNo store) {
  auto stores = index.stores();
  const Trace& trace = index.trace();
  auto follows = [&](StoreNo s) {  // whether s goes on with the store before it
    if (s == 0) return false;
    EventNo before = stores[s - 1].event;
    if ((trace[before].len & BLACKOUT_JOINED) != 0) ++before;
    return before + 1 == stores[s].event && (trace[before].len & BLACKOUT_WIDE) != 0;
  };
  StoreNo first = store;
  while (follows(first)) --first;
  std::vector<StoreNo> pieces{first};
  for (StoreNo s = first + 1; s < stores.endId() && follows(s); ++s) pieces.push_back(s);
  return pieces;
}

EventNo StateProbe::crashOf(SpaceNo space, unsigned level) const {
  while (explorer_.space(space).level > level) space = explorer_.space(space).parent;
  return explorer_.space(space).at;
}

bool StateProbe::sameRun(SpaceNo a, SpaceNo b) const {
  const SpaceInfo &x = explorer_.space(a), &y = explorer_.space(b);
  return x.level == y.level && (x.level == 1 || (x.parent == y.parent && x.through == y.through));
}

const CrashSpace& StateProbe::crashSpace(SpaceNo space) {
  if (openSpace_ != space) open_ = explorer_.crashSpace(space);
  openSpace_ = space;
  return *open_;
}

ChosenVersions StateProbe::largest(SpaceNo space, RecoveryNo recovery) {
  RecoveryDetail detail = explorer_.detail(space, recovery);
  std::map<TrackedNo, std::uint64_t> read;
  for (const Observation& o : detail.observations)
    if (o.query.kind == QueryKind::Bytes && o.uncertain) read[o.query.line()] |= o.query.mask;
  ChosenVersions chosen(UnnamedLines::Newest);
  chosen.files = detail.example.files;
  for (const auto& [w, example] : detail.example.versions) {
    const UncertainLine& l = crashSpace(space).line(w);
    std::uint64_t mask = read[w];
    const LineBytes& bytes = l.versions[example].bytes;
    if (agree(l.versions[l.newest].bytes, bytes, mask)) continue;
    auto last = static_cast<std::uint32_t>(l.versions.size() - 1);
    while (last > example && !agree(l.versions[last].bytes, bytes, mask)) --last;
    chosen.versions[w] = last;
  }
  return chosen;
}

Result<std::vector<StoreRef>> StateProbe::lostStores(SpaceNo space, const ChosenVersions& chosen) {
  std::vector<StoreRef> lost;
  const SpaceInfo& info = explorer_.space(space);
  if (info.level == 1) {
    for (const auto& [w, version] : chosen.versions)
      for (StoreNo s : lostInLine(baseline_.index(), tracked().line(w), info.at,
                                  crashSpace(space).line(w).versions[version].version))
        lost.push_back({1, s});
  } else if (!chosen.versions.empty()) {
    auto indexes = traces_.of(space);
    if (!indexes) return tl::unexpected(indexes.error());
    CrashState state = explorer_.crashState(space, chosen);
    for (std::size_t i = 0; i < state.size(); ++i)
      for (const auto& [w, version] : chosen.versions) {
        const Index& index = *(*indexes)[i];
        LineNo at = tracked().line(w);
        LineId id = index.lineId(at);
        if (id == kNoLine) continue;
        for (StoreNo s : lostInLine(index, at, state[i].at, index.versionIn(state[i], id), i > 0))
          lost.push_back({static_cast<unsigned>(i + 1), s});
      }
  }
  std::sort(lost.begin(), lost.end());
  return lost;
}

// What the store's line held just before it.
std::optional<LineBytes> StateProbe::contentBefore(SpaceNo space, const ChosenVersions& chosen, const Index& index,
                                                   const StoreRef& store) {
  LineId id = index.stores()[store.store].line;
  auto history = index.history(id);
  auto number =
      static_cast<std::uint32_t>(std::lower_bound(history.begin(), history.end(), store.store) - history.begin());
  Version before{number, {}};
  EventNo at = crashOf(space, store.level);
  if (store.level == 1) return index.contentOf(id, at, before);
  // A restart's stores lie over what the crash before it left.
  const SpaceInfo& info = explorer_.space(space);
  TrackedNo w = tracked().find(index.lineNo(id));
  if (info.level != store.level || w == TrackedBytes::kNone) return std::nullopt;
  const UncertainLine& now = crashSpace(space).line(w);
  auto version = chosen.versions.find(w);
  std::uint32_t parent = now.versions[version == chosen.versions.end() ? now.newest : version->second].parent;
  std::shared_ptr<const CrashSpace> parentSpace = explorer_.crashSpace(info.parent);
  const UncertainLine& left = parentSpace->line(w);
  if (parent >= left.versions.size()) return std::nullopt;
  return index.contentOf(id, at, before, &left.versions[parent].bytes);
}

ChosenVersions StateProbe::wholeAt(SpaceNo space, SpaceNo like, const ChosenVersions& chosen) {
  ChosenVersions out(chosen.unnamed);
  if (explorer_.space(space).level == 1) return out;
  std::map<TrackedNo, std::uint32_t> parents;
  for (const auto& [w, version] : chosen.versions) parents[w] = crashSpace(like).line(w).versions[version].parent;
  for (const auto& [w, parent] : parents) {
    const UncertainLine& l = crashSpace(space).line(w);
    for (std::uint32_t v = 0; v < l.versions.size(); ++v)
      if (l.versions[v].parent == parent) out.versions[w] = v;
  }
  return out;
}

bool StateProbe::isWhole(SpaceNo space, const std::vector<StoreRef>& lost) const {
  return lost.empty() || lost.back().level < explorer_.space(space).level;
}

Result<std::optional<Judgement>> StateProbe::without(SpaceNo space, const ChosenVersions& chosen,
                                                     std::span<const StoreRef> removed,
                                                     const std::optional<StoreRef>& with) {
  auto indexes = traces_.of(space);
  if (!indexes) return tl::unexpected(indexes.error());
  const unsigned level = explorer_.space(space).level;
  const Index& index = *(*indexes)[level - 1];
  auto elsewhere = [&](const StoreRef& ref) { return ref.level != level; };
  if (std::any_of(removed.begin(), removed.end(), elsewhere) || (with && elsewhere(*with)))
    return std::optional<Judgement>();
  Run request = explorer_.request(space, chosen);
  auto put = [&](TrackedNo w, std::uint64_t mask, const LineBytes& bytes) {
    LineBytes& line = lineIn(request, baseline_, w);
    for (unsigned i = 0; i < BLACKOUT_LINE; ++i)
      if ((mask >> i & 1) != 0) line[i] = bytes[i];
  };
  auto lineOfStore = [&](StoreNo s) { return tracked().find(index.lineNo(index.stores()[s].line)); };
  // The last one first: what an earlier one replaced lies deeper.
  std::set<StoreNo> pieces;
  for (const StoreRef& ref : removed)
    for (StoreNo piece : piecesOf(index, ref.store)) pieces.insert(piece);
  for (auto piece = pieces.rbegin(); piece != pieces.rend(); ++piece) {
    auto before = contentBefore(space, chosen, index, {level, *piece});
    if (!before || lineOfStore(*piece) == TrackedBytes::kNone) return std::optional<Judgement>();
    put(lineOfStore(*piece), maskOf(index, *piece), *before);
  }
  if (with) {
    for (StoreNo piece : piecesOf(index, with->store)) {
      if (lineOfStore(piece) == TrackedBytes::kNone) return std::optional<Judgement>();
      LineBytes bytes{};
      const Event& e = index.trace()[index.stores()[piece].event];
      std::memcpy(bytes.data() + e.addr % BLACKOUT_LINE, &e.value, bytesOf(e));
      if ((e.len & BLACKOUT_JOINED) != 0) std::memcpy(bytes.data() + e.addr % BLACKOUT_LINE + 8, &(&e)[1].value, 8);
      put(lineOfStore(piece), maskOf(index, piece), bytes);
    }
  }
  auto ended = runner_.run(request);
  if (!ended) return tl::unexpected(ended.error());
  return std::optional(judge_.verdict(space, ended->outcome).judgement);
}

Result<RunEnd> StateProbe::with(SpaceNo space, const ChosenVersions& chosen, std::span<const ReplacedWord> replaced,
                                bool traced) {
  Run request = explorer_.request(space, chosen, traced);
  for (const ReplacedWord& word : replaced)
    if (TrackedNo w = tracked().find(lineOf(word.at)); w != TrackedBytes::kNone)
      std::memcpy(lineIn(request, baseline_, w).data() + word.at % BLACKOUT_LINE, &word.value, sizeof word.value);
  return runner_.run(request);
}

}  // namespace blackout
