#include "judge/pool_creation.h"

#include <algorithm>
#include <tuple>

#include "events/trace.h"

namespace blackout {

std::vector<PoolCreation> poolCreations(const Index& recording, const Trusted& libraries) {
  const Trace& trace = recording.trace();
  struct Open {
    PoolCreation creation;
    ThreadNo thread = 0;
    std::uint64_t call = 0;
  };
  std::vector<Open> open;
  std::vector<PoolCreation> out;
  for (EventNo n = 0; n < trace.end(); n = trace.next(n)) {
    const Event& e = trace[n];
    if (kindOf(e) == EventKind::FileNew && e.len == 0) open.push_back({{fileOf(e.addr), n, n, 0}, threadOf(e), 0});
    StackId where = stackOf(e);
    // What has no place belongs to the call, if it goes on afterwards.
    if (where == 0) continue;
    bool inside = libraries.insideAt(where);
    std::erase_if(open, [&](Open& o) {
      // A change of a file may be nobody's.
      if (o.thread == 0) o.thread = threadOf(e);
      if (o.thread != threadOf(e)) return false;
      if (inside && o.creation.where == 0) {
        o.creation.where = where;
        o.call = libraries.callAt(where);
      }
      if (inside && libraries.callAt(where) == o.call) {
        o.creation.last = n;
        return false;
      }
      if (o.creation.where != 0) out.push_back(o.creation);
      return true;
    });
  }
  for (const Open& o : open)
    if (o.creation.where != 0) out.push_back(o.creation);
  return out;
}

ShownFinding interruptedCreation(const PoolCreation& creation, const Trusted& libraries,
                                 std::vector<ShownFinding> findings, std::uint64_t states, std::uint64_t points,
                                 std::vector<Frame> call) {
  auto order = [](const ShownFinding& s) {
    const SeenCrash& crash = s.finding.shownBy->crashes.front();
    return std::tuple(s.finding.severity, crash.lost.size(), crash.event);
  };
  std::stable_sort(findings.begin(), findings.end(),
                   [&](const ShownFinding& a, const ShownFinding& b) { return order(a) < order(b); });
  ShownFinding shown = std::move(findings.front());
  Finding told = makeFinding(FindingKind::NotAtomic);
  told.severity = shown.finding.severity;
  told.bugClass = BugClass::Semantic;
  told.claim = InterruptedCreation{std::string(shown.indexes.front()->files().pathAt(creation.file, creation.last)), 1};
  // From the library's function that the program called on: what it calls in turn is its own affair.
  auto library = [&](const Frame& f) {
    return std::find(libraries.objects().begin(), libraries.objects().end(), f.module) != libraries.objects().end();
  };
  auto outer = std::find_if(call.rbegin(), call.rend(), library);
  if (outer != call.rend()) call.erase(call.begin(), std::prev(outer.base()));
  NumberedPlace place = placeOf(shown.indexes.front()->trace(), "the pool is created here", creation.where);
  place.access.clear();
  place.size = 0;
  place.stack = std::move(call);
  if (!place.stack.empty()) place.where = 0;
  told.places.push_back(std::move(place));
  // Of the others those that belong to the state: where the power fails, and where the restart does.
  ShownBy by = *shown.finding.shownBy;
  auto moved = [&](PlaceNo n) {
    if (n == 0) return n;
    told.places.push_back(shown.finding.place(n));
    return static_cast<PlaceNo>(told.places.size());
  };
  by.crashes.front().after = moved(by.crashes.front().after);
  by.failsAt = moved(by.failsAt);
  for (SeenStore& lost : by.crashes.front().lost) lost.place = 0;
  by.states = states;
  by.points = points;
  told.shownBy = std::move(by);
  told.crashState = shown.finding.crashState;
  for (const Fact& fact : shown.finding.evidence)
    if (std::holds_alternative<NotRepeated>(fact) || std::holds_alternative<NotRunAgain>(fact) ||
        std::holds_alternative<EmptyFile>(fact))
      told.evidence.push_back(fact);
  auto symptom = [](const Finding& f) {
    PlaceNo at = f.shownBy->failsAt;
    return OtherSymptom{f.shownBy->symptom, at == 0 ? Frame() : f.place(at).stack.front()};
  };
  OtherSymptom own = symptom(shown.finding);
  for (std::size_t i = 1; i < findings.size(); ++i) {
    OtherSymptom other = symptom(findings[i].finding);
    if (other != own && std::find(told.evidence.begin(), told.evidence.end(), Fact(other)) == told.evidence.end())
      told.evidence.push_back(std::move(other));
  }
  shown.finding = std::move(told);
  return shown;
}

}  // namespace blackout
