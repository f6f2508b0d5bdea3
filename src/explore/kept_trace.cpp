#include "explore/kept_trace.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "events/saved_file.h"
#include "events/trace.h"
#include "events/trace_writer.h"

namespace blackout {

namespace {

// The most that one run's trace may take.
constexpr std::uint64_t kMaxTrace = std::uint64_t{1} << 32;

// The table at the beginning of a recovery's trace: its slots, and how many files it has. A file that isn't there takes
// its number and goes.
struct Table {
  EventNo end = 0;
  FileNo files = 0;
};
Table tableOf(const Trace& trace) {
  Table table;
  while (table.end < trace.end()) {
    const Event& e = trace[table.end];
    bool made = kindOf(e) == EventKind::FileNew;
    if (e.thread != 0 || (!made && kindOf(e) != EventKind::FileSize && kindOf(e) != EventKind::FileUnlink)) break;
    table.files += made ? 1 : 0;
    table.end = trace.next(table.end);
  }
  return table;
}

// The file that an event is about; 0: none.
FileNo touchedBy(const Event& e) {
  switch (groupOf(e)) {
    case EventGroup::Store:
    case EventGroup::Load:
    case EventGroup::Flush:
    case EventGroup::Sync:
    case EventGroup::File:
    case EventGroup::Map:
      return fileOf(e.addr);
    case EventGroup::Outside:
      return kindOf(e) == EventKind::StoreOutside ? fileOf(e.addr) : 0;
    case EventGroup::Mark:
      return kindOf(e) == EventKind::Discard || kindOf(e) == EventKind::Ignore ? fileOf(e.addr) : 0;
    case EventGroup::None:
    case EventGroup::Fence:
    case EventGroup::Lock:
    case EventGroup::Thread:
    case EventGroup::Control:
    case EventGroup::Table:
    case EventGroup::Trouble:
      return 0;
  }
  return 0;
}

}  // namespace

Result<KeptTrace> keepTrace(const std::string& path, std::span<const Query> queries, FileNo files) {
  auto trace = Trace::open(path);
  if (!trace) return tl::unexpected(trace.error());
  Table table = tableOf(*trace);
  std::set<FileNo> touched;
  for (EventNo n = table.end; n < trace->end(); n = trace->next(n)) touched.insert(touchedBy((*trace)[n]));
  KeptTrace kept;
  kept.table = files;
  for (FileNo f : touched)
    if (f <= table.files) kept.table = std::max(kept.table, f);

  TraceWriter writer;
  for (FileNo f = 1; f <= kept.table; ++f) {
    bool there = f <= table.files && trace->files()[f].before && touched.count(f) != 0;
    if (!there) {
      writer.remove(writer.file(fmt::format("/absent/{}", f.value()), 0, false));
      continue;
    }
    EventNo born = trace->files()[f].born;
    writer.file(trace->payload(born), (*trace)[trace->next(born)].value, true);
  }
  std::string bytes = writer.bytes();
  auto begin = static_cast<std::uint32_t>((bytes.size() - BLACKOUT_HEADER_SIZE) / sizeof(Event));
  std::uint32_t own = trace->end() - table.end;  // slots of the run itself
  bytes.append(reinterpret_cast<const char*>(&(*trace)[table.end]), std::size_t{own} * sizeof(Event));
  reinterpret_cast<blackout_trace_header*>(bytes.data())->committed = bytes.size() - BLACKOUT_HEADER_SIZE;
  auto* events = reinterpret_cast<Event*>(bytes.data() + BLACKOUT_HEADER_SIZE);
  for (std::uint32_t n = begin; n < begin + own; n += static_cast<std::uint32_t>(slotsOf(events[n])))
    if (FileNo f = touchedBy(events[n]); f > table.files)
      events[n].addr = pmAddr(kept.table + (f - table.files), offsetOf(events[n].addr));
  auto packed = pack(bytes);
  if (!packed) return tl::unexpected(packed.error());
  kept.packed = std::move(*packed);
  for (const Query& q : queries) {
    if (q.event < table.end || q.event > trace->end())
      return fail("an observation of a recovery is outside of its trace", ExitCode::Internal);
    kept.events.emplace_back(q.event - table.end + begin);
  }
  if (!std::is_sorted(kept.events.begin(), kept.events.end()))
    return fail("the observations of a recovery are out of order", ExitCode::Internal);
  return kept;
}

Result<std::string> traceBytes(const KeptTrace& kept) { return unpack(kept.packed, kMaxTrace); }

}  // namespace blackout
