#include "judge/persist_functions.h"

#include <algorithm>
#include <map>
#include <set>

#include "binary/symbolizer.h"
#include "binary/user_frame.h"
#include "events/trace.h"

namespace blackout {

namespace {

// Functions are told by name and file.
using FunctionName = std::pair<std::string, std::string>;
FunctionName nameOf(const Frame& f) { return {f.function, f.file}; }

bool samePlace(const Frame& a, const Frame& b) {
  return a.function == b.function && a.file == b.file && a.line == b.line && a.column == b.column;
}

// The call that a flush and a fence have in common: the innermost function that both come from, in one call of it.
const Frame* commonCall(const std::vector<Frame>& flush, const std::vector<Frame>& fence) {
  std::size_t same = 0;
  while (same < flush.size() && same < fence.size() &&
         samePlace(flush[flush.size() - 1 - same], fence[fence.size() - 1 - same]))
    ++same;
  if (same == 0 || same == flush.size() || same == fence.size()) return nullptr;
  const Frame& a = flush[flush.size() - 1 - same];
  const Frame& b = fence[fence.size() - 1 - same];
  return nameOf(a) == nameOf(b) && !a.function.empty() && !a.file.empty() && !inSystemHeader(a) ? &a : nullptr;
}

class Votes {
 public:
  void add(const Frame& f, std::uint64_t times) {
    auto& [count, frame] = votes_[nameOf(f)];
    count += times;
    frame = f;
  }
  // Of those that are not among the others, the one that is called most.
  std::optional<Frame> best(const std::set<FunctionName>& others) const {
    std::optional<Frame> frame;
    std::uint64_t most = 0;
    for (const auto& [name, vote] : votes_)
      if (!others.contains(name) && vote.first > most) {
        most = vote.first;
        frame = vote.second;
      }
    return frame;
  }

 private:
  std::map<FunctionName, std::pair<std::uint64_t, Frame>> votes_;
};

bool isLibpmemobj(const Site& site) { return site.module.find("libpmemobj.so") != std::string::npos; }

}  // namespace

LogFunction logFunctionOf(const Trace& trace, Stacks& stacks) {
  constexpr std::size_t kMost = 500;  // places that are looked at
  std::map<StackId, std::uint64_t> adds;
  for (EventNo n = 0; n < trace.end(); n = trace.next(n))
    if (kindOf(trace[n]) == EventKind::TxAdd) ++adds[stackOf(trace[n])];
  LogFunction out;
  Votes voted;
  std::size_t looked = 0;
  for (const auto& [where, times] : adds) {
    if (where == 0 || ++looked > kMost) continue;
    const CallStack* stack = trace.callStack(where);
    const Site* site = stack == nullptr ? nullptr : trace.site(stack->site);
    out.libpmemobj |= site != nullptr && isLibpmemobj(*site);
    std::vector<Frame> frames = stacks.at(trace, where);
    const Frame* own = frames.empty() ? nullptr : &frames[userFrame(frames)];
    if (own != nullptr && !own->file.empty() && !inSystemHeader(*own)) voted.add(*own, times);
  }
  // Who calls a library is no function of the program's own for it.
  if (!out.libpmemobj) out.adds = voted.best({});
  return out;
}

PersistFunctions persistFunctionsOf(const Trace& trace, Stacks& stacks) {
  constexpr std::size_t kMost = 500;    // pairs of places that are looked at
  std::map<ThreadNo, StackId> flushed;  // since the thread's last fence: the last one
  std::map<std::pair<StackId, StackId>, std::uint64_t> pairs;
  std::map<StackId, std::uint64_t> fences;
  std::set<StackId> storing, flushing;
  for (EventNo n = 0; n < trace.end(); n = trace.next(n)) {
    const Event& e = trace[n];
    if (isStore(e)) storing.insert(stackOf(e));
    if (groupOf(e) == EventGroup::Flush) {
      flushing.insert(stackOf(e));
      flushed[threadOf(e)] = stackOf(e);
    } else if (groupOf(e) == EventGroup::Fence) {
      ++fences[stackOf(e)];
      auto last = flushed.find(threadOf(e));
      if (last == flushed.end()) continue;
      ++pairs[{last->second, stackOf(e)}];
      flushed.erase(last);
    }
  }
  // What stores is more than a way to persist.
  auto functionsOf = [&](const std::set<StackId>& all) {
    std::set<FunctionName> names;
    for (StackId where : all) {
      const CallStack* stack = trace.callStack(where);
      const Site* site = stack == nullptr ? nullptr : trace.site(stack->site);
      if (site == nullptr) continue;
      for (const Source& source : site->sources)
        for (const Frame& f : framesOf(source)) names.insert(nameOf(f));
    }
    return names;
  };
  std::set<FunctionName> stores = functionsOf(storing);
  Votes persisting, fencing;
  std::size_t looked = 0;
  for (const auto& [pair, times] : pairs) {
    if (pair.first == 0 || pair.second == 0 || ++looked > kMost) continue;
    std::vector<Frame> flush = stacks.at(trace, pair.first), fence = stacks.at(trace, pair.second);
    if (const Frame* f = commonCall(flush, fence)) persisting.add(*f, times);
  }
  looked = 0;
  for (const auto& [where, times] : fences) {
    if (where == 0 || ++looked > kMost) continue;
    std::vector<Frame> fence = stacks.at(trace, where);
    const Frame* own = fence.empty() ? nullptr : &fence[userFrame(fence)];
    if (own != nullptr && !own->file.empty() && !inSystemHeader(*own)) fencing.add(*own, times);
  }
  std::set<FunctionName> more = functionsOf(flushing);
  more.insert(stores.begin(), stores.end());
  return {persisting.best(stores), fencing.best(more)};
}

}  // namespace blackout
