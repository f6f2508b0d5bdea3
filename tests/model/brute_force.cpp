#include "brute_force.h"

#include <algorithm>
#include <cstring>
#include <stdexcept>

#include "events/trace.h"

namespace blackout::test {

namespace {

struct WaitingStore {
  unsigned begin = 0;  // offset in the line
  std::string bytes;
  std::vector<bool> live;  // per byte: not zeroed since
  bool nt = false;
  int wide = 0;
};

struct Memory {
  unsigned arrived = 0;  // bit i: store i of the line has reached memory
  LineContent content = LineContent(64, '\0');
  auto operator<=>(const Memory&) const = default;
};

struct Line {
  std::vector<WaitingStore> stores;
  std::set<Memory> memories{Memory{}};
};

struct Promise {
  LineNo line;
  unsigned arrived;
};

struct Thread {
  std::vector<Promise> flushes;
  std::vector<Promise> buffered;        // non-temporal
  bool syncing = false;                 // has called msync or fsync
  std::map<LineNo, unsigned> syncable;  // when the last call began
};

class Machine {
 public:
  Machine(const Trace& trace, const ModelOptions& options, const std::map<LineNo, LineContent>* initial)
      : trace_(trace), options_(options) {
    for (EventNo n = 0; n < trace.end(); n = trace.next(n)) {
      const Event& e = trace[n];
      if (isStore(e) || groupOf(e) == EventGroup::Flush) lines_[LineNo(e.addr / 64)];
      if (initial == nullptr && kindOf(e) == EventKind::FileData) {
        std::string_view bytes = trace.payload(n);
        for (std::size_t i = 0; i < bytes.size(); ++i) initial_[LineNo((e.addr + i) / 64)].resize(64, '\0');
        for (std::size_t i = 0; i < bytes.size(); ++i)
          initial_[LineNo((e.addr + i) / 64)][(e.addr + i) % 64] = bytes[i];
      }
    }
    if (initial != nullptr) initial_ = *initial;
    for (auto& [number, content] : initial_) {
      Memory m;
      m.content = content;
      lines_[number].memories = {m};
    }
    // Files from before are there before their events.
    std::map<FileNo, bool> sized;
    for (EventNo n = 0; n < trace.end(); n = trace.next(n)) {
      const Event& e = trace[n];
      FileNo f = static_cast<FileNo>(e.addr >> 40);
      if (kindOf(e) == EventKind::FileNew) {
        files_[f] = {};
        before_[f] = (e.len & 1) != 0;
        if (before_[f]) files_[f] = {true, 0, std::string(trace.payload(n))};
      } else if (kindOf(e) == EventKind::FileSize && before_[f] && !sized[f]) {
        sized[f] = true;
        files_[f].size = e.value;
        setup_.insert(n);
      }
    }
  }

  std::vector<BruteSnapshot> run() {
    std::vector<BruteSnapshot> out;
    for (EventNo n = 0; n < trace_.end(); n = trace_.next(n)) {
      out.push_back(snapshot(n));
      n = step(n);
      drift();
    }
    out.push_back(snapshot(trace_.end()));
    return out;
  }

 private:
  // Must store a reach memory before store b of the same line?
  bool goesFirst(const WaitingStore& a, const WaitingStore& b) const {
    for (std::size_t i = 0; i < a.bytes.size(); ++i)
      for (std::size_t j = 0; j < b.bytes.size(); ++j)
        if ((a.begin + i) / 8 == (b.begin + j) / 8) return true;
    bool oneWide = a.wide == b.wide;
    if (oneWide && options_.wideOrder == WideOrder::Any) return false;
    bool anyNt = a.nt || b.nt;
    return !(anyNt && options_.ntOrder == NtOrder::Any);
  }

  // All that may move into memory by itself.
  void drift() {
    for (auto& [number, line] : lines_) {
      std::vector<Memory> work(line.memories.begin(), line.memories.end());
      while (!work.empty()) {
        Memory m = work.back();
        work.pop_back();
        for (std::size_t i = 0; i < line.stores.size(); ++i) {
          if ((m.arrived >> i) & 1) continue;
          bool blocked = false;
          for (std::size_t j = 0; j < i; ++j)
            blocked = blocked || (!((m.arrived >> j) & 1) && goesFirst(line.stores[j], line.stores[i]));
          if (blocked) continue;
          Memory next = m;
          next.arrived |= 1U << i;
          const WaitingStore& s = line.stores[i];
          for (std::size_t b = 0; b < s.bytes.size(); ++b)
            if (s.live[b]) next.content[s.begin + b] = s.bytes[b];
          if (line.memories.insert(next).second) work.push_back(next);
        }
      }
    }
  }

  void mustHaveArrived(const Promise& p) {
    std::erase_if(lines_[p.line].memories, [&](const Memory& m) { return (m.arrived & p.arrived) != p.arrived; });
    if (lines_[p.line].memories.empty()) throw std::logic_error("no memory is possible");
  }

  unsigned cached(LineNo number) {
    unsigned bits = 0;
    const Line& line = lines_[number];
    for (std::size_t i = 0; i < line.stores.size(); ++i)
      if (!line.stores[i].nt) bits |= 1U << i;
    return bits;
  }

  void fence(Thread& t) {
    for (const Promise& p : t.flushes) mustHaveArrived(p);
    for (const Promise& p : t.buffered) mustHaveArrived(p);
    t.flushes.clear();
    t.buffered.clear();
  }

  void zero(FileNo f, std::uint64_t begin, std::uint64_t end) {
    for (auto& [number, line] : lines_) {
      if (number.value() / ((std::uint64_t{1} << 40) / 64) != f.value()) continue;
      std::uint64_t at = (number.value() * 64) & ((std::uint64_t{1} << 40) - 1);
      std::set<Memory> memories;
      for (Memory m : line.memories) {
        for (unsigned i = 0; i < 64; ++i)
          if (at + i >= begin && at + i < end) m.content[i] = '\0';
        memories.insert(m);
      }
      line.memories = memories;
      for (WaitingStore& s : line.stores)
        for (std::size_t i = 0; i < s.bytes.size(); ++i)
          if (at + s.begin + i >= begin && at + s.begin + i < end) s.live[i] = false;
    }
  }

  void store(EventNo& n) {
    const Event& e = trace_[n];
    WaitingStore s;
    s.begin = e.addr % 64;
    s.nt = kindOf(e) == EventKind::StoreNt;
    auto take = [&](const Event& piece) {
      s.bytes.append(reinterpret_cast<const char*>(&piece.value), piece.len & 15);
    };
    take(e);
    bool more = (e.len & BLACKOUT_WIDE) != 0;
    if ((e.len & BLACKOUT_JOINED) != 0) {
      ++n;
      take(trace_[n]);
      more = (trace_[n].len & BLACKOUT_WIDE) != 0;
    }
    s.live.assign(s.bytes.size(), true);
    bool partOfWide = more || inWide_;
    if (!inWide_) ++wide_;
    s.wide = wide_;
    inWide_ = more;

    LineNo number(e.addr / 64);
    Line& line = lines_[number];
    unsigned bit = 1U << line.stores.size();
    if (line.stores.size() > 30) throw std::logic_error("too many stores to a line for brute force");
    line.stores.push_back(s);
    if (s.nt) {
      threads_[ThreadNo(e.thread)].buffered.push_back({number, bit});
    } else if (options_.kind == ModelKind::Eadr) {
      if (partOfWide && options_.wideOrder == WideOrder::Any) {
        landing_.push_back({number, bit});
        landed_ = !more;
      } else {
        drift();
        mustHaveArrived({number, bit});
      }
    }
  }

  EventNo step(EventNo n) {
    const Event& e = trace_[n];
    Thread& t = threads_[ThreadNo(e.thread)];
    LineNo line(e.addr / 64);
    FileNo f = static_cast<FileNo>(e.addr >> 40);
    if (landed_) {
      for (const Promise& p : landing_) mustHaveArrived(p);
      landing_.clear();
      landed_ = false;
    }
    switch (kindOf(e)) {
      case EventKind::Rmw:
        if (options_.rmwFences) fence(t);
        store(n);
        break;
      case EventKind::Store:
      case EventKind::StoreNt:
        store(n);
        break;
      case EventKind::Clflush:
        mustHaveArrived({line, cached(line)});
        break;
      case EventKind::Clflushopt:
      case EventKind::Clwb:
        t.flushes.push_back({line, cached(line)});
        break;
      case EventKind::Sfence:
      case EventKind::Mfence:
        fence(t);
        break;
      case EventKind::RmwFence:
        if (options_.rmwFences) fence(t);
        break;
      case EventKind::Lock:
      case EventKind::Unlock:
        if (options_.rmwFences && manyThreads_) fence(t);
        break;
      case EventKind::ThreadCreate:
        manyThreads_ = true;
        break;
      case EventKind::SyncStart:
        t.syncing = true;
        t.syncable = syncableNow(t);
        break;
      case EventKind::Msync:
      case EventKind::Fsync: {
        std::map<LineNo, unsigned> bits = t.syncing ? t.syncable : syncableNow(t);
        for (const auto& [number, arrived] : bits) {
          bool whole = kindOf(e) == EventKind::Fsync && number.value() / ((std::uint64_t{1} << 40) / 64) == f.value();
          bool inside = kindOf(e) == EventKind::Msync && (number.value() + 1) * 64 > e.addr &&
                        number.value() * 64 < e.addr + e.value;
          if (whole || inside) mustHaveArrived({number, arrived});
        }
        break;
      }
      case EventKind::FileNew:
        if (!before_[f]) files_[f] = {true, 0, std::string(trace_.payload(n))};
        break;
      case EventKind::FileSize:
        if (setup_.contains(n)) break;
        if (e.value < files_[f].size) zero(f, e.value, files_[f].size);
        files_[f].size = e.value;
        break;
      case EventKind::FileZero:
        zero(f, e.addr & ((std::uint64_t{1} << 40) - 1), (e.addr & ((std::uint64_t{1} << 40) - 1)) + e.value);
        break;
      case EventKind::FileRename:
        files_[f].path = trace_.payload(n);
        break;
      case EventKind::FileUnlink:
        files_[f].exists = false;
        break;
      default:
        break;
    }
    return n;
  }

  // What a sync by t that begins now makes durable: all cached stores, and its own others.
  std::map<LineNo, unsigned> syncableNow(const Thread& t) {
    std::map<LineNo, unsigned> bits;
    for (auto& [number, line] : lines_) bits[number] = cached(number);
    for (const Promise& p : t.buffered) bits[p.line] |= p.arrived;
    return bits;
  }

  // blackout.h by the letter, from the beginning for every point: marks behind the completion say nothing; a region of
  // interest anywhere makes everything else outside; skipped parts nest, and an end too many is none.
  bool wanted(EventNo point) const {
    bool anyRegion = false;
    bool inside = false;
    int skipped = 0;
    for (EventNo n = 0; n < trace_.end(); n = trace_.next(n)) {
      EventKind k = kindOf(trace_[n]);
      bool before = n < point;
      if (k == EventKind::Complete && before) return false;
      if (k == EventKind::Complete) break;
      if (k == EventKind::RoiBegin) anyRegion = true;
      if (before && (k == EventKind::RoiBegin || k == EventKind::RoiEnd)) inside = k == EventKind::RoiBegin;
      if (before && k == EventKind::SkipPointsBegin) ++skipped;
      if (before && k == EventKind::SkipPointsEnd) skipped = std::max(0, skipped - 1);
    }
    return skipped == 0 && (inside || !anyRegion);
  }

  BruteSnapshot snapshot(EventNo n) const {
    BruteSnapshot s{n, wanted(n), {}, files_};
    for (const auto& [number, line] : lines_)
      for (const Memory& m : line.memories) s.lines[number].insert(m.content);
    return s;
  }

  const Trace& trace_;
  ModelOptions options_;
  std::map<LineNo, Line> lines_;
  std::map<LineNo, LineContent> initial_;
  std::map<ThreadNo, Thread> threads_;
  std::map<FileNo, BruteFile> files_;
  std::map<FileNo, bool> before_;
  std::set<EventNo> setup_;
  std::vector<Promise> landing_;
  bool landed_ = false;
  bool manyThreads_ = false;
  bool inWide_ = false;
  int wide_ = 0;
};

}  // namespace

std::vector<BruteSnapshot> bruteForce(const Trace& trace, const ModelOptions& options,
                                      const std::map<LineNo, LineContent>* initial) {
  return Machine(trace, options, initial).run();
}

}  // namespace blackout::test
