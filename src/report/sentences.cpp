// The one sentence for each kind of fact, and what follows from facts: hints, crashes, assumptions.
#include "report/sentences.h"

#include <fmt/format.h>

#include <algorithm>
#include <cassert>

#include "events/id_text.h"
#include "findings/numbers.h"
#include "report/sentence_words.h"

namespace blackout {

namespace {

std::string saidText(const Said& s) {
  constexpr std::size_t kMost = 160;
  std::string text = s.output.substr(0, kMost);
  while (!text.empty() && text.back() == '\n') text.pop_back();
  for (std::size_t at; (at = text.find('\n')) != std::string::npos;) text.replace(at, 1, " / ");
  if (s.output.size() > kMost) text += " ...";
  std::string end = s.exitCode != 0 ? fmt::format(" and exits with {}", s.exitCode) : "";
  if (std::string answers = textOf(s.history); !answers.empty())
    end += fmt::format(" and answers {}{}", answers.substr(0, kMost), answers.size() > kMost ? " ..." : "");
  return (text.empty() ? std::string("nothing") : fmt::format("\"{}\"", text)) + end;
}

// Which lines are wrong, one sentence each.
std::string wrongLinesText(const std::vector<WrongLine>& lines) {
  std::string text;
  std::string before;
  for (const WrongLine& line : lines) switch (line.is) {
      case WrongLine::Neither:
        text += fmt::format(" Its line {}, \"{}\", is in neither.", line.number, line.text);
        break;
      case WrongLine::Missing:
        text += fmt::format(" \"{}\", which is in both, is missing.", line.text);
        break;
      case WrongLine::Before:
        before = fmt::format("line {}, \"{}\"", line.number, line.text);
        break;
      case WrongLine::After:
        text += fmt::format(" Its {}, is only in the first, and line {}, \"{}\", only in the second.", before,
                            line.number, line.text);
        break;
    }
  return text;
}

// "a, b or c"; of many the first ones.
std::string alternatives(const std::vector<std::string>& all) {
  constexpr std::size_t kShown = 6;
  std::string text;
  for (std::size_t i = 0; i < std::min(all.size(), kShown); ++i)
    text += (i == 0 ? "" : i + 1 == all.size() ? " or " : ", ") + all[i];
  if (all.size() > kShown) text += fmt::format(" or {} more", all.size() - kShown);
  return text;
}

// What a cure asks for.
std::string cureText(const TriedCure& e, const CrashCause& c) {
  std::string before = e.second == 0 ? ", right after it"
                       : c.promised  ? fmt::format(", before the operation ends at ({})", e.second)
                                     : fmt::format(", before ({})", e.second);
  switch (e.cure) {
    case CureKind::Flush:
      return fmt::format("flush the line of ({}) and fence{}", e.first, before);
    case CureKind::Fence: {
      std::string at = c.flush ? lineText(c.flush->at) : std::string();
      std::string what = c.flush ? "the flush" : fmt::format("({})", e.first);
      return fmt::format("put a fence (sfence, pmem_drain) after {}{}{}", what, at.empty() ? at : " at " + at,
                         e.second == 0 ? "" : before);
    }
    case CureKind::Earlier:
      return fmt::format("flush the line of ({}) and fence first{}", e.first, e.second == 0 ? "" : before);
    case CureKind::Order:
      return e.oneLine ? fmt::format("store ({}) first, then ({}): they are in one line, which keeps their order",
                                     e.first, e.second)
                       : fmt::format("store ({}) and make it durable first, then store ({})", e.first, e.second);
    case CureKind::Atomic:
      return "make the update with one store of 8 bytes that switches from old to new, or log it so that recovery can "
             "finish or undo it";
    case CureKind::Add:
      return fmt::format("the transaction had not logged these bytes: add them to it before ({}) changes them",
                         e.first);
    case CureKind::Rename:
      return "make the pool under another name, and rename it when it is complete";
  }
  return {};
}

// What was tried, and what came of it.
std::string triedText(const TriedCure& e) {
  std::string gone = e.gone == 0 || e.states == 1 ? std::string("this crash state")
                     : e.gone == e.states         ? std::string("these crash states")
                                                  : fmt::format("{} of these crash states", grouped(e.gone));
  switch (e.cure) {
    case CureKind::Flush:
    case CureKind::Earlier:
      return fmt::format("Tried in the simulation: with a flush and a fence after ({}), {} can't come about.", e.first,
                         gone);
    case CureKind::Fence:
      return fmt::format("Tried in the simulation: with a fence {}, {} can't come about.",
                         e.second != 0 ? fmt::format("before ({})", e.second) : "that completes it", gone);
    case CureKind::Order:
      return "Tried: in the other order a crash between the two ends well.";
    case CureKind::Atomic:
      return "Tried: with all of it the restart ends well, and with nothing of it too.";
    case CureKind::Add:
      if (e.putBack && e.gone != 0)
        return fmt::format(
            "Tried: with these bytes as they were before the transaction the restart ends well; with them durable in "
            "time, "
            "{} of the {} crash states can't come about.",
            grouped(e.gone), grouped(e.states));
      return e.gone != 0 ? fmt::format("Tried in the simulation: with these bytes durable, {} can't come about.", gone)
                         : "Tried: with these bytes as they were before the transaction the restart ends well.";
    case CureKind::Rename:
      return "Tried: without the file the restart ends well, and with the complete one too.";
  }
  return {};
}

struct Sentences {
  const Finding& f;

  const CrashCause& cause() const {
    const auto* c = std::get_if<CrashCause>(&f.claim);
    assert(c != nullptr);
    return *c;
  }
  std::string flushedAt() const {
    std::string at = cause().flush ? lineText(cause().flush->at) : std::string();
    return at.empty() ? std::string() : " at " + at;
  }

  std::string operator()(const OldValueRead& e) const {
    assert(cause().first);
    const SeenStore& lost = *cause().first;
    return fmt::format("The restart read {} as {}; the lost store at ({}) had made it {}.", bytesText(lost.bytes),
                       valueText(e.value), lost.place, valueText(lost.bytes.after));
  }
  std::string operator()(const FineIfPersisted& e) const {
    return fmt::format("With ({}) persisted as well, the restart does not {}.", e.store,
                       f.kind == FindingKind::CrossFailureRace ? "answer this way" : "fail this way");
  }
  std::string operator()(const NeverFlushed& e) const {
    PlaceNo until = cause().second ? cause().second->place : cause().promised ? cause().promised->place : 0;
    if (e.later && until != 0) return fmt::format("No flush of its line comes between ({}) and ({}).", e.store, until);
    return fmt::format("No flush of its line follows the store at ({}){}.", e.store,
                       e.later ? " before the power fails" : "");
  }
  std::string operator()(const TriedCure& e) const { return triedText(e); }
  std::string operator()(const FlushUnderWay&) const {
    return fmt::format("Its line was flushed{}, but the flush was still under way.", flushedAt());
  }
  std::string operator()(const FlushedLater&) const {
    return fmt::format("Its line is flushed{} only later.", flushedAt());
  }
  std::string operator()(const LockedCompleted&) const {
    return "Only under rmw-fences=off: on x86 a locked instruction completed the flush before the crash.";
  }
  std::string operator()(const FineWithout& e) const {
    return fmt::format("Without ({}) the restart ends well: that is what leads to the failure.", e.store);
  }
  std::string operator()(const CanWait& e) const {
    return fmt::format("With ({}) and without ({}) it ends well too, so ({}) can wait.", e.first, e.second, e.second);
  }
  std::string operator()(const BothFail&) const { return "Both of the two states were run, and both fail."; }
  std::string operator()(const NotExamined&) const {
    return "The cause was not determined: there were too many failing states, or there was too little time.";
  }
  // Jaaru's aid: from which stores the load may read.
  std::string operator()(const MaySeeSeveral&) const {
    assert(cause().read);
    const SeenRead& read = *cause().read;
    std::vector<std::string> places;
    for (const std::optional<SeenStore>& store : read.sources) {
      std::string line = store ? lineText(store->at) : std::string();
      std::string place = !store         ? "what was there before"
                          : line.empty() ? "a store without debug information"
                                         : "the store at " + line;
      if (std::find(places.begin(), places.end(), place) == places.end()) places.push_back(std::move(place));
    }
    return fmt::format("The read{} may see {}.", read.place != 0 ? fmt::format(" at ({})", read.place) : std::string(),
                       alternatives(places));
  }
  std::string operator()(const WrongAnswer& e) const {
    std::string name = e.name.empty() ? "the operation" : "\"" + e.name + "\"";
    if (e.ended)
      return fmt::format(
          "This restart prints {}; {} had ended before the power failed, and with all that it stored durable the "
          "restart prints {}.{}",
          saidText(e.said), name, saidText(e.after), wrongLinesText(e.lines));
    return fmt::format(
        "This restart prints {}; if the power fails {} it prints {}, if it fails {} it prints {}.{}", saidText(e.said),
        e.operation ? "before " + name : "with nothing durable that was stored since the last ordering point",
        saidText(e.before), e.operation ? "after " + name : "with all of it durable", saidText(e.after),
        wrongLinesText(e.lines));
  }
  std::string operator()(const NoOrder& e) const {
    // Of many operations, the last ones before the contradiction: what is far away has been explained.
    constexpr std::uint32_t kShown = 6;
    std::string text = "No order of the operations explains their answers:";
    std::uint32_t first = e.contradiction > kShown ? e.contradiction - kShown : 0;
    if (first != 0) text += fmt::format(" after {},", counted(first, "operation"));
    for (std::uint32_t i = first; i <= e.contradiction && i < e.operations.size(); ++i) {
      const ToldOperation& o = e.operations[i];
      if (i > 0 && o.run != e.operations[i - 1].run) text += " the power fails,";
      if (i == e.contradiction) break;
      // Under way at the crash: it may have been done, or not.
      text += " " + textOf(History{o.operation}) + ",";
    }
    if (e.contradiction < e.operations.size())
      text += fmt::format(" and then {}{}", textOf(History{e.operations[e.contradiction].operation}),
                          e.operations[e.contradiction].operation.results.empty() ? " answers nothing" : "");
    std::vector<std::string> possible;
    for (const Values& values : e.possible) {
      std::string one;
      for (const Value& v : values) one += (one.empty() ? "" : " ") + textOf(v);
      possible.push_back(one.empty() ? "nothing" : one);
    }
    if (!possible.empty()) text += fmt::format(", which could only be {}", alternatives(possible));
    return text + fmt::format(" ({}{} linearizability of a{} {}).", e.criterion,
                              e.criterion == "buffered" ? " durable" : "", e.structure == "array" ? "n" : "",
                              e.structure);
  }
  std::string operator()(const FoundAt& e) const {
    switch (e.stage) {
      case TestStage::IncompletelyDurable:
        return "Found by the test for incompletely durable operations: after a likely linearization point, with that "
               "store durable and nothing else that need not be.";
      case TestStage::UnrecoveredDurable:
        return "Found by the test for unrecovered durable effects: after a likely linearization point, with everything "
               "durable but that store.";
      case TestStage::LikelyPoint:
        return "Found by exploring all states at likely linearization points; the two tests there do not show it.";
      case TestStage::OtherPoint:
        return "Found by exploring all other points: no crash at a likely linearization point shows it.";
      case TestStage::None:
        break;
    }
    return {};
  }
  std::string operator()(const CountedTogether& e) const {
    auto side = [](PlaceNo place) { return place == 0 ? std::string() : fmt::format(" ({})", place.value()); };
    std::string state = e.counterLost
                            ? fmt::format("After this crash {} has the update{}, and {} does not count it{}.", e.array,
                                          side(e.kept), e.counter, side(e.lost))
                            : fmt::format("After this crash {} counts the update{}, and {} does not have it{}.",
                                          e.counter, side(e.kept), e.array, side(e.lost));
    return fmt::format("{} and {} belong together: in the code {}, and both are changed in one update. {}", e.array,
                       e.counter, e.bound, state);
  }
  std::string operator()(const TrustedTooSoon& e) const {
    std::string why = "though nothing had been committed";
    if (e.stale && e.commit && e.commitBefore)
      why =
          fmt::format("before the last two commits at {} and {}", lineText(e.commitBefore->at), lineText(e.commit->at));
    else if (e.commit)
      why = fmt::format("which was not guaranteed to be durable at the last commit at {}", lineText(e.commit->at));
    return fmt::format("The restart trusts what was stored at {}, {}.", lineText(e.writer.at), why);
  }
  std::string operator()(const NotRepeated& e) const {
    return fmt::format(
        "Run once more, the same restart {}: what it does depends on more than what it reads, so this is only "
        "suspected.",
        e.symptom.empty() ? "did not fail" : e.symptom);
  }
  std::string operator()(const NotRunAgain&) const {
    return "There was no time to run the same restart once more, so this is only suspected.";
  }
  std::string operator()(const EmptyFile& e) const {
    return fmt::format("When the power fails, {} is there and empty.", baseName(e.file));
  }
  std::string operator()(const NotInTransaction& e) const {
    if (!e.added)
      return fmt::format("The transaction in which ({}) is stored had neither added nor allocated these bytes.",
                         e.store);
    std::string at = lineText(*e.added);
    return fmt::format("The transaction in which ({}) is stored adds these bytes only afterwards{}.", e.store,
                       at.empty() ? at : ", at " + at);
  }
  std::string operator()(const CutThereToo& e) const {
    return fmt::format(
        "({}) and ({}) update the same bytes the other way round: a crash between those fails in the same way.",
        e.first, e.second);
  }
  std::string operator()(const OtherSymptom& e) const {
    return "Other restarts fail by the same cause in another way: one " + symptomIn(e.symptom, e.at) + ".";
  }
  std::string operator()(const ThreadWaits& e) const {
    std::string out = fmt::format("Thread {} waits for {}", e.thread, e.what);
    for (std::size_t i = 0; i < e.stack.size(); ++i)
      out += fmt::format("{} {}", i == 0 ? " in" : ", called from", callText(e.stack[i]));
    return out + ".";
  }
  std::string operator()(const ReadAfterCrash& e) const {
    return fmt::format("This happens if the power fails after ({}) (event {}), among others: at {}, in {}.", e.place,
                       e.event, counted(e.points, "point"), counted(e.states, "crash state"));
  }
  std::string operator()(const InferredCommit& e) const {
    return fmt::format("The restart trusts it because of that: {}.", e.because);
  }
  std::string operator()(const OtherBytesMatter&) const {
    return "With other bytes in that place the restart says something else.";
  }
  std::string operator()(const OtherAddresses& e) const {
    return fmt::format(
        "Restarts have program files and stacks where the recorded process had them, so for this one what is stored at "
        "({}) was moved to where nothing is, as if that process had had other addresses; as it was, the restart ends "
        "well by chance.",
        e.store);
  }
  std::string operator()(const LockLeft&) const {
    return "Whoever held that lock ended with the power: no process is left that could release it.";
  }
  std::string operator()(const TriedDurable& e) const {
    return fmt::format("Tried in the simulation: with {} it is durable in time, each time.",
                       e.cure == CureKind::Fence ? "a fence after " + fencedText() : "a flush and a fence after (1)");
  }
  // What only a fence is missing after: the flush at (2), or the non-temporal store.
  std::string fencedText() const {
    const auto* c = std::get_if<NotDurable>(&f.claim);
    return c != nullptr && c->flushed && !c->nonTemporal ? "the flush at (2)" : "(1)";
  }
  std::string operator()(const NotDurableEither& e) const {
    const auto* c = std::get_if<CrashCause>(&f.claim);
    bool other = c != nullptr && c->first && c->first->place != e.store;
    return fmt::format("Nor was ({}){} durable {}, {} of {}{}.", e.store, other ? ", in the same line," : "",
                       e.when == NotDurable::When::OperationEnded ? "when its operation ended"
                       : e.when == NotDurable::When::Unmapped     ? "when its memory was unmapped"
                                                                  : "when the program ended",
                       grouped(e.times), counted(e.of, "time"),
                       other ? fmt::format("; what was tried for ({}) makes it durable too", c->first->place) : "");
  }
  std::string operator()(const NeverDurable&) const { return "It was never made durable afterwards."; }
  std::string operator()(const DurableTooLate&) const {
    return "It was made durable afterwards, too late for a crash in between.";
  }
  std::string operator()(const DurableWithRmwFences&) const {
    return "It depends on rmw-fences=off: with locked instructions as fences the store is durable in time.";
  }
  std::string operator()(const TransactionDidWork&) const {
    return "Other ranges of such a transaction were written: it had not been rolled back before its work.";
  }
  std::string operator()(const MayBeRolledBack&) const {
    return "Nothing that these transactions had logged was written: if all of them were rolled back early, nothing is "
           "wasted.";
  }
  std::string operator()(const OtherCallersWrite&) const {
    return "What other callers add by the same code is written.";
  }
};

}  // namespace

std::string valueText(const ByteValue& value) {
  if (auto integer = integerOf(value))
    return *integer < 0x10000 ? fmt::format("{}", *integer) : fmt::format("{:#x}", *integer);
  std::string text;
  for (std::byte b : value) text += fmt::format("{}{:02x}", text.empty() ? "" : " ", std::to_integer<unsigned>(b));
  return text.empty() ? "unknown" : text;
}

std::string sentenceOf(const Fact& fact, const Finding& finding) { return std::visit(Sentences{finding}, fact); }

std::string hintOf(const Finding& finding) {
  if (std::holds_alternative<InterruptedCreation>(finding.claim))
    return "create the pool under another name and rename it when it is complete; a restart that finds no pool removes "
           "what has the other name and begins again. Or make the pool beforehand";
  for (const Fact& fact : finding.evidence) {
    if (std::holds_alternative<LockLeft>(fact))
      return "a lock in persistent memory must be initialised again at every restart, before anybody takes it; or keep "
             "it in volatile memory";
    if (std::holds_alternative<NotInTransaction>(fact)) return std::string(rowOf(FindingKind::UnloggedStore).hint);
  }
  for (const Fact& fact : finding.evidence)
    if (const auto* tried = std::get_if<TriedCure>(&fact))
      if (const auto* cause = std::get_if<CrashCause>(&finding.claim)) return cureText(*tried, *cause);
  for (const Fact& fact : finding.evidence)
    if (const auto* tried = std::get_if<TriedDurable>(&fact)) {
      if (tried->cure != CureKind::Fence) return std::string(rowOf(finding.kind).hint);
      return fmt::format(
          "put a fence (sfence, pmem_drain) after {}, before the bytes are relied on; if they need not "
          "survive, mark them with blackout_ignore()",
          Sentences{finding}.fencedText());
    }
  // What is said of flushes, fences and order was tried, or nothing is said.
  switch (finding.kind) {
    case FindingKind::NeverPersisted:
    case FindingKind::MissingFlush:
    case FindingKind::MissingFence:
    case FindingKind::WrongOrder:
    case FindingKind::NotAtomic:
    case FindingKind::CrossFailureRace:
      return {};
    default:
      return std::string(rowOf(finding.kind).hint);
  }
}

std::vector<std::string> evidenceOf(const Finding& finding) {
  std::vector<std::string> sentences;
  sentences.reserve(finding.evidence.size());
  for (const Fact& fact : finding.evidence) sentences.push_back(sentenceOf(fact, finding));
  return sentences;
}

std::string crashText(const ShownBy& shown) {
  if (shown.crashes.empty()) return "none: the program had ended, and everything it had stored was persisted";
  std::string text;
  for (const SeenCrash& crash : shown.crashes) {
    text += text.empty() ? "the power fails" : "; then it fails in the restart";
    text += crash.after != 0 ? fmt::format(" after ({})", crash.after) : " at the beginning";
    text += fmt::format(" (event {}) with everything persisted", crash.event);
    if (crash.lost.size() == 1)
      text += " but " + bytesText(crash.lost.front().bytes);
    else if (!crash.lost.empty())
      text +=
          fmt::format(" but {} stores, the first of them {}", crash.lost.size(), bytesText(crash.lost.front().bytes));
  }
  return text;
}

std::string assumptionOf(const AssumedRecord& record) {
  return fmt::format("the record{} is checksummed", record.place.empty() ? std::string() : " at " + record.place);
}

std::string sentenceOf(const AssumedRecord& record) {
  std::string tried =
      fmt::format("{} of {} combinations were tried", grouped(record.tried), countOfLog10(record.log10States));
  std::string why = record.declared  ? "the program says so (blackout_checksum)"
                    : record.refuted ? "--assume checksums says so, though they did not all lead to the same"
                    : record.pmdk    ? "PMDK's logs are"
                    : record.allowed ? "--assume checksums says so"
                    : record.summed  ? "nothing is done with its bytes but to compare a sum of them"
                                     : "as far as they go only the whole record counts";
  return fmt::format("{}: it has up to {} that a crash may have lost, at {}; {}, and {}.", assumptionOf(record),
                     counted(record.lines, "line"), counted(record.points, "point"), tried, why);
}

}  // namespace blackout
