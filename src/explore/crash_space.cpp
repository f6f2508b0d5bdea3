#include "explore/crash_space.h"

#include <algorithm>
#include <cassert>
#include <cmath>

#include "explore/seeded.h"

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

const UncertainLine& FirstCrash::line(std::uint32_t pointNo, TrackedNo w) const {
  if (w < baseline_->rowLines()) return line(baseline_->rowAt(pointNo, w));
  auto [it, fresh] = added_.try_emplace(w);
  if (fresh) it->second.versions.push_back({baseline_->addedContent(w), {}, 0});
  return it->second;
}

CrashSpace::CrashSpace(const FirstCrash& first, std::uint32_t pointNo)
    : first_(&first), pointNo_(pointNo), identity_(mix(pointNo)) {
  const FileTimeline& timeline = first.baseline().index().files();
  if (!timeline.uncertain()) return;
  FilesVersions found = timeline.versionsAt(first.baseline().point(pointNo));
  if (found.versions.size() == 1) return;
  UncertainFiles& files = files_.emplace();
  files.newest = static_cast<std::uint32_t>(found.newest);
  files.complete = found.complete;
  for (FilesVersion& v : found.versions) files.versions.push_back({std::move(v.files), std::move(v.version), 0});
}

CrashSpace::CrashSpace(std::shared_ptr<const CrashSpace> before, std::map<TrackedNo, UncertainLine> changed,
                       std::optional<UncertainFiles> files, std::uint64_t identity)
    : first_(before->first_),
      pointNo_(before->pointNo_),
      identity_(mix(before->identity_, identity)),
      before_(std::move(before)),
      changed_(std::move(changed)),
      all_(before_->all_),
      files_(files ? std::move(files) : before_->files_),
      changedFiles_(files.has_value()) {
  for (const auto& [w, line] : changed_) all_[w] = &line;
}

UncertainFiles CrashSpace::files() const {
  if (files_) return *files_;
  const FileTimeline& timeline = first_->baseline().index().files();
  EventNo at = first_->baseline().point(pointNo_);
  Version least = timeline.leastAt(at);
  std::vector<FileState> files = timeline.filesIn(at, least);
  return {{{std::move(files), std::move(least), 0}}, 0, true};
}

std::optional<std::vector<FileState>> CrashSpace::requestFiles(std::uint32_t version) const {
  // Of the first crash, the least version is the baseline's.
  if (!files_ || (before_ == nullptr && version == 0)) return std::nullopt;
  return files_->versions[version].files;
}

PathState pathState(const std::vector<FileState>& files, const std::string& path) {
  // The last file with a name has it.
  auto it = std::find_if(files.rbegin(), files.rend(), [&](const FileState& f) { return f.path == path; });
  return it == files.rend() ? PathState{} : PathState{it->number, it->size};
}

const UncertainLine& CrashSpace::line(TrackedNo w) const {
  if (auto it = all_.find(w); it != all_.end()) return *it->second;
  return first_->line(pointNo_, w);
}

const std::vector<TrackedNo>& CrashSpace::uncertain() const {
  if (listed_) return uncertain_;
  listed_ = true;
  uncertain_ = first_->baseline().uncertain(pointNo_);
  if (all_.empty()) return uncertain_;
  std::erase_if(uncertain_, [&](TrackedNo w) { return all_.count(w) != 0; });
  for (const auto& [w, line] : all_)
    if (line->versions.size() > 1) uncertain_.push_back(w);
  std::sort(uncertain_.begin(), uncertain_.end());
  return uncertain_;
}

double CrashSpace::log10States() const {
  double sum = 0;
  for (TrackedNo w : uncertain()) sum += std::log10(static_cast<double>(line(w).versions.size()));
  if (uncertainFiles()) sum += std::log10(static_cast<double>(files_->versions.size()));
  return sum;
}

std::uint64_t CrashSpace::states() const {
  std::uint64_t product = uncertainFiles() ? files_->versions.size() : 1;
  for (TrackedNo w : uncertain())
    if (__builtin_mul_overflow(product, line(w).versions.size(), &product)) return UINT64_MAX;
  return product;
}

void SpaceMemory::setRow(RowNo r) {
  const Baseline& baseline = first_->baseline();
  const Baseline::Row& row = baseline.row(r);
  cells_[row.line] = {&baseline.contentOf(r), row.uncertain ? r + 1 : 0};
}

void SpaceMemory::moveTo(std::uint32_t pointNo) {
  const Baseline& baseline = first_->baseline();
  if (pointNo_ == UINT32_MAX) {
    pointNo_ = 0;
    cells_.resize(baseline.rowLines());
    for (RowNo r = 0; r < baseline.firstRow(1); ++r) setRow(r);
  }
  // Lines that were added have the same content everywhere.
  for (auto w = static_cast<TrackedNo>(cells_.size()); w < baseline.tracked().count(); ++w)
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
  return u == 0 || u == kChanged ? space_->line(w) : first_->line(u - 1);
}

std::uint64_t SpaceMemory::number(QueryKind kind, std::uint32_t subject, std::uint64_t question) const {
  const Baseline& baseline = first_->baseline();
  if (kind == QueryKind::Op) return opReply(baseline.opState(pointNo_, subject), question);
  const UncertainFiles* files = space_->ownFiles();
  return replyOf(files != nullptr ? pathState(files->versions.front().files, baseline.tracked().paths()[subject])
                                  : baseline.pathState(pointNo_, subject));
}

}  // namespace blackout
