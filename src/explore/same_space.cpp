#include "explore/same_space.h"

#include <algorithm>

namespace blackout {

namespace {

LineBytes masked(LineBytes bytes, std::uint64_t mask) {
  for (unsigned i = 0; i < bytes.size(); ++i)
    if ((mask >> i & 1) == 0) bytes[i] = std::byte{0};
  return bytes;
}

// What restarts can tell apart of a line, in the order in which a walk comes by it.
std::vector<LineBytes> contentsOf(const UncertainLine& line, std::uint64_t mask) {
  std::vector<LineBytes> contents;
  for (const SpaceVersion& v : line.versions)
    if (LineBytes bytes = masked(v.bytes, mask); std::find(contents.begin(), contents.end(), bytes) == contents.end())
      contents.push_back(bytes);
  return contents;
}

}  // namespace

void SameSpace::learn() {
  for (; learned_.value() < tree_->nodeCount(); ++learned_) {
    switch (tree_->kind(learned_)) {
      case QueryKind::Bytes: {
        TrackedNo line = tree_->line(learned_);
        if (!masks_.has(line)) masks_.resize(line.value() + 1);
        masks_[line] |= tree_->mask(learned_);
        break;
      }
      case QueryKind::Op:
        operations_.insert(tree_->subject(learned_));
        break;
      case QueryKind::Path:
        paths_.insert(tree_->subject(learned_));
        break;
    }
  }
}

bool SameSpace::sameRow(RowNo r, std::uint64_t mask) const {
  const Baseline& baseline = first_->baseline();
  const Baseline::Row& row = baseline.row(r);
  if (row.previous == Baseline::kNoRow) return false;
  if (masked(baseline.contentOf(r), mask) != masked(baseline.contentOf(row.previous), mask)) return false;
  if (!row.uncertain && !baseline.row(row.previous).uncertain) return true;
  const UncertainLine &now = first_->line(r), &before = first_->line(row.previous);
  return now.complete && before.complete && contentsOf(now, mask) == contentsOf(before, mask);
}

bool SameSpace::asBefore(PointNo p) {
  const Baseline& baseline = first_->baseline();
  if (baseline.index().files().uncertain()) return false;
  learn();
  for (RowNo r = baseline.firstRow(p); r < baseline.firstRow(p + 1); ++r) {
    TrackedNo line = baseline.row(r).line;
    if (masks_.has(line) && masks_[line] != 0 && !sameRow(r, masks_[line])) return false;
  }
  PointNo before(p.value() - 1);
  return std::all_of(operations_.begin(), operations_.end(),
                     [&](std::uint32_t o) {
                       return baseline.opState(p, OperationNo(o)) == baseline.opState(before, OperationNo(o));
                     }) &&
         std::all_of(paths_.begin(), paths_.end(), [&](std::uint32_t path) {
           return baseline.pathState(p, path) == baseline.pathState(before, path);
         });
}

}  // namespace blackout
