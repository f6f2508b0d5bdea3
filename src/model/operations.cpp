#include "model/operations.h"

#include <algorithm>

#include "events/trace.h"

namespace blackout {

Operations::Operations(const Trace& trace) {
  for (EventNo n = 0; n < trace.end(); n = trace.next(n)) event(trace, n);
}

void Operations::event(const Trace& trace, EventNo n) {
  const Event& e = trace[n];
  bool begins = kindOf(e) == EventKind::OpBegin;
  bool ends = kindOf(e) == EventKind::OpEnd;
  if (!begins && !ends && kindOf(e) != EventKind::OpValues) return;
  trace_ = &trace;
  if (!threads_.has(threadOf(e))) threads_.resize(std::size_t{e.thread} + 1);
  Thread& thread = threads_[threadOf(e)];
  if (!begins && !ends) {
    thread.values = n;
    return;
  }
  EventNo values = (e.len & BLACKOUT_OP_VALUES) != 0 ? thread.values : kNever;
  thread.values = kNever;
  if (begins) {
    std::uint32_t depth = thread.open == kNoOperation ? 0 : all_[thread.open].depth + 1;
    all_.push_back({n, kNever, thread.open, depth, threadOf(e), trace.payload(n), values, kNever});
    thread.open = all_.endId() - 1;
    thread.operations.push_back(thread.open);
  } else if (thread.open != kNoOperation) {
    Operation& o = all_[thread.open];
    o.end = n;
    o.resultsAt = values;
    thread.open = o.parent;
  }
}

Values Operations::arguments(OperationNo n) const {
  const Operation& o = all_[n];
  if (o.argumentsAt == kNever) return {Value::ofUnsigned((*trace_)[o.begin].addr)};
  return decodeValues(trace_->payload(o.argumentsAt)).value();  // the trace's reader has checked them
}

std::optional<Values> Operations::results(OperationNo n) const {
  if (all_[n].end == kNever) return std::nullopt;
  return decodeValues(encodedResults(n));
}

std::string Operations::encodedResults(OperationNo n) const {
  const Operation& o = all_[n];
  if (o.resultsAt != kNever) return std::string(trace_->payload(o.resultsAt));
  return encodeValues(Values{Value::ofUnsigned((*trace_)[o.end].value)});
}

const Operation* Operations::latest(ThreadNo thread, EventNo n) const {
  if (!threads_.has(thread)) return nullptr;
  const std::vector<OperationNo>& of = threads_[thread].operations;
  auto next = std::upper_bound(of.begin(), of.end(), n, [&](EventNo at, OperationNo o) { return at < all_[o].begin; });
  return next == of.begin() ? nullptr : &all_[*std::prev(next)];
}

const Operation* Operations::innermost(ThreadNo thread, EventNo n) const {
  // Whatever contains the event was open when the latest one began.
  const Operation* found = latest(thread, n);
  while (found != nullptr && !found->contains(n))
    found = found->parent == kNoOperation ? nullptr : &all_[found->parent];
  return found;
}

const Operation* Operations::outermost(ThreadNo thread, EventNo n) const {
  const Operation* found = latest(thread, n);
  if (found == nullptr) return nullptr;
  found = &outermost(*found);
  return found->contains(n) ? found : nullptr;
}

const Operation& Operations::outermost(const Operation& operation) const {
  const Operation* o = &operation;
  while (o->parent != kNoOperation) o = &all_[o->parent];
  return *o;
}

OperationState Operations::stateAt(OperationNo n, EventNo point) const {
  const Operation& o = all_[n];
  if (o.begin >= point) return OperationState::NotBegun;
  return o.end >= point ? OperationState::UnderWay : OperationState::Ended;
}

}  // namespace blackout
