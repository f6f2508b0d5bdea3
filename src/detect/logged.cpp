// Transactions that log for nothing: bytes that they had logged already, and ranges that they do not write.
#include <algorithm>
#include <iterator>
#include <set>

#include "detect/by_site.h"
#include "detect/detectors.h"
#include "detect/logged_ranges.h"
#include "events/trace.h"

namespace blackout {

namespace {

constexpr std::string_view kLoggedByte = "logged byte";

// How often each site added a range that is of interest.
std::map<SiteKey, std::uint64_t> addsBySite(const Trace& trace, const Interest& interest, const LoggedRanges& logged) {
  std::map<SiteKey, std::uint64_t> counts;
  for (const LoggedRange& r : logged.ranges)
    if (interest.contains(r.at)) ++counts[siteKey(trace, trace[r.at])];
  return counts;
}

std::vector<Finding> valuesOf(std::map<SiteKey, Finding> found) {
  std::vector<Finding> out;
  out.reserve(found.size());
  for (auto& [key, f] : found) out.push_back(std::move(f));
  return out;
}

// Whether a transaction was committed or rolled back, the trace does not say. One that is rolled back before it
// comes to its stores leaves ranges unwritten that are logged rightly. So an add is judged by all that were made at its
// place: if any of them was followed by a store, the others are taken for such cases.
//
// What the place is, is another question: a library logs everything at one site, for callers of every kind. A site
// that was ever followed by a store is judged by each of its callers, these by theirs, and so on for a few calls. Then
// other adds of the transaction must have been written, which says that it had not been rolled back before its work.
class UnusedAdds {
 public:
  UnusedAdds(const Trace& trace, const Interest& interest, const LoggedRanges& logged)
      : trace_(trace), interest_(interest), logged_(logged) {}

  using Adds = std::vector<const LoggedRange*>;
  // Of the adds of one site: the unused ones, a list for each place.
  std::vector<Adds> of(const Adds& adds) {
    places_.clear();
    judge(adds, 0);
    return std::move(places_);
  }

 private:
  static constexpr std::size_t kCalls = 4;

  void judge(const Adds& adds, std::size_t calls) {
    if (std::none_of(adds.begin(), adds.end(), [](const LoggedRange* r) { return r->written; })) {
      Adds unused;
      std::copy_if(adds.begin(), adds.end(), std::back_inserter(unused), [&](const LoggedRange* r) {
        // Bytes that were logged before are another finding; those of a transaction without an end may yet be written.
        return r->fresh != 0 && r->endedAt != 0 && interest_.contains(r->at) &&
               (calls == 0 || logged_.effective[r->transaction]);
      });
      if (!unused.empty()) places_.push_back(std::move(unused));
      return;
    }
    if (calls == kCalls) return mixed(adds);
    std::map<std::uint64_t, Adds> callers;  // by return address
    Adds outermost;
    for (const LoggedRange* r : adds)
      if (const CallStack* w = trace_.callStack(stackOf(trace_[r->at])); w != nullptr && calls < w->frames.size())
        callers[w->frames[calls]].push_back(r);
      else
        outermost.push_back(r);
    for (const auto& [address, theirs] : callers) judge(theirs, calls + 1);
    mixed(outermost);
  }

  // One place that is sometimes written. If most of its adds are not, in transactions that did work, it adds too much.
  void mixed(const Adds& adds) {
    Adds unused;
    std::copy_if(adds.begin(), adds.end(), std::back_inserter(unused), [&](const LoggedRange* r) {
      return !r->written && r->fresh != 0 && r->endedAt != 0 && interest_.contains(r->at) &&
             logged_.effective[r->transaction];
    });
    if (!unused.empty() && 2 * unused.size() > adds.size()) places_.push_back(std::move(unused));
  }

  const Trace& trace_;
  const Interest& interest_;
  const LoggedRanges& logged_;
  std::vector<Adds> places_;
};

}  // namespace

std::vector<Finding> detectLoggedTwice(const DetectInput& input) {
  const Trace& trace = input.trace;
  LoggedRanges logged = loggedRanges(trace);
  if (logged.again.empty()) return {};
  Interest interest(trace);
  auto adds = addsBySite(trace, interest, logged);
  std::map<SiteKey, Finding> found;
  EventNo last = 0;  // one add may meet several earlier ones
  for (const LoggedAgain& again : logged.again) {
    if (!interest.contains(again.at)) continue;
    const Event& e = trace[again.at];
    SiteKey key = siteKey(trace, e);
    auto [it, isNew] = found.try_emplace(key);
    Finding& f = it->second;
    if (isNew) {
      f = makeFinding(FindingKind::LoggedTwice, LoggedBefore{again.end - again.begin});
      f.places.push_back(placeOfEvent(trace, "added again here", again.at));
      f.places.push_back(placeOfEvent(trace, "first added here", again.first));
      f.counts.of = adds[key];
      f.cost = Cost{0, logged.bytes, std::string(kLoggedByte)};
    }
    if (again.at != last) ++f.counts.times;
    last = again.at;
    f.cost->amount += again.end - again.begin;
    addExample(f, affected(trace, again.begin, again.end - again.begin, e));
  }
  return valuesOf(std::move(found));
}

std::vector<Finding> detectLoggedUnused(const DetectInput& input) {
  const Trace& trace = input.trace;
  LoggedRanges logged = loggedRanges(trace);
  Interest interest(trace);
  auto counts = addsBySite(trace, interest, logged);
  std::map<SiteKey, UnusedAdds::Adds> sites;
  for (const LoggedRange& r : logged.ranges) sites[siteKey(trace, trace[r.at])].push_back(&r);

  UnusedAdds unused(trace, interest, logged);
  std::map<SiteKey, Finding> found;
  for (const auto& [key, adds] : sites) {
    std::vector<UnusedAdds::Adds> places = unused.of(adds);
    if (places.empty()) continue;
    // The order of addresses is none.
    std::sort(places.begin(), places.end(), [](const auto& a, const auto& b) { return a[0]->at < b[0]->at; });
    Finding& f = found[key];
    std::set<std::size_t> transactions;
    bool effective = false;
    for (const UnusedAdds::Adds& place : places)
      for (const LoggedRange* r : place) {
        transactions.insert(r->transaction);
        effective |= logged.effective[r->transaction];
      }
    std::set<StackId> wheres;
    for (const UnusedAdds::Adds& place : places)
      for (const LoggedRange* r : place) wheres.insert(stackOf(trace[r->at]));
    bool always = std::none_of(adds.begin(), adds.end(), [&](const LoggedRange* r) {
      return r->written && wheres.contains(stackOf(trace[r->at]));
    });
    f = makeFinding(FindingKind::LoggedUnused, LoggedInVain{transactions.size(), always});
    f.counts.of = counts[key];
    f.cost = Cost{0, logged.bytes, std::string(kLoggedByte)};
    constexpr std::size_t kPlaces = 3;
    for (std::size_t i = 0; i < places.size(); ++i) {
      if (i < kPlaces) {
        f.places.push_back(placeOfEvent(trace, i == 0 ? "added here" : "and here", places[i][0]->at));
        f.places.back().incidental = i > 0;
      }
      f.counts.times += places[i].size();
      for (const LoggedRange* r : places[i]) {
        f.cost->amount += r->fresh;
        addExample(f, affected(trace, r->begin, r->end - r->begin, trace[r->at]));
      }
    }
    // The same add may come to another end in another run.
    f.places.push_back(placeOf(trace, "the transaction ends here", stackOf(trace[places[0][0]->endedAt])));
    f.places.back().incidental = true;
    if (effective)
      f.evidence.push_back(TransactionDidWork{});
    else
      f.evidence.push_back(MayBeRolledBack{});
    if (std::any_of(adds.begin(), adds.end(), [](const LoggedRange* r) { return r->written; }))
      f.evidence.push_back(OtherCallersWrite{});
  }
  return valuesOf(std::move(found));
}

}  // namespace blackout
