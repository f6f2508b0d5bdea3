// Points whose crash space is that of the point before, for everything that restarts have asked: what was stored in
// between lies where none of them looks. Such a point leads to the same recoveries, and needs no walk.
#pragma once

#include <set>

#include "explore/recovery_tree.h"
#include "explore/space_memory.h"

namespace blackout {

class SameSpace {
 public:
  // Both must outlive it. The tree is one that all points share.
  SameSpace(const FirstCrash& first, const RecoveryTree& tree) : first_(&first), tree_(&tree) {}

  // As far as restarts have asked by now; `p` is not the first point.
  bool asBefore(PointNo p);

 private:
  void learn();
  bool sameRow(RowNo row, std::uint64_t mask) const;

  const FirstCrash* first_;
  const RecoveryTree* tree_;
  // What the nodes of the tree up to this one ask for.
  NodeNo learned_ = 1;  // 0 is above the root
  IdVector<TrackedNo, std::uint64_t> masks_;
  std::set<std::uint32_t> operations_, paths_;
};

}  // namespace blackout
