#include "detect/seen_early.h"

#include <algorithm>
#include <map>
#include <memory>
#include <optional>
#include <tuple>
#include <unordered_map>
#include <utility>

#include "detect/by_site.h"
#include "events/trace.h"
#include "model/interest.h"

namespace blackout {

namespace {

// By thread: all its events with smaller numbers come before.
using Clock = std::vector<std::uint32_t>;

void join(Clock& into, const Clock& more) {
  for (std::size_t t = 0; t < into.size(); ++t) into[t] = std::max(into[t], more[t]);
}

// A lock that a thread had for a while.
struct Hold {
  std::uint64_t lock = 0;
  EventNo until = kNever;
  unsigned depth = 1;
};
using HoldNo = std::uint32_t;

// Locks that never two threads have at the same time, and that are given back by whoever has them. Anything else
// (a semaphore, a barrier, a lock for readers) keeps nobody out, but makes threads wait for each other.
class Locks {
 public:
  explicit Locks(const Trace& trace) {
    std::map<std::pair<std::uint64_t, ThreadNo>, unsigned> held;
    std::map<std::uint64_t, unsigned> holders;
    for (EventNo n = 0; n < trace.end(); n = trace.next(n)) {
      const Event& e = trace[n];
      if (groupOf(e) != EventGroup::Lock) continue;
      unsigned& depth = held[{e.addr, threadOf(e)}];
      if (kindOf(e) == EventKind::Lock) {
        if (depth++ == 0 && ++holders[e.addr] > 1) shared_[e.addr] = true;
      } else if (depth == 0) {
        shared_[e.addr] = true;
      } else if (--depth == 0) {
        --holders[e.addr];
      }
    }
  }
  bool exclusive(std::uint64_t lock) const { return !shared_.contains(lock); }

 private:
  std::map<std::uint64_t, bool> shared_;
};

struct Access {
  EventNo at = 0;
  ThreadNo thread = 0;
  StoreNo store = kNoStore;  // of a store
  std::shared_ptr<const Clock> clock;
  std::vector<HoldNo> held;
  SiteKey site;
};

// Of equal accesses to the same bytes by the same thread the first two and the last two are looked at.
constexpr std::size_t kKept = 4;

class Search {
 public:
  Search(const Index& index, const Trusted* trusted)
      : index_(index),
        trace_(index.trace()),
        trusted_(trusted),
        interest_(trace_),
        locks_(trace_),
        threads_(trace_.lastThread().value() + std::size_t{1}),
        clocks_(threads_, std::make_shared<Clock>(threads_, 0)),
        open_(threads_) {}

  std::vector<SeenEarly> candidates() {
    findSharedUnits();
    findThreads();
    changes_ = ChangedBytes(index_);
    for (EventNo n = 0; n < trace_.end(); n = trace_.next(n)) take(n, trace_[n]);
    for (const auto& [unit, accesses] : accesses_) compare(accesses);
    std::vector<SeenEarly> out;
    for (auto& [key, pair] : found_) out.push_back(pair);
    std::sort(out.begin(), out.end(), [](const SeenEarly& a, const SeenEarly& b) {
      auto rank = [](const SeenEarly& p) {
        return std::tuple(!p.seen, p.access < p.store, p.replaces, UINT64_MAX - p.times, p.store, p.access);
      };
      return rank(a) < rank(b);
    });
    return out;
  }

 private:
  static std::uint64_t sizeOf(const Event& e) { return kindOf(e) == EventKind::LoadRange ? e.value : bytesOf(e); }
  static bool accesses(const Event& e) { return isStore(e) || groupOf(e) == EventGroup::Load; }
  template <class Body>
  static void forUnits(const Event& e, Body body) {
    if (sizeOf(e) == 0) return;
    for (std::uint64_t unit = e.addr / 8; unit <= (e.addr + sizeOf(e) - 1) / 8; ++unit) body(unit);
  }

  // Units of 8 bytes that one thread stores to and another one touches.
  void findSharedUnits() {
    struct Users {
      ThreadNo first = 0;
      bool several = false;
    };
    std::unordered_map<std::uint64_t, Users> users;
    for (const StoreRow& row : index_.stores())
      forUnits(trace_[row.event], [&](std::uint64_t unit) { users.try_emplace(unit, threadOf(trace_[row.event])); });
    for (EventNo n = 0; n < trace_.end(); n = trace_.next(n)) {
      const Event& e = trace_[n];
      if (!accesses(e)) continue;
      forUnits(e, [&](std::uint64_t unit) {
        if (auto u = users.find(unit); u != users.end()) u->second.several |= u->second.first != threadOf(e);
      });
    }
    for (const auto& [unit, u] : users)
      if (u.several) accesses_.try_emplace(unit);
  }

  // Which thread of the trace has which number under control.
  void findThreads() {
    for (EventNo n = 0; n < trace_.end(); n = trace_.next(n))
      if (const Event& e = trace_[n]; kindOf(e) == EventKind::Switch) byNumber_[e.value >> 32] = threadOf(e);
  }

  Clock copyOf(ThreadNo t) const { return *clocks_[t.value()]; }
  void set(ThreadNo t, Clock clock) { clocks_[t.value()] = std::make_shared<Clock>(std::move(clock)); }
  // What comes before all that `t` does from here on, told to somebody else.
  Clock told(ThreadNo t, EventNo n) const {
    Clock clock = copyOf(t);
    clock[t.value()] = n.value() + 1;
    return clock;
  }

  void take(EventNo n, const Event& e) {
    ThreadNo t = threadOf(e);
    switch (kindOf(e)) {
      case EventKind::ThreadCreate:
        if (auto made = byNumber_.find(e.value); made != byNumber_.end()) {
          Clock clock = copyOf(made->second);
          join(clock, told(t, n));
          set(made->second, std::move(clock));
        }
        return;
      case EventKind::ThreadJoin:
        if (auto ended = byNumber_.find(e.value); ended != byNumber_.end()) {
          Clock clock = copyOf(t);
          join(clock, told(ended->second, n));
          set(t, std::move(clock));
        }
        return;
      case EventKind::Lock:
        locked(t, e.addr);
        return;
      case EventKind::Unlock:
        unlocked(t, n, e.addr);
        return;
      default:
        if (accesses(e) && interest_.contains(n)) access(n, e);
    }
  }

  void locked(ThreadNo t, std::uint64_t lock) {
    if (!locks_.exclusive(lock)) {
      auto given = given_.find(lock);
      if (given == given_.end()) return;
      Clock clock = copyOf(t);
      join(clock, given->second);
      set(t, std::move(clock));
      return;
    }
    auto& open = open_[t.value()];
    for (HoldNo h : open)
      if (holds_[h].lock == lock) {
        ++holds_[h].depth;
        return;
      }
    open.push_back(static_cast<HoldNo>(holds_.size()));
    holds_.push_back({lock});
  }
  void unlocked(ThreadNo t, EventNo n, std::uint64_t lock) {
    if (!locks_.exclusive(lock)) {
      auto [given, fresh] = given_.try_emplace(lock, threads_, 0);
      join(given->second, told(t, n));
      return;
    }
    auto& open = open_[t.value()];
    for (std::size_t i = 0; i < open.size(); ++i) {
      Hold& hold = holds_[open[i]];
      if (hold.lock != lock) continue;
      if (--hold.depth == 0) {
        hold.until = n;
        open.erase(open.begin() + static_cast<std::ptrdiff_t>(i));
      }
      return;
    }
  }

  void access(EventNo n, const Event& e) {
    ThreadNo t = threadOf(e);
    StoreNo store = isStore(e) ? index_.storeOf(n) : kNoStore;
    std::optional<Access> made;
    forUnits(e, [&](std::uint64_t unit) {
      auto at = accesses_.find(unit);
      if (at == accesses_.end()) return;
      if (!made) made = Access{n, t, store, clocks_[t.value()], open_[t.value()], siteKey(trace_, e)};
      keep(at->second, *made);
    });
  }
  static void keep(std::vector<Access>& list, const Access& access) {
    std::size_t equal = 0;
    Access* last[2] = {nullptr, nullptr};
    for (Access& a : list) {
      if (a.thread != access.thread || a.site != access.site || (a.store == kNoStore) != (access.store == kNoStore))
        continue;
      ++equal;
      last[0] = std::exchange(last[1], &a);
    }
    if (equal < kKept) {
      list.push_back(access);
    } else {
      *last[0] = std::move(*last[1]);
      *last[1] = access;
    }
  }

  void compare(const std::vector<Access>& accesses) {
    for (const Access& s : accesses) {
      if (s.store == kNoStore || changes_[s.store] == 0) continue;
      if (trusted_ != nullptr && trusted_->inside(s.at)) continue;
      for (const Access& a : accesses)
        if (a.thread != s.thread && overlap(s.at, a.at) && mayBeSeen(s, a)) count(s, a);
    }
  }
  bool overlap(EventNo s, EventNo a) const {
    return PmRange::at(trace_[s].addr, sizeOf(trace_[s])).overlaps(PmRange::at(trace_[a].addr, sizeOf(trace_[a])));
  }
  // Whether an event of thread `t` comes before the access in every run.
  static bool before(EventNo n, ThreadNo t, const Access& a) {
    return t == a.thread ? n < a.at : n.value() < (*a.clock)[t.value()];
  }
  EventNo guaranteed(const Access& s) const { return index_.stores()[s.store].guaranteedAt; }
  bool mayBeSeen(const Access& s, const Access& a) const {
    if (before(a.at, a.thread, s)) return false;
    EventNo durable = guaranteed(s);
    if (durable != kNever && before(durable, threadOf(trace_[durable]), a)) return false;
    for (HoldNo h : s.held) {
      if (holds_[h].until <= durable && holds_[h].until != kNever) continue;
      for (HoldNo other : a.held)
        if (holds_[other].lock == holds_[h].lock) return false;
    }
    return true;
  }
  void count(const Access& s, const Access& a) {
    SeenEarly pair{s.at, a.at, s.thread, a.thread, a.store != kNoStore, s.at < a.at && a.at < guaranteed(s), 1};
    auto [known, fresh] = found_.try_emplace({s.site, a.site, pair.replaces}, pair);
    if (fresh) return;
    SeenEarly& best = known->second;
    std::uint64_t times = best.times + 1;
    auto ease = [](const SeenEarly& p) { return std::tuple(!p.seen, p.access < p.store, p.store, p.access); };
    if (ease(pair) < ease(best)) best = pair;
    best.times = times;
  }

  const Index& index_;
  const Trace& trace_;
  const Trusted* trusted_;
  Interest interest_;
  Locks locks_;
  std::size_t threads_;
  std::vector<std::shared_ptr<const Clock>> clocks_;
  std::map<std::uint64_t, Clock> given_;  // with what is no exclusive lock
  std::vector<Hold> holds_;
  std::vector<std::vector<HoldNo>> open_;
  std::map<std::uint64_t, ThreadNo> byNumber_;
  ChangedBytes changes_;
  std::unordered_map<std::uint64_t, std::vector<Access>> accesses_;  // by unit
  std::map<std::tuple<SiteKey, SiteKey, bool>, SeenEarly> found_;
};

}  // namespace

std::vector<SeenEarly> seenEarly(const Index& index, const Trusted* trusted) {
  return Search(index, trusted).candidates();
}

}  // namespace blackout
