#include "explore/adversary.h"

#include <algorithm>
#include <map>

#include "events/trace.h"
#include "explore/version_choice.h"
#include "model/index.h"

namespace blackout {

std::optional<Restriction> restrictionOf(const AdversarialTest& test, const CrashSpace& space) {
  const Index& index = space.baseline().index();
  const bool incomplete = test.pattern == TestStage::IncompletelyDurable;
  Restriction out;
  out.unnamed = incomplete ? Unrestricted::Least : Unrestricted::Newest;
  const LineNo line = lineOf(index.trace()[test.store].addr);
  const TrackedNo tracked = space.baseline().tracked().find(line);
  const LineId id = index.lineId(line);
  const bool uncertain = tracked != TrackedBytes::kNone && id != kNoLine && space.line(tracked).versions.size() > 1;
  if (!uncertain) return incomplete ? std::optional(out) : std::nullopt;
  const UncertainLine& versions = space.line(tracked);
  if (incomplete) {
    out.allowed.push_back({tracked, {versions.newest}});
    return out;
  }
  std::uint32_t length = index.historyLength(id, space.baseline().point(test.point));
  std::optional<std::uint32_t> own;
  for (std::uint32_t i = 0; i < length; ++i)
    if (index.stores()[index.lineStore(id, i).store].event == test.store) own = i;
  std::optional<std::uint32_t> best = own ? versionWith(versions, {}, {*own}, OtherStores::Most) : std::nullopt;
  if (!best) return std::nullopt;
  out.allowed.push_back({tracked, {*best}});
  return out;
}

AdversarialTests::AdversarialTests(const std::vector<AdversarialTest>& tests) {
  for (const AdversarialTest& test : tests) tests_[test.point].push_back(test);
}

std::vector<Restriction> AdversarialTests::restrictionsAt(const CrashSpace& space) const {
  std::vector<Restriction> out;
  auto at = tests_.find(space.pointNo());
  // The tests are of the first crash.
  if (at == tests_.end() || space.before() != nullptr) return out;
  for (const AdversarialTest& test : at->second)
    if (auto restriction = restrictionOf(test, space)) out.push_back(std::move(*restriction));
  return out;
}

std::uint64_t AdversarialTests::count(const CrashSpace& space) const { return restrictionsAt(space).size(); }

Restriction AdversarialTests::restriction(const CrashSpace& space, std::uint64_t number) const {
  return restrictionsAt(space)[number];
}

std::optional<Restriction> restrictionOf(const OneSidedTest& test, const CrashSpace& space) {
  const Index& index = space.baseline().index();
  const EventNo point = space.baseline().point(test.point);
  // Where in the histories of their lines the stores are.
  struct Places {
    std::vector<std::uint32_t> kept, lost;
  };
  std::map<TrackedNo, Places> lines;
  auto place = [&](const std::vector<EventNo>& stores, std::vector<std::uint32_t> Places::* side) {
    for (EventNo n : stores) {
      const Event& e = index.trace()[n];
      for (LineNo line = lineOf(e.addr); line <= lineOf(e.addr + std::max<std::uint64_t>(1, bytesOf(e)) - 1); ++line) {
        const LineId id = index.lineId(line);
        const TrackedNo tracked = space.baseline().tracked().find(line);
        if (id == kNoLine || tracked == TrackedBytes::kNone) return false;
        const std::uint32_t length = index.historyLength(id, point);
        for (std::uint32_t i = 0; i < length; ++i)
          if (index.stores()[index.lineStore(id, i).store].event == n) (lines[tracked].*side).push_back(i);
      }
    }
    return true;
  };
  if (!place(test.kept, &Places::kept) || !place(test.lost, &Places::lost)) return std::nullopt;
  Restriction out;
  out.unnamed = Unrestricted::Newest;
  bool any = false;
  for (const auto& [tracked, places] : lines) {
    const UncertainLine& line = space.line(tracked);
    if (places.lost.empty()) continue;
    auto version = versionWith(line, places.kept, places.lost, OtherStores::Most);
    if (!version) return std::nullopt;
    any = true;
    if (line.versions.size() > 1) out.allowed.push_back({tracked, {*version}});
  }
  return any ? std::optional(std::move(out)) : std::nullopt;
}

}  // namespace blackout
