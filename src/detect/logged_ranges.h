// What the transactions of a trace logged, as data: every range that was added, whether anything was stored to it
// before its transaction ended, which bytes a transaction had logged already, and what was stored in it to bytes that
// it had not logged.
//
// Transactions nest and are flattened, as in libpmemobj: only the outermost end counts. Number 0 is the thread's own
// transaction; any other number names one transaction that threads share.
#pragma once

#include <cstdint>
#include <vector>

#include "events/site.h"

namespace blackout {

// One tx-add. Bytes that a tx-ignore names anywhere in the trace are left out of all figures.
struct LoggedRange {
  EventNo at = 0;
  PmAddr begin = 0;
  PmAddr end = 0;
  std::uint64_t bytes = 0;  // that it logged
  std::uint64_t fresh = 0;  // of them not logged before, and not removed until the end
  // Something was stored to it while it was logged. By whatever thread: who else writes there is not judged here.
  bool written = false;
  std::size_t transaction = 0;  // its number in the order of the begins
  EventNo endedAt = 0;          // the outermost end; 0: the trace has none
};

// Bytes that a tx-add logged although its transaction had logged them.
struct LoggedAgain {
  EventNo at = 0;
  EventNo first = 0;  // the add that had logged them
  PmAddr begin = 0;
  PmAddr end = 0;
};

// A store of a thread inside its transaction to bytes that this had neither added nor allocated.
struct UnloggedStore {
  EventNo at = 0;
  PmAddr begin = 0;
  PmAddr end = 0;
  std::size_t transaction = 0;
  EventNo addedAt = 0;  // the add that came too late; 0: there is none
};

struct LoggedTransaction {
  EventNo begin = 0;  // the outermost one
  EventNo end = 0;    // 0: the trace has none
};

struct LoggedRanges {
  std::vector<LoggedRange> ranges;              // in trace order
  std::vector<LoggedAgain> again;               // in trace order, then by address
  std::vector<bool> effective;                  // by transaction: something that it had logged was written
  std::vector<UnloggedStore> unlogged;          // in trace order; none if no range is ever added: nobody says what is
  std::vector<LoggedTransaction> transactions;  // in the order of their begins
  std::uint64_t bytes = 0;                      // logged in the whole run
};

LoggedRanges loggedRanges(const Trace& trace);

}  // namespace blackout
