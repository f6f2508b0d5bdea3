#include "judge/removals.h"

#include <algorithm>
#include <map>
#include <optional>

#include "binary/user_frame.h"
#include "events/trace.h"
#include "model/left_out.h"

namespace blackout {

namespace {

constexpr std::size_t kMostStacks = 4000;          // that are looked at
constexpr std::uint64_t kMostEvents = 10'000'000;  // that are read again, in all trials together

// What the recorded run does at one place, with the calls that lead there.
struct Use {
  std::vector<Frame> frames;  // innermost first
  std::vector<EventNo> flushes, fences;
  bool more = false;    // something else than flushes, fences and loads
  bool useful = false;  // a flush of something that had to be flushed
};

bool samePlace(const Frame& a, const Frame& b) {
  return a.line == b.line && a.column == b.column && a.file == b.file && a.function == b.function;
}

bool isFence(const Event& e) { return groupOf(e) == EventGroup::Fence && kindOf(e) != EventKind::Lfence; }

// None: not everything has a place, or there are too many.
std::optional<std::vector<Use>> usesOf(const Index& index, Stacks& stacks) {
  const Trace& trace = index.trace();
  std::map<StackId, Use> uses;
  auto waste = index.wastes().begin();
  for (EventNo n = 0; n < trace.end(); n = trace.next(n)) {
    const Event& e = trace[n];
    bool flush = groupOf(e) == EventGroup::Flush, fence = isFence(e);
    if (groupOf(e) == EventGroup::Table || groupOf(e) == EventGroup::Load) continue;
    if (stackOf(e) == 0) {
      if (flush || fence || isStore(e)) return std::nullopt;
      continue;
    }
    Use& use = uses[stackOf(e)];
    if (uses.size() > kMostStacks) return std::nullopt;
    while (waste != index.wastes().end() && waste->at < n) ++waste;
    bool wasted = waste != index.wastes().end() && waste->at == n;
    if (flush) use.flushes.push_back(n);
    if (fence) use.fences.push_back(n);
    use.more |= !flush && !fence;
    use.useful |= flush && !wasted;
  }
  std::vector<Use> all;
  for (auto& [where, use] : uses) {
    use.frames = stacks.at(trace, where);
    if (use.frames.empty()) return std::nullopt;
    all.push_back(std::move(use));
  }
  return all;
}

// The statement at a frame, if all that the run flushes in it is wasted. Of its fences the trial decides: each
// completes its own flush.
std::optional<Fix> removalOf(const Frame& at, const std::vector<Use>& uses, std::vector<EventNo>& events) {
  Fix fix;
  fix.where = Fix::Where::Remove;
  fix.at = {at};
  events.clear();
  for (const Use& use : uses) {
    if (std::none_of(use.frames.begin(), use.frames.end(), [&](const Frame& f) { return samePlace(f, at); })) continue;
    if (use.more || use.useful) return std::nullopt;
    fix.flushes += use.flushes.size();
    fix.fences += use.fences.size();
    events.insert(events.end(), use.flushes.begin(), use.flushes.end());
    events.insert(events.end(), use.fences.begin(), use.fences.end());
  }
  std::sort(events.begin(), events.end());
  return events.empty() ? std::nullopt : std::optional(std::move(fix));
}

}  // namespace

void findRemovals(std::vector<Finding>& findings, const Index& index, Stacks& stacks) {
  auto concerned = [](const Finding& f) {
    return (f.kind == FindingKind::CleanFlush || f.kind == FindingKind::RepeatedFlush ||
            f.kind == FindingKind::IdleFence) &&
           !f.places.empty() && f.places.front().alsoFrom.empty() && f.places.front().caller.empty();
  };
  if (std::none_of(findings.begin(), findings.end(), concerned)) return;
  auto uses = usesOf(index, stacks);
  if (!uses) return;
  std::uint64_t read = 0;
  for (Finding& f : findings) {
    if (!concerned(f)) continue;
    // The innermost statement of the program's own first: the instruction itself, then the calls that lead to it.
    for (const Frame& at : f.places.front().stack) {
      std::vector<EventNo> events;
      if (at.line == 0 || at.file.empty() || inSystemHeader(at)) continue;
      auto fix = removalOf(at, *uses, events);
      if (!fix) continue;
      read += index.trace().end().value();
      if (read > kMostEvents) return;
      auto without = withLeftOut(index, std::move(events));
      if (!without || !sameGuarantees(index, *without)) continue;
      f.fixes.push_back(std::move(*fix));
      break;
    }
  }
}

}  // namespace blackout
