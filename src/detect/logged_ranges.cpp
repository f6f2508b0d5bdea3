#include "detect/logged_ranges.h"

#include <algorithm>
#include <map>
#include <optional>
#include <utility>

#include "events/trace.h"

namespace blackout {

namespace {

struct Bytes {
  PmAddr begin = 0;
  PmAddr end = 0;
};

// Disjoint ranges, each with the number of the tx-add that logged it.
class Owners {
 public:
  // Calls take(begin, end, owner) for what there is inside the range, in order; gaps are kNobody's.
  template <class Take>
  void each(Bytes range, Take take) const {
    PmAddr at = range.begin;
    for (auto it = firstAfter(range.begin); it != parts_.end() && it->first < range.end; ++it) {
      PmAddr from = std::max(it->first, range.begin);
      PmAddr to = std::min(it->second.end, range.end);
      if (at < from) take(at, from, kNobody);
      take(from, to, it->second.owner);
      at = to;
    }
    if (at < range.end) take(at, range.end, kNobody);
  }
  bool empty() const { return parts_.empty(); }
  // Whether these ranges, in order, cover all there is.
  bool within(const std::vector<Bytes>& ranges) const {
    auto range = ranges.begin();
    for (const auto& [begin, part] : parts_)
      for (PmAddr at = begin; at < part.end; at = range->end) {
        while (range != ranges.end() && range->end <= at) ++range;
        if (range == ranges.end() || range->begin > at) return false;
      }
    return true;
  }
  // The range must be free.
  void insert(Bytes range, std::size_t owner) { parts_[range.begin] = {range.end, owner}; }
  void erase(Bytes range) {
    for (auto it = firstAfter(range.begin); it != parts_.end() && it->first < range.end;) {
      auto [begin, part] = *it;
      it = parts_.erase(it);
      if (begin < range.begin) parts_[begin] = {range.begin, part.owner};
      if (part.end > range.end) it = parts_.emplace(range.end, Part{part.end, part.owner}).first;
    }
  }

  static constexpr std::size_t kNobody = ~std::size_t{0};

 private:
  struct Part {
    PmAddr end = 0;
    std::size_t owner = 0;
  };
  using Parts = std::map<PmAddr, Part>;
  // The first part that ends behind the address.
  Parts::const_iterator firstAfter(PmAddr at) const {
    auto it = parts_.upper_bound(at);
    return it != parts_.begin() && std::prev(it)->second.end > at ? std::prev(it) : it;
  }
  Parts::iterator firstAfter(PmAddr at) {
    auto it = parts_.upper_bound(at);
    return it != parts_.begin() && std::prev(it)->second.end > at ? std::prev(it) : it;
  }

  Parts parts_;
};

struct Transaction {
  std::size_t number = 0;
  unsigned depth = 0;
  std::vector<std::size_t> added;  // numbers of its ranges
  Owners logged;
  Owners written;                 // what was stored of the logged bytes; the owner says nothing
  Owners early;                   // what was stored though it was not logged, with the first such store's number
  std::vector<ThreadNo> threads;  // that began it
  // Removed, if the transaction goes on: libpmemobj takes everything out of it when it commits, just before the end.
  std::vector<Bytes> removed;
  std::size_t judged = 0;  // of `added`: what became of them is known
};

// None: of no bytes.
std::optional<Bytes> rangeOf(const Event& e, std::uint64_t size) {
  if (size == 0) return std::nullopt;
  return Bytes{e.addr, e.addr + size};
}

struct AddOrRemove {
  Bytes range;
  std::uint64_t transaction = 0;
};
std::optional<AddOrRemove> addOrRemove(const Trace& trace, EventNo n) {
  auto [size, transaction] = trace.range(n);
  auto range = rangeOf(trace[n], size);
  if (!range) return std::nullopt;
  return AddOrRemove{*range, transaction};
}

class TransactionReplay {
 public:
  explicit TransactionReplay(const Trace& trace) : trace_(trace) {}

  LoggedRanges run() {
    bool any = false;
    for (EventNo n = 0; n < trace_.end(); n = trace_.next(n)) {
      any = any || kindOf(trace_[n]) == EventKind::TxBegin;
      adds_ = adds_ || kindOf(trace_[n]) == EventKind::TxAdd;
      if (kindOf(trace_[n]) == EventKind::TxIgnore)
        if (auto range = rangeOf(trace_[n], trace_[n].value)) ignore(*range);
    }
    if (!any) return {};
    for (EventNo n = 0; n < trace_.end(); n = trace_.next(n)) event(n, trace_[n]);
    // What the trace leaves open says nothing of what is unused, but what was written was.
    for (auto& [key, transaction] : open_) close(transaction, 0);
    return std::move(out_);
  }

 private:
  // Thread and 0, or 0 and the transaction's number.
  using Key = std::pair<ThreadNo, std::uint64_t>;
  static Key keyOf(const Event& e, std::uint64_t number) { return {number == 0 ? threadOf(e) : ThreadNo{0}, number}; }

  void ignore(Bytes range) {
    ignored_.erase(range);
    ignored_.insert(range, 0);
  }

  void event(EventNo n, const Event& e) {
    if (isStore(e)) {
      Bytes range{e.addr, e.addr + bytesOf(e)};
      for (auto& [key, transaction] : open_) store(transaction, range);
      if (adds_) unlogged(n, threadOf(e), range);
      return;
    }
    switch (kindOf(e)) {
      case EventKind::TxBegin: {
        auto [it, isNew] = open_.try_emplace(keyOf(e, e.addr));
        if (isNew) {
          it->second.number = out_.effective.size();
          out_.effective.push_back(false);
          out_.transactions.push_back({n, 0});
        }
        it->second.threads.push_back(threadOf(e));
        ++it->second.depth;
        break;
      }
      case EventKind::TxEnd:
        if (auto it = open_.find(keyOf(e, e.addr)); it != open_.end() && --it->second.depth == 0) {
          close(it->second, n);
          open_.erase(it);
        }
        break;
      case EventKind::TxAdd:
      case EventKind::TxRemove:
        if (auto what = addOrRemove(trace_, n))
          if (auto it = open_.find(keyOf(e, what->transaction)); it != open_.end()) {
            if (kindOf(e) == EventKind::TxAdd)
              add(it->second, n, what->range);
            else
              it->second.removed.push_back(what->range);
          }
        break;
      default:
        break;
    }
  }

  void add(Transaction& t, EventNo n, Bytes range) {
    settle(t);
    std::size_t number = out_.ranges.size();
    LoggedRange row{.at = n, .begin = range.begin, .end = range.end, .transaction = t.number};
    std::vector<Bytes> fresh;
    ignored_.each(range, [&](PmAddr from, PmAddr to, std::size_t ignored) {
      if (ignored != Owners::kNobody) return;
      row.bytes += to - from;
      t.logged.each({from, to}, [&](PmAddr b, PmAddr e, std::size_t owner) {
        if (owner == Owners::kNobody)
          fresh.push_back({b, e});
        else
          out_.again.push_back({n, out_.ranges[owner].at, b, e});
      });
    });
    for (Bytes b : fresh) {
      t.logged.insert(b, number);
      t.early.each(b, [&](PmAddr, PmAddr, std::size_t stored) {
        if (stored != Owners::kNobody && out_.unlogged[stored].addedAt == 0) out_.unlogged[stored].addedAt = n;
      });
    }
    out_.bytes += row.bytes;
    t.added.push_back(number);
    out_.ranges.push_back(row);
  }

  // The transaction goes on after ranges were taken out of it. If that was all of them, after it had done its work, it
  // is libpmemobj that commits: what it adds from here on are entries of its lanes, and the program's ranges are what
  // they were. Otherwise the program has given these ranges up.
  void settle(Transaction& t) {
    if (t.removed.empty()) return;
    std::sort(t.removed.begin(), t.removed.end(), [](Bytes a, Bytes b) { return a.begin < b.begin; });
    if (!t.written.empty() && t.logged.within(t.removed)) {
      judge(t);
      t.written = {};
    }
    for (Bytes b : t.removed) t.logged.erase(b);
    t.removed.clear();
  }

  void store(Transaction& t, Bytes range) {
    std::vector<Bytes> hit;
    auto look = [&] {
      hit.clear();
      t.logged.each(range, [&](PmAddr from, PmAddr to, std::size_t owner) {
        if (owner != Owners::kNobody) hit.push_back({from, to});
      });
    };
    look();
    if (!hit.empty() && !t.removed.empty()) {
      settle(t);
      look();
    }
    for (Bytes b : hit) {
      t.written.erase(b);
      t.written.insert(b, 0);
    }
  }

  // What none of the transactions that the thread is in has logged.
  void unlogged(EventNo n, ThreadNo thread, Bytes range) {
    std::vector<Transaction*> in;
    for (auto& [key, t] : open_)
      if (std::find(t.threads.begin(), t.threads.end(), thread) != t.threads.end()) in.push_back(&t);
    if (in.empty()) return;
    std::vector<Bytes> left;
    ignored_.each(range, [&](PmAddr from, PmAddr to, std::size_t ignored) {
      if (ignored == Owners::kNobody) left.push_back({from, to});
    });
    for (const Transaction* t : in) {
      std::vector<Bytes> more;
      for (Bytes b : left)
        t->logged.each(b, [&](PmAddr from, PmAddr to, std::size_t owner) {
          if (owner == Owners::kNobody) more.push_back({from, to});
        });
      left = std::move(more);
    }
    for (Bytes b : left) {
      std::size_t number = out_.unlogged.size();
      out_.unlogged.push_back({n, b.begin, b.end, in.front()->number, 0});
      for (Transaction* t : in) {
        std::vector<Bytes> fresh;
        t->early.each(b, [&](PmAddr from, PmAddr to, std::size_t stored) {
          if (stored == Owners::kNobody) fresh.push_back({from, to});
        });
        for (Bytes f : fresh) t->early.insert(f, number);
      }
    }
  }

  void close(Transaction& t, EventNo end) {
    out_.transactions[t.number].end = end;
    judge(t);
    for (std::size_t number : t.added) out_.ranges[number].endedAt = end;
  }

  // What became of the ranges that were added since the last time.
  void judge(Transaction& t) {
    for (; t.judged < t.added.size(); ++t.judged) {
      std::size_t number = t.added[t.judged];
      LoggedRange& row = out_.ranges[number];
      // An object may be added whole after a part of it was: a store to that part is one to both.
      t.written.each({row.begin, row.end},
                     [&](PmAddr, PmAddr, std::size_t owner) { row.written |= owner != Owners::kNobody; });
      t.logged.each({row.begin, row.end}, [&](PmAddr from, PmAddr to, std::size_t owner) {
        if (owner == number) row.fresh += to - from;
      });
      if (row.written) out_.effective[t.number] = true;
    }
  }

  const Trace& trace_;
  bool adds_ = false;  // some range is added somewhere
  Owners ignored_;
  std::map<Key, Transaction> open_;
  LoggedRanges out_;
};

}  // namespace

LoggedRanges loggedRanges(const Trace& trace) { return TransactionReplay(trace).run(); }

}  // namespace blackout
