#include "explore/whole_record.h"

#include <algorithm>
#include <bit>

#include "events/recovery_contract.h"
#include "explore/seeded.h"

namespace blackout {

bool hasVersion(const std::vector<std::uint32_t>& versions, std::uint32_t v) {
  return std::binary_search(versions.begin(), versions.end(), v);
}

void WholeRecord::begin(const Query& q, std::uint64_t seed) {
  active_ = q.group != 0 || q.site != 0;
  group_ = q.group;
  site_ = q.site;
  seed_ = mix(seed, q.subject, q.mask, q.group);
  lines_.clear();
  places_.clear();
  combinations_ = 1;
  notOldest_ = notNewest_ = 0;
  alive_ = (1U << kSamples) - 1;
}

std::size_t WholeRecord::find(TrackedNo w) const {
  auto it = places_.find(w);
  return it == places_.end() ? lines_.size() : it->second;
}

std::uint32_t WholeRecord::pick(std::size_t sample, TrackedNo w, const std::vector<std::uint32_t>& left) const {
  return left[mix(seed_, sample, w.value()) % left.size()];
}

void WholeRecord::join(TrackedNo w, const UncertainLine& of, const std::vector<std::uint32_t>& left) {
  if (!active_ || find(w) != lines_.size()) return;
  Line line;
  line.oldest = left.front();
  line.newest = hasVersion(left, of.newest) ? of.newest : left.back();
  for (std::size_t i = 0; i < kSamples; ++i) line.picks[i] = pick(i, w, left);
  combinations_ = std::min<std::uint64_t>(combinations_ * left.size(), kExact + 1);
  places_.emplace(w, lines_.size());
  lines_.push_back(line);
}

bool WholeRecord::allows(TrackedNo w, const std::vector<std::uint32_t>& versions) const {
  bool declared = (group_ & BLACKOUT_GROUP_CHECKSUM) != 0;
  if (!active_ || (declared ? lines_.size() <= kExactLines : combinations_ <= kExact)) return true;
  const Line& line = lines_[find(w)];
  auto leaves = [](bool at, bool stays) { return at && !stays ? 1U : 0U; };
  if (notNewest_ + leaves(line.atNewest, hasVersion(versions, line.newest)) <= 1) return true;
  if (notOldest_ + leaves(line.atOldest, hasVersion(versions, line.oldest)) <= 1) return true;
  for (std::size_t i = 0; i < kSamples; ++i)
    if ((alive_ >> i & 1) != 0 && hasVersion(versions, line.picks[i])) return true;
  return false;
}

void WholeRecord::choose(TrackedNo w, const std::vector<std::uint32_t>& versions) {
  if (!active_) return;
  Line& line = lines_[find(w)];
  if (line.atNewest && !hasVersion(versions, line.newest)) {
    line.atNewest = false;
    ++notNewest_;
  }
  if (line.atOldest && !hasVersion(versions, line.oldest)) {
    line.atOldest = false;
    ++notOldest_;
  }
  for (std::size_t i = 0; i < kSamples; ++i)
    if (!hasVersion(versions, line.picks[i])) alive_ &= ~(1U << i);
}

std::uint32_t WholeRecord::favoured(TrackedNo w, const UncertainLine& of,
                                    const std::vector<std::uint32_t>& left) const {
  if (!favoursOthers()) return left.front();
  const Line* line = find(w) == lines_.size() ? nullptr : &lines_[find(w)];
  if (notNewest_ <= 1) {
    std::uint32_t newest = line != nullptr ? line->newest : of.newest;
    return hasVersion(left, newest) ? newest : left.back();
  }
  if (alive_ == 0) return left.front();
  auto sample = static_cast<std::size_t>(std::countr_zero(alive_));
  std::uint32_t picked = line != nullptr ? line->picks[sample] : pick(sample, w, left);
  return hasVersion(left, picked) ? picked : left.front();
}

}  // namespace blackout
