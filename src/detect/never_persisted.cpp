// Stores that are not durable when it counts: when the operation that made them ends (it has
// acknowledged them), when their memory is unmapped (nobody can flush it any more), and when the program
// ends. Each store is judged once, at the first of these moments that finds it wanting, and only if some
// byte of it is still visible then: what a later store replaced is that store's matter. A store that
// changes nothing can be lost and nobody will know, so it neither is a suspect nor replaces one.
//
// Operations of one thread may be nested; the outermost one is what its caller waits for, so
// that one's end counts.
#include <algorithm>
#include <cassert>
#include <optional>
#include <set>

#include "detect/by_site.h"
#include "detect/detectors.h"
#include "events/trace.h"
#include "model/inserted.h"

namespace blackout {

namespace {

using Moment = NotDurable::When;

struct Suspect {
  StoreNo store = 0;
  Moment moment{};
  EventNo at = 0;              // the event that is the moment; the trace's end for ProgramEnded
  std::string_view operation;  // OperationEnded: its name
};

// Which parts of the files are mapped. A file may be mapped more than once: only bytes that are mapped
// nowhere any more are out of reach.
class Mappings {
 public:
  void map(PmAddr begin, PmAddr end) { ranges_.push_back({begin, end}); }
  void unmap(PmAddr begin, PmAddr end) {
    // The latest mapping that overlaps gives way; the rest of it stays.
    for (std::size_t i = ranges_.size(); i-- > 0;) {
      auto [from, to] = ranges_[i];
      if (to <= begin || from >= end) continue;
      ranges_.erase(ranges_.begin() + static_cast<std::ptrdiff_t>(i));
      if (from < begin) ranges_.push_back({from, begin});
      if (to > end) ranges_.push_back({end, to});
      return;
    }
  }
  bool mapped(LineNo line) const {
    return std::any_of(ranges_.begin(), ranges_.end(), [&](const auto& r) {
      return r.first < addressOf(line) + BLACKOUT_LINE && r.second > addressOf(line);
    });
  }

 private:
  std::vector<std::pair<PmAddr, PmAddr>> ranges_;
};

class Search {
 public:
  explicit Search(const DetectInput& input)
      : trace_(input.trace),
        index_(input.index),
        stores_(input.index.stores()),
        interest_(input.trace),
        relevance_(input.index),
        judged_(stores_.size()),
        changed_(input.index) {
    for (LineId id : idRange<LineId>(index_.lineCount()))
      if (!index_.history(id).empty()) lines_.push_back({index_.lineNo(id), id});
    std::sort(lines_.begin(), lines_.end());
  }

  std::vector<Suspect> run() {
    StoreNo next = 0;
    for (EventNo n = 0; n < trace_.end(); n = trace_.next(n)) {
      const Event& e = trace_[n];
      if (next < stores_.endId() && stores_[next].event == n) {
        OpenOperation& open = open_[threadOf(e)];
        if (open.operation != nullptr) open.stores.push_back(next);
        ++next;
        continue;
      }
      switch (kindOf(e)) {
        case EventKind::OpBegin:
          open_[threadOf(e)].operation = index_.operationOf(n);
          break;
        case EventKind::OpEnd:
          operationEnds(n, open_[threadOf(e)]);
          break;
        case EventKind::Map:
          mappings_.map(e.addr, e.addr + trace_.mapping(n).size);
          break;
        case EventKind::Unmap:
          unmapped(n, e);
          break;
        default:
          break;
      }
    }
    for (StoreNo s : idRange<StoreNo>(stores_.size())) judge({s, Moment::ProgramEnded, trace_.end(), {}});
    return std::move(suspects_);
  }

 private:
  struct OpenOperation {
    const Operation* operation = nullptr;  // the outermost one that is under way; null: none
    std::vector<StoreNo> stores;
  };

  void operationEnds(EventNo n, OpenOperation& open) {
    if (open.operation == nullptr || open.operation->end != n) return;
    for (StoreNo s : open.stores) judge({s, Moment::OperationEnded, n, open.operation->name});
    open = {};
  }

  // mremap is an unmapping and a mapping, and the program goes on with the same bytes: where the thread's next
  // event maps them again they are not out of reach. kNever if it does not.
  EventNo mappedAgain(EventNo n) const {
    constexpr int kFar = 1000;  // other threads' events in between
    EventNo m = trace_.next(n);
    for (int i = 0; i < kFar && m < trace_.end(); ++i, m = trace_.next(m)) {
      if (threadOf(trace_[m]) != threadOf(trace_[n]) || kindOf(trace_[m]) == EventKind::Unmap) continue;
      return kindOf(trace_[m]) == EventKind::Map ? m : kNever;
    }
    return kNever;
  }

  void unmapped(EventNo n, const Event& e) {
    if (e.value == 0) return;
    mappings_.unmap(e.addr, e.addr + e.value);
    PmAddr backBegin = 0;
    PmAddr backEnd = 0;
    if (EventNo again = mappedAgain(n); again != kNever) {
      backBegin = trace_[again].addr;
      backEnd = backBegin + trace_.mapping(again).size;
    }
    auto it = std::lower_bound(lines_.begin(), lines_.end(), std::pair{lineOf(e.addr), LineId{0}});
    for (; it != lines_.end() && addressOf(it->first) < e.addr + e.value; ++it) {
      if (mappings_.mapped(it->first)) continue;
      if (addressOf(it->first) < backEnd && addressOf(it->first) + BLACKOUT_LINE > backBegin) continue;
      for (StoreNo s : index_.history(it->second)) {
        if (stores_[s].event > n) break;
        judge({s, Moment::Unmapped, n, {}});
        judged_[s] = true;  // whatever comes of it, the end of the program has nothing to add
      }
    }
  }

  void judge(const Suspect& suspect) {
    StoreNo s = suspect.store;
    if (judged_[s] || stores_[s].guaranteedAt < suspect.at || !interest_.contains(stores_[s].event)) return;
    if (!visible(s, suspect.at)) return;
    judged_[s] = true;
    suspects_.push_back(suspect);
  }

  // Whether a byte of the store is there, and matters, at event `at`.
  bool visible(StoreNo s, EventNo at) const {
    LineId id = stores_[s].line;
    auto history = index_.history(id);
    auto number = static_cast<std::uint32_t>(std::lower_bound(history.begin(), history.end(), s) - history.begin());
    std::uint64_t left = changed_[s];
    left &= ~relevance_.irrelevant(index_.lineNo(id), stores_[s].event, at);
    for (std::uint32_t i = number + 1; left != 0 && i < history.size() && stores_[history[i]].event < at; ++i)
      left &= ~changed_[history[i]];
    return left != 0;
  }

  const Trace& trace_;
  const Index& index_;
  IdSpan<StoreNo, const StoreRow> stores_;
  Interest interest_;
  Relevance relevance_;
  IdVector<StoreNo, bool> judged_;
  ChangedBytes changed_;
  std::vector<std::pair<LineNo, LineId>> lines_;
  std::map<ThreadNo, OpenOperation> open_;
  Mappings mappings_;
  std::vector<Suspect> suspects_;
};

// Flushes of the lines that matter, in trace order.
std::map<LineNo, std::vector<EventNo>> flushesOf(const Trace& trace, const std::set<LineNo>& lines) {
  std::map<LineNo, std::vector<EventNo>> out;
  if (lines.empty()) return out;
  for (EventNo n = 0; n < trace.end(); n = trace.next(n))
    if (groupOf(trace[n]) == EventGroup::Flush && lines.contains(lineOf(trace[n].addr)))
      out[lineOf(trace[n].addr)].push_back(n);
  return out;
}

// What makes suspects durable in time, tried: the trace is indexed once more with the events in it.
class Trial {
 public:
  Trial(const Index& index, const std::vector<Suspect>& suspects,
        const std::map<LineNo, std::vector<EventNo>>& flushes) {
    if (suspects.empty()) return;
    std::vector<InsertedEvent> flushed, fenced;
    for (const Suspect& s : suspects) {
      EventNo n = index.stores()[s.store].event;
      const Event& e = index.trace()[n];
      flushed.push_back({n, false, threadOf(e), lineOf(e.addr), true});
      if (kindOf(e) == EventKind::StoreNt) fenced.push_back({n, false, threadOf(e), std::nullopt, true});
      auto all = flushes.find(lineOf(e.addr));
      if (all == flushes.end()) continue;
      for (auto f = std::upper_bound(all->second.begin(), all->second.end(), n); f != all->second.end() && *f < s.at;
           ++f)
        fenced.push_back({*f, false, threadOf(index.trace()[*f]), std::nullopt, true});
    }
    flushed_ = with(index, std::move(flushed));
    fenced_ = with(index, std::move(fenced));
  }
  bool isEnough(CureKind cure, const Suspect& s) const {
    const auto& tried = cure == CureKind::Fence ? fenced_ : flushed_;
    return tried && tried->stores()[s.store].guaranteedAt < s.at;
  }

 private:
  static std::optional<Index> with(const Index& index, std::vector<InsertedEvent> inserted) {
    std::sort(inserted.begin(), inserted.end());
    inserted.erase(std::unique(inserted.begin(), inserted.end()), inserted.end());
    auto changed = withInserted(index, std::move(inserted));
    return changed ? std::optional(std::move(*changed)) : std::nullopt;
  }
  std::optional<Index> flushed_, fenced_;
};

NumberedPlace momentPlace(const Trace& trace, const Suspect& s) {
  switch (s.moment) {
    case Moment::OperationEnded:
      return placeOf(trace, "the operation ends here", stackOf(trace[s.at]));
    case Moment::Unmapped:
      return placeOf(trace, "unmapped here", stackOf(trace[s.at]));
    case Moment::ProgramEnded:
      break;
  }
  return placeOf(trace, "the program ends here", 0);
}

}  // namespace

std::vector<Finding> detectNeverPersisted(const DetectInput& input) {
  const Trace& trace = input.trace;
  const Index& index = input.index;
  auto stores = index.stores();
  std::vector<Suspect> suspects = Search(input).run();
  std::sort(suspects.begin(), suspects.end(), [](const Suspect& a, const Suspect& b) { return a.store < b.store; });

  std::set<LineNo> lines;
  for (const Suspect& s : suspects) lines.insert(index.lineNo(stores[s.store].line));
  auto flushes = flushesOf(trace, lines);
  Executions executions(trace, Interest(trace), AccessClass::Store);

  // A finding that exists only because locked instructions are taken for no fences says so.
  std::optional<Index> withFences;
  if (!index.options().rmwFences && !suspects.empty()) {
    ModelOptions options = index.options();
    options.rmwFences = true;
    auto built = index.with(options);
    assert(built.has_value());
    withFences = std::move(*built);
  }

  IdVector<StoreNo, StoreNo> first = executionsOf(index);
  std::map<std::pair<SiteKey, Moment>, Finding> found;
  std::map<std::pair<SiteKey, Moment>, std::vector<CureKind>>
      cures;  // that make all of them durable, the smallest first
  const Trial trial(index, suspects, flushes);
  std::set<std::pair<StoreNo, Moment>> counted;  // executions: a wide store counts once
  for (const Suspect& s : suspects) {
    EventNo n = stores[s.store].event;
    const Event& e = trace[n];
    SiteKey key = siteKey(trace, e);
    auto [it, isNew] = found.try_emplace({key, s.moment});
    Finding& f = it->second;
    std::vector<CureKind>& left =
        cures.try_emplace({key, s.moment}, std::vector{CureKind::Fence, CureKind::Flush}).first->second;
    std::erase_if(left, [&](CureKind cure) { return !trial.isEnough(cure, s); });
    if (isNew) {
      NumberedPlace place = placeOfEvent(trace, "written here", n);
      const auto& all = flushes[lineOf(e.addr)];
      auto flush = std::upper_bound(all.begin(), all.end(), n);
      bool flushed = flush != all.end() && *flush < s.at;
      std::uint64_t bytes = 0;
      for (StoreNo piece = first[s.store]; piece < stores.endId() && first[piece] == first[s.store]; ++piece) {
        const Event& p = trace[stores[piece].event];
        bytes += (p.len & BLACKOUT_JOINED) != 0 ? 16 : bytesOf(p);
      }
      f = makeFinding(FindingKind::NeverPersisted, NotDurable{s.moment, seenStore(index, s.store, 1, 1), bytes,
                                                              kindOf(e) == EventKind::StoreNt, flushed});
      f.places.push_back(std::move(place));
      if (flushed) f.places.push_back(placeOfEvent(trace, "flushed here, not fenced", *flush));
      f.places.push_back(momentPlace(trace, s));
      if (s.moment == Moment::OperationEnded) f.operation = s.operation;
      f.counts.of = executions.of(key);
      if (s.moment != Moment::ProgramEnded) {
        EventNo later = stores[s.store].guaranteedAt;
        if (later == kNever)
          f.evidence.push_back(NeverDurable{});
        else
          f.evidence.push_back(DurableTooLate{later});
      }
    }
    if (withFences && withFences->stores()[s.store].guaranteedAt < s.at) {
      Fact fact = DurableWithRmwFences{};
      if (std::find(f.evidence.begin(), f.evidence.end(), fact) == f.evidence.end()) f.evidence.push_back(fact);
    }
    bool counts = counted.insert({first[s.store], s.moment}).second;
    if (counts) ++f.counts.times;
    unsigned size = (e.len & BLACKOUT_JOINED) != 0 ? 16 : bytesOf(e);
    addExample(f, affected(trace, e.addr, size, e), !counts);
  }
  std::vector<Finding> out;
  out.reserve(found.size());
  for (auto& [key, f] : found) {
    if (const auto& left = cures[key]; !left.empty()) f.evidence.push_back(TriedDurable{left.front()});
    out.push_back(std::move(f));
  }
  return out;
}

namespace {

// What was tried and helps, of a lost store or of one that is not durable in time.
template <class Tried>
std::optional<CureKind> cureOf(const Finding& f) {
  for (const Fact& fact : f.evidence)
    if (const auto* tried = std::get_if<Tried>(&fact)) return tried->cure;
  return std::nullopt;
}

// The place of the store that the shown finding says is lost; 0: it says nothing of the kind.
PlaceNo lostPlace(const Finding& shown) {
  bool lost = shown.kind == FindingKind::MissingFlush || shown.kind == FindingKind::MissingFence;
  const auto* cause = std::get_if<CrashCause>(&shown.claim);
  return lost && shown.shownBy && cause != nullptr && cause->first ? cause->first->place : PlaceNo(0);
}

}  // namespace

void joinNotDurable(std::vector<Finding>& findings) {
  std::set<const Finding*> joined;
  for (const Finding& wanting : findings) {
    const auto* claim = std::get_if<NotDurable>(&wanting.claim);
    auto cure = cureOf<TriedDurable>(wanting);
    if (claim == nullptr || !cure || wanting.places[0].siteId == 0) continue;
    auto shown = std::find_if(findings.begin(), findings.end(), [&](const Finding& f) {
      PlaceNo lost = lostPlace(f);
      return lost != 0 && cureOf<TriedCure>(f) == cure && f.place(lost).siteId == wanting.places[0].siteId &&
             f.place(lost).caller == wanting.places[0].caller;
    });
    if (shown == findings.end()) continue;
    shown->evidence.push_back(
        NotDurableEither{lostPlace(*shown), claim->when, wanting.counts.times, wanting.counts.of});
    joined.insert(&wanting);
  }
  std::vector<Finding> left;
  for (Finding& f : findings)
    if (!joined.contains(&f)) left.push_back(std::move(f));
  findings = std::move(left);
}

}  // namespace blackout
