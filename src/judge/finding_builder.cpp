#include "judge/finding_builder.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "detect/by_site.h"
#include "judge/lost_store.h"
#include "binary/site_places.h"
#include "findings/numbers.h"

namespace blackout {

namespace {

std::string_view baseName(std::string_view path) {
  std::size_t slash = path.rfind('/');
  return slash == std::string_view::npos ? path : path.substr(slash + 1);
}

std::string bytesText(const Trace& trace, PmAddr addr, std::uint64_t size) {
  FileNo f = fileOf(addr);
  std::string_view path = f != 0 && f < trace.files().size() ? std::string_view(trace.files()[f].path) : "the pool";
  return fmt::format("{} at offset {:#x} of {}", counted(size, "byte"), offsetOf(addr), baseName(path));
}

std::string valueText(std::uint64_t v) { return v < 0x10000 ? fmt::format("{}", v) : fmt::format("{:#x}", v); }

// Where a run failed: the C library's part of an abort says nothing, and neither do places without a name.
std::vector<Frame> ownFrames(std::vector<Frame> stack) {
  auto from = [&](auto known) { return std::find_if(stack.begin(), stack.end(), known); };
  auto own = from([](const Frame& f) { return !f.file.empty(); });
  if (own == stack.end()) own = from([](const Frame& f) { return !f.function.empty(); });
  stack.erase(stack.begin(), own);
  return stack;
}

// "List::contents" of "(anonymous namespace)::List::contents(int) const".
std::string plainName(std::string name) {
  constexpr std::string_view anonymous = "(anonymous namespace)::";
  for (std::size_t at; (at = name.find(anonymous)) != std::string::npos;) name.erase(at, anonymous.size());
  std::size_t close = name.rfind(')');
  if (close == std::string::npos) return name;
  int depth = 0;
  for (std::size_t i = close + 1; i-- > 0;) {
    if (name[i] == ')') ++depth;
    if (name[i] == '(' && --depth == 0) return i == 0 ? name : name.substr(0, i);
  }
  return name;
}

// " in lookup (map.cpp:60)"
std::string inFrame(const std::vector<Frame>& stack) {
  if (stack.empty() || stack.front().function.empty()) return {};
  const Frame& f = stack.front();
  std::string name = plainName(f.function);
  return f.file.empty() ? fmt::format(" in {}", name) : fmt::format(" in {} ({}:{})", name, baseName(f.file), f.line);
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
    auto repeated = context_.explorer.repeat(cause_.space, cause_.chosen, true);
    if (!repeated) return tl::unexpected(repeated.error());
    run_ = std::move(repeated->result);
    if (!run_.tracePath.empty())
      if (auto trace = Trace::open(run_.tracePath)) runTrace_ = std::make_unique<Trace>(std::move(*trace));
    Verdict now = context_.judge.verdict(cause_.space, run_.outcome);
    Verdict before = context_.judge.verdict(cause_.space, cause_.recovery);
    failedAt_ = runTrace_ ? ownFrames(context_.stacks.endOf(*runTrace_, run_.outcome)) : std::vector<Frame>();
    symptom_ = now.judgement == Judgement::Failed ? now.symptom + inFrame(failedAt_) : before.symptom;

    finding_ = makeFinding(race_ ? FindingKind::CrossFailureRace : cause_.kind, {});
    if (race_)
      read_ = cause_.read;
    else
      classify();
    places();
    finding_.verdict = race_ ? raceVerdict() : verdict();
    evidence();
    if (before.key == AnswerJudge::wrongAnswer(ExpectedAnswer::Basis::Operation).key) answers();
    finding_.shownBy = ShownBy{symptom_, crashText(), cause_.states, cause_.points, tellingLines(run_.outcome.output)};
    finding_.crashState = context_.explorer.crashState(cause_.space, cause_.chosen);
    if (now.judgement != Judgement::Failed || now.key != cause_.key) {
      finding_.severity = Severity::Suspected;
      finding_.evidence.push_back(fmt::format(
          "Run once more, the same restart {}: what it does depends on more than what it reads, so this is only "
          "suspected.",
          now.judgement == Judgement::Failed ? now.symptom : "did not fail"));
    }
    ShownFinding shown{std::move(finding_), {}, indexes_, run_.outcome};
    shown.state = *shown.finding.crashState;
    return shown;
  }

 private:
  const SpaceInfo& space() const { return context_.explorer.space(cause_.space); }
  const Index& indexOf(const StoreRef& ref) const { return *indexes_[ref.level - 1]; }
  EventNo eventOf(const StoreRef& ref) const { return indexOf(ref).stores()[ref.store].event; }

  bool isLost() const {
    return cause_.first && std::find(cause_.lost.begin(), cause_.lost.end(), *cause_.first) != cause_.lost.end();
  }
  // Not lost, but not yet stored when the power fails.
  bool late() const { return cause_.kind == FindingKind::WrongOrder && !isLost(); }

  // Places of a restart's trace get their stacks here, those of the recording with the rest of the report.
  std::size_t addPlace(std::string label, unsigned level, EventNo n, bool incidental) {
    const Trace& trace = indexes_[level - 1]->trace();
    NumberedPlace place = placeOfEvent(trace, std::move(label), n);
    place.incidental = incidental;
    if (level > 1) {
      place.label += level == 2 ? ", in the restart" : fmt::format(", in restart {}", level - 1);
      place.stack = context_.stacks.at(trace, place.where);
      place.where = 0;
    }
    finding_.places.push_back(std::move(place));
    return finding_.places.size();
  }

  void places() {
    bool atomic = cause_.kind == FindingKind::NotAtomic;
    if (cause_.first)
      first_ = addPlace(race_    ? "written here"
                        : atomic ? "stored here"
                        : late() ? "too late: stored here"
                                 : "lost: stored here",
                        cause_.first->level, eventOf(*cause_.first), false);
    if (race_)
      ;  // what else survives is beside the point
    else if (cause_.second)
      second_ = addPlace(atomic ? "to be stored here too" : "survives: stored here", cause_.second->level,
                         eventOf(*cause_.second), false);
    else if (cause_.promised)
      second_ = addPlace("promised: the operation ends here", 1, *cause_.promised, false);
    SpaceNo s = cause_.space;
    std::vector<std::pair<unsigned, EventNo>> crashes;
    for (;; s = context_.explorer.space(s).parent) {
      crashes.emplace_back(context_.explorer.space(s).level, context_.explorer.space(s).at);
      if (crashes.back().first == 1) break;
    }
    std::reverse(crashes.begin(), crashes.end());
    for (auto [level, at] : crashes) {
      std::optional<EventNo> last = lastPlaceBefore(indexes_[level - 1]->trace(), at);
      crashPlaces_.push_back(last ? addPlace("the power fails after this", level, *last, true) : 0);
    }
    if (read_ && runTrace_ && *read_ < run_.queries.size() && run_.queries[*read_].where != 0) {
      NumberedPlace place = placeOf(*runTrace_, "the restart reads it here", run_.queries[*read_].where);
      place.stack = context_.stacks.at(*runTrace_, place.where);
      place.where = 0;
      place.incidental = true;
      finding_.places.push_back(std::move(place));
      readPlace_ = finding_.places.size();
    }
    if (!failedAt_.empty()) {
      NumberedPlace place;
      place.label = "the restart fails here";
      place.stack = failedAt_;
      place.incidental = true;
      finding_.places.push_back(std::move(place));
    }
    if (cause_.first && cause_.first->level == 1) {
      if (const Operation* operation = indexes_[0]->operationOf(eventOf(*cause_.first)))
        finding_.operation = operation->name;
    }
    if (cause_.kind != FindingKind::NotAtomic)
      for (const StoreRef& ref : cause_.lost) {
        const Event& e = indexOf(ref).trace()[eventOf(ref)];
        addExample(finding_, affected(indexOf(ref).trace(), e.addr, bytesOf(e), e), true);
      }
  }

  // What it is in the words of XFDetector. A semantic bug, if everything is made durable but in the wrong order
  // (equation 3), if the restart trusted data that a commit variable does not vouch for, or if all that it read of the
  // stores in question was certain; otherwise a race, and its reader is one of the finding's places. That a commit
  // variable itself may be one thing or the other is no race: it is there for that.
  void classify() {
    RecoveryDetail detail = context_.explorer.detail(cause_.space, cause_.recovery);
    std::optional<std::size_t> racing, involved;
    auto commit = [&](const std::optional<StoreRef>& ref) {
      return ref && ref->level == 1 && context_.bad.isCommit(ref->store);
    };
    bool firstCommits = commit(cause_.first), secondCommits = commit(cause_.second);
    for (std::size_t i = 0; i < detail.observations.size() && !racing; ++i) {
      const Query& q = detail.observations[i].query;
      if (!context_.reads.races(cause_.space, detail.observations[i])) continue;
      bool first = reads(q, cause_.first), second = reads(q, cause_.second);
      if (!involved && (first || second)) involved = i;
      if ((first && !firstCommits) || (second && !secondCommits)) racing = i;
    }
    read_ = cause_.read ? cause_.read : racing ? racing : involved;
    bool lost = cause_.kind == FindingKind::MissingFlush || cause_.kind == FindingKind::MissingFence;
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
      auto at = [&](StoreNo s) {
        return shortPlace(indexes_[0]->trace(), indexes_[0]->trace()[indexes_[0]->stores()[s].event].where);
      };
      std::string why = "though nothing had been committed";
      if (b.kind == FindingKind::StaleRead)
        why = fmt::format("before the last two commits at {} and {}", at(b.commitBefore), at(b.commit));
      else if (b.commit != kNoStore)
        why = fmt::format("which was not guaranteed to be durable at the last commit at {}", at(b.commit));
      finding_.evidence.push_back(fmt::format("The restart trusts what was stored at {}, {}.", at(b.writer), why));
      break;
    }
  }
  bool reads(const Query& q, const std::optional<StoreRef>& ref) const {
    if (!ref || ref->store == kNoStore) return false;
    const Index& index = indexOf(*ref);
    return q.subject == context_.baseline.tracked().find(index.lineNo(index.stores()[ref->store].line)) &&
           (q.mask & maskOf(index, ref->store)) != 0;
  }

  // "Node.value, stored at (1),"
  std::string subject(const StoreRef& ref, std::size_t place) const {
    const std::string& type = finding_.places[place - 1].type;
    return type.empty() ? fmt::format("what is stored at ({})", place)
                        : fmt::format("{}, stored at ({}),", type, place);
  }

  std::string verdict() const {
    std::string fails = fmt::format("the restarted program {}", symptom_);
    auto capital = [](std::string s) {
      s[0] = static_cast<char>(std::toupper(static_cast<unsigned char>(s[0])));
      return s;
    };
    std::string lost = cause_.first ? subject(*cause_.first, first_) : std::string();
    std::string kept = cause_.second     ? subject(*cause_.second, second_)
                       : cause_.promised ? fmt::format("the operation that wrote it has ended at ({})", second_)
                                         : std::string();
    // "... while X survives" or "... though the operation has ended".
    std::string whereas = cause_.second     ? fmt::format(" while {} survives", kept)
                          : cause_.promised ? fmt::format(" though {}", kept)
                                            : std::string();
    switch (cause_.kind) {
      case FindingKind::MissingFlush:
        return capital(fmt::format("{} is never flushed: a crash can lose it{}, and then {}.", lost, whereas, fails));
      case FindingKind::MissingFence:
        return capital(fmt::format("{} is {}, but no fence follows{}: a crash can lose it{}, and then {}.", lost,
                                   cause_.flush ? "flushed" : "a non-temporal store",
                                   second_ != 0 ? fmt::format(" before ({})", second_) : std::string(), whereas,
                                   fails));
      case FindingKind::WrongOrder:
        if (late())
          return capital(
              fmt::format("{} comes only after ({}), which relies on it: if the power fails between the two, {}.", lost,
                          second_, fails));
        return capital(fmt::format("{} is made durable too late{}: a crash in between can lose it{}, and then {}.",
                                   lost, second_ != 0 ? fmt::format(", after ({})", second_) : std::string(), whereas,
                                   fails));
      case FindingKind::NotAtomic:
        if (cause_.eitherWay)
          return capital(
              fmt::format("The stores at ({}) and ({}) belong together: a crash can keep either without the other, and "
                          "then {}.",
                          first_, second_, fails));
        // What begins the update is no store: a change of a file's name or size.
        if (first_ == 0 && second_ != 0)
          return fmt::format(
              "If the power fails before ({}), even with everything persisted that was stored by then, {}.", second_,
              fails);
        if (second_ != 0)
          return fmt::format(
              "The stores at ({}) and ({}) belong together: if the power fails between them, even with everything "
              "persisted that was stored by then, {}.",
              first_, second_, fails);
        return fmt::format("If the power fails after ({}), even with everything persisted that was stored by then, {}.",
                           std::max<std::size_t>(first_, 1), fails);
      default:
        return fmt::format("After a crash {}.", fails);
    }
  }

  std::string raceVerdict() const {
    std::string what = cause_.first ? subject(*cause_.first, first_) : std::string("what is stored");
    what[0] = static_cast<char>(std::toupper(static_cast<unsigned char>(what[0])));
    return fmt::format("{} may be lost or not when the power fails at ({}){}: the restarted program then {}.", what,
                       crashPlaces_.empty() ? 0 : crashPlaces_.front(),
                       readPlace_ != 0 ? fmt::format(", and the restart reads it at ({})", readPlace_) : std::string(),
                       symptom_);
  }

  // What it said and what it should have said.
  void answers() {
    auto expected = context_.expected.at(cause_.space);
    if (!expected || expected->basis == ExpectedAnswer::Basis::None) return;
    auto quoted = [](const Outcome& o) {
      constexpr std::size_t kMost = 160;
      std::string text = o.output.substr(0, kMost);
      while (!text.empty() && text.back() == '\n') text.pop_back();
      for (std::size_t at; (at = text.find('\n')) != std::string::npos;) text.replace(at, 1, " / ");
      if (o.output.size() > kMost) text += " ...";
      std::string end = o.ending == Ending::Exited && o.code != 0 ? fmt::format(" and exits with {}", o.code) : "";
      if (std::string answers = textOf(o.history); !answers.empty())
        end += fmt::format(" and answers {}{}", answers.substr(0, kMost), answers.size() > kMost ? " ..." : "");
      return (text.empty() ? std::string("nothing") : fmt::format("\"{}\"", text)) + end;
    };
    bool operation = expected->basis == ExpectedAnswer::Basis::Operation;
    std::string name = expected->operation.empty() ? "the operation" : "\"" + expected->operation + "\"";
    finding_.evidence.push_back(fmt::format(
        "This restart prints {}; if the power fails {} it prints {}, if it fails {} it prints {}.",
        quoted(run_.outcome),
        operation ? "before " + name : "with nothing durable that was stored since the last ordering point",
        quoted(context_.explorer.outcome(expected->before)), operation ? "after " + name : "with all of it durable",
        quoted(context_.explorer.outcome(expected->after))));
    if (operation) finding_.operation = expected->operation;
  }

  void evidence() {
    auto say = [&](std::string s) { finding_.evidence.push_back(std::move(s)); };
    if (isLost() && cause_.kind != FindingKind::NotAtomic) {
      readValue();
      say(fmt::format("With ({}) persisted as well, the restart does not {}.", first_,
                      race_ ? "answer this way" : "fail this way"));
      flushes();
      rmwFences();
    }
    if (!race_ && cause_.tested && cause_.kind != FindingKind::NotAtomic) {
      say(fmt::format("Without ({}) the restart ends well: that is what leads to the failure.", second_));
      if (late())
        say(fmt::format("With ({}) and without ({}) it ends well too, so ({}) can wait.", first_, second_, second_));
    }
    if (!race_ && cause_.exchange)
      say(fmt::format("With ({}) stored and ({}) not, the restart would end well: the other order would work.", second_,
                      first_));
    if (!race_ && cause_.eitherWay) say("Both of the two states were run, and both fail.");
    if (!cause_.examined)
      say("There were more failing states than are examined; the cause of these was not determined.");
    if (cause_.read && cause_.kind != FindingKind::NotAtomic) sources();
  }

  EventNo crashOf(unsigned level) const {
    SpaceNo s = cause_.space;
    while (context_.explorer.space(s).level > level) s = context_.explorer.space(s).parent;
    return context_.explorer.space(s).at;
  }

  // "The restart read 0 ...; the lost store had put 5 there."
  void readValue() {
    const Index& index = indexOf(*cause_.first);
    const Event& e = index.trace()[eventOf(*cause_.first)];
    TrackedNo w = context_.baseline.tracked().find(lineOf(e.addr));
    auto chosen = cause_.chosen.versions.find(w);
    if (chosen == cause_.chosen.versions.end() || !cause_.read) return;
    const LineBytes bytes = context_.explorer.line(cause_.space, w).versions[chosen->second].bytes;
    std::uint64_t old = 0;
    std::memcpy(&old, bytes.data() + e.addr % BLACKOUT_LINE, bytesOf(e));
    finding_.evidence.push_back(fmt::format("The restart read {} as {}; the lost store at ({}) had made it {}.",
                                            bytesText(index.trace(), e.addr, bytesOf(e)), valueText(old), first_,
                                            valueText(e.value)));
  }

  void flushes() {
    if (!cause_.flush) {
      if (cause_.kind == FindingKind::MissingFlush)
        finding_.evidence.push_back(fmt::format("No flush of its line follows the store at ({}).", first_));
      return;
    }
    std::string place = shortPlace(indexOf(*cause_.first).trace(), indexOf(*cause_.first).trace()[*cause_.flush].where);
    std::string at = place.empty() ? std::string() : " at " + place;
    if (cause_.kind == FindingKind::MissingFence)
      finding_.evidence.push_back(fmt::format("Its line was flushed{}, but the flush was still under way.", at));
    else
      finding_.evidence.push_back(fmt::format("Its line is flushed{} only later.", at));
  }

  // docs/semantics.md: whether locked instructions complete flushes is disputed, so a finding says if it depends on
  // that.
  void rmwFences() {
    const Index& index = indexOf(*cause_.first);
    if (index.options().rmwFences) return;
    ModelOptions on = index.options();
    on.rmwFences = true;
    auto other = Index::build(index.trace(), on);
    if (other && other->stores()[cause_.first->store].guaranteedAt < crashOf(cause_.first->level))
      finding_.evidence.emplace_back(
          "Only under rmw-fences=off: on x86 a locked instruction completed the flush before the crash.");
  }

  // Jaaru's aid: from which stores the load may read.
  void sources() {
    std::vector<StoreRef> from = context_.explorer.mayReadFrom(cause_.space, cause_.recovery, *cause_.read);
    if (from.size() < 2) return;
    std::vector<std::string> places;
    for (const StoreRef& ref : from) {
      std::string place = "what was there before";
      if (ref.store != kNoStore) {
        place = shortPlace(indexOf(ref).trace(), indexOf(ref).trace()[eventOf(ref)].where);
        place = place.empty() ? "a store without debug information" : "the store at " + place;
      }
      if (std::find(places.begin(), places.end(), place) == places.end()) places.push_back(place);
    }
    if (places.size() < 2) return;
    std::string text;
    constexpr std::size_t kShown = 6;
    for (std::size_t i = 0; i < std::min(places.size(), kShown); ++i)
      text += (i == 0 ? "" : i + 1 == places.size() ? " or " : ", ") + places[i];
    if (places.size() > kShown) text += fmt::format(" or {} more", places.size() - kShown);
    finding_.evidence.push_back(fmt::format(
        "The read{} may see {}.", readPlace_ != 0 ? fmt::format(" at ({})", readPlace_) : std::string(), text));
  }

  std::string crashText() const {
    std::string text;
    for (std::size_t i = 0; i < crashPlaces_.size(); ++i) {
      auto level = static_cast<unsigned>(i + 1);
      text += i == 0 ? "the power fails" : "; then it fails in the restart";
      text += crashPlaces_[i] != 0 ? fmt::format(" after ({})", crashPlaces_[i]) : " at the beginning";
      text += fmt::format(" (event {})", crashOf(level));
      std::vector<StoreRef> lost;
      for (const StoreRef& ref : cause_.lost)
        if (ref.level == level) lost.push_back(ref);
      if (lost.empty())
        text += " with everything persisted";
      else if (lost.size() == 1)
        text += fmt::format(" with everything persisted but {}", storeText(lost.front()));
      else
        text += fmt::format(" with everything persisted but {} stores, the first of them {}", lost.size(),
                            storeText(lost.front()));
    }
    return text;
  }
  std::string storeText(const StoreRef& ref) const {
    const Event& e = indexOf(ref).trace()[eventOf(ref)];
    return bytesText(indexOf(ref).trace(), e.addr, bytesOf(e));
  }

  const ShowContext& context_;
  const Cause& cause_;
  std::vector<const Index*> indexes_;
  RunEnd run_;
  std::unique_ptr<Trace> runTrace_;
  std::vector<Frame> failedAt_;
  bool race_ = false;
  std::string symptom_;
  Finding finding_;
  std::optional<std::size_t> read_;  // the observation that is a place of the finding
  // Numbers of places; 0: there is none.
  std::size_t first_ = 0;
  std::size_t second_ = 0;
  std::size_t readPlace_ = 0;
  std::vector<std::size_t> crashPlaces_;  // by level
};

}  // namespace

namespace {

Result<ShownFinding> tell(const ShowContext& context, const Cause& cause, bool race) {
  auto indexes = context.traces.of(cause.space);
  if (!indexes) return tl::unexpected(indexes.error());
  return FindingBuilder(context, cause, std::move(*indexes), race).tell();
}

}  // namespace

Result<ShownFinding> showCause(const ShowContext& context, const Cause& cause) { return tell(context, cause, false); }

Result<ShownFinding> showRace(const ShowContext& context, const Cause& cause) { return tell(context, cause, true); }

ShownFinding showProgramBug(const IntactRestart& intact, const Index& recording, const OracleRules& rules) {
  std::vector<Frame> stack = ownFrames(intact.endedAt);
  std::string symptom = judge(intact.result.outcome, rules).symptom + inFrame(stack);
  ShownFinding shown;
  shown.finding = makeFinding(
      FindingKind::ProgramBug,
      fmt::format("Started again on what it left when it ended, with nothing lost, the program {}.", symptom));
  if (!stack.empty()) {
    NumberedPlace place;
    place.label = "the restart fails here";
    place.stack = std::move(stack);
    shown.finding.places.push_back(std::move(place));
  }
  shown.finding.shownBy = ShownBy{symptom, "none: the program had ended, and everything it had stored was persisted", 0,
                                  0, tellingLines(intact.result.outcome.output)};
  shown.state = {intact.level};
  shown.finding.crashState = shown.state;
  shown.indexes = {&recording};
  shown.outcome = intact.result.outcome;
  return shown;
}

}  // namespace blackout
