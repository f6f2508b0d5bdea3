#include "detect/trusted.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <unordered_map>

#include "binary/site_objects.h"
#include "events/site_table.h"
#include "events/trace.h"
#include "findings/pattern.h"
#include "model/interest.h"

namespace blackout {

namespace {

std::string_view baseName(std::string_view path) { return path.substr(path.rfind('/') + 1); }

// Every stack begins in libc, and every event is made by our runtime: to trust them would be to look at nothing.
bool isUnderEverything(std::string_view path) {
  static constexpr std::string_view kNames[] = {"libc.so", "libpthread.so", "ld-linux", "libblackout", "linux-vdso"};
  std::string_view name = baseName(path);
  return std::any_of(std::begin(kNames), std::end(kNames), [&](std::string_view n) { return name.starts_with(n); });
}

bool isListed(const std::vector<std::string>& list, const std::string& text) {
  return std::find(list.begin(), list.end(), text) != list.end();
}

// What the program says between two calls by marks, which have no place.
bool isCallersMark(const Event& e) {
  switch (kindOf(e)) {
    case EventKind::OpBegin:
    case EventKind::OpEnd:
    case EventKind::OpValues:
    case EventKind::RoiBegin:
    case EventKind::RoiEnd:
      return true;
    default:
      return false;
  }
}

// Whether the event may guarantee something, or end what is looked at: where what came before must have been seen.
// Which ones do guarantee something the model knows; here one too many does no harm.
bool mayOrder(const Event& e) {
  switch (groupOf(e)) {
    case EventGroup::Fence:
      return kindOf(e) != EventKind::Lfence;
    case EventGroup::Lock:
    case EventGroup::Sync:
    case EventGroup::File:
      return true;
    case EventGroup::Store:
      return kindOf(e) == EventKind::Rmw;
    case EventGroup::Flush:
      return kindOf(e) == EventKind::Clflush;
    case EventGroup::Mark:
      return kindOf(e) == EventKind::OpBegin || kindOf(e) == EventKind::RoiEnd ||
             kindOf(e) == EventKind::SkipPointsBegin || kindOf(e) == EventKind::Complete;
    case EventGroup::None:
    case EventGroup::Outside:
    case EventGroup::Load:
    case EventGroup::Map:
    case EventGroup::Thread:
    case EventGroup::Control:
    case EventGroup::Table:
    case EventGroup::Trouble:
      break;
  }
  return false;
}

// The call that a thread is in. Events without a place may belong to it or come after it: that is known when the
// next one with a place is seen, and until then their points wait.
struct OpenCall {
  bool open = false;
  std::uint64_t call = 0;
  EventNo first = 0;
  bool wanted = false;  // a crash just before it is
  std::vector<EventNo> waiting;
};

// The points of a trace with trusted calls, while it is read in order.
class Thinning {
 public:
  void inside(EventNo n, ThreadNo thread, std::uint64_t call, bool point) {
    OpenCall& t = threads_[thread];
    if (!t.open || t.call != call) {
      leave(t);
      t = {true, call, n, crashes_.wanted(), {}};
    }
    if (point || !t.waiting.empty()) {
      if (t.wanted) kept_.push_back(t.first);
      unseen_ = true;
    }
    t.waiting.clear();
  }
  void outside(EventNo n, ThreadNo thread, bool point) {
    OpenCall& t = threads_[thread];
    leave(t);
    t = {};
    if (point) keep(n);
  }
  void unknown(EventNo n, ThreadNo thread, bool point) {
    if (!point) return;
    if (OpenCall& t = threads_[thread]; t.open)
      t.waiting.push_back(n);
    else
      keep(n);
  }
  void keep(EventNo n) {
    kept_.push_back(n);
    unseen_ = false;
  }
  // After what was said of it.
  void mark(EventKind kind) {
    if (!crashes_.event(kind)) return;
    // The first region of interest: what was before it is outside.
    kept_.clear();
    unseen_ = true;
    for (auto& [thread, t] : threads_) {
      t.wanted = false;
      t.waiting.clear();
    }
  }
  // A point was moved to before its call, and what the call left has not been seen since.
  bool owesPoint() const { return unseen_ && crashes_.wanted(); }
  std::vector<EventNo> take() {
    for (auto& [thread, t] : threads_) leave(t);
    std::sort(kept_.begin(), kept_.end());
    kept_.erase(std::unique(kept_.begin(), kept_.end()), kept_.end());
    return std::move(kept_);
  }

 private:
  void leave(OpenCall& t) {
    for (EventNo n : t.waiting) keep(n);
    t.waiting.clear();
  }

  std::map<ThreadNo, OpenCall> threads_;
  WantedCrashes crashes_;
  bool unseen_ = false;
  std::vector<EventNo> kept_;
};

}  // namespace

bool Trusted::inside(EventNo n) const { return inside((*trace_)[n]); }

Result<Trusted> Trusted::of(const Trace& trace, const std::vector<std::string>& patterns) {
  Trusted trusted(trace);
  if (auto ok = trusted.choose(patterns); !ok) return tl::unexpected(ok.error());
  if (auto ok = trusted.readSites(); !ok) return tl::unexpected(ok.error());
  trusted.readWheres();
  return trusted;
}

namespace {
constexpr std::string_view kPmdkLibraries[] = {"libpmem.so*",    "libpmem2.so*",   "libpmemobj.so*",
                                               "libpmemlog.so*", "libpmemblk.so*", "libpmempool.so*"};
}  // namespace

bool isPmdkLibrary(std::string_view path) {
  return std::any_of(std::begin(kPmdkLibraries), std::end(kPmdkLibraries),
                     [&](std::string_view library) { return matchesGlob(library, baseName(path)); });
}

Result<std::optional<Trusted>> Trusted::pmdk(const Trace& trace, std::vector<std::string> further) {
  std::vector<std::string> loaded;
  for (std::string_view library : kPmdkLibraries)
    if (std::any_of(trace.modules().begin(), trace.modules().end(),
                    [&](const LoadedModule& m) { return matchesGlob(library, baseName(m.path)); }))
      loaded.emplace_back(library);
  if (loaded.empty()) return std::optional<Trusted>();
  loaded.insert(loaded.end(), std::make_move_iterator(further.begin()), std::make_move_iterator(further.end()));
  auto trusted = of(trace, loaded);
  if (!trusted) return tl::unexpected(trusted.error());
  return std::optional<Trusted>(std::move(*trusted));
}

Result<void> Trusted::choose(const std::vector<std::string>& patterns) {
  std::vector<std::string> loaded;
  for (const LoadedModule& m : trace_->modules())
    if (!isListed(loaded, m.path)) loaded.push_back(m.path);
  for (const std::string& pattern : patterns) {
    bool any = false;
    for (std::size_t i = 0; i < loaded.size(); ++i) {
      const std::string& path = loaded[i];
      // As it was linked: "./libx.so".
      std::string_view wanted = std::string_view(pattern).substr(pattern.starts_with("./") ? 2 : 0);
      if (wanted.empty() || !matchesPath(wanted, path)) continue;
      any = true;
      // The loader lists the program itself first.
      if (i == 0)
        return fail(
            fmt::format("--trust {}: {} is the program itself, which is what is checked; name a library that it uses",
                        pattern, baseName(path)));
      if (isUnderEverything(path))
        return fail(fmt::format("--trust {}: {} is underneath everything that the program does; name another library",
                                pattern, baseName(path)));
      if (!isListed(objects_, path)) objects_.push_back(path);
    }
    if (any) continue;
    std::string names;
    for (std::size_t i = 1; i < loaded.size(); ++i)
      if (!isUnderEverything(loaded[i])) names += fmt::format("{}{}", names.empty() ? "" : ", ", baseName(loaded[i]));
    return fail(fmt::format("--trust {}: the program loaded nothing of that name; {}", pattern,
                            names.empty() ? "it has no libraries that could be trusted" : "there are: " + names));
  }
  return {};
}

Result<void> Trusted::readSites() {
  std::vector<Site> others;
  for (const std::string& path : instrumentedObjects(*trace_)) {
    bool trusted = isListed(objects_, path);
    auto sites = readSiteTable(path);
    if (!sites && trusted)
      return fail(fmt::format("--trust {}: can't determine which code is in it: {}", path, sites.error().sentence));
    if (!sites) continue;
    if (trusted)
      for (const Site& site : *sites) sites_.insert(site.id);
    else
      others.insert(others.end(), sites->begin(), sites->end());
  }
  for (const Site& site : others) sites_.erase(site.id);
  return {};
}

void Trusted::readWheres() {
  std::unordered_map<std::uint64_t, bool> known;
  auto isTrusted = [&](std::uint64_t returnAddress) {
    auto [it, isNew] = known.try_emplace(returnAddress, false);
    if (!isNew) return it->second;
    // The call is the instruction before; an address may have been reused by a later dlopen.
    const LoadedModule* module = nullptr;
    for (const LoadedModule& m : trace_->modules())
      if (returnAddress - 1 >= m.begin && returnAddress - 1 < m.end) module = &m;
    return it->second = module != nullptr && isListed(objects_, module->path);
  };
  callStacks_.resize(std::max<StackId>(trace_->stackEnd(), 1).value());
  for (StackId w = 1; w < callStacks_.endId(); ++w) {
    const CallStack& where = *trace_->callStack(w);
    const Site* site = trace_->site(where.site);
    WhereRow& row = callStacks_[w];
    // Of the outermost function that is trusted, the return address: frames[outer] and what is above it.
    std::size_t outer = 0;
    row.inside = site != nullptr && (site->trapped ? isListed(objects_, site->module) : trustedSite(site->id));
    for (std::size_t i = 0; i < where.frames.size(); ++i)
      if (isTrusted(where.frames[i])) {
        row.inside = true;
        outer = i + 1;
      }
    if (!row.inside) continue;
    row.call = 0xcbf29ce484222325ull;
    for (std::uint64_t address : where.frames.subspan(outer)) row.call = (row.call ^ address) * 0x100000001b3ull;
  }
}

// The points that are enough (docs/semantics.md) rest on one another: where nothing was stored since the last one, a
// later moment shows no state that it has not shown. When one moves to before its call, this no longer holds behind the
// call: what the caller left open, together with what the call made durable, must be seen there. So the first event
// that may order anything behind a call is a point too, or the first event of the next call, or the end.
std::vector<EventNo> Trusted::thin(const std::vector<EventNo>& points) const {
  const Trace& trace = *trace_;
  Thinning thinning;
  auto next = points.begin();
  for (EventNo n = 0; n < trace.end(); n = trace.next(n)) {
    const Event& e = trace[n];
    bool given = next != points.end() && *next == n;
    if (given) ++next;
    bool point = given || (thinning.owesPoint() && mayOrder(e));
    if (given && kindOf(e) == EventKind::ExtraPoint)
      thinning.keep(n);  // asked for in any case
    else if (inside(e))
      thinning.inside(n, threadOf(e), callStacks_[stackOf(e)].call, point);
    else if (e.where == 0 && !isCallersMark(e))
      thinning.unknown(n, threadOf(e), point);
    else
      thinning.outside(n, threadOf(e), point);
    thinning.mark(kindOf(e));
  }
  if (next != points.end() || thinning.owesPoint()) thinning.keep(trace.end());
  return thinning.take();
}

}  // namespace blackout
