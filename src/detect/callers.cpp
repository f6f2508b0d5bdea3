#include "detect/callers.h"

#include <fmt/format.h>

#include <algorithm>

namespace blackout {

Callers::Callers(const Trace& trace) : trace_(trace) {
  // What can't be told is not told apart.
  if (auto pmdk = Trusted::pmdk(trace)) libraries_ = std::move(*pmdk);
}
Callers::~Callers() = default;

const std::string& Callers::of(StackId where) {
  auto [it, isNew] = known_.try_emplace(where);
  if (!isNew || !libraries_ || where == 0 || !libraries_->insideAt(where)) return it->second;
  if (!symbolizer_) symbolizer_ = std::make_unique<Symbolizer>(trace_);
  std::vector<Frame> stack = symbolizer_->stackOf(where);
  const auto& objects = libraries_->objects();
  auto library = [&](const Frame& f) { return std::find(objects.begin(), objects.end(), f.module) != objects.end(); };
  // What it calls itself (a memcpy) comes before it.
  auto entry = std::find_if_not(std::find_if(stack.begin(), stack.end(), library), stack.end(), library);
  if (entry == stack.end()) return it->second;
  const Frame& caller = *entry;
  auto& lines = lines_[caller.function];
  std::size_t number = lines.try_emplace({caller.file, caller.line}, lines.size() + 1).first->second;
  return it->second = fmt::format("{}#{}", caller.function.empty() ? "?" : caller.function, number);
}

void OpenTransactions::event(const Event& e) {
  // Those with a number are no thread's own.
  if (e.addr != 0) return;
  if (kindOf(e) == EventKind::TxBegin) {
    Open& t = open_[threadOf(e)];
    if (t.depth++ == 0) t.where = stackOf(e);
  } else if (kindOf(e) == EventKind::TxEnd) {
    if (auto it = open_.find(threadOf(e)); it != open_.end() && --it->second.depth == 0) open_.erase(it);
  }
}

StackId OpenTransactions::beganAt(ThreadNo thread) const {
  auto it = open_.find(thread);
  return it == open_.end() ? StackId(0) : it->second.where;
}

}  // namespace blackout
