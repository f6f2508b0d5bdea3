#include "explore/adversary.h"

#include <algorithm>

#include "events/trace.h"
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
  // Of the versions without the store the one with most of the others.
  std::uint32_t length = index.historyLength(id, space.baseline().point(test.point));
  std::optional<std::uint32_t> own, best;
  for (std::uint32_t i = 0; i < length; ++i)
    if (index.stores()[index.lineStore(id, i).store].event == test.store) own = i;
  if (!own) return std::nullopt;
  std::uint32_t most = 0;
  for (std::uint32_t v = 0; v < versions.versions.size(); ++v) {
    const Version& version = versions.versions[v].version;
    if (version.contains(*own)) continue;
    std::uint32_t others = 0;
    for (std::uint32_t i = 0; i < length; ++i) others += version.contains(i) ? 1 : 0;
    if (best && others <= most) continue;
    best = v;
    most = others;
  }
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

}  // namespace blackout
