#include "detect/relevance.h"

#include <algorithm>

#include "events/trace.h"

namespace blackout {

namespace {

constexpr std::uint64_t kLargeDiscard = 4096;

// The bytes of a line inside [begin, end).
std::uint64_t maskOf(LineNo line, PmAddr begin, PmAddr end) {
  PmAddr first = addressOf(line);
  PmAddr from = std::max<PmAddr>(begin, first);
  PmAddr to = std::min<PmAddr>(end, first + BLACKOUT_LINE);
  if (from >= to) return 0;
  std::uint64_t bits = to - from == 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << (to - from)) - 1;
  return bits << (from - first);
}

}  // namespace

Relevance::Relevance(const Index& index) : index_(&index) {
  const Trace& trace = index.trace();
  for (EventNo n = 0; n < trace.end(); n = trace.next(n)) {
    const Event& e = trace[n];
    if (kindOf(e) == EventKind::Ignore) ignored_.push_back({n, e.addr, e.addr + e.value});
    if (kindOf(e) == EventKind::Discard && e.value > 0 && e.len != BLACKOUT_DISCARD_DEFINED)
      discard({n, e.addr, e.addr + e.value});
  }
  // Overlapping and repeated marks become one range each.
  std::sort(ignored_.begin(), ignored_.end(), [](const Range& a, const Range& b) { return a.begin < b.begin; });
  std::vector<Range> merged;
  for (const Range& r : ignored_) {
    if (!merged.empty() && r.begin <= merged.back().end)
      merged.back().end = std::max(merged.back().end, r.end);
    else
      merged.push_back(r);
  }
  ignored_ = std::move(merged);
}

void Relevance::discard(const Range& range) {
  if (range.end - range.begin > kLargeDiscard) {
    largeDiscards_.push_back(range);
    return;
  }
  for (LineNo line = lineOf(range.begin); line <= lineOf(range.end - 1); ++line)
    discarded_[line].push_back({range.at, maskOf(line, range.begin, range.end)});
}

std::uint64_t Relevance::irrelevant(LineNo line, EventNo after, EventNo at) const {
  FileNo file = fileOf(addressOf(line));
  if (index_->files().removedAt(file) != kNever) return ~std::uint64_t{0};
  std::uint64_t mask = index_->files().zeroedMask(line, after, at);
  auto next = std::upper_bound(ignored_.begin(), ignored_.end(), addressOf(line),
                               [](PmAddr a, const Range& r) { return a < r.end; });
  for (; next != ignored_.end() && next->begin < addressOf(line) + BLACKOUT_LINE; ++next)
    mask |= maskOf(line, next->begin, next->end);
  if (auto it = discarded_.find(line); it != discarded_.end())
    for (const LineMark& m : it->second)
      if (m.at > after && m.at < at) mask |= m.mask;
  for (const Range& r : largeDiscards_)
    if (r.at > after && r.at < at) mask |= maskOf(line, r.begin, r.end);
  return mask;
}

}  // namespace blackout
