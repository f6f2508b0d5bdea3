// What a finding knows, as data. A claim is what the finding says, one struct per way to say it; a fact is one thing
// that was seen and supports it, one struct per kind. report/sentences.h has one sentence for each. Numbers of places
// are those of the finding's own list, from 1.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "binary/byte_names.h"
#include "binary/frame.h"
#include "events/history.h"
#include "findings/mechanism_words.h"
#include "model/test_stage.h"

namespace blackout {

enum class FindingKind : std::uint8_t {
#define BLACKOUT_FINDING(Name, text, severity, title, meaning, hint) Name,
#include "findings/finding_kinds.def"
#undef BLACKOUT_FINDING
};

// One of several structs. A type of its own and not the variant itself, so that what copies, moves, compares and
// destroys a claim or a fact is compiled once, in facts.cpp, and not in every source that has findings.
template <class Variant>
class OneOf : public Variant {
 public:
  using Variant::Variant;
  OneOf();
  OneOf(const OneOf&);
  OneOf(OneOf&&) noexcept;
  OneOf& operator=(const OneOf&);
  OneOf& operator=(OneOf&&) noexcept;
  ~OneOf();
  bool operator==(const OneOf& other) const;
};

// The number of a place in its finding, from 1; 0: none of them.
using PlaceNo = Id<struct PlaceNoTag, std::uint32_t>;

// --- What was seen in traces ---

struct SeenStore {
  unsigned level = 1;  // in whose trace: 1 is the recording, 2 the restart after the first crash, and so on
  EventNo event = 0;
  NamedBytes bytes;
  Frame at;  // its line of the source; no file: unknown
  PlaceNo place = 0;
  bool operator==(const SeenStore&) const = default;
};

struct SeenFlush {
  unsigned level = 1;
  EventNo event = 0;
  std::string access;  // "clwb", "msync"
  NamedBytes bytes;    // the line; unknown for what flushes more than one
  Frame at;
  bool operator==(const SeenFlush&) const = default;
};

// A read of the restarted program.
struct SeenRead {
  NamedBytes bytes;  // `after`: what is there with everything persisted
  ByteValue value;   // what it read
  PlaceNo place = 0;
  // The stores that it may see, whatever the crash leaves; none for what was there before the recording.
  std::vector<std::optional<SeenStore>> sources;
  bool operator==(const SeenRead&) const = default;
};

// The end of an operation, which is its word that what it stored is durable.
struct PromisedEnd {
  EventNo event = 0;  // in the recording
  PlaceNo place = 0;
  bool operator==(const PromisedEnd&) const = default;
};

// --- Claims ---

// There is nothing to say but what the kind says.
struct PlainClaim {
  static constexpr std::string_view kName = "plain";
  bool operator==(const PlainClaim&) const = default;
};

// What `first` is in a cause.
enum class FirstStore : std::uint8_t {
  Lost,     // by the crash
  Late,     // not lost: it had not been made yet
  Begins,   // it begins an update that is not atomic
  Written,  // what is read was written there; whether it is lost does not matter
};
std::string_view nameOf(FirstStore first);

// Why a restart fails after a crash, or says what it should not.
struct CrashCause {
  static constexpr std::string_view kName = "crash-cause";
  FindingKind kind{};  // the finding's; of a race that is only suspected, what led to it
  FirstStore firstIs{};
  std::optional<SeenStore> first;
  std::optional<SeenStore> second;      // what survives and relies on `first`; not-atomic: completes the update
  std::optional<PromisedEnd> promised;  // instead of `second`: the operation of the lost store had ended
  std::optional<SeenFlush> flush;       // that no fence completed in time, or that came too late
  std::optional<SeenRead> read;         // in which the restart met the bytes in question
  bool tested = false;                  // what the two stores are to each other was found by runs
  bool eitherWay = false;               // not-atomic: a crash may keep each of the two without the other
  std::vector<SeenStore> others;        // not-atomic: further stores of the update, besides the two
  unsigned lines = 0;                   // not-atomic: `first` alone is the update, over so many lines; 0: it is not
  bool creation = false;                // not-atomic: a pool that is being made
  bool sameBytes = false;               // not-atomic: `second` replaces what `first` stored: no update, but a stretch
  bool everFlushed = false;             // some flush of its line follows `first`, in time or not
  bool everFenced = false;              // some fence completes `flush`, or the non-temporal store, in time or not
  bool examined = true;                 // false: there were more failing states than are examined
  bool operator==(const CrashCause&) const = default;
};

// A restart reads what it should not trust: what no commit variable has committed, or what nothing had written.
struct BadReadClaim {
  static constexpr std::string_view kName = "bad-read";
  std::optional<SeenStore> writer;
  std::optional<EventNo> allocated;  // of memory that nothing had written: where it was allocated or given up
  PlaceNo allocatedAt = 0;
  std::optional<SeenStore> commit;        // the last one that survived
  std::optional<SeenStore> commitBefore;  // the one before it
  SeenRead read;
  bool operator==(const BadReadClaim&) const = default;
};

// A store was not durable when it counted.
struct NotDurable {
  static constexpr std::string_view kName = "not-durable";
  enum class When : std::uint8_t { OperationEnded, Unmapped, ProgramEnded };
  When when{};
  SeenStore store;          // an example; of a wide one the first piece that is not durable
  std::uint64_t bytes = 0;  // of the whole store
  bool nonTemporal = false;
  bool flushed = false;  // but not fenced
  bool operator==(const NotDurable&) const = default;
};
std::string_view nameOf(NotDurable::When when);

// A store was replaced by another one before it was durable.
struct Replaced {
  static constexpr std::string_view kName = "replaced";
  SeenStore store;
  SeenStore by;
  bool operator==(const Replaced&) const = default;
};

struct StoredPastTheEnd {
  static constexpr std::string_view kName = "stored-past-the-end";
  std::uint64_t bytes = 0;
  bool operator==(const StoredPastTheEnd&) const = default;
};

struct LoggedBefore {
  static constexpr std::string_view kName = "logged-before";
  std::uint64_t bytes = 0;
  bool operator==(const LoggedBefore&) const = default;
};

struct LoggedInVain {
  static constexpr std::string_view kName = "logged-in-vain";
  std::uint64_t transactions = 0;
  bool always = false;  // nothing that these places add is ever written
  bool operator==(const LoggedInVain&) const = default;
};

// A store inside a transaction to bytes that it had not logged.
struct NotLogged {
  static constexpr std::string_view kName = "not-logged";
  SeenStore store;  // an example
  std::uint64_t bytes = 0;
  PlaceNo added = 0;  // where the transaction adds them too late; 0: it does not
  bool operator==(const NotLogged&) const = default;
};

// A library was creating a pool when the power failed.
struct InterruptedCreation {
  static constexpr std::string_view kName = "interrupted-creation";
  std::string file;  // path of the pool
  PlaceNo call = 0;
  bool operator==(const InterruptedCreation&) const = default;
};

// A transaction of a described mechanism broke one of its rules.
struct BrokenMechanism {
  static constexpr std::string_view kName = "broken-mechanism";
  std::string mechanism;  // as the description names it: "journal.undo"
  MechanismRule rule{};
  MechanismPhase firstPhase{};
  MechanismPhase secondPhase{};  // None: there is one store
  SeenStore first;
  std::optional<SeenStore> second;
  std::uint64_t transactions = 0;  // in which it was so
  bool operator==(const BrokenMechanism&) const = default;
};

// A restart says on which side of the interrupted operation it found the program, and a store that no mechanism
// protects is on the other one.
struct OtherSide {
  static constexpr std::string_view kName = "other-side";
  SeenStore store;        // an example: a part of it, if it is wide
  std::string operation;  // its name
  bool after = false;     // the restart found the program as after it
  ByteValue held;         // by the bytes of `store` when it said so
  bool operator==(const OtherSide&) const = default;
};

using Claims = std::variant<PlainClaim, CrashCause, BadReadClaim, NotDurable, Replaced, StoredPastTheEnd, LoggedBefore,
                            LoggedInVain, NotLogged, InterruptedCreation, BrokenMechanism, OtherSide>;
using Claim = OneOf<Claims>;

// --- Facts that support a claim ---

// Of a cause: the restart read the old value of the lost store's bytes.
struct OldValueRead {
  static constexpr std::string_view kName = "old-value-read";
  ByteValue value;
  bool operator==(const OldValueRead&) const = default;
};

// With this store persisted as well, the restart does not fail in this way.
struct FineIfPersisted {
  static constexpr std::string_view kName = "fine-if-persisted";
  PlaceNo store = 0;
  bool operator==(const FineIfPersisted&) const = default;
};

// No flush of its line follows the store: at all, or before what relies on it (or the power fails).
struct NeverFlushed {
  static constexpr std::string_view kName = "never-flushed";
  PlaceNo store = 0;
  bool later = false;  // one comes, too late
  bool operator==(const NeverFlushed&) const = default;
};

// What would keep a cause from doing harm.
enum class CureKind : std::uint8_t {
  Flush,    // a flush and a fence after the store that is lost
  Fence,    // a fence after its flush
  Earlier,  // its flush, with a fence, before what relies on it is stored
  Order,    // the two stores the other way round
  Atomic,   // all of the stores or none
  Add,      // the bytes added to the transaction in which they are stored
  Rename,   // a pool that is made under another name and renamed once it is complete
};
std::string_view nameOf(CureKind cure);

// A cure that was tried: with it the crash states of the finding can't come about, or their restarts end well.
struct TriedCure {
  static constexpr std::string_view kName = "tried-cure";
  CureKind cure{};
  PlaceNo first = 0;
  PlaceNo second = 0;        // 0: none
  bool oneLine = false;      // both are in one line, whose stores keep their order
  std::uint64_t gone = 0;    // flushes and fences: crash states of the finding that can't come about any more
  std::uint64_t states = 0;  // of so many
  bool putBack = false;      // Add: a restart was tried with the bytes as they were before the transaction
  bool operator==(const TriedCure&) const = default;
};

// Of a cause: its flush was not complete when the power failed.
struct FlushUnderWay {
  static constexpr std::string_view kName = "flush-under-way";
  bool operator==(const FlushUnderWay&) const = default;
};

// Of a cause: its flush came later.
struct FlushedLater {
  static constexpr std::string_view kName = "flushed-later";
  bool operator==(const FlushedLater&) const = default;
};

// With rmw-fences=on a locked instruction had completed the flush before the crash.
struct LockedCompleted {
  static constexpr std::string_view kName = "locked-completed";
  bool operator==(const LockedCompleted&) const = default;
};

struct FineWithout {
  static constexpr std::string_view kName = "fine-without";
  PlaceNo store = 0;
  bool operator==(const FineWithout&) const = default;
};

// With `first` and without `second` it ends well too.
struct CanWait {
  static constexpr std::string_view kName = "can-wait";
  PlaceNo first = 0;
  PlaceNo second = 0;
  bool operator==(const CanWait&) const = default;
};

struct BothFail {
  static constexpr std::string_view kName = "both-fail";
  bool operator==(const BothFail&) const = default;
};

struct NotExamined {
  static constexpr std::string_view kName = "not-examined";
  bool operator==(const NotExamined&) const = default;
};

// Of a cause: its read may see more than one of its sources.
struct MaySeeSeveral {
  static constexpr std::string_view kName = "may-see-several";
  bool operator==(const MaySeeSeveral&) const = default;
};

// What a restart said.
struct Said {
  std::string output;  // the first part
  bool cut = false;    // there was more
  int exitCode = 0;    // of one that exited
  History history;     // the operations that it said it made
  bool operator==(const Said&) const = default;
};

// A line by which an answer differs from the two that would be right.
struct WrongLine {
  enum Is : std::uint8_t {
    Neither,  // said, and none of the two has it
    Missing,  // not said, and both have it
    Before,   // said, and only the first has it
    After,    // said, and only the second has it
  };
  Is is{};
  std::uint64_t number = 0;  // of the line, from 1, in the answer that has it
  std::string text;
  bool operator==(const WrongLine&) const = default;
};

// What the restart said, and what it might have said.
struct WrongAnswer {
  static constexpr std::string_view kName = "wrong-answer";
  bool operation = false;  // judged by an operation that is marked; false: by the stretch between two ordering points
  bool ended = false;  // which had ended before the crash: `before` and `after` are what is said with all of it durable
  std::string name;    // of the operation; empty: it has none
  Said said;
  Said before;
  Said after;
  std::vector<WrongLine> lines;  // the first ones of each kind, if any of the three has several lines
  bool operator==(const WrongAnswer&) const = default;
};

// One operation of a history, with the run that made it: 0 is the recorded one. One that did not end was under way when
// the power failed.
struct ToldOperation {
  unsigned run = 0;
  HistoryOperation operation;  // without times
  bool explained = false;      // it has its place in the longest beginning that has an order
  std::uint32_t thread = 0;    // where several were at work: whose it is, from 1
  bool operator==(const ToldOperation&) const = default;
};

// No order of the operations explains their answers (judge/order_judge.h).
struct NoOrder {
  static constexpr std::string_view kName = "no-order";
  std::string structure;  // "map"
  std::string criterion;  // "durable"
  std::vector<ToldOperation>
      operations;                   // on the part of the structure (a key, say) that has no order, by their begins
  std::uint32_t contradiction = 0;  // of them, the first that can't be explained
  std::vector<Values> possible;     // what it might have returned
  // Acknowledged ones of other threads than those under way, without which there would be an order: they saw what was
  // not durable.
  std::vector<std::uint32_t> witnesses = {};
  bool operator==(const NoOrder&) const = default;
};

// Of an exploration in stages: the first at which a state of this finding was met.
struct FoundAt {
  static constexpr std::string_view kName = "found-at";
  TestStage stage{};
  bool operator==(const FoundAt&) const = default;
};

// Of two stores to an array and to its counter, which the code shows to belong together.
struct CountedTogether {
  static constexpr std::string_view kName = "counted-together";
  std::string array;         // "Node.children[]"
  std::string counter;       // "Node.count"
  std::string bound;         // "every one of 12 reads stays below count"
  bool strict = false;       // proven of every read
  bool counterLost = false;  // after the crash the array has the update and the counter does not; false: the other way
  PlaceNo lost = 0, kept = 0;
  bool operator==(const CountedTogether&) const = default;
};

// What the restart trusts though no commit variable has committed it.
struct TrustedTooSoon {
  static constexpr std::string_view kName = "trusted-too-soon";
  bool stale = false;  // it is from before the last two commits; false: it was not committed
  SeenStore writer;
  std::optional<SeenStore> commit;
  std::optional<SeenStore> commitBefore;
  bool operator==(const TrustedTooSoon&) const = default;
};

// Run once more, the same restart did something else.
struct NotRepeated {
  static constexpr std::string_view kName = "not-repeated";
  std::string symptom;  // empty: it did not fail
  bool operator==(const NotRepeated&) const = default;
};

// There was no time to run the same restart once more.
struct NotRunAgain {
  static constexpr std::string_view kName = "not-run-again";
  bool operator==(const NotRunAgain&) const = default;
};

// A pool that the recorded run makes is there when the power fails, and has no bytes yet.
struct EmptyFile {
  static constexpr std::string_view kName = "empty-file";
  std::string file;  // its path
  bool operator==(const EmptyFile&) const = default;
};

// The transaction in which a place stores had not logged the bytes.
struct NotInTransaction {
  static constexpr std::string_view kName = "not-in-transaction";
  PlaceNo store = 0;
  std::optional<Frame> added;  // where it adds them too late; none: it does not
  bool operator==(const NotInTransaction&) const = default;
};

// The bytes of the two stores of an update are updated the other way round elsewhere, and a crash between these fails
// in the same way.
struct CutThereToo {
  static constexpr std::string_view kName = "cut-there-too";
  PlaceNo first = 0;
  PlaceNo second = 0;
  bool operator==(const CutThereToo&) const = default;
};

// Other restarts fail by the same cause in another way.
struct OtherSymptom {
  static constexpr std::string_view kName = "other-symptom";
  std::string symptom;
  Frame at;  // where it fails; no function: unknown
  bool operator==(const OtherSymptom&) const = default;
};

// Of a restart in which all threads wait for ever: one of them.
struct ThreadWaits {
  static constexpr std::string_view kName = "thread-waits";
  std::uint32_t thread = 0;  // from 1, in the order in which they were made
  std::string what;          // it waits for: "a lock or a condition"
  std::vector<Frame> stack;  // innermost first; empty: unknown
  bool operator==(const ThreadWaits&) const = default;
};

// Of a bad read: one crash after which it comes, and how many there are.
struct ReadAfterCrash {
  static constexpr std::string_view kName = "read-after-crash";
  PlaceNo place = 0;  // after which the power fails
  EventNo event = 0;
  std::uint64_t points = 0;
  std::uint64_t states = 0;
  bool operator==(const ReadAfterCrash&) const = default;
};

// Why a field that nobody registered counts as a commit variable.
struct InferredCommit {
  static constexpr std::string_view kName = "inferred-commit";
  std::string because;
  bool operator==(const InferredCommit&) const = default;
};

// With other bytes where nothing was written the restart says something else.
struct OtherBytesMatter {
  static constexpr std::string_view kName = "other-bytes-matter";
  bool operator==(const OtherBytesMatter&) const = default;
};

// Of a stale pointer: it was stored as a process at other addresses would have stored it.
struct OtherAddresses {
  static constexpr std::string_view kName = "other-addresses";
  PlaceNo store = 0;
  bool operator==(const OtherAddresses&) const = default;
};

// The restart waits for a lock in PM that nobody holds any more.
struct LockLeft {
  static constexpr std::string_view kName = "lock-left";
  bool operator==(const LockLeft&) const = default;
};

// Of a store that is not durable in time: a cure that was tried in the simulation makes it so, each time.
struct TriedDurable {
  static constexpr std::string_view kName = "tried-durable";
  CureKind cure{};  // Flush, or Fence: its flush, or non-temporal store, is there
  bool operator==(const TriedDurable&) const = default;
};

// Of a cause: nor was the lost store durable later, when that counted; what cures the one cures the other.
struct NotDurableEither {
  static constexpr std::string_view kName = "not-durable-either";
  PlaceNo store = 0;
  NotDurable::When when{};
  std::uint64_t times = 0;
  std::uint64_t of = 0;  // executions of the store
  bool operator==(const NotDurableEither&) const = default;
};

struct NeverDurable {
  static constexpr std::string_view kName = "never-durable";
  bool operator==(const NeverDurable&) const = default;
};

struct DurableTooLate {
  static constexpr std::string_view kName = "durable-too-late";
  EventNo event = 0;  // that made it durable
  bool operator==(const DurableTooLate&) const = default;
};

// With rmw-fences=on the store is durable in time.
struct DurableWithRmwFences {
  static constexpr std::string_view kName = "durable-with-rmw-fences";
  bool operator==(const DurableWithRmwFences&) const = default;
};

// Other ranges of such a transaction were written.
struct TransactionDidWork {
  static constexpr std::string_view kName = "transaction-did-work";
  bool operator==(const TransactionDidWork&) const = default;
};

// Nothing that these transactions had logged was written.
struct MayBeRolledBack {
  static constexpr std::string_view kName = "may-be-rolled-back";
  bool operator==(const MayBeRolledBack&) const = default;
};

struct OtherCallersWrite {
  static constexpr std::string_view kName = "other-callers-write";
  bool operator==(const OtherCallersWrite&) const = default;
};

using Facts =
    std::variant<OldValueRead, FineIfPersisted, NeverFlushed, TriedCure, FlushUnderWay, FlushedLater, LockedCompleted,
                 FineWithout, CanWait, BothFail, NotExamined, MaySeeSeveral, WrongAnswer, NoOrder, FoundAt,
                 CountedTogether, TrustedTooSoon, NotRepeated, NotRunAgain, EmptyFile, NotInTransaction, CutThereToo,
                 OtherSymptom, ThreadWaits, ReadAfterCrash, InferredCommit, OtherBytesMatter, OtherAddresses, LockLeft,
                 NotDurableEither, NeverDurable, TriedDurable, DurableTooLate, DurableWithRmwFences, TransactionDidWork,
                 MayBeRolledBack, OtherCallersWrite>;
using Fact = OneOf<Facts>;

}  // namespace blackout
