#include "judge/likely_points.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <map>
#include <optional>

#include "events/linearization_mark.h"
#include "events/trace.h"
#include "infer/analysis.h"
#include "infer/in_child.h"
#include "infer/likely_commits.h"
#include "infer/program_bitcode.h"
#include "infer/publication.h"

namespace blackout {

namespace {

// What the analysis says, as lines on their way from its process: the stores that each rule leaves, with their number
// in front; then a store and its reason each.
std::string packed(const LikelyCommits& commits, const Guardians& guardians) {
  std::string text;
  for (const std::vector<EventNo>* stores : {&commits.toGuardians, &commits.published}) {
    text += fmt::format("{}\n", stores->size());
    for (EventNo n : *stores) text += fmt::format("{}\n", n.value());
  }
  for (const LikelyCommit& c : commits.commits) text += fmt::format("{} {}\n", c.store.value(), reasonOf(c, guardians));
  return text;
}

std::uint64_t takeNumber(std::string_view& text) {
  std::uint64_t number = 0;
  auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  text.remove_prefix(std::min(text.size(), static_cast<std::size_t>(end - text.data()) + 1));
  return number;
}

std::vector<EventNo> takeStores(std::string_view& text) {
  std::vector<EventNo> stores;
  for (std::uint64_t left = takeNumber(text); left != 0 && !text.empty(); --left)
    stores.emplace_back(static_cast<std::uint32_t>(takeNumber(text)));
  return stores;
}

// The last store of the same thread before each mark of the program.
std::vector<EventNo> markedStores(const Trace& trace) {
  std::map<ThreadNo, EventNo> last;
  std::vector<EventNo> marked;
  for (EventNo n = 0; n < trace.end(); n = trace.next(n)) {
    const Event& e = trace[n];
    if (isStore(e)) last.insert_or_assign(threadOf(e), n);
    if (kindOf(e) != EventKind::ExtraPoint || e.len != BLACKOUT_POINT_LP) continue;
    if (auto at = last.find(threadOf(e)); at != last.end()) marked.push_back(at->second);
  }
  std::sort(marked.begin(), marked.end());
  marked.erase(std::unique(marked.begin(), marked.end()), marked.end());
  return marked;
}

}  // namespace

LikelyPoints likelyPoints(const Trace& trace, const std::vector<std::string>& programs, const Patience& patience) {
  LikelyPoints out;
  std::map<EventNo, LikelyPoint> points;
  // In a process of its own: bitcode may be anything.
  auto answer = inChild(
      [&]() -> std::string {
        ProgramBitcode bitcode;
        for (const std::string& program : programs) (void)addBitcode(bitcode, program);  // what has none is passed over
        if (bitcode.units.empty()) return {};
        Guardians guardians = inferGuardians(bitcode);
        if (guardians.cut || guardians.guardians.empty()) return {};
        return packed(likelyCommits(trace, guardians, AtomicStores::Commit), guardians);
      },
      {.seconds = 0, .giveUp = [&patience] { return patience.over(); }});
  for (EventNo n = 0; n < trace.end(); n = trace.next(n))
    if (isStore(trace[n])) out.stores.push_back(n);
  if (answer && !answer->empty()) {
    out.guardians = true;
    std::string_view text = *answer;
    out.byGuardians = takeStores(text);
    out.byPublication = takeStores(text);
    while (!text.empty()) {
      EventNo store(static_cast<std::uint32_t>(takeNumber(text)));
      std::size_t end = std::min(text.find('\n'), text.size());
      points[store] = {store, std::string(text.substr(0, end)), true, false};
      text.remove_prefix(std::min(text.size(), end + 1));
    }
  } else {
    std::vector<EventNo> initialising = initialisingStores(trace);
    for (EventNo n = 0; n < trace.end(); n = trace.next(n)) {
      if (!isStore(trace[n])) continue;
      bool locked = kindOf(trace[n]) == EventKind::Rmw;
      if (locked) out.byGuardians.push_back(n);
      if (std::binary_search(initialising.begin(), initialising.end(), n)) continue;
      out.byPublication.push_back(n);
      points[n] = {n, locked ? "is a locked instruction" : "is a store to what can be reached already", true, false};
    }
  }
  out.inferred = points.size();
  for (EventNo n : markedStores(trace)) {
    auto [at, fresh] = points.try_emplace(n, LikelyPoint{n, "is marked by blackout_lp()", false, true});
    at->second.marked = true;
    ++out.marked;
    out.missed += fresh ? 1 : 0;
  }
  for (auto& [n, point] : points) out.points.push_back(std::move(point));
  return out;
}

std::optional<LikelySet> likelySetNamed(std::string_view name) {
  if (name == "likely") return LikelySet::Likely;
  if (name == "guardians") return LikelySet::Guardians;
  if (name == "published") return LikelySet::Published;
  if (name == "marked") return LikelySet::Marked;
  if (name == "all") return LikelySet::All;
  return std::nullopt;
}

std::vector<EventNo> LikelyPoints::of(LikelySet set) const {
  switch (set) {
    case LikelySet::Guardians:
      return byGuardians;
    case LikelySet::Published:
      return byPublication;
    case LikelySet::All:
      return stores;
    case LikelySet::Likely:
    case LikelySet::Marked:
      break;
  }
  std::vector<EventNo> out;
  for (const LikelyPoint& p : points)
    if (set == LikelySet::Likely || p.marked) out.push_back(p.store);
  return out;
}

std::vector<AdversarialTest> adversarialTests(const std::vector<EventNo>& stores, const Index& index,
                                              IdSpan<PointNo, const EventNo> points) {
  std::vector<AdversarialTest> tests;
  const Operations& operations = index.operations();
  // Both at the first point after the event.
  auto add = [&](EventNo store, EventNo after) {
    auto at = std::upper_bound(points.begin(), points.end(), after);
    if (at == points.end()) return;
    PointNo point(static_cast<std::uint32_t>(at - points.begin()));
    for (TestStage pattern : {TestStage::IncompletelyDurable, TestStage::UnrecoveredDurable})
      tests.push_back({point, store, pattern});
  };
  for (EventNo store : stores) {
    add(store, store);
    const Operation* latest = operations.latest(threadOf(index.trace()[store]), store);
    if (latest == nullptr) continue;
    const Operation& outermost = operations.outermost(*latest);
    if (outermost.contains(store) && outermost.end != kNever) add(store, outermost.end);
  }
  std::sort(tests.begin(), tests.end());
  tests.erase(std::unique(tests.begin(), tests.end()), tests.end());
  return tests;
}

}  // namespace blackout
