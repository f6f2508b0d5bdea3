// Flushes and fences that guaranteed nothing. The model saw them while it read the trace; here
// they are counted by site (those of PMDK's libraries by their callers), and what they cost is set against the whole
// run.
#include <algorithm>
#include <string>
#include <tuple>

#include "detect/by_site.h"
#include "detect/callers.h"
#include "detect/detectors.h"
#include "events/trace.h"

namespace blackout {

namespace {

std::vector<Finding> wasted(const DetectInput& input, WasteKind waste, FindingKind kind, AccessClass wanted,
                            const std::string& label) {
  const Trace& trace = input.trace;
  Interest interest(trace);
  Relevance relevance(input.index);
  Executions executions(trace, interest, wanted);
  Callers callers(trace);
  OpenTransactions transactions;
  EventNo read = 0;  // how far their begins and ends were
  std::map<std::tuple<SiteKey, std::string, std::string>, Finding> found;
  for (const Waste& w : input.index.wastes()) {
    const Event& e = trace[w.at];
    for (; read < w.at; read = trace.next(read)) transactions.event(trace[read]);
    if (w.kind != waste || !interest.contains(w.at)) continue;
    bool flush = waste != WasteKind::IdleFence;
    // Whoever said that the memory doesn't matter is not told how to flush it.
    if (flush && relevance.irrelevant(lineOf(e.addr), w.at, w.at) == ~std::uint64_t{0}) continue;
    SiteKey key = siteKey(trace, e);
    const std::string& caller = callers.of(stackOf(e));
    StackId began = caller.empty() ? StackId(0) : transactions.beganAt(threadOf(e));
    const std::string& transaction = callers.of(began);
    auto [it, isNew] = found.try_emplace({key, caller, transaction});
    Finding& f = it->second;
    if (isNew) {
      f = makeFinding(kind);
      f.places.push_back(placeOfEvent(trace, label, w.at));
      f.places.back().caller = caller;
      if (!transaction.empty()) {
        f.places.push_back(placeOf(trace, "in the transaction that begins here", began));
        f.places.back().caller = transaction;
      }
      f.counts.of = executions.of(key);
    }
    ++f.counts.times;
    if (flush) addExample(f, affected(trace, addressOf(lineOf(e.addr)), BLACKOUT_LINE, e));
  }
  std::vector<Finding> out;
  out.reserve(found.size());
  for (auto& [key, f] : found) out.push_back(std::move(f));
  return out;
}

}  // namespace

std::vector<Finding> detectCleanFlush(const DetectInput& input) {
  return wasted(input, WasteKind::CleanFlush, FindingKind::CleanFlush, AccessClass::Flush, "flushed here");
}

std::vector<Finding> detectRepeatedFlush(const DetectInput& input) {
  return wasted(input, WasteKind::AgainFlush, FindingKind::RepeatedFlush, AccessClass::Flush, "flushed again here");
}

std::vector<Finding> detectIdleFence(const DetectInput& input) {
  return wasted(input, WasteKind::IdleFence, FindingKind::IdleFence, AccessClass::Fence, "fence here");
}

void addCosts(const Trace& trace, std::vector<Finding>& findings) {
  auto lacksCost = [](const Finding& f) { return f.severity == Severity::Performance && !f.cost; };
  if (std::none_of(findings.begin(), findings.end(), lacksCost)) return;
  // Flushes of memory in no pool take as long as any; an lfence orders nothing that persists and is no fence here.
  std::uint64_t flushes = 0;
  std::uint64_t fences = 0;
  for (EventNo n = 0; n < trace.end(); n = trace.next(n)) {
    const Event& e = trace[n];
    if (groupOf(e) == EventGroup::Flush || kindOf(e) == EventKind::FlushOutside) ++flushes;
    if (groupOf(e) == EventGroup::Fence && kindOf(e) != EventKind::Lfence) ++fences;
  }
  for (Finding& f : findings) {
    if (!lacksCost(f)) continue;
    bool fence = f.kind == FindingKind::IdleFence;
    f.cost = Cost{f.counts.times, fence ? fences : flushes, fence ? "fence" : "flush"};
  }
}

}  // namespace blackout
