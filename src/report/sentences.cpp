#include "report/sentences.h"

#include <fmt/format.h>

#include <algorithm>
#include <cassert>
#include <cctype>

#include "binary/user_frame.h"
#include "events/id_text.h"
#include "findings/numbers.h"
#include "report/function_names.h"

namespace blackout {

namespace {

std::string_view baseName(std::string_view path) {
  std::size_t slash = path.rfind('/');
  return slash == std::string_view::npos ? path : path.substr(slash + 1);
}

std::string capital(std::string s) {
  if (!s.empty()) s[0] = static_cast<char>(std::toupper(static_cast<unsigned char>(s[0])));
  return s;
}

std::string bytesText(const NamedBytes& b) {
  return fmt::format("{} at offset {:#x} of {}", counted(b.size, "byte"), b.offset,
                     b.file.empty() ? "the pool" : baseName(b.file));
}

// "map.cpp:60"; empty: unknown.
std::string lineText(const Frame& f) {
  return f.file.empty() ? std::string() : fmt::format("{}:{}", baseName(f.file), f.line);
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

// "List::pop (list.cpp:12)"
std::string callText(const Frame& f) {
  std::string name = f.function.empty() ? "an unknown function" : plainName(readableName(f.function));
  return f.file.empty() ? name : fmt::format("{} ({}:{})", name, baseName(f.file), f.line);
}
// "crashes with SIGSEGV in lookup (map.cpp:60)"
std::string symptomIn(const std::string& symptom, const Frame& f) {
  return f.function.empty() ? symptom : fmt::format("{} in {}", symptom, callText(f));
}

std::string symptomOf(const Finding& f) { return f.shownBy ? symptomOf(f, *f.shownBy) : std::string("fails"); }

// --- Verdicts ---

// "Node.value, stored at (1),"
std::string subject(const SeenStore& store) {
  return store.bytes.type.empty() ? fmt::format("what is stored at ({})", store.place)
                                  : fmt::format("{}, stored at ({}),", store.bytes.type, store.place);
}
// At the beginning of a sentence: names stay as they are.
std::string subjectFirst(const SeenStore& store) {
  return store.bytes.type.empty() ? capital(subject(store)) : subject(store);
}

// Of the last place before the first crash; 0: there is none.
PlaceNo crashPlace(const Finding& f) {
  return f.shownBy && !f.shownBy->crashes.empty() ? f.shownBy->crashes.front().after : PlaceNo(0);
}

std::string raceVerdict(const Finding& f, const CrashCause& c, const std::string& symptom) {
  PlaceNo crash = crashPlace(f);
  return fmt::format(
      "{} may be lost or not when the power fails{}{}: the restarted program then {}.",
      c.first ? subjectFirst(*c.first) : std::string("What is stored"),
      crash != 0 ? fmt::format(" at ({})", crash) : std::string(),
      c.read && c.read->place != 0 ? fmt::format(", and the restart reads it at ({})", c.read->place) : std::string(),
      symptom);
}

std::string notAtomicVerdict(const Finding& f, const CrashCause& c, const std::string& fails) {
  PlaceNo first = c.first ? c.first->place : 0, second = c.second ? c.second->place : 0;
  bool loses = f.shownBy && std::any_of(f.shownBy->crashes.begin(), f.shownBy->crashes.end(),
                                        [](const SeenCrash& crash) { return !crash.lost.empty(); });
  if (c.creation)
    return fmt::format("The pool is made step by step under its own name: if the power fails before {}, {}.",
                       second != 0 ? fmt::format("it is complete at ({})", second) : "it is complete", fails);
  if (c.lines != 0)
    return fmt::format("{} {}: a crash can keep one part of it without the rest, and then {}.", subjectFirst(*c.first),
                       c.lines == 1 ? "is more than is stored at once" : fmt::format("goes into {} lines", c.lines),
                       fails);
  std::string stores = "The stores at ";
  std::vector<PlaceNo> places{first, second};
  for (const SeenStore& other : c.others)
    if (other.place != 0) places.push_back(other.place);
  for (std::size_t i = 0; i < places.size(); ++i)
    stores += fmt::format("{}({})", i == 0 ? "" : i + 1 == places.size() ? " and " : ", ", places[i]);
  if (c.eitherWay)
    return fmt::format("{} belong together: a crash can keep either without the other, and then {}.", stores, fails);
  if (loses && first != 0 && second != 0 && !c.sameBytes)
    return fmt::format("{} belong together: a crash can keep {} without the {}, and then {}.", stores,
                       places.size() == 2 ? "one" : "some of them", places.size() == 2 ? "other" : "others", fails);
  if (c.sameBytes)
    return fmt::format("The restart does not cope with {}: if the power fails before ({}) replaces it{}, {}.",
                       c.first->bytes.type.empty() ? fmt::format("what ({}) stores", first)
                                                   : fmt::format("{} as ({}) stores it", c.first->bytes.type, first),
                       second, loses ? "" : ", even with everything persisted that was stored by then", fails);
  std::string persisted = loses ? "" : ", even with everything persisted that was stored by then";
  // What begins the update is no store: a change of a file's name or size.
  if (first == 0 && second != 0) return fmt::format("If the power fails before ({}){}, {}.", second, persisted, fails);
  if (second != 0)
    return fmt::format("{} belong together: if the power fails between them{}, {}.", stores, persisted, fails);
  if (PlaceNo after = first != 0 ? first : crashPlace(f); after != 0)
    return fmt::format("If the power fails after ({}){}, {}.", after, persisted, fails);
  return fmt::format("If the power fails before anything is stored, {}.", fails);
}

std::string causeVerdict(const Finding& f, const CrashCause& c, const std::string& symptom) {
  std::string fails = "the restarted program " + symptom;
  std::string lost = c.first ? subjectFirst(*c.first) : std::string();
  PlaceNo second = c.second ? c.second->place : c.promised ? c.promised->place : 0;
  // "... while X survives" or "... though the operation has ended".
  std::string whereas = c.second ? fmt::format(" while {} survives", subject(*c.second))
                        : c.promised
                            ? fmt::format(" though the operation that wrote it has ended at ({})", c.promised->place)
                            : std::string();
  switch (f.kind) {
    case FindingKind::MissingFlush: {
      std::string flushed = !c.everFlushed ? "is never flushed"
                            : second != 0  ? fmt::format("is not flushed before {}({})",
                                                        c.promised ? "the operation ends at " : "", second)
                                           : "is not flushed before the power fails";
      return fmt::format("{} {}: a crash can lose it{}, and then {}.", lost, flushed, whereas, fails);
    }
    case FindingKind::MissingFence: {
      std::string before = second != 0    ? fmt::format(" before ({})", second)
                           : c.everFenced ? " before the power fails"
                                          : std::string();
      return fmt::format("{} is {}, but no fence follows{}: a crash can lose it{}, and then {}.", lost,
                         c.flush ? "flushed" : "a non-temporal store", before, whereas, fails);
    }
    case FindingKind::WrongOrder:
      if (c.firstIs == FirstStore::Late)
        return fmt::format("{} comes only after ({}), which relies on it: if the power fails between the two, {}.",
                           lost, second, fails);
      return fmt::format("{} is {} too late{}: a crash in between can lose it{}, and then {}.", lost,
                         c.everFenced ? "made durable" : "flushed",
                         second != 0 ? fmt::format(", after ({})", second) : std::string(), whereas, fails);
    case FindingKind::NotAtomic:
      return notAtomicVerdict(f, c, fails);
    case FindingKind::RecoveryFails:
      if (c.sameBytes) return notAtomicVerdict(f, c, fails);
      break;
    case FindingKind::CrossFailureRace:
      return raceVerdict(f, c, symptom);
    case FindingKind::VisibleNotDurable:
      return fmt::format("{} was seen by another operation, which returned, before it was durable: after a crash {}.",
                         lost, fails);
    case FindingKind::StalePointer:
      return fmt::format(
          "{} leads to memory of the process that stored it: after a crash {}, because it follows that pointer.", lost,
          fails);
    case FindingKind::NotLinearizable:
    case FindingKind::ProgramBug:
    case FindingKind::UncommittedRead:
    case FindingKind::StaleRead:
    case FindingKind::UninitializedRead:
    case FindingKind::UnloggedStore:
    case FindingKind::NeverPersisted:
    case FindingKind::StoreOutside:
    case FindingKind::OverwrittenUnpersisted:
    case FindingKind::OpenTransaction:
    case FindingKind::CleanFlush:
    case FindingKind::RepeatedFlush:
    case FindingKind::IdleFence:
    case FindingKind::LoggedTwice:
    case FindingKind::LoggedUnused:
    case FindingKind::FlushOutside:
      break;
  }
  return fmt::format("After a crash {}.", fails);
}

// For kinds of which there is no more to say than this.
std::string plainVerdict(const Finding& f, const std::string& symptom) {
  switch (f.kind) {
    case FindingKind::ProgramBug:
      return fmt::format("Started again on what it left when it ended, with nothing lost, the program {}.", symptom);
    case FindingKind::OpenTransaction:
      return "A transaction that begins at (1) had not ended when the program did.";
    case FindingKind::CleanFlush:
      return "A line was flushed that had nothing to write back.";
    case FindingKind::RepeatedFlush:
      return "A line was flushed again though nothing had been stored to it since its last flush.";
    case FindingKind::IdleFence:
      return "A fence completed nothing.";
    case FindingKind::FlushOutside:
      return "A flush of volatile memory, which makes nothing durable; often the wrong address was flushed.";
    case FindingKind::MissingFlush:
    case FindingKind::MissingFence:
    case FindingKind::WrongOrder:
    case FindingKind::NotAtomic:
    case FindingKind::StalePointer:
    case FindingKind::RecoveryFails:
    case FindingKind::NotLinearizable:
    case FindingKind::VisibleNotDurable:
    case FindingKind::CrossFailureRace:
    case FindingKind::UncommittedRead:
    case FindingKind::StaleRead:
    case FindingKind::UninitializedRead:
    case FindingKind::UnloggedStore:
    case FindingKind::NeverPersisted:
    case FindingKind::StoreOutside:
    case FindingKind::OverwrittenUnpersisted:
    case FindingKind::LoggedTwice:
    case FindingKind::LoggedUnused:
      break;
  }
  return capital(std::string(rowOf(f.kind).title)) + ".";
}

std::string_view whatIsMissing(const NotDurable& c) {
  if (c.nonTemporal) return "no fence of its thread followed this non-temporal store";
  return c.flushed ? "its line was flushed, but no fence of the flushing thread completed the flush"
                   : "its line was not flushed after the store";
}

std::string whenText(const NotDurable& c, const Finding& f) {
  switch (c.when) {
    case NotDurable::When::OperationEnded:
      return fmt::format("when the operation {} ended", f.operation);
    case NotDurable::When::Unmapped:
      return "when its memory was unmapped";
    case NotDurable::When::ProgramEnded:
      return "when the program ended";
  }
  return {};
}

struct Verdicts {
  const Finding& f;
  const std::string& symptom;

  std::string operator()(const PlainClaim&) const { return plainVerdict(f, symptom); }
  std::string operator()(const CrashCause& c) const { return causeVerdict(f, c, symptom); }
  std::string operator()(const BadReadClaim& c) const {
    std::string reads =
        c.read.place != 0 ? fmt::format("The restart reads at ({})", c.read.place) : "The restart reads";
    if (!c.writer)
      return fmt::format("{} memory that was allocated or discarded at ({}) and that nothing had written since.", reads,
                         c.allocatedAt);
    if (f.kind == FindingKind::StaleRead && c.commit && c.commitBefore)
      return fmt::format(
          "{} what was written at ({}), before the last two commits ({}) and ({}): it belongs to an older version.",
          reads, c.writer->place, c.commitBefore->place, c.commit->place);
    if (!c.commit)
      return fmt::format("{} what was written at ({}), though nothing had been committed by then.", reads,
                         c.writer->place);
    return fmt::format(
        "{} what was written at ({}), though it was not guaranteed to be durable at the last commit, ({}).", reads,
        c.writer->place, c.commit->place);
  }
  std::string operator()(const NotDurable& c) const {
    const std::string& type = c.store.bytes.type;
    return fmt::format("{} was not durable {}: {}.",
                       !type.empty() ? type : fmt::format("A store of {} byte{}", c.bytes, c.bytes == 1 ? "" : "s"),
                       whenText(c, f), whatIsMissing(c));
  }
  std::string operator()(const Replaced&) const { return "A store was replaced by another one before it was durable."; }
  std::string operator()(const StoredPastTheEnd& c) const {
    return fmt::format("{} byte{} stored past the end of the file.", c.bytes, c.bytes == 1 ? " was" : "s were");
  }
  std::string operator()(const LoggedBefore& c) const {
    return fmt::format("{} {} added to a transaction that had logged {} already.", counted(c.bytes, "byte"),
                       c.bytes == 1 ? "was" : "were", c.bytes == 1 ? "it" : "them");
  }
  std::string operator()(const LoggedInVain& c) const {
    std::string transactions = counted(c.transactions, "transaction");
    if (!c.always)
      return fmt::format("In {} nothing was stored to the range that is added here, and in fewer something was.",
                         transactions);
    if (c.transactions == 1) return "In its only transaction nothing was stored to the range that is added here.";
    return fmt::format("In none of its {} was anything stored to the range that is added here.", transactions);
  }
  std::string operator()(const NotLogged& c) const {
    std::string what = c.store.bytes.type.empty() ? counted(c.bytes, "byte") : c.store.bytes.type;
    std::string_view are = c.store.bytes.type.empty() && c.bytes != 1 ? "are" : "is";
    std::string_view them = are == "are" ? "them" : "it";
    if (c.added != 0)
      return fmt::format(
          "{} {} stored at (1) before the transaction adds {} at ({}): what it logs there is the new value, so a "
          "rollback keeps that.",
          what, are, them, c.added);
    return fmt::format(
        "{} {} stored at (1) in a transaction that had neither added nor allocated {}: a crash before its end rolls "
        "back what it has logged, and not that.",
        what, are, them);
  }
  std::string operator()(const InterruptedCreation& c) const {
    return fmt::format("If the power fails while {} is being created at ({}), the restarted program {}.",
                       baseName(c.file), c.call, symptom);
  }
};

// --- Facts ---

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
      return fmt::format("Tried in the simulation: with that fence, {} can't come about.", gone);
    case CureKind::Order:
      return "Tried: in the other order a crash between the two ends well.";
    case CureKind::Atomic:
      return "Tried: with all of it the restart ends well, and with nothing of it too.";
    case CureKind::Add:
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
  std::string operator()(const OtherSymptom& e) const {
    return "Other restarts fail by the same cause in another way: " +
           std::visit(Verdicts{f, symptomIn(e.symptom, e.at)}, f.claim);
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

std::string verdictOf(const Finding& finding) {
  std::string symptom = symptomOf(finding);
  return std::visit(Verdicts{finding, symptom}, finding.claim);
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

std::string symptomOf(const Finding& finding, const ShownBy& shown) {
  if (shown.failsAt == 0 || shown.failsAt.value() > finding.places.size()) return shown.symptom;
  const std::vector<Frame>& stack = finding.place(shown.failsAt).stack;
  return stack.empty() ? shown.symptom : symptomIn(shown.symptom, stack[userFrame(stack)]);
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
                                     : "as far as they go only the whole record counts";
  return fmt::format("{}: it has up to {} that a crash may have lost, at {}; {}, and {}.", assumptionOf(record),
                     counted(record.lines, "line"), counted(record.points, "point"), tried, why);
}

}  // namespace blackout
