#include "explore/explorer.h"

#include <fmt/format.h>

#include <algorithm>
#include <cassert>
#include <chrono>
#include <set>

#include "explore/exploration.h"
#include "explore/exploration_file.h"
#include "explore/search.h"
#include "explore/seeded.h"

namespace blackout {

struct Explorer::State {
  State(TrackedBytes& w, const Baseline& b, Runner& r, ExploreOptions o)
      : tracked(&w),
        baseline(&b),
        runner(&r),
        options(std::move(o)),
        strategy(options.strategy != nullptr ? options.strategy : *makeStrategy({})),
        exploration(w, b),
        search(exploration, r, options, *strategy, summary) {}

  Result<void> beginLevel(std::vector<SpaceInfo> spaces);
  Result<std::vector<SpaceInfo>> furtherSpaces(const Level& level);
  Result<void> load();
  Result<void> explore();
  void renumber();
  std::uint64_t identity() const;
  Restriction pinned(const ChosenVersions& chosen) const;

  TrackedBytes* tracked;
  const Baseline* baseline;
  Runner* runner;
  ExploreOptions options;
  std::shared_ptr<const Strategy> strategy;
  ExplorationSummary summary;
  Exploration exploration;
  Search search;
  std::vector<std::uint64_t> digests;  // of what was tracked at each level
  std::optional<SavedExploration> loaded;
};

Explorer::Explorer(std::unique_ptr<State> state) : state_(std::move(state)) {}
Explorer::~Explorer() = default;

Result<std::unique_ptr<Explorer>> Explorer::explore(TrackedBytes& tracked, const Baseline& baseline, Runner& runner,
                                                    ExploreOptions options) {
  auto state = std::make_unique<State>(tracked, baseline, runner, std::move(options));
  if (!state->options.resume.empty())
    if (auto ok = state->load(); !ok) return tl::unexpected(ok.error());
  if (auto ok = state->explore(); !ok) return tl::unexpected(ok.error());
  return std::unique_ptr<Explorer>(new Explorer(std::move(state)));
}

// --- files ---

// The tree of a level depends on what is tracked, on the program, on what its operations returned, and on whether there
// are traces for the next one.
std::uint64_t Explorer::State::identity() const {
  return mix(options.identity, options.tree ? 1 : 0, options.crashesInARow > 1 ? 1 : 0,
             digestOf(baseline->index().operations()));
}

Result<void> Explorer::save(const std::string& path) const {
  return writeExploration(savedForm(state_->exploration, state_->identity(), state_->digests), path);
}

Result<void> Explorer::State::load() {
  const std::string& path = options.resume;
  auto saved = readExploration(path);
  if (!saved) return tl::unexpected(saved.error());
  bool same =
      saved->identity == identity() && (saved->levels.empty() || saved->levels[0].tracked == digestOf(*tracked));
  if (!same)
    return fail(
        fmt::format("{}: saved by an exploration of another program, recording or with other options; "
                    "remove it and explore again",
                    path));
  loaded = std::move(*saved);
  return {};
}

// --- exploring ---

Result<void> Explorer::State::beginLevel(std::vector<SpaceInfo> spaces) {
  unsigned number = static_cast<unsigned>(exploration.levels.size()) + 1;
  exploration.addLevel(options.tree, number < options.crashesInARow, std::move(spaces));
  const Level& level = exploration.levels.back();
  digests.push_back(digestOf(*tracked));
  summary.levels = number;
  summary.spaces += level.count;
  if (loaded && number <= loaded->levels.size()) {
    // A further level of another shape is of an exploration that had found other recoveries: it is run anew.
    const SavedLevel& saved = loaded->levels[number - 1];
    if (saved.tracked == digests.back() && saved.shared == level.shared && saved.traced == level.traced)
      if (auto ok = restore(*loaded, saved, *tracked, exploration, options.resume); !ok) return ok;
  }
  if (strategy->bound() == 0) return {};
  std::uint64_t sum = 0;
  for (SpaceNo s = level.first; s < level.first + level.count; ++s) {
    auto space = exploration.open(s);
    if (!space) return tl::unexpected(space.error());
    if (__builtin_add_overflow(sum, strategy->count(**space), &sum) || sum > strategy->bound())
      return fail(fmt::format("the {} strategy would look at more than {} states; use another one, or fewer points",
                              strategy->name(), strategy->bound()));
  }
  return {};
}

// The crashes in the recoveries of a level, each once: two recoveries that observed the same before a point are the
// same until there.
Result<std::vector<SpaceInfo>> Explorer::State::furtherSpaces(const Level& level) {
  struct Point {
    EventNo at;
    EdgeNo last;  // the last observation before it
  };
  std::map<RecoveryNo, std::vector<Point>> points;
  std::vector<SpaceInfo> out;
  for (SpaceNo s = level.first; s < level.first + level.count; ++s) {
    const SpaceInfo& info = exploration.spaces[s];
    std::set<std::pair<EventNo, EdgeNo>> seen;
    for (RecoveryNo l : info.recoveries) {
      const Recovery& recovery = exploration.recoveries[l];
      if (recovery.diverged) continue;
      auto [it, fresh] = points.try_emplace(l);
      if (fresh) {
        auto cut = exploration.interrupted(l);
        if (!cut) return tl::unexpected(cut.error());
        (*cut)->addTo(*tracked);
        summary.fileChangePoints += (*cut)->untellablePoints();
        std::vector<EdgeNo> path = exploration.treeOf(recovery).path(recovery.edge());
        for (const auto& p : (*cut)->points())
          it->second.push_back({p.at, p.observed == 0 ? RecoveryTree::kRoot : path[p.observed - 1]});
      }
      for (const Point& p : it->second)
        if (seen.insert({p.at, p.last}).second) out.push_back({info.level + 1, info.pointNo, p.at, s, l, false, {}});
    }
  }
  return out;
}

Result<void> Explorer::State::explore() {
  auto start = std::chrono::steady_clock::now();
  summary.points = baseline->count();
  summary.log10EagerStates = log10StatesOverPoints(baseline->index(), baseline->points());
  std::vector<SpaceInfo> spaces;
  for (PointNo o : idRange<PointNo>(baseline->count())) spaces.push_back({1, o, baseline->point(o), 0, 0, false, {}});
  for (;;) {
    if (auto ok = beginLevel(std::move(spaces)); !ok) return ok;
    auto stop = search.explore(exploration.levels.back());
    if (!stop) return tl::unexpected(stop.error());
    summary.stop = *stop;
    if (*stop != Stop::Finished || summary.levels >= options.crashesInARow) break;
    auto further = furtherSpaces(exploration.levels.back());
    if (!further) return tl::unexpected(further.error());
    spaces = std::move(*further);
    if (!options.trackedGrew)
      return fail("a crash in a recovery needs a runner that can track more", ExitCode::Internal);
    if (auto ok = options.trackedGrew(); !ok) return ok;
  }
  renumber();
  summary.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  return {};
}

// Numbers in the order in which the spaces lead to them, which does not depend on which run ended first.
void Explorer::State::renumber() {
  constexpr RecoveryNo kNoRecovery{UINT32_MAX};
  constexpr OutcomeNo kNoOutcome{UINT32_MAX};
  IdVector<RecoveryNo, RecoveryNo> to(exploration.recoveries.size(), kNoRecovery);
  IdVector<OutcomeNo, OutcomeNo> outcomesTo(exploration.outcomes.size(), kNoOutcome);
  RecoveryNo nextRecovery = 0;
  OutcomeNo nextOutcome = 0;
  auto number = [&](RecoveryNo l) {
    if (to[l] != kNoRecovery) return;
    to[l] = nextRecovery++;
    OutcomeNo& o = outcomesTo[exploration.recoveries[l].outcome];
    if (o == kNoOutcome) o = nextOutcome++;
  };
  // Where a bound ended the exploration, what was tried first is still known.
  for (const Exploration::Tested& t : exploration.tested) {
    std::vector<RecoveryNo>& known = exploration.spaces[t.space].recoveries;
    if (std::find(known.begin(), known.end(), t.recovery) == known.end()) known.push_back(t.recovery);
  }
  for (const SpaceInfo& s : exploration.spaces)
    for (RecoveryNo l : s.recoveries) number(l);
  summary.outcomes = nextOutcome.value();
  for (RecoveryNo l : idRange<RecoveryNo>(to.size())) number(l);
  for (OutcomeNo& o : outcomesTo)
    if (o == kNoOutcome) o = nextOutcome++;
  exploration.renumber(to, outcomesTo);
  for (Exploration::Tested& t : exploration.tested) t.recovery = to[t.recovery];
  for (ChecksumAssumption& a : summary.assumptions)
    for (RecordExample& e : a.examples) e.recovery = to[e.recovery];
}

// --- results ---

// Calls take(tree, node) once for each node of the trees that `wanted` wants. Only by the recoveries that spaces lead
// to: which others were run depends on the number of workers. False from `take` ends it.
template <class Wanted, class Take>
static void eachNode(const Exploration& exploration, Wanted wanted, Take take) {
  std::map<const RecoveryTree*, IdVector<NodeNo, bool>> seen;
  for (const SpaceInfo& space : exploration.spaces)
    for (RecoveryNo l : space.recoveries) {
      const RecoveryTree& tree = exploration.treeOf(exploration.recoveries[l]);
      auto [it, fresh] = seen.try_emplace(&tree);
      if (fresh && wanted(tree)) it->second.resize(tree.nodeCount());
      if (it->second.empty()) continue;
      // Up to where another recovery's way has been.
      for (EdgeNo e = exploration.recoveries[l].edge(); e != RecoveryTree::kRoot; e = tree.above(tree.nodeOf(e))) {
        NodeNo n = tree.nodeOf(e);
        if (it->second[n]) break;
        it->second[n] = true;
        if (!take(tree, n)) return;
      }
    }
}

bool Explorer::postRegions() const {
  constexpr std::uint8_t kRegion = BLACKOUT_QUERY_INSIDE | BLACKOUT_QUERY_OUTSIDE;
  bool any = false;
  eachNode(
      state_->exploration, [](const RecoveryTree& tree) { return tree.anyFlag(kRegion); },
      [&](const RecoveryTree& tree, NodeNo n) { return !(any = (tree.flags(n) & kRegion) != 0); });
  return any;
}

std::map<TrackedNo, std::uint64_t> Explorer::readBytes() const {
  std::map<TrackedNo, std::uint64_t> read;
  eachNode(
      state_->exploration, [](const RecoveryTree&) { return true; },
      [&](const RecoveryTree& tree, NodeNo n) {
        if (tree.kind(n) == QueryKind::Bytes) read[tree.line(n)] |= tree.mask(n);
        return true;
      });
  return read;
}

TestStage Explorer::stageOf(SpaceNo s, RecoveryNo recovery) const {
  const std::vector<AdversarialTest>& first = state_->options.first;
  if (first.empty()) return TestStage::None;
  TestStage stage = TestStage::OtherPoint;
  PointNo point = space(s).pointNo;
  if (std::any_of(first.begin(), first.end(), [&](const AdversarialTest& t) { return t.point == point; }))
    stage = TestStage::LikelyPoint;
  for (const Exploration::Tested& t : state_->exploration.tested)
    if (t.space == s && t.recovery == recovery) stage = std::min(stage, t.pattern);
  return stage;
}

const ExplorationSummary& Explorer::summary() const { return state_->summary; }
std::uint32_t Explorer::spaceCount() const { return static_cast<std::uint32_t>(state_->exploration.spaces.size()); }
const SpaceInfo& Explorer::space(SpaceNo s) const { return state_->exploration.spaces[s]; }
OutcomeNo Explorer::outcomeNo(RecoveryNo recovery) const { return state_->exploration.recoveries[recovery].outcome; }
std::uint32_t Explorer::outcomeCount() const { return state_->exploration.outcomes.size(); }
const Outcome& Explorer::outcome(OutcomeNo o) const { return state_->exploration.outcomes[o]; }
std::uint32_t Explorer::used(RecoveryNo recovery) const { return state_->exploration.recoveries[recovery].used; }

namespace {

// A space that was explored can be opened again: its recovery's trace was read before.
std::shared_ptr<const CrashSpace> openedSpace(const Exploration& exploration, SpaceNo s) {
  auto space = exploration.open(s);
  assert(space.has_value());
  return *space;
}

const InterruptedRecovery& openedRecovery(const Exploration& exploration, RecoveryNo recovery) {
  auto cut = exploration.interrupted(recovery);
  assert(cut.has_value());
  return **cut;
}

// Follows a recovery's way as seen from a space: the versions that are left of each uncertain line, or of the files,
// before and after each observation. Without a line and with versions it is one of uncertain files.
template <class Visit>
void follow(const Exploration& exploration, const CrashSpace& space, const Recovery& recovery, Visit visit) {
  const RecoveryTree& tree = exploration.treeOf(recovery);
  std::map<TrackedNo, std::vector<std::uint32_t>> left;
  for (EdgeNo e : tree.path(recovery.edge())) {
    NodeNo n = tree.nodeOf(e);
    if (tree.kind(n) == QueryKind::Path && space.uncertainFiles()) {
      const auto& versions = space.ownFiles()->versions;
      auto [it, fresh] = left.try_emplace(kPoolFiles);
      if (fresh)
        for (std::uint32_t v = 0; v < versions.size(); ++v) it->second.push_back(v);
      std::vector<std::uint32_t> before = it->second;
      const std::string& path = exploration.baseline().tracked().paths()[tree.subject(n)];
      std::erase_if(it->second,
                    [&](std::uint32_t v) { return replyOf(pathState(versions[v].files, path)) != tree.numberOf(e); });
      assert(!it->second.empty());
      visit(e, nullptr, before, it->second);
      continue;
    }
    const UncertainLine* line = nullptr;
    if (tree.kind(n) == QueryKind::Bytes) line = &space.line(tree.line(n));
    if (line == nullptr || line->versions.size() == 1) {
      visit(e, nullptr, std::vector<std::uint32_t>{}, std::vector<std::uint32_t>{});
      continue;
    }
    auto [it, fresh] = left.try_emplace(tree.line(n));
    if (fresh)
      for (std::uint32_t v = 0; v < line->versions.size(); ++v) it->second.push_back(v);
    std::vector<std::uint32_t> before = it->second;
    std::erase_if(it->second, [&](std::uint32_t v) { return !tree.answers(e, line->versions[v].bytes); });
    assert(!it->second.empty());
    visit(e, line, before, it->second);
  }
}

}  // namespace

RecoveryDetail Explorer::detail(SpaceNo s, RecoveryNo number) const {
  const Exploration& exploration = state_->exploration;
  std::shared_ptr<const CrashSpace> space = openedSpace(exploration, s);
  const Recovery& recovery = exploration.recoveries[number];
  const RecoveryTree& tree = exploration.treeOf(recovery);
  RecoveryDetail detail;
  detail.outcome = recovery.outcome;
  follow(exploration, *space, recovery,
         [&](EdgeNo e, const UncertainLine* line, const std::vector<std::uint32_t>& before,
             const std::vector<std::uint32_t>& after) {
           NodeNo n = tree.nodeOf(e);
           Observation o;
           o.query = tree.query(n);
           if (!after.empty()) {
             o.uncertain = line != nullptr;
             o.version = after.front();
             auto path = [&](std::uint32_t v) {
               return pathState(space->ownFiles()->versions[v].files, state_->tracked->paths()[o.query.subject]);
             };
             // A class begins with a version that answers like none before it.
             std::vector<std::uint32_t> firsts;
             for (std::uint32_t v : before) {
               auto like = [&](std::uint32_t f) {
                 return line == nullptr ? path(f) == path(v)
                                        : tree.same(n, line->versions[f].bytes, line->versions[v].bytes);
               };
               if (std::none_of(firsts.begin(), firsts.end(), like)) firsts.push_back(v);
             }
             o.classes = static_cast<std::uint32_t>(firsts.size());
             o.taken = static_cast<std::uint32_t>(std::find(firsts.begin(), firsts.end(), o.version) - firsts.begin());
             if (line != nullptr)
               detail.example.versions[o.query.line()] = o.version;
             else
               detail.example.files = o.version;
           }
           detail.observations.push_back(o);
         });
  return detail;
}

Told Explorer::told(RecoveryNo number) const {
  const Exploration& exploration = state_->exploration;
  const Recovery& recovery = exploration.recoveries[number];
  const RecoveryTree& tree = exploration.treeOf(recovery);
  std::map<TrackedNo, ToldLine> lines;
  Told told;
  for (EdgeNo e : tree.path(recovery.edge())) {
    NodeNo n = tree.nodeOf(e);
    if (tree.kind(n) != QueryKind::Bytes) {
      told.numbers.emplace_back(tree.query(n), tree.numberOf(e));
      continue;
    }
    ToldLine& line = lines[tree.line(n)];
    line.line = tree.line(n);
    line.mask |= tree.mask(n);
    // A byte is asked for once.
    LineBytes bytes = tree.bytesOf(e);
    for (unsigned i = 0; i < BLACKOUT_LINE; ++i) line.bytes[i] |= bytes[i];
  }
  for (const auto& [w, line] : lines) told.lines.push_back(line);
  return told;
}

std::shared_ptr<const CrashSpace> Explorer::crashSpace(SpaceNo s) const { return openedSpace(state_->exploration, s); }

std::vector<StoreRef> Explorer::mayReadFrom(SpaceNo s, RecoveryNo number, std::size_t query) const {
  const Exploration& exploration = state_->exploration;
  std::shared_ptr<const CrashSpace> space = openedSpace(exploration, s);
  const Recovery& recovery = exploration.recoveries[number];
  const RecoveryTree& tree = exploration.treeOf(recovery);
  // The name that a line has in the trace of a space's crash.
  auto lineOf = [&](const SpaceInfo& info, TrackedNo w) {
    LineNo line = state_->tracked->line(w);
    return info.level == 1 ? line : openedRecovery(exploration, info.through).toTrace(line);
  };
  std::set<StoreRef> stores;
  // The last store of a version to a byte of the line; walks down the levels where a further crash has none.
  auto lastStore = [&](SpaceNo at, const CrashSpace& in, TrackedNo w, std::uint32_t version, unsigned byte) {
    const CrashSpace* level = &in;
    for (SpaceNo no = at;; no = exploration.spaces[no].parent, level = level->before()) {
      const SpaceInfo& info = exploration.spaces[no];
      const Index* index = &exploration.baseline().index();
      if (info.level > 1) {
        if (level->changed().count(w) == 0) continue;  // the space before says
        index = &openedRecovery(exploration, info.through).index();
      }
      const SpaceVersion& v = level->line(w).versions[version];
      LineId id = index->lineId(lineOf(info, w));
      std::uint32_t length = id == kNoLine ? 0 : index->historyLength(id, info.at);
      for (std::uint32_t i = length; i-- > 0;) {
        if (!v.version.contains(i)) continue;
        LineStore one = index->lineStore(id, i);
        if (byte >= one.offset && byte < unsigned{one.offset} + one.size) return StoreRef{info.level, one.store};
      }
      if (info.level == 1) return StoreRef{};
      version = v.parent;
    }
  };
  std::size_t at = 0;
  follow(exploration, *space, recovery,
         [&](EdgeNo e, const UncertainLine* line, const std::vector<std::uint32_t>& before,
             const std::vector<std::uint32_t>&) {
           if (at++ != query) return;
           NodeNo n = tree.nodeOf(e);
           if (tree.kind(n) != QueryKind::Bytes) return;
           std::vector<std::uint32_t> versions = line != nullptr ? before : std::vector<std::uint32_t>{0};
           for (std::uint32_t v : versions)
             for (unsigned byte = 0; byte < BLACKOUT_LINE; ++byte)
               if ((tree.mask(n) >> byte & 1) != 0) stores.insert(lastStore(s, *space, tree.line(n), v, byte));
         });
  return {stores.begin(), stores.end()};
}

// --- single states ---

Restriction Explorer::State::pinned(const ChosenVersions& chosen) const {
  Restriction r;
  r.unnamed = chosen.unnamed == UnnamedLines::Least ? Unrestricted::Least : Unrestricted::Newest;
  for (const auto& [w, version] : chosen.versions) r.allowed.push_back({w, {version}});
  if (chosen.files) r.files = {*chosen.files};
  return r;
}

CrashState Explorer::crashState(SpaceNo s, const ChosenVersions& chosen) const {
  const Exploration& exploration = state_->exploration;
  std::shared_ptr<const CrashSpace> space = openedSpace(exploration, s);
  // The version of every line that matters, from the last crash to the first: each says which version of the crash
  // before it lies under it.
  std::map<TrackedNo, std::uint32_t> versions = chosen.versions;
  // Like a line that further crashes change: named wherever it is not settled.
  std::uint32_t files = chosen.files.value_or(
      space->uncertainFiles() && chosen.unnamed == UnnamedLines::Newest ? space->ownFiles()->newest : 0);
  CrashState out;
  const CrashSpace* level = space.get();
  for (SpaceNo no = s;; no = exploration.spaces[no].parent, level = level->before()) {
    const SpaceInfo& info = exploration.spaces[no];
    // What the recovery had observed there must hold too, so all lines that a further crash changed are named, except
    // those that it left as they were.
    CrashLevel crash(info.at, info.level == 1 ? chosen.unnamed : UnnamedLines::Least);
    std::map<TrackedNo, std::uint32_t> before;
    if (info.level > 1)
      for (const auto& [w, line] : level->changed())
        versions.try_emplace(w, chosen.unnamed == UnnamedLines::Newest ? line.newest : 0);
    for (const auto& [w, version] : versions) {
      bool own = info.level == 1 || level->changed().count(w) != 0;
      if (!own) {
        before[w] = version;
        continue;
      }
      const UncertainLine& line = level->line(w);
      const SpaceVersion& v = line.versions[version];
      // A settled line of the first crash holds the same, named or not.
      if (info.level > 1 ? v.version != Version{} : line.versions.size() > 1)
        crash.persisted[info.level == 1 ? state_->tracked->line(w)
                                        : openedRecovery(exploration, info.through).toTrace(state_->tracked->line(w))] =
            v.version;
      if (info.level > 1) before[w] = v.parent;
    }
    if (info.level == 1 ? level->uncertainFiles() : level->changedFiles()) {
      const SpaceFiles& v = level->ownFiles()->versions[files];
      if (info.level == 1 || openedRecovery(exploration, info.through).index().files().uncertain())
        crash.files = v.version;
      files = v.parent;
    }
    out.insert(out.begin(), std::move(crash));
    if (info.level == 1) return out;
    versions = std::move(before);
  }
}

Run Explorer::request(SpaceNo s, const ChosenVersions& chosen, bool traced) const {
  auto request = state_->search.request(s, state_->pinned(chosen), traced);
  assert(request.has_value());
  return *request;
}

Result<RecoveryNo> Explorer::recoveryOf(SpaceNo s, const ChosenVersions& chosen) {
  return state_->search.recoveryOf(s, state_->pinned(chosen));
}

Result<Explorer::Repeated> Explorer::repeat(SpaceNo s, const ChosenVersions& chosen, bool traced, bool hangs) {
  Run made = request(s, chosen, traced);
  made.hangs = hangs;
  auto ended = state_->runner->run(made);
  if (!ended) return tl::unexpected(ended.error());
  Repeated out{std::move(*ended), {}};
  // Down the tree with the same replies, as far as it is known.
  auto divergence = state_->search.compareWith(s, state_->pinned(chosen), out.result);
  if (!divergence) return tl::unexpected(divergence.error());
  out.divergence = *divergence;
  return out;
}

Result<std::optional<Divergence>> Explorer::repeatSample(std::size_t count) {
  const Exploration& exploration = state_->exploration;
  std::map<RecoveryNo, SpaceNo> spaces;
  for (SpaceNo s : idRange<SpaceNo>(exploration.spaces.size()))
    for (RecoveryNo l : exploration.spaces[s].recoveries) spaces.try_emplace(l, s);
  std::vector<std::pair<std::uint64_t, RecoveryNo>> order;
  for (const auto& [l, s] : spaces)
    if (!exploration.recoveries[l].diverged) order.emplace_back(mix(state_->options.seed, l.value()), l);
  std::sort(order.begin(), order.end());
  order.resize(std::min(order.size(), count));
  for (const auto& [hash, l] : order) {
    SpaceNo s = spaces[l];
    auto repeated = repeat(s, detail(s, l).example);
    if (!repeated) return tl::unexpected(repeated.error());
    if (repeated->divergence) return repeated->divergence;
  }
  return std::optional<Divergence>();
}

Result<std::string> Explorer::traceOf(RecoveryNo recovery) const {
  const Recovery& l = state_->exploration.recoveries[recovery];
  if (l.trace == nullptr) return fail("the recovery was run without a trace", ExitCode::Internal);
  return traceBytes(*l.trace);
}

}  // namespace blackout
