// The one sentence for each claim.
#include <fmt/format.h>

#include <algorithm>
#include <cctype>

#include "binary/user_frame.h"
#include "events/id_text.h"
#include "findings/numbers.h"
#include "report/sentence_words.h"
#include "report/sentences.h"

namespace blackout {

namespace {

std::string capital(std::string s) {
  if (!s.empty()) s[0] = static_cast<char>(std::toupper(static_cast<unsigned char>(s[0])));
  return s;
}

// "Node.value, stored at (1),"
std::string subject(const SeenStore& store, const PlaceWords& words) {
  return store.bytes.type.empty() ? fmt::format("what is stored {}", words.at(store.place))
                                  : fmt::format("{}, stored {},", store.bytes.type, words.at(store.place));
}
// At the beginning of a sentence: names stay as they are.
std::string subjectFirst(const SeenStore& store, const PlaceWords& words) {
  return store.bytes.type.empty() ? capital(subject(store, words)) : subject(store, words);
}

// What a store is in a transaction of a mechanism: "the log entry (1)".
std::string roleOf(MechanismPhase phase, PlaceNo place, const NamedBytes& bytes) {
  std::string_view role = phase == MechanismPhase::Allocate    ? "the allocation of log space"
                          : phase == MechanismPhase::Log       ? "the log entry"
                          : phase == MechanismPhase::Commit    ? "the store that makes the log entry count"
                          : phase == MechanismPhase::InPlace   ? "the write in place"
                          : phase == MechanismPhase::Reclaim   ? "the store that empties the log"
                          : phase == MechanismPhase::Record    ? "the commit record"
                          : phase == MechanismPhase::Append    ? "the appended entry"
                          : phase == MechanismPhase::Publish   ? "the move of the tail"
                          : phase == MechanismPhase::Primary   ? "the store to the primary"
                          : phase == MechanismPhase::Secondary ? "the store to another copy"
                          : phase == MechanismPhase::Build     ? "the store to what is published"
                          : phase == MechanismPhase::Swap      ? "the store that publishes it"
                                                               : "the store";
  return fmt::format("{} at ({}){}", role, place,
                     bytes.type.empty() ? std::string() : fmt::format(" [{}]", bytes.type));
}

std::string brokenMechanism(const BrokenMechanism& c) {
  std::string first = roleOf(c.firstPhase, 1, c.first.bytes);
  std::string second = c.second ? roleOf(c.secondPhase, 2, c.second->bytes) : std::string();
  std::string text;
  switch (c.rule) {
    case MechanismRule::Order:
      text = c.second && c.second->event < c.first.event
                 ? fmt::format("{} comes only after {}, which it should be durable before", first, second)
                 : fmt::format("{} is not durable before {}", first, second);
      break;
    case MechanismRule::OutsideArea:
      text = fmt::format("{} lies outside the log's area, or sets its head or tail outside", first);
      break;
    case MechanismRule::OutsideAllocated:
      text = fmt::format("{} lies outside what is allocated between head and tail", first);
      break;
    case MechanismRule::EntriesOverlap:
      text = fmt::format("{} and {} overlap", first, second);
      break;
    case MechanismRule::WrongOldBytes:
      text = fmt::format("{} does not have the bytes that were there before {}", first, second);
      break;
    case MechanismRule::WrongNewBytes:
      text = fmt::format("{} has other bytes than {}", first, second);
      break;
    case MechanismRule::NeverInPlace:
      text = fmt::format("{} is about bytes that are not written in place before {}", first, second);
      break;
    case MechanismRule::CopiesDiffer:
      text = c.second ? fmt::format("the copies differ after {} and {}", first, second)
                      : fmt::format("the copies differ after {}: another one was not written", first);
      break;
    case MechanismRule::ChecksumNotUpdated:
      text = fmt::format("{} changes what the checksum is of, and the checksum is not stored", first);
      break;
    case MechanismRule::ChangedInPlace:
      text = fmt::format("{} changes in place what is published, and not a copy of it", first);
      break;
  }
  std::string often =
      c.transactions > 1 ? fmt::format(" (in {})", counted(c.transactions, "transaction")) : std::string();
  return fmt::format("{}: {}{}.", c.mechanism, text, often);
}

// Of the last place before the first crash; 0: there is none.
PlaceNo crashPlace(const Finding& f) {
  return f.shownBy && !f.shownBy->crashes.empty() ? f.shownBy->crashes.front().after : PlaceNo(0);
}

std::string raceVerdict(const Finding& f, const CrashCause& c, const std::string& symptom, const PlaceWords& words) {
  PlaceNo crash = crashPlace(f);
  return fmt::format(
      "{} may be lost or not when the power fails{}{}: the restarted program then {}.",
      c.first ? subjectFirst(*c.first, words) : std::string("What is stored"),
      crash != 0 ? " " + words.at(crash) : std::string(),
      c.read && c.read->place != 0 ? ", and the restart reads it " + words.at(c.read->place) : std::string(), symptom);
}

// Whether a restart was tried with the bytes of the cause as they were before the transaction that had not logged them.
bool unlogged(const Finding& f) {
  return std::any_of(f.evidence.begin(), f.evidence.end(), [](const Fact& fact) {
    const auto* tried = std::get_if<TriedCure>(&fact);
    return tried != nullptr && tried->cure == CureKind::Add && tried->putBack;
  });
}

std::string notAtomicVerdict(const Finding& f, const CrashCause& c, const std::string& fails, const PlaceWords& words) {
  PlaceNo first = c.first ? c.first->place : 0, second = c.second ? c.second->place : 0;
  bool loses = f.shownBy && std::any_of(f.shownBy->crashes.begin(), f.shownBy->crashes.end(),
                                        [](const SeenCrash& crash) { return !crash.lost.empty(); });
  if (c.creation)
    return fmt::format("The pool is made step by step under its own name: if the power fails before {}, {}.",
                       second != 0 ? "it is complete " + words.at(second) : std::string("it is complete"), fails);
  if (unlogged(f) && first != 0) {
    std::string lead = subjectFirst(*c.first, words) + " had not been logged by its transaction when it was changed: ";
    if (loses || second == 0)
      return fmt::format("{}a crash in the transaction can keep it, nothing puts it back, and then {}.", lead, fails);
    return fmt::format(
        "{}if the power fails before {}, even with everything persisted that was stored by then, nothing puts it back, "
        "and {}.",
        lead, words(second), fails);
  }
  if (c.lines != 0)
    return fmt::format(
        "{} {}: a crash can keep one part of it without the rest, and then {}.", subjectFirst(*c.first, words),
        c.lines == 1 ? "is more than is stored at once" : fmt::format("goes into {} lines", c.lines), fails);
  std::vector<PlaceNo> places{first, second};
  for (const SeenStore& other : c.others)
    if (other.place != 0) places.push_back(other.place);
  // One line of the source, executed again and again.
  const bool oneLine = std::all_of(places.begin(), places.end(), [&](PlaceNo n) { return words(n) == words(first); });
  std::string stores = "The stores at ";
  if (oneLine)
    stores = fmt::format("{} stores at {}", places.size() == 2 ? "Two" : "Several", words(first));
  else
    for (std::size_t i = 0; i < places.size(); ++i)
      stores += fmt::format("{}{}", i == 0 ? "" : i + 1 == places.size() ? " and " : ", ", words(places[i]));
  if (c.eitherWay)
    return fmt::format("{} belong together: a crash can keep either without the other, and then {}.", stores, fails);
  if (loses && first != 0 && second != 0 && !c.sameBytes)
    return fmt::format("{} belong together: a crash can keep {} without the {}, and then {}.", stores,
                       places.size() == 2 ? "one" : "some of them", places.size() == 2 ? "other" : "others", fails);
  if (c.sameBytes)
    return fmt::format("The restart does not cope with {}: if the power fails before {} replaces it{}, {}.",
                       c.first->bytes.type.empty()
                           ? fmt::format("what {} stores", words(first))
                           : fmt::format("{} as {} stores it", c.first->bytes.type, words(first)),
                       oneLine ? "the next store there" : words(second),
                       loses ? "" : ", even with everything persisted that was stored by then", fails);
  std::string persisted = loses ? "" : ", even with everything persisted that was stored by then";
  // What begins the update is no store: a change of a file's name or size.
  if (first == 0 && second != 0)
    return fmt::format("If the power fails before {}{}, {}.", words(second), persisted, fails);
  if (second != 0)
    return fmt::format("{} belong together: if the power fails between them{}, {}.", stores, persisted, fails);
  if (PlaceNo after = first != 0 ? first : crashPlace(f); after != 0)
    return fmt::format("If the power fails after {}{}, {}.", words(after), persisted, fails);
  return fmt::format("If the power fails before anything is stored, {}.", fails);
}

std::string causeVerdict(const Finding& f, const CrashCause& c, const std::string& symptom, const PlaceWords& words) {
  std::string fails = "the restarted program " + symptom;
  std::string lost = c.first ? subjectFirst(*c.first, words) : std::string();
  PlaceNo second = c.second ? c.second->place : c.promised ? c.promised->place : 0;
  // "... while X survives" or "... though the operation has ended".
  std::string whereas = c.second ? fmt::format(" while {} survives", subject(*c.second, words))
                        : c.promised
                            ? " though the operation that wrote it has ended" + words.atIfKnown(c.promised->place)
                            : std::string();
  switch (f.kind) {
    case FindingKind::MissingFlush: {
      std::string flushed =
          !c.everFlushed ? "is never flushed"
          : second != 0
              ? "is not flushed before " + (c.promised ? "the operation ends" + words.atIfKnown(second) : words(second))
              : "is not flushed before the power fails";
      return fmt::format("{} {}: a crash can lose it{}, and then {}.", lost, flushed, whereas, fails);
    }
    case FindingKind::MissingFence: {
      std::string before = c.promised     ? " before the operation ends" + words.atIfKnown(second)
                           : second != 0  ? " before " + words(second)
                           : c.everFenced ? " before the power fails"
                                          : std::string();
      return fmt::format("{} is {}, but no fence follows{}: a crash can lose it{}, and then {}.", lost,
                         c.flush ? "flushed" : "a non-temporal store", before, whereas, fails);
    }
    case FindingKind::WrongOrder:
      if (c.firstIs == FirstStore::Late)
        return fmt::format("{} comes only after {}, which relies on it: if the power fails between the two, {}.", lost,
                           words(second), fails);
      return fmt::format("{} is {} too late{}: a crash in between can lose it{}, and then {}.", lost,
                         c.everFenced ? "made durable" : "flushed",
                         c.promised    ? ", after the operation has ended" + words.atIfKnown(second)
                         : second != 0 ? ", after " + words(second)
                                       : std::string(),
                         whereas, fails);
    case FindingKind::NotAtomic:
      return notAtomicVerdict(f, c, fails, words);
    case FindingKind::RecoveryFails:
      if (c.sameBytes) return notAtomicVerdict(f, c, fails, words);
      break;
    case FindingKind::CrossFailureRace:
      return raceVerdict(f, c, symptom, words);
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
    case FindingKind::UnprotectedStore:
    case FindingKind::Mechanism:
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
std::string plainVerdict(const Finding& f, const std::string& symptom, const PlaceWords& words) {
  switch (f.kind) {
    case FindingKind::ProgramBug:
      return fmt::format("Started again on what it left when it ended, with nothing lost, the program {}.", symptom);
    case FindingKind::OpenTransaction:
      return fmt::format("A transaction that begins {} had not ended when the program did.", words.at(1));
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
    case FindingKind::UnprotectedStore:
    case FindingKind::Mechanism:
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
  const PlaceWords& words;

  std::string operator()(const PlainClaim&) const { return plainVerdict(f, symptom, words); }
  std::string operator()(const CrashCause& c) const { return causeVerdict(f, c, symptom, words); }
  std::string operator()(const BadReadClaim& c) const {
    std::string reads =
        c.read.place != 0 ? "The restart reads " + words.at(c.read.place) : std::string("The restart reads");
    if (!c.writer)
      return fmt::format("{} memory that was allocated or discarded {} and that nothing had written since.", reads,
                         words.at(c.allocatedAt));
    if (f.kind == FindingKind::StaleRead && c.commit && c.commitBefore)
      return fmt::format(
          "{} what was written {}, before the last two commits {} and {}: it belongs to an older version.", reads,
          words.at(c.writer->place), words(c.commitBefore->place), words(c.commit->place));
    if (!c.commit)
      return fmt::format("{} what was written {}, though nothing had been committed by then.", reads,
                         words.at(c.writer->place));
    return fmt::format("{} what was written {}, though it was not guaranteed to be durable at the last commit, {}.",
                       reads, words.at(c.writer->place), words(c.commit->place));
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
    return fmt::format("{} {} added to a transaction that had {} already.", counted(c.bytes, "byte"),
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
          "{} {} stored {} before the transaction adds {} {}: what it logs there is the new value, so a "
          "rollback keeps that.",
          what, are, words.at(1), them, words.at(c.added));
    return fmt::format(
        "{} {} stored {} in a transaction that had neither added nor allocated {}: a crash before its end rolls "
        "back what it has logged, and not that.",
        what, are, words.at(1), them);
  }
  std::string operator()(const BrokenMechanism& c) const { return brokenMechanism(c); }
  std::string operator()(const OtherSide& c) const {
    std::string what = c.store.bytes.type.empty() ? "what is stored" : c.store.bytes.type + ", stored";
    return fmt::format(
        "After a crash in {} the restart finds everything as {} it, but not {} {}: it holds {}, and no mechanism "
        "protects it.",
        c.operation, c.after ? "after" : "before", what, words.at(1), valueText(c.held));
  }
  std::string operator()(const InterruptedCreation& c) const {
    return fmt::format("If the power fails while {} is being created {}, the restarted program {}.", baseName(c.file),
                       words.at(c.call), symptom);
  }
};

}  // namespace

std::string symptomOf(const Finding& finding, const ShownBy& shown) {
  if (shown.failsAt == 0 || shown.failsAt.value() > finding.places.size()) return shown.symptom;
  const std::vector<Frame>& stack = finding.place(shown.failsAt).stack;
  return stack.empty() ? shown.symptom : symptomIn(shown.symptom, stack[userFrame(stack)]);
}

std::string verdictOf(const Finding& finding, const std::string& symptom) {
  return std::visit(Verdicts{finding, symptom, PlaceWords()}, finding.claim);
}

std::string verdictAlone(const Finding& finding) {
  std::string symptom = finding.shownBy ? symptomOf(finding, *finding.shownBy) : std::string("fails");
  return std::visit(Verdicts{finding, symptom, PlaceWords(finding)}, finding.claim);
}

std::string verdictOf(const Finding& finding) {
  return verdictOf(finding, finding.shownBy ? symptomOf(finding, *finding.shownBy) : std::string("fails"));
}

}  // namespace blackout
