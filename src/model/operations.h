// The operations that a program marked (blackout.h), matched once: which event began and which ended each, and which
// lies inside which. Threads are independent of each other: an end ends the innermost operation of its own thread,
// and an end without a begin ends nothing. Points are before their event, and an operation is all events from its begin
// to its end, both included.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "events/site.h"
#include "events/value.h"
#include "model/histories.h"

namespace blackout {

// Number of an operation, from 0 in the order of their begins: the number by which restarts ask for it.
using OperationNo = Id<struct OperationNoTag, std::uint32_t>;
inline constexpr OperationNo kNoOperation{UINT32_MAX};

struct Operation {
  EventNo begin = 0;
  EventNo end = kNever;               // kNever: it did not end
  OperationNo parent = kNoOperation;  // the operation of the same thread that it lies in
  std::uint32_t depth = 0;            // how many it lies in
  ThreadNo thread = 0;
  std::string_view name;  // the trace's
  // Its op-values events; kNever: it has one argument or result, a number that is in its begin or end.
  EventNo argumentsAt = kNever;
  EventNo resultsAt = kNever;

  bool contains(EventNo n) const { return begin <= n && n <= end; }
};

enum class OperationState : std::uint32_t { NotBegun = 0, UnderWay = 1, Ended = 2 };

class Operations {
 public:
  // One pass. The trace must outlive it and stay where it is.
  explicit Operations(const Trace& trace);
  // The same in somebody else's pass, which gives it every event.
  Operations() = default;
  void event(const Trace& trace, EventNo n);

  std::uint32_t count() const { return static_cast<std::uint32_t>(all_.size()); }
  bool empty() const { return all_.empty(); }
  IdSpan<OperationNo, const Operation> all() const { return all_; }
  const Operation& operator[](OperationNo n) const { return all_[n]; }

  // The thread's latest operation that began at or before the event, ended or not; null: none did.
  const Operation* latest(ThreadNo thread, EventNo n) const;
  // The thread's operations that contain the event; null: none does.
  const Operation* innermost(ThreadNo thread, EventNo n) const;
  const Operation* outermost(ThreadNo thread, EventNo n) const;
  // The outermost operation around one, or itself.
  const Operation& outermost(const Operation& operation) const;
  OperationNo numberOf(const Operation& operation) const { return static_cast<OperationNo>(&operation - all_.data()); }
  // As a crash at the point finds it.
  OperationState stateAt(OperationNo n, EventNo point) const;

  // Read from the trace when they are asked for: a table of millions of operations stays small.
  Values arguments(OperationNo n) const;
  // None: it did not end.
  std::optional<Values> results(OperationNo n) const;
  // The same as they are written in a plan and in a trace. Only of one that ended.
  std::string encodedResults(OperationNo n) const;

 private:
  struct Thread {
    std::vector<OperationNo> operations;  // by their begins
    OperationNo open = kNoOperation;      // the innermost one that has not ended
    EventNo values = kNever;              // the op-values event that waits for its begin or end
  };

  const Trace* trace_ = nullptr;
  IdVector<OperationNo, Operation> all_;
  IdVector<ThreadNo, Thread> threads_;
};

}  // namespace blackout
