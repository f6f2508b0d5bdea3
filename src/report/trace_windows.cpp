#include "report/trace_windows.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <tuple>
#include <utility>

#include "binary/byte_names.h"
#include "binary/symbolizer.h"
#include "events/trace.h"
#include "model/cursor.h"
#include "report/sentence_words.h"
#include "report/sentences.h"
#include "report/trace_text.h"

namespace blackout {

namespace {

// Points that are shown of a finding: before its crash, and from it on.
constexpr std::size_t kPointsBefore = 16, kPointsAfter = 8;
// At a point: lines, and of each the stores that may be lost.
constexpr std::size_t kMostLines = 16, kMostOpen = 32;

// The events of the recorded run that a finding names, and the lines of persistent memory.
struct Named {
  std::set<EventNo> events;
  std::set<LineNo> lines;
  std::optional<EventNo> crash;  // before it
};

class Naming {
 public:
  explicit Naming(const Index& index) : index_(index) {}

  Named of(const Finding& f) {
    named_ = {};
    std::visit(*this, static_cast<const Claims&>(f.claim));
    if (f.shownBy)
      for (const SeenCrash& c : f.shownBy->crashes) {
        if (c.level == 1) crash(c.event);
        for (const SeenStore& s : c.lost) add(s);
      }
    if (!named_.crash && f.crashState && !f.crashState->empty()) crash(f.crashState->front().at);
    return std::move(named_);
  }

  void operator()(const CrashCause& c) {
    add(c.first);
    add(c.second);
    for (const SeenStore& s : c.others) add(s);
    if (c.promised) add(c.promised->event);
    if (c.flush && c.flush->level == 1) add(c.flush->event);
  }
  void operator()(const BadReadClaim& c) {
    add(c.writer);
    add(c.commit);
    add(c.commitBefore);
  }
  void operator()(const NotDurable& c) { add(c.store); }
  void operator()(const Replaced& c) {
    add(c.store);
    add(c.by);
  }
  void operator()(const NotLogged& c) { add(c.store); }
  void operator()(const OtherSide& c) { add(c.store); }
  void operator()(const BrokenMechanism& c) {
    add(c.first);
    add(c.second);
  }
  // These name no event.
  void operator()(const PlainClaim&) {}
  void operator()(const StoredPastTheEnd&) {}
  void operator()(const LoggedBefore&) {}
  void operator()(const LoggedInVain&) {}
  void operator()(const InterruptedCreation&) {}

 private:
  void add(EventNo n) {
    if (n < index_.trace().end()) named_.events.insert(n);
  }
  void crash(EventNo n) {
    named_.crash = n;
    if (index_.trace().end() != 0) named_.events.insert(std::min(n, index_.trace().end() - 1));
  }
  void add(const SeenStore& s) {
    if (s.level != 1) return;
    add(s.event);
    if (StoreNo store = index_.storeOf(s.event); store != kNoStore)
      named_.lines.insert(index_.lineNo(index_.stores()[store].line));
  }
  void add(const std::optional<SeenStore>& s) {
    if (s) add(*s);
  }

  const Index& index_;
  Named named_;
};

// What events are in the words of the program.
class EventWords {
 public:
  EventWords(const Index& index, SeenTrace& into)
      : index_(index), names_(index), printer_(index.trace()), into_(into) {}

  SeenEvent of(EventNo n) {
    const Trace& trace = index_.trace();
    const Event& e = trace[n];
    SeenEvent seen{n, threadOf(e), std::string(nameOf(kindOf(e))), whatOf(n), 0, 0};
    auto [known, isNew] = places_.try_emplace(stackOf(e), 0);
    if (isNew)
      if (Frame at = frameAt(trace, stackOf(e)); !at.file.empty()) known->second = numberOf(std::move(at));
    seen.at = known->second;
    return seen;
  }

 private:
  std::uint32_t numberOf(Frame at) {
    auto [known, isNew] =
        lines_.try_emplace({at.file, at.line, at.column, at.function}, static_cast<std::uint32_t>(lines_.size() + 1));
    if (isNew) into_.places.push_back(std::move(at));
    return known->second;
  }

  std::string whatOf(EventNo n) const {
    const Event& e = index_.trace()[n];
    if (groupOf(e) == EventGroup::Store) {
      // The second half of a store has nothing to say by itself.
      StoreNo store = index_.storeOf(n);
      if (store == kNoStore || index_.stores()[store].event != n) return printer_.body(n);
      NamedBytes bytes = names_.ofStore(store);
      std::string text =
          fmt::format("{} = {}", bytes.type.empty() ? bytesText(bytes) : bytes.type, valueText(bytes.after));
      if (!bytes.before.empty() && bytes.before != bytes.after)
        text += fmt::format(" (was {})", valueText(bytes.before));
      return text;
    }
    if (groupOf(e) == EventGroup::Flush) {
      NamedBytes line = names_.of(n);
      return fmt::format("the line at offset {:#x} of {}", line.offset, baseName(line.file));
    }
    // Addresses in memory and numbers of processes differ from run to run, and a report does not.
    switch (kindOf(e)) {
      case EventKind::Request:
      case EventKind::TxBegin:
      case EventKind::TxEnd:
      case EventKind::TxAdd:
      case EventKind::TxRemove:
        return {};
      case EventKind::End:
        return printer_.body(n);
      default:
        break;
    }
    EventGroup g = groupOf(e);
    bool same = g == EventGroup::Load || g == EventGroup::Sync || g == EventGroup::File || g == EventGroup::Mark;
    return same ? printer_.body(n) : std::string();
  }

  const Index& index_;
  ByteNames names_;
  EventPrinter printer_;
  SeenTrace& into_;
  std::map<StackId, std::uint32_t> places_;
  std::map<std::tuple<std::string, std::uint32_t, std::uint32_t, std::string>, std::uint32_t> lines_;
};

// How many events before and from an event on are shown. What led to a finding says more than what came after it.
struct Window {
  std::uint64_t before = 0, from = 1;
};

// Twice over the trace: which events are wanted, by their number among all, and then what they are.
void takeEvents(const Index& index, const std::map<EventNo, Window>& windows, SeenTrace& into) {
  const Trace& trace = index.trace();
  std::vector<std::pair<std::uint64_t, std::uint64_t>> wanted;  // from, to
  auto window = windows.begin();
  for (EventNo n = 0; n < trace.end(); n = trace.next(n)) {
    for (; window != windows.end() && window->first < trace.next(n); ++window)
      wanted.emplace_back(into.total - std::min(into.total, window->second.before), into.total + window->second.from);
    if (groupOf(trace[n]) != EventGroup::Table) ++into.total;
  }
  std::sort(wanted.begin(), wanted.end());
  EventWords words(index, into);
  std::uint64_t number = 0, skipped = 0, end = 0;
  auto next = wanted.begin();
  for (EventNo n = 0; n < trace.end(); n = trace.next(n)) {
    if (groupOf(trace[n]) == EventGroup::Table) continue;
    for (; next != wanted.end() && next->first <= number; ++next) end = std::max(end, next->second);
    if (number++ >= end) {
      ++skipped;
      continue;
    }
    into.events.push_back(words.of(n));
    into.events.back().skipped = std::exchange(skipped, 0);
  }
}

void takeOperations(const Operations& operations, SeenTrace& into) {
  if (into.events.empty()) return;
  for (OperationNo n : idRange<OperationNo>(operations.count())) {
    const Operation& o = operations[n];
    auto first = std::lower_bound(into.events.begin(), into.events.end(), o.begin,
                                  [](const SeenEvent& e, EventNo at) { return e.event < at; });
    if (first == into.events.end() || first->event > o.end) continue;
    SeenOperation seen{o.thread, std::string(o.name), operations.arguments(n), operations.results(n), o.begin, {},
                       o.depth};
    if (o.end != kNever) seen.end = o.end;
    into.operations.push_back(std::move(seen));
  }
}

SeenLine lineAt(const Index& index, const Cursor& cursor, LineNo line) {
  SeenLine seen;
  LineId id = index.lineId(line);
  const Trace& trace = index.trace();
  PmAddr addr = addressOf(line);
  if (trace.files().has(fileOf(addr))) seen.file = trace.files()[fileOf(addr)].path;
  seen.offset = offsetOf(addr);
  std::uint32_t length = index.historyLength(id, cursor.at());
  Version least = index.leastVersion(id, cursor.at());
  seen.stores = length;
  seen.guaranteed = least.prefix + least.extra.size();
  for (const LineStore& s : index.openStores(id, cursor.at(), least.prefix, length)) {
    if (seen.open.size() == kMostOpen) break;
    seen.open.push_back(index.stores()[s.store].event);
  }
  LineVersions versions = cursor.versions(line);
  seen.sets = versions.downSets;
  seen.all = versions.complete;
  return seen;
}

// One walk over the points of all findings.
void takePoints(const Index& index, const std::map<EventNo, std::set<LineNo>>& wanted, SeenTrace& into) {
  Cursor cursor(index);
  for (const auto& [point, named] : wanted) {
    cursor.moveTo(point);
    SeenPoint seen;
    seen.event = point;
    std::vector<LineNo> open = cursor.openLines();
    seen.uncertain = open.size();
    seen.log10Sets = cursor.log10States();
    std::set<LineNo> lines;
    for (LineNo line : named)
      if (lines.size() < kMostLines && index.historyLength(index.lineId(line), point) != 0) lines.insert(line);
    for (LineNo line : open)
      if (lines.size() < kMostLines) lines.insert(line);
    for (LineNo line : lines) seen.lines.push_back(lineAt(index, cursor, line));
    into.points.push_back(std::move(seen));
  }
}

}  // namespace

void addTraceWindows(Report& report, const Index& index, std::uint64_t most) {
  if (most == 0) return;
  std::map<EventNo, Window> windows;
  std::map<EventNo, std::set<LineNo>> points;
  std::vector<EventNo> all = index.points(PointsMode::Enough);
  Naming naming(index);
  SeenTrace seen;
  for (Finding& f : report.findings) {
    Named named = naming.of(f);
    if (named.events.empty()) continue;
    f.trace = static_cast<std::uint32_t>(report.traces.size() + 1);
    // What names the crash gets half of them: the others are often near it, and windows overlap.
    EventNo main = named.crash ? std::min(*named.crash, index.trace().end() - 1) : *named.events.begin();
    std::uint64_t left = most, others = named.events.size() - 1;
    std::uint64_t half = others == 0 ? most : most - most / 2;
    auto give = [&](EventNo n, std::uint64_t room) {
      room = std::min(std::max<std::uint64_t>(room, 1), left);
      if (room == 0) return;
      left -= room;
      Window& window = windows[n];
      window.before = std::max(window.before, (room - 1) - (room - 1) / 4);
      window.from = std::max(window.from, (room - 1) / 4 + 1);
    };
    give(main, half);
    for (EventNo n : named.events)
      if (n != main) give(n, (most - half) / others);
    if (!named.crash) continue;
    auto at = std::lower_bound(all.begin(), all.end(), *named.crash);
    auto first = at - std::min<std::ptrdiff_t>(at - all.begin(), kPointsBefore);
    auto last = at + std::min<std::ptrdiff_t>(all.end() - at, kPointsAfter);
    for (auto p = first; p != last; ++p) points[*p].insert(named.lines.begin(), named.lines.end());
    // The crash may come elsewhere: after a restart that asked for it, or at a point of another choice.
    points[*named.crash].insert(named.lines.begin(), named.lines.end());
  }
  if (windows.empty()) return;
  takeEvents(index, windows, seen);
  takeOperations(index.operations(), seen);
  takePoints(index, points, seen);
  report.traces.push_back(std::move(seen));
}

}  // namespace blackout
