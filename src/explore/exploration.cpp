#include "explore/exploration.h"

#include <fmt/format.h>

#include <algorithm>
#include <cassert>
#include <functional>
#include <string_view>

#include "explore/seeded.h"

namespace blackout {

namespace {

constexpr std::size_t kOpenSpaces = 16;
constexpr std::size_t kOpenRecoveries = 64;

std::size_t hashOf(const Outcome& o) {
  std::hash<std::string_view> text;
  std::uint64_t h = mix(static_cast<std::uint64_t>(o.ending), static_cast<std::uint64_t>(o.code), text(o.text),
                        text(o.output), o.faultAddress);
  for (std::uint64_t f : o.frames) h = mix(h, f);
  if (!o.history.empty()) h = mix(h, text(encodeHistory(o.history)));
  return h;
}

}  // namespace

OutcomeNo Outcomes::number(Outcome outcome) {
  std::size_t hash = hashOf(outcome);
  auto [begin, end] = byHash_.equal_range(hash);
  for (auto it = begin; it != end; ++it)
    if (all_[it->second] == outcome) return it->second;
  OutcomeNo number = all_.endId();
  byHash_.emplace(hash, number);
  all_.push_back(std::move(outcome));
  return number;
}

void Outcomes::renumber(const IdVector<OutcomeNo, OutcomeNo>& to) {
  IdVector<OutcomeNo, Outcome> moved(all_.size());
  for (OutcomeNo o : idRange<OutcomeNo>(size())) moved[to[o]] = std::move(all_[o]);
  all_ = std::move(moved);
  for (auto& [hash, number] : byHash_) number = to[number];
}

void Exploration::addLevel(bool shared, bool traced, std::vector<SpaceInfo> added) {
  Level level;
  level.number = static_cast<unsigned>(levels.size() + 1);
  level.first = spaces.endId();
  level.count = static_cast<std::uint32_t>(added.size());
  level.shared = shared;
  level.traced = traced;
  for (TrackedNo w : idRange<TrackedNo>(tracked_->count())) level.masks.push_back(tracked_->mask(w));
  level.trees.resize(shared ? 1 : added.size());
  levels.push_back(std::move(level));
  spaces.insert(spaces.end(), std::make_move_iterator(added.begin()), std::make_move_iterator(added.end()));
}

Result<const InterruptedRecovery*> Exploration::interrupted(RecoveryNo recovery) const {
  for (const auto& [number, opened] : openRecoveries_)
    if (number == recovery) return opened.get();
  if (recoveries[recovery].trace == nullptr)
    return fail("a crash in a recovery needs the recovery's trace, and it was not kept", ExitCode::Internal);
  auto opened =
      InterruptedRecovery::open(*recoveries[recovery].trace, *baseline_, [&](const std::string& path, unsigned n) {
        auto next = static_cast<FileNo>(baseline_->index().files().last() + 1 + madeFiles_.size());
        auto known = madeFiles_.find({path, n});
        if (known != madeFiles_.end()) return known->second;
        if (baseline_->largestFile(next) == 0) return FileNo{0};
        return madeFiles_[{path, n}] = next;
      });
  if (!opened) return tl::unexpected(opened.error());
  if (openRecoveries_.size() == kOpenRecoveries) openRecoveries_.erase(openRecoveries_.begin());
  openRecoveries_.emplace_back(recovery, std::move(*opened));
  return openRecoveries_.back().second.get();
}

Result<std::shared_ptr<const CrashSpace>> Exploration::open(SpaceNo s) const {
  for (const auto& [number, space] : openSpaces_)
    if (number == s) return space;
  const SpaceInfo& info = spaces[s];
  std::shared_ptr<const CrashSpace> made;
  if (info.level == 1) {
    made = std::make_shared<CrashSpace>(first_, info.pointNo);
  } else {
    auto parent = open(info.parent);
    if (!parent) return parent;
    auto cut = interrupted(info.through);
    if (!cut) return tl::unexpected(cut.error());
    const Recovery& recovery = recoveries[info.through];
    const RecoveryTree& tree = treeOf(recovery);
    std::vector<EdgeNo> path = tree.path(recovery.edge());
    // Two recoveries that observed the same before the point are one crash: its samples must not tell them apart.
    std::uint64_t identity = info.at.value();
    for (EdgeNo e : std::span(path).first((*cut)->observedBefore(info.at))) {
      Query q = tree.query(tree.nodeOf(e));
      identity = mix(identity, q.subject, q.mask);
    }
    made = std::make_shared<CrashSpace>(*parent, (*cut)->changed(**parent, tree, path, info.at),
                                        (*cut)->files(**parent, tree, path, info.at), identity);
  }
  if (openSpaces_.size() == kOpenSpaces) openSpaces_.erase(openSpaces_.begin());
  openSpaces_.emplace_back(s, made);
  return made;
}

Reply Exploration::reply(const Run& request, const Query& q) const {
  switch (q.kind) {
    case QueryKind::Path:
      return {nullptr, replyOf(request.files ? pathState(*request.files, tracked_->paths()[q.subject])
                                             : baseline_->pathState(request.pointNo, q.subject))};
    case QueryKind::Op:
      return {nullptr, opReply(baseline_->opState(request.pointNo, q.operation()), q.mask)};
    case QueryKind::Bytes:
      break;
  }
  auto it = std::lower_bound(request.lines.begin(), request.lines.end(), q.line(),
                             [](const auto& line, TrackedNo w) { return line.first < w; });
  if (it != request.lines.end() && it->first == q.line()) return {&it->second, 0};
  if (q.line() < baseline_->rowLines()) return {&baseline_->contentOf(baseline_->rowAt(request.pointNo, q.line())), 0};
  return {&first_.line(request.pointNo, q.line()).versions.front().bytes, 0};
}

Result<void> Exploration::check(std::span<const Query> queries) const {
  for (const Query& q : queries)
    if (!isTracked(*tracked_, q))
      return fail(fmt::format("a recovery run observed what is not tracked (kind {}, number {}, mask {:#x})",
                              static_cast<unsigned>(q.kind), q.subject, q.mask),
                  ExitCode::Internal);
  return {};
}

// Later levels watch more. What a run observed of that is nothing that this level knows of.
std::vector<Query> Exploration::seenAt(const Level& level, std::span<const Query> queries) const {
  std::vector<Query> out;
  out.reserve(queries.size());
  for (Query q : queries) {
    if (q.kind == QueryKind::Bytes) {
      q.mask &= level.masks.has(q.line()) ? level.masks[q.line()] : 0;
      if (q.mask == 0) continue;
    }
    out.push_back(q);
  }
  return out;
}

// The kUsed* bits of the run that made the node.
std::uint32_t Exploration::usedBy(const Level& level, std::uint32_t tree, NodeNo n) const {
  for (const Recovery& l : recoveries)
    if (l.level == level.number && l.tree == tree && n - l.firstNode < l.nodes) return l.used;
  return 0;
}

Result<std::optional<Divergence>> Exploration::compare(SpaceNo s, EdgeNo e, const RunEnd& result) const {
  if (auto ok = check(result.queries); !ok) return tl::unexpected(ok.error());
  return compare(s, e, seenAt(levelOf(s), result.queries), result);
}

std::optional<Divergence> Exploration::compare(SpaceNo s, EdgeNo e, std::span<const Query> queries,
                                               const RunEnd& result) const {
  const RecoveryTree& tree = treeOf(s);
  std::vector<EdgeNo> path = tree.path(e);
  std::size_t at = 0;
  while (at < path.size() && at < queries.size() && tree.query(tree.nodeOf(path[at])).sameQuestion(queries[at])) ++at;
  Divergence d;
  d.space = s;
  d.at = at;
  d.usedNow = result.used;
  if (at < queries.size()) d.now = queries[at];
  if (at < path.size()) {
    NodeNo n = tree.nodeOf(path[at]);
    d.before = tree.query(n);
    d.usedBefore = usedBy(levelOf(s), treeNo(s), n);
    return d;
  }
  Target end = tree.target(e);
  if (!end.isLeaf()) return std::nullopt;
  const Recovery& recovery = recoveries[end.leaf()];
  d.usedBefore = recovery.used;
  d.outcome = !d.now && outcomes[recovery.outcome] != result.outcome;
  return d.now || d.outcome ? std::optional(d) : std::nullopt;
}

Result<RecoveryNo> Exploration::add(SpaceNo s, EdgeNo at, const Run& request, RunEnd result,
                                    std::optional<Divergence>& divergence) {
  if (auto ok = check(result.queries); !ok) return tl::unexpected(ok.error());
  std::vector<Query> queries = seenAt(levelOf(s), result.queries);
  RecoveryTree& tree = treeOf(s);
  std::vector<EdgeNo> path = tree.path(at);
  Recovery recovery;
  recovery.level = spaces[s].level;
  recovery.tree = treeNo(s);
  recovery.attached = at;
  recovery.firstNode = NodeNo(tree.nodeCount());
  recovery.used = result.used;
  recovery.made = static_cast<std::uint32_t>(recoveries.size());
  recovery.notes = std::move(result.notes);
  recovery.unseen = std::move(result.unseen);
  divergence = compare(s, at, queries, result);
  recovery.diverged = divergence.has_value();
  if (recovery.diverged) {
    queries.clear();
  } else {
    for (std::size_t i = 0; i < path.size(); ++i) {
      // The memory was made so that it gives these replies.
      Reply a = reply(request, queries[i]);
      assert(a.bytes != nullptr ? tree.answers(path[i], *a.bytes) : tree.numberOf(path[i]) == a.number);
    }
    if (levelOf(s).traced) {
      auto kept = keepTrace(result.tracePath, queries, baseline_->index().files().last());
      if (!kept) return tl::unexpected(kept.error());
      recovery.trace = std::make_shared<KeptTrace>(std::move(*kept));
    }
    queries.erase(queries.begin(), queries.begin() + static_cast<std::ptrdiff_t>(path.size()));
  }
  recovery.outcome = outcomes.number(std::move(result.outcome));
  std::vector<Reply> answers;
  answers.reserve(queries.size());
  for (const Query& q : queries) answers.push_back(reply(request, q));
  recovery.nodes = static_cast<std::uint32_t>(queries.size());
  RecoveryNo number = recoveries.endId();
  tree.insert(at, queries, answers, number);
  recoveries.push_back(std::move(recovery));
  return number;
}

void Exploration::renumber(const IdVector<RecoveryNo, RecoveryNo>& to,
                           const IdVector<OutcomeNo, OutcomeNo>& outcomesTo) {
  IdVector<RecoveryNo, Recovery> moved(recoveries.size());
  for (RecoveryNo l : idRange<RecoveryNo>(recoveries.size())) {
    levels[recoveries[l].level - 1].trees[recoveries[l].tree].renumberLeaf(recoveries[l].edge(), to[l]);
    moved[to[l]] = std::move(recoveries[l]);
  }
  recoveries = std::move(moved);
  for (Recovery& l : recoveries) l.outcome = outcomesTo[l.outcome];
  for (SpaceInfo& s : spaces) {
    if (s.level > 1) s.through = to[s.through];
    for (RecoveryNo& l : s.recoveries) l = to[l];
  }
  outcomes.renumber(outcomesTo);
  openRecoveries_.clear();
}

}  // namespace blackout
