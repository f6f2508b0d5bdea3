#include "judge/cure.h"

#include <algorithm>
#include <cstring>

#include "events/trace.h"
#include "judge/order_judge.h"

namespace blackout {

namespace {

// Whether events come from one of some sites. Asked for every event, so the answer is kept by place.
class FromSites {
 public:
  FromSites(const Trace& trace, const std::set<SiteKey>& sites) : byStack_(trace.stackEnd()) {
    for (StackId w = 1; w < byStack_.endId(); ++w)
      if (const CallStack* stack = trace.callStack(w); stack != nullptr)
        if (const Site* site = trace.site(stack->site)) byStack_[w] = sites.contains({true, site->id}) ? 1 : 0;
  }
  bool operator()(const Event& e) const { return stackOf(e) != 0 && byStack_[stackOf(e)] != 0; }

 private:
  IdVector<StackId, char> byStack_;
};

bool agree(const LineBytes& a, const LineBytes& b, std::uint64_t mask) {
  for (unsigned i = 0; i < BLACKOUT_LINE; ++i)
    if ((mask >> i & 1) != 0 && a[i] != b[i]) return false;
  return true;
}

}  // namespace

std::vector<InsertedEvent> insertedBy(const Cure& cure, const Index& index) {
  const Trace& trace = index.trace();
  FromSites after(trace, cure.after), before(trace, cure.before);
  std::vector<InsertedEvent> out;
  std::set<LineNo> lines;    // of the store that is being made
  std::set<LineNo> pending;  // of stores that something may rely on
  std::optional<ThreadNo> by;
  auto insert = [&](EventNo at, bool early, ThreadNo thread, const std::set<LineNo>& flushed) {
    if (cure.flush)
      for (LineNo line : flushed) out.push_back({at, early, thread, line, false});
    out.push_back({at, early, thread, std::nullopt, true});
  };
  for (EventNo n = 0; n < trace.end(); n = trace.next(n)) {
    const Event& e = trace[n];
    const bool everywhere = cure.put == Cure::Put::Everywhere;
    bool end = everywhere && cure.atOperationEnd && kindOf(e) == EventKind::OpEnd;
    // At the thread's next fence, too, a flush could have been waited for; what comes behind it is another matter.
    bool fence = everywhere && groupOf(e) == EventGroup::Fence && by == threadOf(e);
    bool relies = cure.put != Cure::Put::After && isStore(e) && before(e);
    // A statement there is executed whatever was flushed before.
    if (relies && cure.put == Cure::Put::Before && !cure.flush)
      insert(n, true, threadOf(e), {});
    else if (by && (end || fence || relies)) {
      // A fence completes what its own thread has flushed.
      if (cure.flush || !fence) insert(n, true, cure.flush ? threadOf(e) : *by, pending);
      pending.clear();
      by.reset();
    }
    EventNo first = n;
    bool wanted =
        cure.event ? *cure.event == n : after(e) && (isStore(e) || (!cure.flush && groupOf(e) == EventGroup::Flush));
    bool joined = isStore(e) && (e.len & BLACKOUT_JOINED) != 0;
    if (joined) ++n;
    if (!wanted) continue;
    if (isStore(e)) lines.insert(lineOf(e.addr));
    by = threadOf(e);
    // The pieces of a wide store are one.
    if (isStore(e) && !cure.event && (trace[n].len & BLACKOUT_WIDE) != 0) continue;
    if (cure.put != Cure::Put::Before) insert(first, false, *by, lines);
    pending.insert(lines.begin(), lines.end());
    lines.clear();
  }
  return out;
}

std::optional<Unlogged> unloggedStore(const Index& index, StoreNo store) {
  const Trace& trace = index.trace();
  const EventNo stored = index.stores()[store].event;
  const Event& s = trace[stored];
  // Transactions of the thread that are open at the store, by number: 0 is the thread's own, any other is shared.
  struct Open {
    EventNo begin = 0;
    unsigned depth = 0;
    std::uint64_t logged = 0;  // bytes of the store's line
  };
  std::map<std::uint64_t, Open> open;
  const PmAddr line = addressOf(lineOf(s.addr));
  // What is no transaction's business, its own log above all.
  for (EventNo n = 0; n < trace.end(); n = trace.next(n))
    if (const Event& e = trace[n]; kindOf(e) == EventKind::TxIgnore && s.addr - e.addr < e.value) return std::nullopt;
  auto mine = [&](const Event& e) { return e.addr != 0 || threadOf(e) == threadOf(s); };
  std::optional<std::uint64_t> number;
  for (EventNo n = 0; n < trace.end(); n = trace.next(n)) {
    const Event& e = trace[n];
    if (n == stored) {
      std::uint64_t mask = ((std::uint64_t{1} << bytesOf(s)) - 1) << (s.addr % BLACKOUT_LINE);
      if (open.size() != 1 || (mask & ~open.begin()->second.logged) == 0) return std::nullopt;
      number = open.begin()->first;
    }
    switch (kindOf(e)) {
      case EventKind::TxBegin:
        if (mine(e) && open[e.addr].depth++ == 0) open[e.addr].begin = n;
        break;
      case EventKind::TxEnd: {
        auto ended = open.find(e.addr);
        if (!mine(e) || ended == open.end() || --ended->second.depth != 0) break;
        if (number == e.addr) return Unlogged{ended->second.begin, n};
        open.erase(ended);
        break;
      }
      case EventKind::TxAdd:
      case EventKind::TxRemove: {
        std::uint64_t range[2];  // size and number
        std::memcpy(range, trace.payload(n).data(), sizeof range);
        auto of = open.find(range[1]);
        if (of == open.end() || (range[1] == 0 && threadOf(e) != threadOf(s))) break;
        for (unsigned i = 0; i < BLACKOUT_LINE; ++i)
          if (line + i - e.addr < range[0]) {
            if (kindOf(e) == EventKind::TxAdd)
              of->second.logged |= std::uint64_t{1} << i;
            else
              of->second.logged &= ~(std::uint64_t{1} << i);
          }
        break;
      }
      default:
        break;
    }
  }
  return number ? std::optional(Unlogged{open[*number].begin, kNever}) : std::nullopt;
}

Result<std::shared_ptr<CureTrial::Applied>> CureTrial::apply(const Cure& cure, SpaceNo space) {
  auto indexes = probe_.indexes(space);
  if (!indexes) return tl::unexpected(indexes.error());
  const Index& index = *indexes->back();
  auto cured = withInserted(index, insertedBy(cure, index));
  if (!cured) return tl::unexpected(cured.error());
  const SpaceInfo& info = explorer_.space(space);
  auto applied = std::make_shared<Applied>();
  applied->cure = cure;
  applied->index = std::make_shared<const Index>(std::move(*cured));
  applied->level = info.level;
  applied->through = info.through;
  return applied;
}

const std::vector<LineBytes>& CureTrial::contents(Applied& applied, TrackedNo line, EventNo at) {
  auto [it, fresh] = applied.contents.try_emplace({line, at});
  if (fresh)
    for (const LineVersion& v : applied.index->versionsOf(probe_.tracked().line(line), at).versions)
      it->second.push_back(v.bytes);
  return it->second;
}

// What a restart may answer depends on how far the operations were. So where its answer is what is wrong, it would be
// as wrong at an earlier point only back to the last of their ends and begins, and to the point before.
EventNo CureTrial::sameAnswerSince(SpaceNo space, RecoveryNo recovery) {
  if (!dependsOnOperations(probe_.verdict(space, recovery).key)) return 0;
  const SpaceInfo& info = explorer_.space(space);
  EventNo from = space > 0 && probe_.sameRun(space - 1, space) ? explorer_.space(space - 1).at : EventNo(0);
  auto indexes = probe_.indexes(space);
  if (!indexes) return info.at;
  const Trace& trace = indexes->back()->trace();
  EventNo since = from;
  for (EventNo n = from; n < info.at; n = trace.next(n)) switch (kindOf(trace[n])) {
      case EventKind::OpBegin:
      case EventKind::OpEnd:
      case EventKind::TxBegin:
      case EventKind::TxEnd:
        since = n + 1;
        break;
      default:
        break;
    }
  return since;
}

// A crash may leave what the recovery read at its own point, or earlier: what was lost there is what had not been
// stored yet. So a flush after a store changes nothing for a restart that fails without that store in any case.
std::optional<bool> CureTrial::leaves(Applied& applied, SpaceNo space, RecoveryNo recovery) {
  const SpaceInfo& info = explorer_.space(space);
  if (info.level != applied.level || (info.level > 1 && info.through != applied.through)) return std::nullopt;
  auto [it, fresh] = told_.try_emplace(recovery);
  if (fresh) it->second = explorer_.told(recovery);
  const Told& told = it->second;
  if (info.level > 1) return leavesFurther(*applied.index, space, told);

  const Index& index = *applied.index;
  // Points at which one more of the stores was there that it may have read, up to the crash's own. None is before a
  // change of the files: those are points in their own right.
  std::set<EventNo> points{info.at};
  EventNo from = sameAnswerSince(space, recovery);
  for (const FileChange& change : index.files().changes())
    if (change.event < info.at) from = std::max(from, change.event + 1);
  const CrashSpace& crash = probe_.crashSpace(space);
  std::vector<const ToldLine*> uncertain, settled;
  for (const ToldLine& line : told.lines) {
    const UncertainLine& l = crash.line(line.line);
    if (l.versions.size() == 1) {
      settled.push_back(&line);
      continue;
    }
    uncertain.push_back(&line);
    LineId id = index.lineId(probe_.tracked().line(line.line));
    EventNo earliest = kNever;
    for (const SpaceVersion& v : l.versions) {
      if (!agree(v.bytes, line.bytes, line.mask)) continue;
      EventNo made = 0;
      std::uint32_t last = !v.version.extra.empty() ? v.version.extra.back() + 1 : v.version.prefix;
      if (id != kNoLine && last != 0) made = index.stores()[index.history(id)[last - 1]].event + 1;
      earliest = std::min(earliest, made);
      if (made >= from && made < info.at) points.insert(made);
    }
    // Before that this line can't hold what was read.
    from = std::max(from, earliest == kNever ? info.at : earliest);
  }
  points.insert(from);
  points.erase(points.begin(), points.lower_bound(from));
  constexpr std::size_t kMost = 64;
  if (points.size() > kMost) return true;
  for (EventNo p : points) {
    auto possible = [&](const ToldLine* line) {
      const auto& all = contents(applied, line->line, p);
      return std::any_of(all.begin(), all.end(),
                         [&](const LineBytes& bytes) { return agree(bytes, line->bytes, line->mask); });
    };
    auto stays = [&](const ToldLine* line) {
      LineId id = index.lineId(probe_.tracked().line(line->line));
      return id == kNoLine || index.historyLength(id, p) == index.historyLength(id, info.at);
    };
    auto answered = [&](const std::pair<Query, std::uint64_t>& n) {
      if (n.first.kind != QueryKind::Op) return true;
      auto state = static_cast<std::uint32_t>(index.operations().stateAt(n.first.operation(), p));
      return opReply(state, n.first.mask) == n.second;
    };
    if (std::all_of(told.numbers.begin(), told.numbers.end(), answered) &&
        std::all_of(uncertain.begin(), uncertain.end(), possible) &&
        std::all_of(settled.begin(), settled.end(),
                    [&](const ToldLine* line) { return p == info.at || stays(line) || possible(line); }))
      return true;
  }
  return false;
}

// Of a crash in a restart: whether its own point allows it.
bool CureTrial::leavesFurther(const Index& cured, SpaceNo space, const Told& told) {
  const CrashSpace& crash = probe_.crashSpace(space);
  EventNo at = explorer_.space(space).at;
  return std::all_of(told.lines.begin(), told.lines.end(), [&](const ToldLine& line) {
    const UncertainLine& l = crash.line(line.line);
    LineNo no = probe_.tracked().line(line.line);
    if (l.versions.size() == 1 || cured.lineId(no) == kNoLine) return true;
    return std::any_of(l.versions.begin(), l.versions.end(), [&](const SpaceVersion& v) {
      return agree(v.bytes, line.bytes, line.mask) && cured.isFeasible(no, at, v.version);
    });
  });
}

}  // namespace blackout
