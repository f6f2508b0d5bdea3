#include "explore/further_crash.h"

#include <algorithm>
#include <cassert>

#include "events/trace.h"

namespace blackout {

namespace {

// The slots of the table of files with which a kept trace begins.
EventNo tableEnd(const Trace& trace, FileNo files) {
  EventNo n = 0;
  while (n < trace.end() && groupOf(trace[n]) == EventGroup::File && trace[n].thread == 0 &&
         fileOf(trace[n].addr) <= files)
    n = trace.next(n);
  return n;
}

LineNo inFile(LineNo line, FileNo f) { return lineOf(pmAddr(f, offsetOf(addressOf(line)))); }

}  // namespace

InterruptedRecovery::InterruptedRecovery() = default;
InterruptedRecovery::~InterruptedRecovery() = default;

Result<std::unique_ptr<InterruptedRecovery>> InterruptedRecovery::open(const KeptTrace& kept, const Baseline& baseline,
                                                                       const NumberOf& numberOf) {
  std::unique_ptr<InterruptedRecovery> r(new InterruptedRecovery);
  auto bytes = traceBytes(kept);
  if (!bytes) return tl::unexpected(bytes.error());
  r->bytes_ = std::move(*bytes);
  auto trace = Trace::fromBytes(std::as_bytes(std::span(r->bytes_)), "the trace of a recovery");
  if (!trace) return tl::unexpected(trace.error());
  r->trace_ = std::make_unique<Trace>(std::move(*trace));
  auto index = baseline.index().like(*r->trace_);
  if (!index) return tl::unexpected(index.error());
  r->index_ = std::make_unique<Index>(std::move(*index));
  r->baseline_ = &baseline;
  r->events_ = kept.events;
  r->table_ = kept.table;
  r->tableEnd_ = tableEnd(*r->trace_, kept.table);

  const FileTimeline& files = r->index_->files();
  if (kept.table > files.last())
    return fail("the trace of a recovery has fewer files than its table", ExitCode::Internal);
  r->numbers_.resize(files.last().value() + 1);
  std::map<std::string, unsigned> made;
  for (FileNo f = 1; f <= files.last(); ++f) {
    FileNo number = f;
    std::string path(files.pathAt(f, 0));
    // What it makes at a path is not what it found there, though an earlier recovery had made that.
    if (f > kept.table) do
        number = numberOf(path, made[path]++);
      while (number != 0 && number <= kept.table && files.existedBefore(number));
    r->numbers_[f] = number;
  }
  for (EventNo n = r->tableEnd_; n < r->trace_->end(); n = r->trace_->next(n))
    if (groupOf((*r->trace_)[n]) == EventGroup::File) {
      r->firstChange_ = n;
      break;
    }
  auto stores = r->index_->stores();
  EventNo first = std::min(stores.empty() ? kNever : stores.front().event, r->firstChange_);
  for (EventNo at : r->index_->points(PointsMode::Enough)) {
    if (first >= at) continue;
    if (r->tellable(at))
      r->points_.push_back({at, r->observedBefore(at)});
    else
      ++r->untellable_;
  }
  return r;
}

bool InterruptedRecovery::tellable(EventNo at) const {
  if (firstChange_ >= at) return true;
  const FileTimeline& files = index_->files();
  auto paths = baseline_->tracked().paths();
  for (const FilesVersion& version : files.versionsAt(at).versions)
    for (const FileState& f : version.files) {
      if (numbers_[f.number] == 0 || f.size > baseline_->largestFile(numbers_[f.number])) return false;
      if (!std::binary_search(paths.begin(), paths.end(), f.path)) return false;
    }
  return true;
}

std::uint32_t InterruptedRecovery::observedBefore(EventNo at) const {
  return static_cast<std::uint32_t>(std::lower_bound(events_.begin(), events_.end(), at) - events_.begin());
}

LineNo InterruptedRecovery::toSpace(LineNo inTrace) const {
  return inFile(inTrace, numbers_[fileOf(addressOf(inTrace))]);
}

LineNo InterruptedRecovery::toTrace(LineNo inSpace) const {
  // From the last: a number that it gave to a file of its own is nobody else's in its trace.
  for (FileNo f = numbers_.endId() - 1; f > 0; --f)
    if (numbers_[f] == fileOf(addressOf(inSpace))) return inFile(inSpace, f);
  return inSpace;
}

void InterruptedRecovery::addTo(TrackedBytes& tracked) const {
  for (const StoreRow& s : index_->stores()) {
    LineNo line = toSpace(index_->lineNo(s.line));
    if (fileOf(addressOf(line)) == 0) continue;
    const Event& e = (*trace_)[s.event];
    std::uint64_t size = (e.len & BLACKOUT_JOINED) != 0 ? 16 : bytesOf(e);
    tracked.add(line, ((std::uint64_t{1} << size) - 1) << (e.addr % BLACKOUT_LINE));
  }
  for (FileNo f = 1; f <= std::min(table_, baseline_->index().files().last()); ++f)
    tracked.addZeroed(baseline_->index().files(), f, index_->files().zeroRanges(f));
}

std::map<TrackedNo, UncertainLine> InterruptedRecovery::changed(const CrashSpace& before, const RecoveryTree& tree,
                                                                std::span<const EdgeNo> path, EventNo at) const {
  const TrackedBytes& tracked = baseline_->tracked();
  // The lines that it stored to or zeroed, and those of which it observed something that was uncertain.
  std::map<TrackedNo, std::vector<EdgeNo>> lines;
  for (EdgeNo e : path.first(observedBefore(at))) {
    NodeNo n = tree.nodeOf(e);
    if (tree.kind(n) != QueryKind::Bytes) continue;
    if (before.line(tree.line(n)).versions.size() > 1) lines[tree.line(n)].push_back(e);
  }
  for (LineId id : idRange<LineId>(index_->lineCount())) {
    if (index_->historyLength(id, at) == 0) continue;
    if (TrackedNo w = tracked.find(toSpace(index_->lineNo(id))); w != TrackedBytes::kNone) lines[w];
  }
  const FileTimeline& files = index_->files();
  for (FileNo f = 1; f <= files.last(); ++f) {
    if (files.zeroRanges(f).empty() || files.zeroRanges(f).front().at >= at) continue;
    for (TrackedNo w : idRange<TrackedNo>(tracked.count()))
      if (fileOf(addressOf(tracked.line(w))) == numbers_[f] && files.zeroedMask(inFile(tracked.line(w), f), 0, at) != 0)
        lines[w];
  }
  std::map<TrackedNo, UncertainLine> out;
  for (const auto& [w, edges] : lines) {
    const UncertainLine& line = before.line(w);
    std::vector<std::uint32_t> left;
    for (std::uint32_t v = 0; v < line.versions.size(); ++v)
      if (std::all_of(edges.begin(), edges.end(), [&](EdgeNo e) { return tree.answers(e, line.versions[v].bytes); }))
        left.push_back(v);
    assert(!left.empty());
    out[w] = lineAfter(line, left, toTrace(tracked.line(w)), at);
  }
  return out;
}

UncertainLine InterruptedRecovery::lineAfter(const UncertainLine& before, std::span<const std::uint32_t> left,
                                             LineNo inTrace, EventNo at) const {
  UncertainLine out;
  out.complete = before.complete;
  std::map<LineBytes, std::uint32_t> seen;
  auto add = [&](const LineBytes& bytes, Version version, std::uint32_t parent) {
    auto [it, fresh] = seen.try_emplace(bytes, static_cast<std::uint32_t>(out.versions.size()));
    if (fresh) out.versions.push_back({bytes, std::move(version), parent});
    return it->second;
  };
  bool known = fileOf(addressOf(inTrace)) <= index_->files().last();  // else it never heard of the file
  auto versionsOver = [&](const LineBytes& under) {
    return known ? index_->versionsOf(inTrace, at, &under) : LineVersions{{{Version{}, under}}, 1, true};
  };
  for (std::uint32_t c : left) {
    LineVersions own = versionsOver(before.versions[c].bytes);
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
  const LineBytes& under = before.versions[c].bytes;
  LineId id = index_->lineId(inTrace);
  if (id == kNoLine) {
    out.newest = add(versionsOver(under).versions.front().bytes, {}, c);
  } else {
    Version all{index_->historyLength(id, at), {}};
    out.newest = add(index_->contentOf(id, at, all, &under), all, c);
  }
  return out;
}

std::optional<UncertainFiles> InterruptedRecovery::files(const CrashSpace& before, const RecoveryTree& tree,
                                                         std::span<const EdgeNo> path, EventNo at) const {
  if (firstChange_ >= at && !before.uncertainFiles()) return std::nullopt;
  const UncertainFiles found = before.files();
  // What agrees with what the recovery asked.
  std::vector<std::uint32_t> left;
  for (std::uint32_t c = 0; c < found.versions.size(); ++c)
    if (std::all_of(path.begin(), path.begin() + observedBefore(at), [&](EdgeNo e) {
          NodeNo n = tree.nodeOf(e);
          if (tree.kind(n) != QueryKind::Path || !before.uncertainFiles()) return true;
          const std::string& asked = baseline_->tracked().paths()[tree.subject(n)];
          return tree.numberOf(e) == replyOf(pathState(found.versions[c].files, asked));
        }))
      left.push_back(c);
  assert(!left.empty());
  // Its own trace tells of the files that it changed. Of the others the trace has what this run happened to find.
  const FileTimeline& own = index_->files();
  IdVector<FileNo, bool> changed(own.last() + 1);
  for (const FileChange& c : own.changes())
    if (c.event >= tableEnd_ && c.event < at) changed[c.file] = true;
  auto unchanged = [&](const FileState& f) { return f.number > table_ || !changed[f.number]; };

  UncertainFiles out;
  out.complete = found.complete;
  auto add = [&](std::uint32_t c, const FilesVersion& d) {
    std::vector<FileState> files;
    std::copy_if(found.versions[c].files.begin(), found.versions[c].files.end(), std::back_inserter(files), unchanged);
    for (const FileState& f : d.files)
      if (changed[f.number]) files.push_back({numbers_[f.number], f.path, f.size});
    std::sort(files.begin(), files.end());
    auto same = [&](const SpaceFiles& v) { return v.files == files; };
    auto it = std::find_if(out.versions.begin(), out.versions.end(), same);
    if (it == out.versions.end()) it = out.versions.insert(it, {std::move(files), d.version, c});
    return static_cast<std::uint32_t>(it - out.versions.begin());
  };
  FilesVersions versions = own.versionsAt(at);
  out.complete = out.complete && versions.complete;
  for (std::uint32_t c : left)
    for (const FilesVersion& d : versions.versions) add(c, d);
  bool newestLeft = std::find(left.begin(), left.end(), found.newest) != left.end();
  out.newest = add(newestLeft ? found.newest : left.back(), versions.versions[versions.newest]);
  return out;
}

}  // namespace blackout
