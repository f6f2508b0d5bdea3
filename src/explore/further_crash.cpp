#include "explore/further_crash.h"

#include <fmt/format.h>

#include <algorithm>
#include <cassert>
#include <set>

#include "events/trace_writer.h"
#include "explore/packed.h"

namespace blackout {

namespace {

// The most that one run's trace may take.
constexpr std::uint64_t kMaxTrace = std::uint64_t{1} << 32;

// The first event that changes a file, as opposed to the table of the files that the crash left. A file of the
// program that the crash did not leave stands there as one that was removed at once.
EventNo firstFileChange(const Trace& trace, FileNo tableFiles) {
  std::set<FileNo> before;
  std::set<FileNo> sized;
  for (EventNo n = 0; n < trace.end(); n = trace.next(n)) {
    const Event& e = trace[n];
    if (groupOf(e) != EventGroup::File) continue;
    FileNo f = fileOf(e.addr);
    if (kindOf(e) == EventKind::FileNew && (e.len & 1) != 0) {
      before.insert(f);
      continue;
    }
    if (before.count(f) == 0 && f <= tableFiles) continue;
    if (before.count(f) != 0 && kindOf(e) == EventKind::FileData) continue;
    if (before.count(f) != 0 && kindOf(e) == EventKind::FileSize && sized.insert(f).second) continue;
    return n;
  }
  return kNever;
}

}  // namespace

namespace {

// The slots that the table of files takes at the beginning of a recovery's trace: one entry per file of the program, by
// number.
EventNo tableEnd(const Trace& trace, FileNo files) {
  EventNo n = 0;
  while (n < trace.end()) {
    const Event& e = trace[n];
    bool entry = kindOf(e) == EventKind::FileNew || kindOf(e) == EventKind::FileSize || kindOf(e) == EventKind::FileUnlink;
    if (!entry || e.thread != 0 || fileOf(e.addr) > files) break;
    n = trace.next(n);
  }
  return n;
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
  EventNo begin = tableEnd(*trace, files);
  std::set<FileNo> touched;
  for (EventNo n = begin; n < trace->end(); n = trace->next(n)) touched.insert(touchedBy((*trace)[n]));
  TraceWriter writer;
  for (FileNo f = 1; f <= files; ++f) {
    // A file that isn't there takes its number and goes.
    bool there = f < trace->files().size() && trace->files()[f].before && touched.count(f) != 0;
    if (!there) {
      writer.remove(writer.file(fmt::format("/absent/{}", f), 0, false));
      continue;
    }
    EventNo born = trace->files()[f].born;
    EventNo sized = trace->next(born);
    writer.file(trace->payload(born), (*trace)[sized].value, true);
  }
  std::string bytes = writer.bytes();
  auto shift = static_cast<std::int64_t>((bytes.size() - BLACKOUT_HEADER_SIZE) / sizeof(Event)) - begin;
  if (begin < trace->end())
    bytes.append(reinterpret_cast<const char*>(&(*trace)[begin]), std::size_t{trace->end() - begin} * sizeof(Event));
  auto& header = *reinterpret_cast<blackout_trace_header*>(bytes.data());
  header.committed = bytes.size() - BLACKOUT_HEADER_SIZE;
  auto packed = pack(bytes);
  if (!packed) return tl::unexpected(packed.error());
  KeptTrace kept{std::move(*packed), {}};
  for (const Query& q : queries) {
    if (q.event < begin || q.event > trace->end())
      return fail("an observation of a recovery is outside of its trace", ExitCode::Internal);
    kept.events.push_back(static_cast<std::uint32_t>(q.event + shift));
  }
  return kept;
}

Result<std::string> traceBytes(const KeptTrace& kept) {
  return unpack(kept.packed, kMaxTrace);
}

Result<std::unique_ptr<InterruptedRecovery>> InterruptedRecovery::open(const KeptTrace& kept,
                                                                       const Baseline& baseline) {
  std::unique_ptr<InterruptedRecovery> r(new InterruptedRecovery);
  auto bytes = traceBytes(kept);
  if (!bytes) return tl::unexpected(bytes.error());
  r->bytes_ = std::move(*bytes);
  auto trace = Trace::fromBytes(std::as_bytes(std::span(r->bytes_)), "the trace of a recovery");
  if (!trace) return tl::unexpected(trace.error());
  r->trace_ = std::make_unique<Trace>(std::move(*trace));
  auto index = Index::build(*r->trace_, baseline.index().options());
  if (!index) return tl::unexpected(index.error());
  r->index_ = std::make_unique<Index>(std::move(*index));
  r->baseline_ = &baseline;
  r->events_ = kept.events;
  if (!std::is_sorted(r->events_.begin(), r->events_.end()))
    return fail("the trace of a recovery: its observations are out of order", ExitCode::Internal);
  EventNo change = firstFileChange(*r->trace_, baseline.index().files().count());
  auto stores = r->index_->stores();
  for (EventNo at : r->index_->points(PointsMode::Enough)) {
    if (stores.empty() || stores.front().event >= at) continue;
    if (change < at)
      ++r->fileChangePoints_;
    else
      r->points_.push_back({at, r->observedBefore(at)});
  }
  return r;
}

std::uint32_t InterruptedRecovery::observedBefore(EventNo at) const {
  return static_cast<std::uint32_t>(std::lower_bound(events_.begin(), events_.end(), at) - events_.begin());
}

void InterruptedRecovery::addTo(Watched& watched) const {
  FileNo known = baseline_->index().files().count();
  for (const StoreRow& s : index_->stores()) {
    LineNo line = index_->lineNo(s.line);
    if (fileOf(addressOf(line)) > known) continue;  // a file of its own: no crash after it is explored
    const Event& e = (*trace_)[s.event];
    bool joined = (e.len & BLACKOUT_JOINED) != 0;
    std::uint64_t size = joined ? 16 : bytesOf(e);
    watched.add(line, ((std::uint64_t{1} << size) - 1) << (e.addr % BLACKOUT_LINE));
  }
}

std::map<WatchedNo, UncertainLine> InterruptedRecovery::changed(const CrashSpace& before, const RecoveryTree& tree,
                                                                std::span<const EdgeNo> path, EventNo at) const {
  // The lines that it stored to, and those of which it observed something that was uncertain.
  std::map<WatchedNo, std::vector<EdgeNo>> lines;
  for (EdgeNo e : path.first(observedBefore(at))) {
    NodeNo n = tree.nodeOf(e);
    if (tree.kind(n) != QueryKind::Bytes) continue;
    if (before.line(tree.subject(n)).versions.size() > 1) lines[tree.subject(n)].push_back(e);
  }
  for (LineId id = 0; id < index_->lineCount(); ++id) {
    if (index_->historyLength(id, at) == 0) continue;
    WatchedNo w = baseline_->watched().find(index_->lineNo(id));
    assert(w != Watched::kNone);
    lines[w];
  }
  std::map<WatchedNo, UncertainLine> out;
  for (const auto& [w, edges] : lines) {
    const UncertainLine& line = before.line(w);
    std::vector<std::uint32_t> left;
    for (std::uint32_t v = 0; v < line.versions.size(); ++v)
      if (std::all_of(edges.begin(), edges.end(),
                      [&](EdgeNo e) { return tree.answers(e, line.versions[v].bytes); }))
        left.push_back(v);
    assert(!left.empty());
    out[w] = lineAfter(line, left, baseline_->watched().line(w), at);
  }
  return out;
}

UncertainLine InterruptedRecovery::lineAfter(const UncertainLine& before, std::span<const std::uint32_t> left,
                                             LineNo line, EventNo at) const {
  UncertainLine out;
  out.complete = before.complete;
  std::map<LineBytes, std::uint32_t> seen;
  auto add = [&](const LineBytes& bytes, Version version, std::uint32_t parent) {
    auto [it, fresh] = seen.try_emplace(bytes, static_cast<std::uint32_t>(out.versions.size()));
    if (fresh) out.versions.push_back({bytes, std::move(version), parent});
    return it->second;
  };
  for (std::uint32_t c : left) {
    LineVersions own = index_->versionsOf(line, at, &before.versions[c].bytes);
    out.complete = out.complete && own.complete;
    for (LineVersion& d : own.versions) {
      if (out.versions.size() >= kVersionLimit) {
        out.complete = false;
        break;
      }
      add(d.bytes, std::move(d.version), c);
    }
  }
  bool newestLeft = std::find(left.begin(), left.end(), before.newest) != left.end();
  std::uint32_t c = newestLeft ? before.newest : left.back();
  LineId id = index_->lineId(line);
  Version all{id == kNoLine ? 0 : index_->historyLength(id, at), {}};
  const LineBytes& under = before.versions[c].bytes;
  out.newest = add(id == kNoLine ? under : index_->contentOf(id, at, all, &under), all, c);
  return out;
}

}  // namespace blackout
