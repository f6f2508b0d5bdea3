#include "explore/crash_space.h"

#include <algorithm>
#include <cassert>
#include <cmath>

#include "explore/seeded.h"
#include "explore/space_memory.h"

namespace blackout {

CrashSpace::CrashSpace(const FirstCrash& first, PointNo pointNo)
    : first_(&first), pointNo_(pointNo), identity_(mix(pointNo.value())) {
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

const Baseline& CrashSpace::baseline() const { return first_->baseline(); }

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

}  // namespace blackout
