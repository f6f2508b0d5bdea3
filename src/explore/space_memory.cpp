#include "explore/space_memory.h"

#include <algorithm>
#include <cassert>

namespace blackout {

const UncertainLine& FirstCrash::line(RowNo row) const {
  auto& place = byRow_[row];
  if (place == nullptr) {
    place = std::make_unique<UncertainLine>();
    LineVersions found = baseline_->versions(row);
    place->complete = found.complete;
    for (LineVersion& v : found.versions) place->versions.push_back({v.bytes, std::move(v.version), 0});
    LineBytes newest = baseline_->newest(row);
    auto is = [&](const SpaceVersion& v) { return v.bytes == newest; };
    auto it = std::find_if(place->versions.begin(), place->versions.end(), is);
    assert(it != place->versions.end());
    place->newest = static_cast<std::uint32_t>(it - place->versions.begin());
  }
  return *place;
}

const UncertainLine& FirstCrash::line(PointNo pointNo, TrackedNo w) const {
  if (w < baseline_->rowLines()) return line(baseline_->rowAt(pointNo, w));
  auto [it, fresh] = added_.try_emplace(w);
  if (fresh) it->second.versions.push_back({baseline_->addedContent(w), {}, 0});
  return it->second;
}

void SpaceMemory::setRow(RowNo r) {
  const Baseline& baseline = first_->baseline();
  const Baseline::Row& row = baseline.row(r);
  cells_[row.line] = {&baseline.contentOf(r), row.uncertain ? r.value() + 1 : 0};
}

void SpaceMemory::moveTo(PointNo pointNo) {
  const Baseline& baseline = first_->baseline();
  if (pointNo_ == kNowhere) {
    pointNo_ = 0;
    cells_.resize(baseline.rowLines().value());
    for (RowNo r = 0; r < baseline.firstRow(1); ++r) setRow(r);
  }
  // Lines that were added have the same content everywhere.
  for (TrackedNo w = cells_.endId(); w.value() < baseline.tracked().count(); ++w)
    cells_.push_back({&first_->line(0, w).versions.front().bytes, 0});
  for (; pointNo_ < pointNo; ++pointNo_)
    for (RowNo r = baseline.firstRow(pointNo_ + 1); r < baseline.firstRow(pointNo_ + 2); ++r) setRow(r);
  for (; pointNo_ > pointNo; --pointNo_)
    for (RowNo r = baseline.firstRow(pointNo_); r < baseline.firstRow(pointNo_ + 1); ++r)
      setRow(baseline.row(r).previous);
}

void SpaceMemory::leave() {
  const Baseline& baseline = first_->baseline();
  for (TrackedNo w : changed_) {
    if (w < baseline.rowLines())
      setRow(baseline.rowAt(pointNo_, w));
    else
      cells_[w] = {&first_->line(0, w).versions.front().bytes, 0};
  }
  changed_.clear();
  space_ = nullptr;
}

void SpaceMemory::enter(const CrashSpace& space) {
  if (space_ == &space) return;
  leave();
  moveTo(space.pointNo());
  space_ = &space;
  for (const auto& [w, line] : space.changedSinceFirst()) {
    cells_[w] = {&line->versions.front().bytes, line->versions.size() > 1 ? kChanged : 0};
    changed_.push_back(w);
  }
}

const UncertainLine& SpaceMemory::line(TrackedNo w) const {
  std::uint32_t u = cells_[w].uncertain;
  return u == 0 || u == kChanged ? space_->line(w) : first_->line(RowNo(u - 1));
}

std::uint64_t SpaceMemory::number(QueryKind kind, std::uint32_t subject, std::uint64_t question) const {
  const Baseline& baseline = first_->baseline();
  if (kind == QueryKind::Op) return opReply(baseline.opState(pointNo_, OperationNo(subject)), question);
  const UncertainFiles* files = space_->ownFiles();
  return replyOf(files != nullptr ? pathState(files->versions.front().files, baseline.tracked().paths()[subject])
                                  : baseline.pathState(pointNo_, subject));
}

}  // namespace blackout
