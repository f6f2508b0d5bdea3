// Everything that an exploration knows, as data: the recovery trees of its levels, the recoveries that were run, their
// outcomes, and the crash spaces with the recoveries that they lead to. It adds runs and checks that they follow what
// earlier ones have shown; which runs to make is decided elsewhere (search.h).
#pragma once

#include <memory>
#include <optional>
#include <unordered_map>
#include <vector>

#include "explore/explorer.h"
#include "explore/further_crash.h"
#include "explore/recovery_tree.h"
#include "explore/space_memory.h"

namespace blackout {

// One of the crashes in a row.
struct Level {
  unsigned number = 1;
  SpaceNo first = 0;
  std::uint32_t count = 0;
  bool shared = true;  // one tree for all its spaces, or one for each
  bool traced = false;
  IdVector<TrackedNo, std::uint64_t> masks;  // what is tracked of each line
  std::vector<RecoveryTree> trees;
};

// A recovery that was run.
struct Recovery {
  OutcomeNo outcome = 0;
  std::uint32_t used = 0;
  unsigned level = 1;
  std::uint32_t tree = 0;  // of its level
  EdgeNo attached = 0;     // the edge for which it was made
  NodeNo firstNode = 0;    // its own nodes lie one behind the other
  std::uint32_t nodes = 0;
  bool loaded = false;     // from a file
  bool diverged = false;   // it did not follow the path for which it was made, so it has no nodes
  std::uint32_t made = 0;  // the order in which runs ended: a run hangs under nodes of earlier ones
  std::vector<std::string> notes;
  std::vector<std::string> unseen;
  std::shared_ptr<const KeptTrace> trace;

  EdgeNo edge() const { return nodes == 0 ? attached : RecoveryTree::firstEdge(firstNode + nodes - 1); }
};

class Outcomes {
 public:
  OutcomeNo number(Outcome outcome);
  const Outcome& operator[](OutcomeNo o) const { return all_[o]; }
  std::uint32_t size() const { return static_cast<std::uint32_t>(all_.size()); }
  // Outcome o becomes number to[o].
  void renumber(const IdVector<OutcomeNo, OutcomeNo>& to);

 private:
  IdVector<OutcomeNo, Outcome> all_;
  std::unordered_multimap<std::size_t, OutcomeNo> byHash_;
};

class Exploration {
 public:
  Exploration(const TrackedBytes& tracked, const Baseline& baseline)
      : tracked_(&tracked), baseline_(&baseline), first_(baseline) {}

  const Baseline& baseline() const { return *baseline_; }
  const FirstCrash& first() const { return first_; }

  std::vector<Level> levels;
  IdVector<SpaceNo, SpaceInfo> spaces;
  IdVector<RecoveryNo, Recovery> recoveries;
  Outcomes outcomes;
  // The states that were looked at first, and where they led.
  struct Tested {
    SpaceNo space = 0;
    RecoveryNo recovery = 0;
    TestStage pattern{};
  };
  std::vector<Tested> tested;

  void addLevel(bool shared, bool traced, std::vector<SpaceInfo> spaces);
  Level& levelOf(SpaceNo s) { return levels[spaces[s].level - 1]; }
  const Level& levelOf(SpaceNo s) const { return levels[spaces[s].level - 1]; }
  std::uint32_t treeNo(SpaceNo s) const { return levelOf(s).shared ? 0 : s - levelOf(s).first; }
  RecoveryTree& treeOf(SpaceNo s) { return levelOf(s).trees[treeNo(s)]; }
  const RecoveryTree& treeOf(SpaceNo s) const { return levelOf(s).trees[treeNo(s)]; }
  const RecoveryTree& treeOf(const Recovery& l) const { return levels[l.level - 1].trees[l.tree]; }

  // What the space's crash may leave. An error if the recovery of a further crash can't be read back.
  Result<std::shared_ptr<const CrashSpace>> open(SpaceNo s) const;
  Result<const InterruptedRecovery*> interrupted(RecoveryNo recovery) const;

  // Adds the run that was made for an edge. If it did not follow the way there, it becomes a recovery all the same, and
  // `divergence` says how.
  Result<RecoveryNo> add(SpaceNo s, EdgeNo at, const Run& request, RunEnd result,
                         std::optional<Divergence>& divergence);
  // How a run differs from the path down to `e`; if that ends in a recovery, from the whole run there. An error if it
  // observed what is not tracked.
  Result<std::optional<Divergence>> compare(SpaceNo s, EdgeNo e, const RunEnd& result) const;

  // What a request's memory replies.
  Reply reply(const Run& request, const Query& q) const;

  // Recovery l becomes number to[l], outcome o number outcomesTo[o].
  void renumber(const IdVector<RecoveryNo, RecoveryNo>& to, const IdVector<OutcomeNo, OutcomeNo>& outcomesTo);

 private:
  Result<void> check(std::span<const Query> queries) const;
  std::vector<Query> seenAt(const Level& level, std::span<const Query> queries) const;
  std::optional<Divergence> compare(SpaceNo s, EdgeNo e, std::span<const Query> queries, const RunEnd& result) const;
  std::uint32_t usedBy(const Level& level, std::uint32_t tree, NodeNo n) const;

  const TrackedBytes* tracked_;
  const Baseline* baseline_;
  FirstCrash first_;
  // What was opened last: neighbouring spaces share their parents and recoveries.
  mutable std::vector<std::pair<SpaceNo, std::shared_ptr<const CrashSpace>>> openSpaces_;
  mutable std::vector<std::pair<RecoveryNo, std::unique_ptr<InterruptedRecovery>>> openRecoveries_;
  // Numbers of the files that recoveries made, by path and how many of that path one had made before. Given when a
  // recovery is first opened, which is in the order of spaces.
  mutable std::map<std::pair<std::string, unsigned>, FileNo> madeFiles_;
};

}  // namespace blackout
