#include "infer/publication.h"

#include <algorithm>
#include <cassert>
#include <map>
#include <unordered_set>
#include <utility>

#include "events/trace.h"
#include "infer/memory_cells.h"
#include "infer/pointer_words.h"
#include "model/operations.h"

namespace blackout {

namespace {

// Tells apart the operations of a trace, and what its threads do between them: equal for two events if they are of one.
// 0 for all events of a trace that marks none. Asked for all events in order.
class Periods {
 public:
  explicit Periods(const Trace& trace) : operations_(trace), current_(trace.lastThread().value() + std::size_t{1}, 0) {}

  std::uint64_t at(EventNo n, const Event& e) {
    if (operations_.empty()) return 0;
    std::uint64_t& current = current_[threadOf(e)];
    if (kindOf(e) == EventKind::OpBegin) current = after(n, threadOf(e));
    if (kindOf(e) == EventKind::OpEnd) current = after(n + 1, threadOf(e));
    return current == 0 ? kBefore | e.thread : current;
  }

 private:
  static constexpr std::uint64_t kBefore = std::uint64_t{1} << 63;  // the thread's first operation

  // The outermost operation that contains the position or came last before it, and which of the two; 0: none did.
  std::uint64_t after(EventNo position, ThreadNo thread) const {
    const Operation* latest = operations_.latest(thread, position);
    if (latest == nullptr) return 0;
    const Operation& outermost = operations_.outermost(*latest);
    return 2 * std::uint64_t{operations_.numberOf(outermost).value()} + (outermost.contains(position) ? 1 : 2);
  }

  Operations operations_;
  IdVector<ThreadNo, std::uint64_t> current_;  // by thread
};

class Publications {
 public:
  explicit Publications(const Trace& trace) : trace_(trace), words_(trace), cells_(trace, words_), periods_(trace) {
    states_.resize(cells_.endId().value());
  }

  std::vector<EventNo> run() {
    words_.restart();
    for (EventNo n = 0; n < trace_.end(); n = trace_.next(n)) {
      const Event& e = trace_[n];
      current_ = periods_.at(n, e);
      if (isStore(e))
        if (CellNo cell = cells_.of(wordOf(e.addr)); !isPublished(cell)) states_[cell].pending.push_back({n, current_});
      for (const PointerChange& change : words_.follow(n)) lead(change);
      if (kindOf(e) == EventKind::Alloc) allocate(words_.mappings().at(e.addr), e.value);
      if (kindOf(e) == EventKind::Free) release(words_.mappings().at(e.addr));
    }
    std::sort(initialising_.begin(), initialising_.end());
    return std::move(initialising_);
  }

 private:
  static constexpr CellNo kNone = MemoryCells::kNone;

  struct Pending {
    EventNo store = 0;
    std::uint64_t period = 0;
  };

  struct State {
    bool published = false;
    CellNo object = kNone;   // while it is published: the first cell of the object that it is part of
    std::uint64_t led = 0;   // of an object's first cell: pointers to the object from published memory outside of it
    CellNo block = kNone;    // the first cell of the allocated block that it is part of
    std::uint64_t held = 0;  // pointers from objects that are being filled
    std::vector<Pending> pending;  // stores since it was last published
  };

  bool isPublished(CellNo cell) const { return cell == kNone || states_[cell].published; }
  CellNo objectOf(CellNo cell) const { return cell == kNone ? kNone : states_[cell].object; }

  // Calls use(word, target) for the pointers in a cell.
  template <class Use>
  void forEachPointer(CellNo cell, Use use) const {
    for (auto at = pointers_.lower_bound(cells_.begin(cell)); at != pointers_.end() && at->first < cells_.end(cell);
         ++at)
      if (cells_.of(at->first) == cell) use(at->first, at->second);
  }

  void lead(const PointerChange& change) {
    const CellNo in = cells_.of(change.word);
    if (change.after == 0)
      pointers_.erase(change.word);
    else
      pointers_[change.word] = change.after;
    if (!isPublished(in)) {
      // Leads nowhere until the object is published. Until then it only says what is an object of its own.
      unhold(change.word, change.before);
      if (change.after != 0) hold(change.word, change.after);
      return;
    }
    // In this order: what the new one leads to often leads to the old one.
    if (change.after != 0) publishAll({{objectOf(in), cells_.of(change.after)}});
    if (change.before != 0) forget(objectOf(in), cells_.of(change.before));
  }

  void hold(PmAddr word, PmAddr target) {
    const CellNo to = cells_.of(target);
    if (to == kNone || to == cells_.of(word)) return;
    if (filling_.insert(word).second) ++states_[to].held;
  }
  void unhold(PmAddr word, PmAddr target) {
    if (filling_.erase(word) != 0) --states_[cells_.of(target)].held;
  }
  void unholdAll(CellNo cell) {
    forEachPointer(cell, [&](PmAddr word, PmAddr target) { unhold(word, target); });
  }

  struct Link {
    CellNo from = kNone;  // object; kNone: memory in no cell
    CellNo to = kNone;    // cell
  };

  // Counts published pointers, and what becomes published by them.
  void publishAll(std::vector<Link> links) {
    while (!links.empty()) {
      const Link link = links.back();
      links.pop_back();
      if (link.to == kNone) continue;
      if (!states_[link.to].published) publish(link.to, links);
      const CellNo object = objectOf(link.to);
      if (object != link.from) ++states_[object].led;
    }
  }

  void publish(CellNo cell, std::vector<Link>& links) {
    CellNo first = cell;
    CellNo end = cell + 1;
    if (const CellNo block = states_[cell].block; block != kNone) {
      first = block;
      while (end < cells_.endId() && states_[end].block == block) ++end;
    } else {
      // The rest of the object, where a pointer leads to its inside at another time: joined, filled at the same time,
      // and nothing that is being filled or published has it for an object of its own.
      while (cells_.joined(end - 1) && !states_[end].published && states_[end].block == kNone &&
             states_[end].held == 0 && !states_[end].pending.empty())
        ++end;
    }
    for (CellNo c = first; c < end; ++c) {
      State& state = states_[c];
      state.published = true;
      state.object = first;
      state.led = 0;
      for (const Pending& p : state.pending)
        if (p.period == current_) initialising_.push_back(p.store);
      state.pending.clear();
      unholdAll(c);
      forEachPointer(c, [&](PmAddr, PmAddr target) { links.push_back({first, cells_.of(target)}); });
    }
  }

  // One published pointer less, and what only it led to.
  void forget(CellNo from, CellNo to) {
    std::vector<Link> links = {{from, to}};
    while (!links.empty()) {
      const Link link = links.back();
      links.pop_back();
      const CellNo object = objectOf(link.to);
      if (link.to == kNone || object == link.from) continue;
      assert(object != kNone && states_[object].led > 0);
      if (--states_[object].led > 0) continue;
      const std::size_t own = links.size();
      CellNo end = object;
      for (; end < cells_.endId() && states_[end].object == object; ++end)
        forEachPointer(end, [&](PmAddr, PmAddr target) { links.push_back({object, cells_.of(target)}); });
      // Pointers to itself go with it.
      links.erase(std::remove_if(links.begin() + static_cast<std::ptrdiff_t>(own), links.end(),
                                 [&](const Link& l) { return objectOf(l.to) == object; }),
                  links.end());
      for (CellNo c = object; c < end; ++c) {
        states_[c].published = false;
        states_[c].object = kNone;
      }
    }
  }

  void allocate(PmAddr begin, std::uint64_t size) {
    const CellNo first = begin == 0 ? kNone : cells_.of(wordOf(begin));
    if (first == kNone) return;
    CellNo end = first;
    for (; end < cells_.endId() && cells_.begin(end) < begin + size; ++end)
      if (states_[end].published) return;  // something leads there still
    for (CellNo c = first; c < end; ++c) {
      unholdAll(c);
      states_[c].pending.clear();
      states_[c].block = first;
    }
  }

  void release(PmAddr begin) {
    const CellNo first = begin == 0 ? kNone : cells_.of(wordOf(begin));
    if (first == kNone || states_[first].block != first) return;
    for (CellNo c = first; c < cells_.endId() && states_[c].block == first; ++c) {
      states_[c].block = kNone;
      if (states_[c].published) continue;
      unholdAll(c);
      states_[c].pending.clear();
    }
  }

  const Trace& trace_;
  PointerWords words_;
  MemoryCells cells_;
  Periods periods_;
  std::uint64_t current_ = 0;  // period
  IdVector<CellNo, State> states_;
  std::map<PmAddr, PmAddr> pointers_;   // target by word; an event that changes several is applied one by one
  std::unordered_set<PmAddr> filling_;  // words with a pointer that was stored since their object was last published
  std::vector<EventNo> initialising_;
};

}  // namespace

std::vector<EventNo> initialisingStores(const Trace& trace) { return Publications(trace).run(); }

}  // namespace blackout
