#include "judge/finding_builder.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <set>
#include <tuple>

#include "binary/symbolizer.h"
#include "binary/user_frame.h"
#include "detect/by_site.h"
#include "events/trace.h"
#include "events/waits.h"
#include "judge/fixes.h"
#include "judge/lost_store.h"

namespace blackout {

namespace {

// Where a run failed: the C library's part of an abort says nothing, and neither do places without a name.
std::vector<Frame> ownFrames(std::vector<Frame> stack) {
  auto from = [&](auto known) { return std::find_if(stack.begin(), stack.end(), known); };
  auto own = from([](const Frame& f) { return !f.file.empty(); });
  if (own == stack.end()) own = from([](const Frame& f) { return !f.function.empty(); });
  stack.erase(stack.begin(), own);
  return stack;
}

// The last lines say why it ended; a sanitizer says it first.
std::vector<std::string> tellingLines(const std::string& output) {
  constexpr std::size_t kLines = 5;
  std::vector<std::string> lines;
  std::optional<std::size_t> report;
  for (std::size_t from = 0; from < output.size();) {
    std::size_t end = std::min(output.find('\n', from), output.size());
    std::string line = output.substr(from, std::min<std::size_t>(end - from, 200));
    if (!report &&
        (line.find("Sanitizer: ") != std::string::npos || line.find(": runtime error: ") != std::string::npos))
      report = lines.size();
    if (!line.empty()) lines.push_back(std::move(line));
    from = end + 1;
  }
  std::size_t first = report.value_or(lines.size() - std::min(lines.size(), kLines));
  lines.erase(lines.begin(), lines.begin() + static_cast<std::ptrdiff_t>(first));
  if (lines.size() > kLines) lines.resize(kLines);
  return lines;
}

class FindingBuilder {
 public:
  // `race`: it is told as a race that is only suspected.
  FindingBuilder(const ShowContext& context, const Cause& cause, std::vector<const Index*> indexes, bool race)
      : context_(context), cause_(cause), indexes_(std::move(indexes)), race_(race) {}

  Result<ShownFinding> tell() {
    // Alone, at its own point, and traced: a finding is what fails again.
    const Outcome& found = context_.explorer.outcome(context_.explorer.outcomeNo(cause_.recovery));
    bool hangs = found.ending == Ending::Hung;
    auto repeated = again(true, hangs);
    if (!repeated && !context_.patience.over()) return tl::unexpected(repeated.error());
    // There is no time for that: what is known of it has to do.
    if (repeated)
      run_ = std::move(*repeated);
    else
      run_.outcome = found;
    if (!run_.tracePath.empty())
      if (auto trace = Trace::open(run_.tracePath)) runTrace_ = std::make_unique<Trace>(std::move(*trace));
    bool runAgain = repeated.has_value();
    Verdict before = context_.judge.verdict(cause_.space, cause_.recovery);
    // What ends and says the same is judged the same: the judge of a run knows less than that of a recovery.
    auto judged = [&](const Outcome& o) {
      bool same = o.ending == found.ending && o.code == found.code && o.text == found.text &&
                  o.output == found.output && o.history == found.history;
      return same ? before : context_.judge.verdict(cause_.space, o);
    };
    Verdict now = judged(run_.outcome);
    // To record it may take more time than it has, and what it records keeps a loop from repeating its state; then the
    // same restart is asked without that.
    if (repeated && (hangs || now.judgement == Judgement::Unknown)) {
      auto plain = again(false);
      if (!plain && !context_.patience.over()) return tl::unexpected(plain.error());
      if (plain) run_.waiting = std::move(plain->waiting);
      runAgain = plain.has_value();
      if (plain)
        run_.outcome = std::move(plain->outcome);
      else
        run_.outcome = found;
      now = judged(run_.outcome);
    }
    failedAt_ = runTrace_ ? ownFrames(context_.stacks.endOf(*runTrace_, run_.outcome)) : std::vector<Frame>();

    std::optional<NoOrder> none;
    if (before.key == OrderJudge::kKey && context_.orders != nullptr)
      none = context_.orders->noOrder(cause_.space, run_.outcome);
    if (!race_ && none && !none->witnesses.empty()) seenTooSoon();
    // Where a store was found to be lost, that is what is to be fixed.
    bool unnamed = cause_.kind == FindingKind::RecoveryFails && before.key == OrderJudge::kKey;
    finding_ = makeFinding(race_     ? FindingKind::CrossFailureRace
                           : unnamed ? FindingKind::NotLinearizable
                                     : cause_.kind);
    if (race_)
      read_ = cause_.read;
    else
      classify();
    places();
    claim();
    evidence();
    waitingThreads();
    if (before.key == AnswerJudge::wrongAnswer(ExpectedAnswer::Basis::Operation).key) answers();
    if (none) finding_.evidence.push_back(std::move(*none));
    if (cause_.stage != TestStage::None) finding_.evidence.push_back(FoundAt{cause_.stage});
    bool failsAgain = now.judgement == Judgement::Failed;
    finding_.shownBy = ShownBy{failsAgain ? now.symptom : before.symptom,
                               failsAgain ? failPlace_ : 0,
                               std::move(crashes_),
                               cause_.states,
                               cause_.points,
                               tellingLines(run_.outcome.output)};
    finding_.crashState = context_.explorer.crashState(cause_.space, cause_.chosen);
    bool sameAgain = failsAgain && now.key == cause_.key;
    if (!sameAgain) {
      finding_.severity = Severity::Suspected;
      finding_.evidence.push_back(NotRepeated{failsAgain                            ? now.symptom
                                              : now.judgement == Judgement::Unknown ? "could not be judged"
                                                                                    : std::string()});
    } else if (!runAgain) {
      finding_.severity = Severity::Suspected;
      finding_.evidence.push_back(NotRunAgain{});
    }
    // What a replay is compared with is the failure, whether it came again or not.
    ShownFinding shown{std::move(finding_), {}, indexes_, cause_.replaced, sameAgain ? run_.outcome : found};
    shown.state = *shown.finding.crashState;
    return shown;
  }

 private:
  Result<RunEnd> again(bool traced, bool hangs = false) {
    if (!cause_.replaced.empty())
      return StateProbe(context_.explorer, context_.baseline, context_.runner, context_.traces, context_.judge)
          .with(cause_.space, cause_.chosen, cause_.replaced, traced);
    auto repeated = context_.explorer.repeat(cause_.space, cause_.chosen, traced, hangs);
    if (!repeated) return tl::unexpected(repeated.error());
    return std::move(repeated->result);
  }

  const SpaceInfo& space() const { return context_.explorer.space(cause_.space); }
  const Index& indexOf(const StoreRef& ref) const { return *indexes_[ref.level - 1]; }
  EventNo eventOf(const StoreRef& ref) const { return indexOf(ref).stores()[ref.store].event; }

  bool isLost() const {
    return cause_.first && std::find(cause_.lost.begin(), cause_.lost.end(), *cause_.first) != cause_.lost.end();
  }
  bool stale() const { return cause_.kind == FindingKind::StalePointer; }
  // Not lost, but not yet stored when the power fails.
  bool late() const { return cause_.kind == FindingKind::WrongOrder && (cause_.late || !isLost()); }

  // Places of a restart's trace get their stacks here, those of the recording with the rest of the report.
  PlaceNo addPlace(std::string label, unsigned level, EventNo n, bool incidental) {
    const Trace& trace = indexes_[level - 1]->trace();
    NumberedPlace place = placeOfEvent(trace, std::move(label), n);
    place.incidental = incidental;
    if (level > 1) {
      place.label += level == 2 ? ", in the restart" : fmt::format(", in restart {}", level - 1);
      place.stack = context_.stacks.at(trace, place.where);
      place.where = 0;
    }
    return addPlace(std::move(place));
  }
  PlaceNo addPlace(NumberedPlace place) {
    finding_.places.push_back(std::move(place));
    return static_cast<PlaceNo>(finding_.places.size());
  }

  // An acknowledged operation relies on what another thread's had stored and not made durable: that store is the cause,
  // whatever else of its operation is durable.
  void seenTooSoon() {
    const Index& index = *indexes_[0];
    if (space().level != 1) return;
    auto underWay = [&](const StoreRef& ref) {
      const Event& e = index.trace()[eventOf(ref)];
      const Operation* operation = index.operations().outermost(threadOf(e), eventOf(ref));
      return operation != nullptr && operation->end >= crashOf(1);
    };
    for (const StoreRef& ref : cause_.lost) {
      if (ref.level != 1 || !underWay(ref)) continue;
      std::optional<EventNo> load = loadByOther(eventOf(ref));
      if (cause_.kind == FindingKind::VisibleNotDurable && !load) continue;
      cause_.kind = FindingKind::VisibleNotDurable;
      cause_.first = ref;
      seenAt_ = load;
      if (load) break;
    }
    if (cause_.kind != FindingKind::VisibleNotDurable) return;
    cause_.second.reset();
    cause_.promised.reset();
    cause_.flush.reset();
    cause_.others.clear();
  }
  // The first load of what the event stores by another thread before the crash, if loads were recorded.
  std::optional<EventNo> loadByOther(EventNo store) const {
    const Trace& trace = indexes_[0]->trace();
    const Event& stored = trace[store];
    for (EventNo n = trace.next(store); n < crashOf(1); n = trace.next(n)) {
      const Event& e = trace[n];
      if (groupOf(e) != EventGroup::Load || threadOf(e) == threadOf(stored)) continue;
      std::uint64_t size = kindOf(e) == EventKind::Load ? bytesOf(e) : e.value;
      if (e.addr < stored.addr + bytesOf(stored) && stored.addr < e.addr + size) return n;
    }
    return std::nullopt;
  }

  void places() {
    bool visible = cause_.kind == FindingKind::VisibleNotDurable;
    bool atomic = cause_.kind == FindingKind::NotAtomic || cause_.kind == FindingKind::RecoveryFails;
    if (cause_.first)
      first_ = addPlace(race_     ? "written here"
                        : stale() ? "the pointer is stored here"
                        : visible ? "stored here, and not durable when the power fails"
                        : atomic  ? "stored here"
                        : late()  ? "too late: stored here"
                                  : "lost: stored here",
                        cause_.first->level, eventOf(*cause_.first), false);
    if (visible && seenAt_)
      second_ = addPlace("seen here by another operation, which is acknowledged", 1, *seenAt_, false);
    if (race_ || visible)
      ;  // what else survives is beside the point
    else if (cause_.second)
      second_ = addPlace(cause_.sameBytes          ? "replaced here"
                         : cause_.creation         ? "complete only when this is stored"
                         : atomic && !cause_.first ? "stored here only afterwards"
                         : atomic                  ? "to be stored here too"
                                                   : "survives: stored here",
                         cause_.second->level, eventOf(*cause_.second), false);
    else if (cause_.promised)
      second_ = addPlace("promised: the operation ends here", 1, *cause_.promised, false);
    constexpr std::size_t kOthers = 4;
    for (std::size_t i = 0; !race_ && i < std::min(cause_.others.size(), kOthers); ++i)
      others_.push_back(addPlace("and here", cause_.others[i].level, eventOf(cause_.others[i]), true));
    if (!race_ && cause_.mirrored) {
      const auto& [first, second] = *cause_.mirrored;
      mirrored_.first = addPlace("the other way round: first here", first.level, eventOf(first), true);
      mirrored_.second = addPlace("and then here", second.level, eventOf(second), true);
    }
    for (unsigned level = 1; level <= space().level; ++level) {
      SeenCrash crash{level, crashOf(level), 0, {}};
      if (auto last = lastPlaceBefore(indexes_[level - 1]->trace(), crash.event))
        crash.after = addPlace("the power fails after this", level, *last, true);
      for (const StoreRef& ref : cause_.lost)
        if (ref.level == level) crash.lost.push_back(seen(ref, ref == cause_.first ? first_ : 0));
      crashes_.push_back(std::move(crash));
    }
    if (read_ && runTrace_ && *read_ < run_.queries.size() && run_.queries[*read_].where != 0) {
      NumberedPlace place = placeOf(*runTrace_, readLabel(), run_.queries[*read_].where);
      place.stack = context_.stacks.at(*runTrace_, place.where);
      place.where = 0;
      place.incidental = true;
      readPlace_ = addPlace(std::move(place));
    }
    if (!race_ && cause_.kind == FindingKind::RecoveryFails && cause_.sameBytes) changedByRestart();
    if (!failedAt_.empty()) {
      NumberedPlace place;
      place.label = "the restart fails here";
      place.stack = failedAt_;
      place.incidental = true;
      failPlace_ = addPlace(std::move(place));
    }
    if (cause_.first && cause_.first->level == 1) {
      if (const Operation* operation = indexes_[0]->operationOf(eventOf(*cause_.first)))
        finding_.operation = operation->name;
    }
    if (cause_.kind != FindingKind::NotAtomic && !stale())
      for (const StoreRef& ref : cause_.lost) {
        const Event& e = indexOf(ref).trace()[eventOf(ref)];
        addExample(finding_, affected(indexOf(ref).trace(), e.addr, bytesOf(e), e), true);
      }
  }

  // What it reads there: the bytes of (1), or where these are not known to be read those of (2).
  std::string readLabel() const {
    const Query& q = run_.queries[*read_];
    if (!reads(q, cause_.first) && reads(q, cause_.second))
      return fmt::format("the restart reads ({}) here", second_.value());
    return reads(q, cause_.first) || !cause_.first ? "the restart reads it here" : "the restart reads this line here";
  }

  // The last store of the restart to anything but the value that made it start its repair.
  void changedByRestart() {
    if (!runTrace_) return;
    const Event& value = indexOf(*cause_.first).trace()[eventOf(*cause_.first)];
    std::optional<EventNo> last;
    for (EventNo n = 0; n < runTrace_->end(); n = runTrace_->next(n)) {
      const Event& e = (*runTrace_)[n];
      if (isStore(e) && stackOf(e) != 0 && offsetOf(e.addr) != offsetOf(value.addr)) last = n;
    }
    if (!last) return;
    NumberedPlace place = placeOfEvent(*runTrace_, "the restart changes something here", *last);
    place.stack = context_.stacks.at(*runTrace_, place.where);
    place.where = 0;
    place.incidental = true;
    addPlace(std::move(place));
  }

  // What it is in the words of XFDetector. A semantic bug, if everything is made durable but in the wrong order
  // (equation 3), if the restart trusted data that a commit variable does not vouch for, or if all that it read of the
  // stores in question was certain; otherwise a race, and its reader is one of the finding's places. That a commit
  // variable itself may be one thing or the other is no race: it is there for that.
  void classify() {
    if (stale()) {
      read_ = cause_.read;
      finding_.bugClass = BugClass::Semantic;
      return;
    }
    RecoveryDetail detail = context_.explorer.detail(cause_.space, cause_.recovery);
    // What a transaction does not protect may be lost or left half done, wherever its line happens to be flushed.
    bool unlogged = cause_.cure == CureKind::Add;
    std::optional<std::size_t> racing, involved;
    auto commit = [&](const std::optional<StoreRef>& ref) {
      return ref && ref->level == 1 && context_.bad.isCommit(ref->store);
    };
    bool firstCommits = commit(cause_.first), secondCommits = commit(cause_.second);
    for (std::size_t i = 0; i < detail.observations.size() && !racing; ++i) {
      const Query& q = detail.observations[i].query;
      if (!unlogged && !context_.reads.races(cause_.space, detail.observations[i])) continue;
      bool first = reads(q, cause_.first), second = reads(q, cause_.second);
      if (!involved && (first || second)) involved = i;
      if ((first && !firstCommits) || (second && !secondCommits)) racing = i;
    }
    read_ = cause_.read ? cause_.read : racing ? racing : involved;
    bool lost = cause_.kind == FindingKind::MissingFlush || cause_.kind == FindingKind::MissingFence || unlogged;
    finding_.bugClass =
        lost || (racing && cause_.kind != FindingKind::WrongOrder) ? BugClass::Race : BugClass::Semantic;
    if (lost) return;
    for (const BadRead& b : context_.bad.of(cause_.space, cause_.recovery, true)) {
      const Query& q = detail.observations[b.read].query;
      bool own =
          reads(q, cause_.first) || reads(q, cause_.second) ||
          std::any_of(cause_.lost.begin(), cause_.lost.end(), [&](const StoreRef& ref) { return reads(q, ref); });
      if (b.kind == FindingKind::UninitializedRead || !own) continue;
      finding_.bugClass = BugClass::Semantic;
      auto store = [&](StoreNo no) { return no == kNoStore ? std::nullopt : std::optional(seen({1, no}, 0)); };
      finding_.evidence.push_back(TrustedTooSoon{b.kind == FindingKind::StaleRead, seen({1, b.writer}, 0),
                                                 store(b.commit), store(b.commitBefore)});
      break;
    }
  }
  bool reads(const Query& q, const std::optional<StoreRef>& ref) const {
    if (!ref || ref->store == kNoStore) return false;
    const Index& index = indexOf(*ref);
    return q.line() == context_.baseline.tracked().find(index.lineNo(index.stores()[ref->store].line)) &&
           (q.mask & maskOf(index, ref->store)) != 0;
  }

  SeenStore seen(const StoreRef& ref, PlaceNo place) const {
    std::optional<LineBytes> under = ref.level == 1 ? std::nullopt : left(ref);
    SeenStore store = seenStore(indexOf(ref), ref.store, ref.level, place, under ? &*under : nullptr);
    store.at = ownLine(indexOf(ref).trace(), store.event, std::move(store.at));
    return store;
  }
  // The line that a reader knows: where a library's header was not inlined, its caller's.
  Frame ownLine(const Trace& trace, EventNo n, Frame at) const {
    if (!inSystemHeader(at)) return at;
    std::vector<Frame> stack = context_.stacks.at(trace, stackOf(trace[n]));
    return stack.empty() ? at : stack[userFrame(stack)];
  }
  // What the crash before left of the line that a restart stores to; none: it can't be told.
  std::optional<LineBytes> left(const StoreRef& ref) const {
    TrackedNo w = context_.baseline.tracked().find(indexOf(ref).lineNo(indexOf(ref).stores()[ref.store].line));
    if (space().level != ref.level || w == TrackedBytes::kNone) return std::nullopt;
    std::shared_ptr<const CrashSpace> crash = context_.explorer.crashSpace(cause_.space);
    const UncertainLine& now = crash->line(w);
    auto chosen = cause_.chosen.versions.find(w);
    std::uint32_t parent = now.versions[chosen == cause_.chosen.versions.end() ? now.newest : chosen->second].parent;
    std::shared_ptr<const CrashSpace> crashBefore = context_.explorer.crashSpace(space().parent);
    const UncertainLine& before = crashBefore->line(w);
    return parent < before.versions.size() ? std::optional(before.versions[parent].bytes) : std::nullopt;
  }

  void claim() {
    CrashCause c;
    c.kind = cause_.kind;
    c.firstIs = !race_ && late()                                               ? FirstStore::Late
                : isLost() && (race_ || cause_.kind != FindingKind::NotAtomic) ? FirstStore::Lost
                : !race_ && cause_.kind == FindingKind::NotAtomic              ? FirstStore::Begins
                                                                               : FirstStore::Written;
    if (cause_.first) c.first = seen(*cause_.first, first_);
    if (cause_.second) c.second = seen(*cause_.second, second_);
    if (cause_.promised) c.promised = PromisedEnd{*cause_.promised, second_};
    if (cause_.flush && cause_.first) {
      const Index& index = indexOf(*cause_.first);
      const Event& e = index.trace()[*cause_.flush];
      c.flush = SeenFlush{cause_.first->level, *cause_.flush, std::string(nameOf(kindOf(e))),
                          ByteNames(index).of(*cause_.flush),
                          ownLine(index.trace(), *cause_.flush, frameAt(index.trace(), stackOf(e)))};
    }
    if (read_) c.read = read(*read_);
    c.tested = cause_.tested;
    c.eitherWay = cause_.eitherWay;
    for (std::size_t i = 0; i < cause_.others.size(); ++i)
      c.others.push_back(seen(cause_.others[i], i < others_.size() ? others_[i] : PlaceNo(0)));
    c.lines = cause_.lines;
    c.creation = cause_.creation;
    c.sameBytes = cause_.sameBytes;
    c.everFlushed = cause_.everFlushed;
    c.everFenced = cause_.everFenced;
    c.examined = cause_.examined;
    finding_.claim = std::move(c);
  }

  // What the restart saw there, and what it might have seen.
  std::optional<SeenRead> read(std::size_t number) const {
    RecoveryDetail detail = context_.explorer.detail(cause_.space, cause_.recovery);
    if (number >= detail.observations.size()) return std::nullopt;
    const Query& q = detail.observations[number].query;
    if (q.kind != QueryKind::Bytes) return std::nullopt;
    std::shared_ptr<const CrashSpace> crash = context_.explorer.crashSpace(cause_.space);
    const UncertainLine& line = crash->line(q.line());
    auto chosen = cause_.chosen.versions.find(q.line());
    SeenRead out = seenRead(ByteNames(*indexes_[0]), context_.baseline.tracked().line(q.line()), q.mask, crashOf(1),
                            line.versions[chosen == cause_.chosen.versions.end() ? line.newest : chosen->second].bytes);
    if (space().level > 1) out.bytes.after = readOf(line.versions[line.newest].bytes, q.mask);
    out.place = readPlace_;
    if (readPlace_ != 0 && !finding_.place(readPlace_).type.empty()) out.bytes.type = finding_.place(readPlace_).type;
    for (const StoreRef& ref : context_.explorer.mayReadFrom(cause_.space, cause_.recovery, number)) {
      PlaceNo place = ref == cause_.first ? first_ : ref == cause_.second ? second_ : 0;
      out.sources.push_back(ref.store == kNoStore ? std::nullopt : std::optional(seen(ref, place)));
    }
    return out;
  }

  // What it said and what it should have said.
  void answers() {
    ExpectedAnswer expected = context_.expected.of(cause_.space, cause_.recovery);
    if (expected.basis == ExpectedAnswer::Basis::None) return;
    auto said = [](const Outcome& o) {
      constexpr std::size_t kMost = 4096;
      return Said{o.output.substr(0, kMost), o.output.size() > kMost || o.outputCut,
                  o.ending == Ending::Exited ? o.code : 0, o.history};
    };
    bool operation = expected.basis != ExpectedAnswer::Basis::Stretch;
    const Outcome& before = context_.explorer.outcome(expected.before);
    const Outcome& after = context_.explorer.outcome(expected.after);
    finding_.evidence.push_back(WrongAnswer{
        operation, expected.basis == ExpectedAnswer::Basis::Ended, expected.operation, said(run_.outcome), said(before),
        said(after), context_.expected.lines().wrong(run_.outcome.output, before.output, after.output)});
    if (operation) finding_.operation = expected.operation;
  }

  // One that waits alone is at the place where the restart fails.
  void waitingThreads() {
    if (!runTrace_ || run_.waiting.size() < 2) return;
    for (std::uint32_t i = 0; i < run_.waiting.size(); ++i) {
      Outcome there;
      there.ending = run_.outcome.ending;
      there.frames = run_.waiting[i].frames;
      finding_.evidence.push_back(
          ThreadWaits{i + 1, run_.waiting[i].what, ownFrames(context_.stacks.endOf(*runTrace_, there))});
    }
  }

  void evidence() {
    auto add = [&](Fact fact) { finding_.evidence.push_back(std::move(fact)); };
    if (cause_.kind == FindingKind::VisibleNotDurable) return oldValue();
    if (isLost() && cause_.kind != FindingKind::NotAtomic) {
      oldValue();
      add(FineIfPersisted{first_});
      if (cause_.flush && cause_.kind == FindingKind::MissingFence)
        add(FlushUnderWay{});
      else if (cause_.flush)
        add(FlushedLater{});
      else if (cause_.kind == FindingKind::MissingFlush)
        add(NeverFlushed{first_, cause_.everFlushed});
      rmwFences();
    }
    if (!race_ && cause_.tested && cause_.kind != FindingKind::NotAtomic) {
      add(FineWithout{cause_.kind == FindingKind::RecoveryFails ? first_ : second_});
      if (late()) add(CanWait{first_, second_});
    }
    // The place of what survives is not part of a race, so an order of the two can't be told.
    if (cause_.cure && !(race_ && cause_.cure == CureKind::Order)) triedCure();
    if (!race_ && cause_.eitherWay) add(BothFail{});
    if (!race_ && mirrored_.first != 0) add(CutThereToo{mirrored_.first, mirrored_.second});
    if (!cause_.examined) add(NotExamined{});
    if (!race_ && run_.outcome.ending == Ending::Hung && run_.outcome.text.ends_with(kWaitsForPmLock)) add(LockLeft{});
    if (!cause_.replaced.empty()) add(OtherAddresses{first_});
    if (!race_) otherSymptoms();
    if (cause_.read && cause_.kind != FindingKind::NotAtomic && !stale() && severalSources()) add(MaySeeSeveral{});
    emptyFiles();
  }

  // A reader who repairs one failure should know that the others are the same mistake.
  void otherSymptoms() {
    constexpr std::size_t kMost = 4;
    std::size_t told = 0;
    for (const auto& [key, symptom] : cause_.symptoms)
      if (key != cause_.key && told++ < kMost) finding_.evidence.push_back(OtherSymptom{symptom, Frame()});
  }

  // Pools that the run has made and given no size yet.
  void emptyFiles() {
    const FileTimeline& files = indexes_[0]->files();
    for (FileNo f = 1; f <= files.last(); ++f)
      if (!files.existedBefore(f) && files.existsAt(f, crashOf(1)) && files.sizeAt(f, crashOf(1)) == 0)
        finding_.evidence.push_back(EmptyFile{std::string(files.pathAt(f, crashOf(1)))});
  }

  void triedCure() {
    TriedCure tried{*cause_.cure, first_, second_, false, cause_.cured, cause_.states, cause_.notAdded.has_value()};
    if (cause_.first && cause_.second && cause_.first->level == cause_.second->level) {
      auto lineOfRef = [&](const StoreRef& ref) { return indexOf(ref).stores()[ref.store].line; };
      tried.oneLine = lineOfRef(*cause_.first) == lineOfRef(*cause_.second);
    }
    finding_.evidence.push_back(tried);
  }

  EventNo crashOf(unsigned level) const {
    SpaceNo s = cause_.space;
    while (context_.explorer.space(s).level > level) s = context_.explorer.space(s).parent;
    return context_.explorer.space(s).at;
  }

  void oldValue() {
    const Index& index = indexOf(*cause_.first);
    TrackedNo w = context_.baseline.tracked().find(index.lineNo(index.stores()[cause_.first->store].line));
    auto chosen = cause_.chosen.versions.find(w);
    if (chosen == cause_.chosen.versions.end() || !cause_.read) return;
    // Only if it did read them.
    std::uint64_t mask = maskOf(index, cause_.first->store);
    Told told = context_.explorer.told(cause_.recovery);
    auto read = std::find_if(told.lines.begin(), told.lines.end(), [&](const ToldLine& l) { return l.line == w; });
    if (read == told.lines.end() || (mask & ~read->mask) != 0) return;
    std::shared_ptr<const CrashSpace> crash = context_.explorer.crashSpace(cause_.space);
    finding_.evidence.push_back(OldValueRead{readOf(crash->line(w).versions[chosen->second].bytes, mask)});
  }

  // docs/semantics.md: whether locked instructions complete flushes is disputed, so a finding says if it depends on
  // that.
  void rmwFences() {
    const Index& index = indexOf(*cause_.first);
    if (index.options().rmwFences) return;
    ModelOptions on = index.options();
    on.rmwFences = true;
    auto other = index.with(on);
    if (other && other->stores()[cause_.first->store].guaranteedAt < crashOf(cause_.first->level))
      finding_.evidence.push_back(LockedCompleted{});
  }

  // Jaaru's aid is worth a sentence only if the stores that the load may read from are at different lines of the
  // source.
  bool severalSources() const {
    const auto& cause = std::get<CrashCause>(finding_.claim);
    std::set<std::tuple<bool, std::string, std::uint32_t>> lines;
    if (cause.read)
      for (const auto& store : cause.read->sources) {
        bool known = store && !store->at.file.empty();
        lines.emplace(store.has_value(), known ? store->at.file : std::string(), known ? store->at.line : 0);
      }
    return lines.size() > 1;
  }

  const ShowContext& context_;
  Cause cause_;
  std::optional<EventNo> seenAt_;  // where another operation saw what was not durable
  std::vector<const Index*> indexes_;
  RunEnd run_;
  std::unique_ptr<Trace> runTrace_;
  std::vector<Frame> failedAt_;
  bool race_ = false;
  Finding finding_;
  std::optional<std::size_t> read_;  // the observation that is a place of the finding
  // Numbers of places; 0: there is none.
  PlaceNo first_ = 0;
  PlaceNo second_ = 0;
  std::vector<PlaceNo> others_;
  std::pair<PlaceNo, PlaceNo> mirrored_{0, 0};
  PlaceNo readPlace_ = 0;
  PlaceNo failPlace_ = 0;
  std::vector<SeenCrash> crashes_;  // by level
};

Result<ShownFinding> tell(const ShowContext& context, const Cause& cause, bool race) {
  auto indexes = context.traces.of(cause.space);
  if (!indexes) return tl::unexpected(indexes.error());
  return FindingBuilder(context, cause, std::move(*indexes), race).tell();
}

}  // namespace

ByteValue readOf(const LineBytes& line, std::uint64_t mask) {
  return {line.begin() + std::countr_zero(mask), line.end() - std::countl_zero(mask)};
}

SeenRead seenRead(const ByteNames& names, LineNo line, std::uint64_t mask, EventNo crash, const LineBytes& seen) {
  auto from = static_cast<unsigned>(std::countr_zero(mask));
  auto to = 64 - static_cast<unsigned>(std::countl_zero(mask));
  return {names.range(addressOf(line) + from, to - from, crash), readOf(seen, mask), 0, {}};
}

Result<ShownFinding> showCause(const ShowContext& context, const Cause& cause) {
  auto shown = tell(context, cause, false);
  if (shown && (!cause.fixes.empty() || cause.logged))
    shown->finding.fixes = toldFixes(cause, *shown->indexes.front(), context.stacks);
  return shown;
}

Result<ShownFinding> showRace(const ShowContext& context, const Cause& cause) { return tell(context, cause, true); }

ShownFinding showProgramBug(const IntactRestart& intact, const Index& recording, const OracleRules& rules) {
  std::vector<Frame> stack = ownFrames(intact.endedAt);
  ShownFinding shown;
  shown.finding = makeFinding(FindingKind::ProgramBug);
  shown.finding.shownBy =
      ShownBy{judge(intact.result.outcome, rules).symptom, 0, {}, 0, 0, tellingLines(intact.result.outcome.output)};
  if (!stack.empty()) {
    NumberedPlace place;
    place.label = "the restart fails here";
    place.stack = std::move(stack);
    shown.finding.places.push_back(std::move(place));
    shown.finding.shownBy->failsAt = 1;
  }
  shown.state = {intact.level};
  shown.finding.crashState = shown.state;
  shown.indexes = {&recording};
  shown.outcome = intact.result.outcome;
  return shown;
}

}  // namespace blackout
