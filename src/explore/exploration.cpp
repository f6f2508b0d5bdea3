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
  return h;
}

}  // namespace

OutcomeNo Outcomes::number(Outcome outcome) {
  std::size_t hash = hashOf(outcome);
  auto [begin, end] = byHash_.equal_range(hash);
  for (auto it = begin; it != end; ++it)
    if (all_[it->second] == outcome) return it->second;
  byHash_.emplace(hash, size());
  all_.push_back(std::move(outcome));
  return size() - 1;
}

void Outcomes::renumber(const std::vector<OutcomeNo>& to) {
  std::vector<Outcome> moved(all_.size());
  for (OutcomeNo o = 0; o < size(); ++o) moved[to[o]] = std::move(all_[o]);
  all_ = std::move(moved);
  for (auto& [hash, number] : byHash_) number = to[number];
}

void Exploration::addLevel(bool shared, bool traced, std::vector<SpaceInfo> added) {
  Level level;
  level.number = static_cast<unsigned>(levels.size() + 1);
  level.first = static_cast<SpaceNo>(spaces.size());
  level.count = static_cast<SpaceNo>(added.size());
  level.shared = shared;
  level.traced = traced;
  for (WatchedNo w = 0; w < watched_->count(); ++w) level.masks.push_back(watched_->mask(w));
  level.trees.resize(shared ? 1 : added.size());
  levels.push_back(std::move(level));
  spaces.insert(spaces.end(), std::make_move_iterator(added.begin()), std::make_move_iterator(added.end()));
}

Result<const InterruptedRecovery*> Exploration::interrupted(LeafNo leaf) const {
  for (const auto& [number, recovery] : openRecoveries_)
    if (number == leaf) return recovery.get();
  if (leaves[leaf].trace == nullptr)
    return fail("a crash in a recovery needs the recovery's trace, and it was not kept", ExitCode::Internal);
  auto opened = InterruptedRecovery::open(*leaves[leaf].trace, *baseline_, [&](const std::string& path, unsigned n) {
    auto next = static_cast<FileNo>(baseline_->index().files().count() + 1 + madeFiles_.size());
    auto known = madeFiles_.find({path, n});
    if (known != madeFiles_.end()) return known->second;
    if (baseline_->largestFile(next) == 0) return FileNo{0};
    return madeFiles_[{path, n}] = next;
  });
  if (!opened) return tl::unexpected(opened.error());
  if (openRecoveries_.size() == kOpenRecoveries) openRecoveries_.erase(openRecoveries_.begin());
  openRecoveries_.emplace_back(leaf, std::move(*opened));
  return openRecoveries_.back().second.get();
}

Result<std::shared_ptr<const CrashSpace>> Exploration::open(SpaceNo s) const {
  for (const auto& [number, space] : openSpaces_)
    if (number == s) return space;
  const SpaceInfo& info = spaces[s];
  std::shared_ptr<const CrashSpace> made;
  if (info.level == 1) {
    made = std::make_shared<CrashSpace>(first_, info.ordinal);
  } else {
    auto parent = open(info.parent);
    if (!parent) return parent;
    auto recovery = interrupted(info.through);
    if (!recovery) return tl::unexpected(recovery.error());
    const Leaf& leaf = leaves[info.through];
    const RecoveryTree& tree = treeOf(leaf);
    std::vector<EdgeNo> path = tree.path(leaf.edge());
    // Two recoveries that observed the same before the point are one crash: its samples must not tell them apart.
    std::uint64_t identity = info.at;
    for (EdgeNo e : std::span(path).first((*recovery)->observedBefore(info.at))) {
      Query q = tree.query(tree.nodeOf(e));
      identity = mix(identity, q.subject, q.mask);
    }
    made = std::make_shared<CrashSpace>(*parent, (*recovery)->changed(**parent, tree, path, info.at),
                                        (*recovery)->files(**parent, info.at), identity);
  }
  if (openSpaces_.size() == kOpenSpaces) openSpaces_.erase(openSpaces_.begin());
  openSpaces_.emplace_back(s, made);
  return made;
}

Answer Exploration::answer(const RunRequest& request, const Query& q) const {
  switch (q.kind) {
    case QueryKind::Path:
      return {nullptr, answerOf(request.files ? pathState(*request.files, watched_->paths()[q.subject])
                                              : baseline_->pathState(request.ordinal, q.subject))};
    case QueryKind::Op:
      return {nullptr, opAnswer(baseline_->opState(request.ordinal, q.subject), q.mask)};
    case QueryKind::Bytes:
      break;
  }
  auto it = std::lower_bound(request.lines.begin(), request.lines.end(), q.subject,
                             [](const auto& line, WatchedNo w) { return line.first < w; });
  if (it != request.lines.end() && it->first == q.subject) return {&it->second, 0};
  if (q.subject < baseline_->rowLines())
    return {&baseline_->contentOf(baseline_->rowAt(request.ordinal, q.subject)), 0};
  return {&first_.line(request.ordinal, q.subject).versions.front().bytes, 0};
}

Result<void> Exploration::check(std::span<const Query> queries) const {
  for (const Query& q : queries)
    if (!watched_->has(q))
      return fail(fmt::format("a recovery run observed what is not watched (kind {}, number {}, mask {:#x})",
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
      q.mask &= q.subject < level.masks.size() ? level.masks[q.subject] : 0;
      if (q.mask == 0) continue;
    }
    out.push_back(q);
  }
  return out;
}

// The kUsed* bits of the run that made the node.
std::uint32_t Exploration::usedBy(const Level& level, std::uint32_t tree, NodeNo n) const {
  for (const Leaf& l : leaves)
    if (l.level == level.number && l.tree == tree && n - l.firstNode < l.nodes) return l.used;
  return 0;
}

Result<std::optional<Divergence>> Exploration::compare(SpaceNo s, EdgeNo e, const RunResult& result) const {
  if (auto ok = check(result.queries); !ok) return tl::unexpected(ok.error());
  return compare(s, e, seenAt(levelOf(s), result.queries), result);
}

std::optional<Divergence> Exploration::compare(SpaceNo s, EdgeNo e, std::span<const Query> queries,
                                               const RunResult& result) const {
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
  const Leaf& leaf = leaves[end.number()];
  d.usedBefore = leaf.used;
  d.outcome = !d.now && outcomes[leaf.outcome] != result.outcome;
  return d.now || d.outcome ? std::optional(d) : std::nullopt;
}

Result<LeafNo> Exploration::add(SpaceNo s, EdgeNo at, const RunRequest& request, RunResult result,
                                std::optional<Divergence>& divergence) {
  if (auto ok = check(result.queries); !ok) return tl::unexpected(ok.error());
  std::vector<Query> queries = seenAt(levelOf(s), result.queries);
  RecoveryTree& tree = treeOf(s);
  std::vector<EdgeNo> path = tree.path(at);
  Leaf leaf;
  leaf.level = spaces[s].level;
  leaf.tree = treeNo(s);
  leaf.attached = at;
  leaf.firstNode = tree.nodeCount();
  leaf.used = result.used;
  leaf.made = static_cast<std::uint32_t>(leaves.size());
  leaf.notes = std::move(result.notes);
  divergence = compare(s, at, queries, result);
  leaf.diverged = divergence.has_value();
  if (leaf.diverged) {
    queries.clear();
  } else {
    for (std::size_t i = 0; i < path.size(); ++i) {
      // The memory was made so that it gives these answers.
      Answer a = answer(request, queries[i]);
      assert(a.bytes != nullptr ? tree.answers(path[i], *a.bytes) : tree.numberOf(path[i]) == a.number);
    }
    if (levelOf(s).traced) {
      auto kept = keepTrace(result.tracePath, queries, baseline_->index().files().count());
      if (!kept) return tl::unexpected(kept.error());
      leaf.trace = std::make_shared<KeptTrace>(std::move(*kept));
    }
    queries.erase(queries.begin(), queries.begin() + static_cast<std::ptrdiff_t>(path.size()));
  }
  leaf.outcome = outcomes.number(std::move(result.outcome));
  std::vector<Answer> answers;
  answers.reserve(queries.size());
  for (const Query& q : queries) answers.push_back(answer(request, q));
  leaf.nodes = static_cast<std::uint32_t>(queries.size());
  auto number = static_cast<LeafNo>(leaves.size());
  tree.insert(at, queries, answers, number);
  leaves.push_back(std::move(leaf));
  return number;
}

void Exploration::renumber(const std::vector<LeafNo>& to, const std::vector<OutcomeNo>& outcomesTo) {
  std::vector<Leaf> moved(leaves.size());
  for (LeafNo l = 0; l < leaves.size(); ++l) {
    levels[leaves[l].level - 1].trees[leaves[l].tree].renumberLeaf(leaves[l].edge(), to[l]);
    moved[to[l]] = std::move(leaves[l]);
  }
  leaves = std::move(moved);
  for (Leaf& l : leaves) l.outcome = outcomesTo[l.outcome];
  for (SpaceInfo& s : spaces) {
    if (s.level > 1) s.through = to[s.through];
    for (LeafNo& l : s.leaves) l = to[l];
  }
  outcomes.renumber(outcomesTo);
  openRecoveries_.clear();
}

}  // namespace blackout
