#include "explore/whole_record.h"

#include <algorithm>
#include <bit>
#include <set>

#include "explore/seeded.h"

namespace blackout {

bool hasVersion(const std::vector<std::uint32_t>& versions, std::uint32_t v) {
  return std::binary_search(versions.begin(), versions.end(), v);
}

RecordKey WholeRecord::key() const {
  return {site_, declared()           ? RecordReader::Declared
                 : answered_          ? RecordReader::Summing
                 : byOneInstruction() ? RecordReader::Instruction
                                      : RecordReader::Call};
}

std::size_t WholeRecord::samples() const {
  if (declared()) return kDeclaredSamples;
  return answered_ && states_ <= static_cast<double>(kMostCombinations) ? kDeclaredSamples : kSamples;
}

void WholeRecord::begin(NodeNo n, const Query& q, std::uint64_t seed, bool answered) {
  active_ = q.group != 0 || q.site != 0;
  answered_ = answered && q.group == 0;
  begins_ = n;
  group_ = q.group;
  site_ = q.site;
  seed_ = mix(seed, q.subject, q.mask, q.group);
  lines_.clear();
  places_.clear();
  seen_.clear();
  states_ = 1;
  combination_ = 0;
  notOldest_ = notNewest_ = 0;
  alive_ = ~std::uint64_t{0};
}

std::size_t WholeRecord::find(TrackedNo w) const {
  auto it = places_.find(w);
  return it == places_.end() ? lines_.size() : it->second;
}

// Every other sample loses or keeps whole lines, as programs store them; the rest takes any version.
std::uint32_t WholeRecord::pick(std::size_t sample, TrackedNo w, const std::vector<std::uint32_t>& left,
                                std::uint32_t newest) const {
  std::uint64_t dice = mix(seed_, sample, w.value());
  if (sample % 2 == 0) return dice % 2 == 0 ? left.front() : newest;
  return left[dice % left.size()];
}

namespace {

std::uint32_t newestOf(const UncertainLine& of, const std::vector<std::uint32_t>& left) {
  return hasVersion(left, of.newest) ? of.newest : left.back();
}

// How many different contents these versions have in the bytes of the mask.
std::size_t valuesOf(const UncertainLine& of, const std::vector<std::uint32_t>& versions, std::uint64_t mask) {
  std::set<LineBytes> values;
  for (std::uint32_t v : versions) {
    LineBytes bytes = of.versions[v].bytes;
    for (std::size_t i = 0; i < bytes.size(); ++i)
      if ((mask >> i & 1) == 0) bytes[i] = {};
    values.insert(bytes);
  }
  return values.size();
}

}  // namespace

void WholeRecord::join(TrackedNo w, const UncertainLine& of, const std::vector<std::uint32_t>& left,
                       std::uint64_t mask) {
  if (!active_) return;
  if (std::size_t at = find(w); at != lines_.size()) {
    Line& line = lines_[at];
    if ((mask & ~line.mask) == 0 || line.first.size() == line.values) return;
    line.mask |= mask;
    std::size_t values = valuesOf(of, line.first, line.mask);
    states_ *= static_cast<double>(values) / static_cast<double>(line.values);
    line.values = values;
    return;
  }
  Line line;
  line.oldest = left.front();
  line.newest = newestOf(of, left);
  line.of = &of;
  line.first = left;
  line.mask = mask;
  line.values = left.size() == 2 ? 2 : valuesOf(of, left, mask);  // it joins because they differ
  states_ *= static_cast<double>(line.values);
  places_.emplace(w, lines_.size());
  lines_.push_back(std::move(line));
}

std::vector<std::pair<TrackedNo, std::uint64_t>> WholeRecord::bytes() const {
  std::vector<std::pair<TrackedNo, std::uint64_t>> out;
  for (const auto& [w, at] : places_) {
    const Line& line = lines_[at];
    const LineBytes& one = line.of->versions[line.first.front()].bytes;
    std::uint64_t differ = 0;
    for (std::uint32_t v : line.first)
      for (std::size_t i = 0; i < one.size(); ++i)
        differ |= std::uint64_t{line.of->versions[v].bytes[i] != one[i]} << i;
    out.emplace_back(w, differ);
  }
  std::sort(out.begin(), out.end());
  return out;
}

std::vector<SummedLine> WholeRecord::summed() const {
  std::vector<SummedLine> out;
  for (const auto& [w, at] : places_) {
    auto seen = seen_.find(w);
    const Line& line = lines_[at];
    out.push_back({w, line.of, line.first, line.oldest, line.newest, seen == seen_.end() ? 0 : seen->second});
  }
  std::sort(out.begin(), out.end(), [](const SummedLine& a, const SummedLine& b) { return a.line < b.line; });
  return out;
}

// In a record that is all but missing a torn line of a sum that is answered for counts twice: it is no line alone kept.
WholeRecord::Departures WholeRecord::departures(const Line& line, const std::vector<std::uint32_t>& versions) const {
  bool atNewest = line.atNewest && hasVersion(versions, line.newest);
  bool atOldest = line.atOldest && hasVersion(versions, line.oldest);
  bool torn = !atNewest && !atOldest, wasTorn = !line.atNewest && !line.atOldest;
  return {line.atNewest && !atNewest ? 1U : 0U,
          (line.atOldest && !atOldest ? 1U : 0U) + (answered_ && torn && !wasTorn ? 1U : 0U)};
}

bool WholeRecord::allows(TrackedNo w, const std::vector<std::uint32_t>& versions) const {
  if (!sampled()) return true;
  const Line& line = lines_[find(w)];
  Departures more = departures(line, versions);
  if (notNewest_ + more.newest <= 1 || notOldest_ + more.oldest <= 1) return true;
  for (std::size_t i = 0; i < samples(); ++i)
    if ((alive_ >> i & 1) != 0 && hasVersion(versions, pick(i, w, line.first, line.newest))) return true;
  return false;
}

void WholeRecord::choose(TrackedNo w, const std::vector<std::uint32_t>& versions) {
  if (!active_) return;
  Line& line = lines_[find(w)];
  combination_ = mix(combination_, w.value(), versions.front());
  Departures more = departures(line, versions);
  notNewest_ += more.newest;
  notOldest_ += more.oldest;
  line.atNewest &= hasVersion(versions, line.newest);
  line.atOldest &= hasVersion(versions, line.oldest);
  for (std::size_t i = 0; i < kSamples; ++i)
    if ((alive_ >> i & 1) != 0 && !hasVersion(versions, pick(i, w, line.first, line.newest)))
      alive_ &= ~(std::uint64_t{1} << i);
}

std::uint32_t WholeRecord::favoured(TrackedNo w, const UncertainLine& of,
                                    const std::vector<std::uint32_t>& left) const {
  if (!favoursOthers()) return left.front();
  const Line* line = find(w) == lines_.size() ? nullptr : &lines_[find(w)];
  if (notNewest_ <= 1) {
    std::uint32_t newest = line != nullptr ? line->newest : of.newest;
    return hasVersion(left, newest) ? newest : left.back();
  }
  auto sample = static_cast<std::size_t>(std::countr_zero(alive_));
  if (sample >= samples()) return left.front();
  std::uint32_t picked =
      line != nullptr ? pick(sample, w, line->first, line->newest) : pick(sample, w, left, newestOf(of, left));
  return hasVersion(left, picked) ? picked : left.front();
}

}  // namespace blackout
