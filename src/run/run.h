// A run as data: what it is for, the memory it starts on, what it observed of it, how it ended. Whoever wants a run
// says so by a value; a Runner makes it: RecordingRunner the program's own (recording.h), ProcessRunner restarts
// (process_runner.h). A recovery is a deterministic function of its observations, so a restart's list of queries with
// its outcome is one path of the recovery tree.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "events/error.h"
#include "events/outcome.h"
#include "events/recovery_contract.h"
#include "events/site.h"
#include "model/crash_state.h"
#include "model/tracked_bytes.h"
#include "run/role.h"
#include "run/schedule.h"

namespace blackout {

// What a run can observe of a crash. A query is a first observation: bytes that the run has neither
// observed nor written before.
enum class QueryKind : std::uint8_t {
  Bytes,  // subject: TrackedNo; mask: the bytes of the line
  Path,   // subject: number of a pool path (TrackedBytes::paths): what file is there, and its size
  Op,     // subject: number of an operation, from 0; mask: an OpQuestion
};

// What is asked about an operation at the crash. Yes-or-no questions leave more recoveries equal than its state does.
enum OpQuestion : std::uint64_t {
  kOpState = 0,  // 0: not begun, 1: begun, 2: ended
  kOpBegun = 1,
  kOpEnded = 2,
};
inline std::uint64_t opReply(std::uint32_t state, std::uint64_t question) {
  return question == kOpState ? state : state >= question ? 1 : 0;
}

struct Query {
  QueryKind kind{};
  std::uint32_t subject = 0;
  std::uint64_t mask = 0;
  // What follows says where it was made; two runs that agree on the above agree on it.
  std::uint64_t site = 0;   // Site::id of the instruction; 0: unknown, or a system call
  std::uint32_t group = 0;  // not 0: observed by one mem* call, or inside one blackout_checksum range
  StackId where = 0;        // traced runs: in the run's own trace
  EventNo event = 0;        // traced runs: the run's trace had this many slots when it was made
  std::uint8_t flags = 0;   // BLACKOUT_QUERY_SKIPPED, _INSIDE, _OUTSIDE: what the run had said of itself
  TrackedNo line() const { return TrackedNo(subject); }
  OperationNo operation() const { return OperationNo(subject); }
  // Only what is asked: the node of the tree.
  bool sameQuestion(const Query& q) const { return kind == q.kind && subject == q.subject && mask == q.mask; }
};

// Whether what the query asks for is tracked, all of it.
inline bool isTracked(const TrackedBytes& tracked, const Query& q) {
  switch (q.kind) {
    case QueryKind::Bytes:
      return q.subject < tracked.count() && q.mask != 0 && (q.mask & ~tracked.mask(q.line())) == 0;
    case QueryKind::Path:
      return q.subject < tracked.paths().size() && q.mask == 0;
    case QueryKind::Op:
      return q.subject < tracked.operations() && q.mask <= kOpEnded;
  }
  return false;
}

// Whether a detector may speak of a read with these flags: not where the program asked for silence, and where any
// recovery of the exploration marks a region of interest (`anyRegion`), only inside one.
constexpr bool judgedRead(std::uint8_t flags, bool anyRegion) {
  if ((flags & BLACKOUT_QUERY_SKIPPED) != 0) return false;
  if ((flags & BLACKOUT_QUERY_INSIDE) != 0) return true;
  return !anyRegion && (flags & BLACKOUT_QUERY_OUTSIDE) == 0;
}

// A run, before it is made. Which program it is, its client and its limits are the runner's: they are the same for all
// of a runner's runs.
struct Run {
  Role role = Role::Recovery;
  // What it finds in its pools: every tracked line as it is at this point of the baseline, except the lines named here.
  // (A recording finds copies of the user's own pools.)
  PointNo pointNo = 0;
  std::vector<std::pair<TrackedNo, LineBytes>> lines;  // ascending
  // The files that exist, ascending by number; none: the least version of the baseline. For a crash that left more of
  // their changes than that, or in a recovery that made, removed or resized some. Bytes that nobody stored are zero in
  // a file that the program's trace doesn't know.
  std::optional<std::vector<FileState>> files;
  Schedule schedule;
  bool traced = false;     // record its own events: for a crash in it, or for its places. A recording always does.
  bool everyRead = false;  // of a traced one: its observations are all its reads of tracked bytes, not only the first
  bool hangs = false;      // that is known: it may be ended (TimedOut) when it observes nothing more
};

// What a run did that may differ from run to run. Bits.
enum : std::uint32_t {
  kUsedThreads = 1,
  kUsedProcesses = 2,
  kUsedTime = 4,       // not pinned
  kUsedRandom = 8,     // not pinned
  kUsedRecorded = 16,  // it read a file that is no pool and that the recorded run changed
  kReadRecorded = 16,  // it read a file that the recording wrote
  kStored = 32,        // it stored to PM; this does not differ by itself
};

// What came of the client that talked to a recorded server (runtime/drive.h).
struct ClientEnd {
  enum State : std::uint8_t {
    NeverReady,  // the server was not ready in time
    NoServer,    // the server ended before it was ready
    Ended,       // code: its exit code
    Lost,        // what ran it was killed
  };
  State state = Ended;
  int code = 0;
  bool killedServer = false;  // SIGTERM was not enough
};

// A thread of a run in which everybody waits for ever.
struct WaitingThread {
  std::string what;                   // it waits for: "a lock or a condition"
  std::vector<std::uint64_t> frames;  // innermost first; empty: unknown
};

// A run that is over: how it ended, with the history of operations that it kept (Outcome::history), what it observed
// of the crash, and its trace.
struct RunEnd {
  Outcome outcome;
  std::vector<Query> queries;
  std::uint64_t steps = 0;
  std::uint32_t used = 0;              // kUsed* bits
  std::uint64_t executing = 0;         // nanoseconds until the programs that it executed were loaded; 0: none
  std::vector<std::string> notes;      // sentences for the user, such as which file it read
  std::vector<std::string> unseen;     // what it did that could not be observed: nothing is clean then
  std::vector<WaitingThread> waiting;  // the first ones, if all of them do
  int waitStatus = 0;                  // of a recording, as wait(2) gives it
  std::string tracePath;               // traced runs: its own trace, the runner's until the worker's next run
  std::optional<ClientEnd> client;     // of a recording with one; that of a restart is part of the outcome
};

// Makes runs: one, or several at a time by a RunBatch, which has the runner to itself as long as it lives.
class Runner {
 public:
  virtual ~Runner() = default;
  virtual unsigned workers() const = 0;
  // One run. While a batch has the runner there is no asking for another.
  Result<RunEnd> run(const Run& request);
  // The place of a query's site in code without a site table; null: it has none that is known.
  virtual const Site* trappedSite(std::uint64_t) const { return nullptr; }

 protected:
  friend class RunBatch;
  // Worker w of [0, workers()) has at most one run.
  virtual Result<void> begin(unsigned worker, const Run& request) = 0;
  // Waits for any run that was begun; the worker is idle then.
  virtual Result<std::pair<unsigned, RunEnd>> wait() = 0;

 private:
  bool taken_ = false;
  bool broken_ = false;  // a run could not be begun or waited for: there will be no more
};

// A runner's workers in one hand. What is still under way at its end is waited for, so that the next user finds all of
// them idle; unless the runner failed, which then refuses whoever comes next.
class RunBatch {
 public:
  explicit RunBatch(Runner& runner);
  ~RunBatch();
  RunBatch(const RunBatch&) = delete;
  RunBatch& operator=(const RunBatch&) = delete;

  Result<void> begin(unsigned worker, const Run& request);
  Result<std::pair<unsigned, RunEnd>> wait();

 private:
  Runner* runner_;
  unsigned underWay_ = 0;
};

}  // namespace blackout
