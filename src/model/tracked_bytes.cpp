#include "model/tracked_bytes.h"

#include <algorithm>
#include <cassert>
#include <map>
#include <set>

#include "events/trace.h"
#include "model/cursor.h"

namespace blackout {

namespace {

// Of one range that was given up, at most: a pool that is emptied as a whole is not read byte by byte.
constexpr std::uint64_t kMostGivenUp = std::uint64_t{1} << 20;

std::uint64_t maskOf(unsigned at, unsigned size) {
  return (size >= 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << size) - 1) << at;
}

}  // namespace

TrackedBytes TrackedBytes::of(const Index& index) {
  TrackedBytes w;
  const Trace& trace = index.trace();
  std::set<std::string> paths;
  for (EventNo n = 0; n < trace.end(); n = trace.next(n)) {
    const Event& e = trace[n];
    if (isStore(e)) {
      w.add(lineOf(e.addr), maskOf(static_cast<unsigned>(e.addr % BLACKOUT_LINE), bytesOf(e)));
    } else if (kindOf(e) == EventKind::Discard && e.len == 0) {
      // A restart that reads what was given up, or allocated and not yet written, reads what is nobody's.
      w.addRange(e.addr, std::min<std::uint64_t>(e.value, kMostGivenUp));
    } else if (kindOf(e) == EventKind::FileNew || kindOf(e) == EventKind::FileRename) {
      paths.emplace(trace.payload(n));
    }
  }
  w.operations_ = index.operations().count();
  for (FileNo f = 1; f <= index.files().last(); ++f) w.addZeroed(index.files(), f, index.files().zeroRanges(f));
  w.paths_.assign(paths.begin(), paths.end());
  return w;
}

void TrackedBytes::addRange(PmAddr addr, std::uint64_t size) {
  for (PmAddr from = addr, next; from < addr + size; from = next) {
    next = std::min<PmAddr>(addr + size, (from / BLACKOUT_LINE + 1) * BLACKOUT_LINE);
    add(lineOf(from), maskOf(from % BLACKOUT_LINE, static_cast<unsigned>(next - from)));
  }
}

TrackedNo TrackedBytes::add(LineNo line, std::uint64_t mask) {
  auto [it, fresh] = numbers_.try_emplace(line, lines_.endId());
  if (fresh) {
    lines_.push_back(line);
    masks_.push_back(0);
  }
  masks_[it->second] |= mask;
  return it->second;
}

void TrackedBytes::addZeroed(const FileTimeline& files, FileNo f, std::span<const ZeroRange> zeroings) {
  if (zeroings.empty()) return;
  SparseBytes before;
  files.initialBytes(f, before);
  for (std::uint64_t page : before.pages())
    for (const ZeroRange& z : zeroings) {
      std::uint64_t from = std::max(z.begin, page * SparseBytes::kPage);
      std::uint64_t to = std::min(z.end, (page + 1) * SparseBytes::kPage);
      for (std::uint64_t next; from < to; from = next) {
        next = std::min(to, (from / BLACKOUT_LINE + 1) * BLACKOUT_LINE);
        add(lineOf(pmAddr(f, from)), maskOf(from % BLACKOUT_LINE, static_cast<unsigned>(next - from)));
      }
    }
}

TrackedNo TrackedBytes::find(LineNo line) const {
  auto it = numbers_.find(line);
  return it == numbers_.end() ? kNone : it->second;
}

Baseline::Baseline(const Index& index, const TrackedBytes& tracked, std::vector<EventNo> points)
    : index_(&index), tracked_(&tracked), points_(std::move(points)), rowLines_(tracked.count()) {
  assert(!points_.empty());
  Cursor cursor(index);
  IdVector<TrackedNo, RowNo> current(rowLines_, kNoRow);
  // Lines that no store or flush touched change with zeroings alone, of which the cursor says nothing.
  std::vector<std::pair<LineNo, TrackedNo>> untouched;
  for (TrackedNo w = 0; w < rowLines_; ++w)
    if (index.lineId(tracked.line(w)) == kNoLine) untouched.emplace_back(tracked.line(w), w);
  std::sort(untouched.begin(), untouched.end());
  std::vector<std::pair<EventNo, std::pair<LineNo, LineNo>>> zeroings;
  if (!untouched.empty())
    for (FileNo f = 1; f <= index.files().last(); ++f)
      for (const ZeroRange& z : index.files().zeroRanges(f))
        if (z.begin < z.end) zeroings.push_back({z.at, {lineOf(pmAddr(f, z.begin)), lineOf(pmAddr(f, z.end - 1))}});
  std::sort(zeroings.begin(), zeroings.end());
  auto nextZero = zeroings.begin();

  for (PointNo o = 0; o < points_.endId(); ++o) {
    firstRows_.push_back(rows_.endId());
    cursor.moveTo(points_[o]);
    std::set<TrackedNo> lines;
    for (LineNo line : cursor.changed())
      if (TrackedNo w = tracked.find(line); w != TrackedBytes::kNone) lines.insert(w);
    for (; nextZero != zeroings.end() && nextZero->first < points_[o]; ++nextZero)
      for (auto it =
               std::lower_bound(untouched.begin(), untouched.end(), std::pair{nextZero->second.first, TrackedNo{0}});
           it != untouched.end() && it->first <= nextZero->second.second; ++it)
        lines.insert(it->second);
    if (o == 0)
      for (TrackedNo w = 0; w < rowLines_; ++w) lines.insert(w);
    for (TrackedNo w : lines) addRow(o, w, cursor.least(tracked.line(w)), current);
  }
  firstRows_.push_back(rows_.endId());

  lineRows_.assign(std::size_t{rowLines_.value()} + 1, 0);
  for (const Row& r : rows_) ++lineRows_[r.line];
  // lineRows_[l] becomes the end of line l, and filling backwards turns it into the begin.
  std::uint32_t sum = 0;
  for (std::uint32_t& first : lineRows_) first = sum += first;
  byLine_.resize(rows_.size());
  for (RowNo r = rows_.endId(); r > 0;) {
    --r;
    byLine_[--lineRows_[rows_[r].line]] = r;
  }

  findCheckpoints();
  findPaths();
  findLargest();
}

void Baseline::addRow(PointNo pointNo, TrackedNo w, const LineBytes& least, IdVector<TrackedNo, RowNo>& current) {
  EventNo at = points_[pointNo];
  Row row{w, pointNo, current[w], 0, 0, false};
  if (LineId id = index_->lineId(tracked_->line(w)); id != kNoLine) {
    auto history = index_->history(id);
    row.firstOpen = row.previous == kNoRow ? 0 : rows_[row.previous].firstOpen;
    while (row.firstOpen < history.size() && index_->stores()[history[row.firstOpen]].guaranteedAt < at)
      ++row.firstOpen;
    row.uncertain = differs(id, row.firstOpen, at, least);
  }
  bool same = row.previous != kNoRow && contents_[rows_[row.previous].content] == least;
  if (same && !row.uncertain && !rows_[row.previous].uncertain) {
    // Nothing that anybody can see; what is guaranteed now is found again by the next row.
    return;
  }
  if (same) {
    row.content = rows_[row.previous].content;
  } else {
    row.content = static_cast<std::uint32_t>(contents_.size());
    contents_.push_back(least);
  }
  current[w] = rows_.endId();
  rows_.push_back(row);
}

// Whether some of the stores that are not guaranteed change the line. The first that differs from the least content
// does, together with those that must come with it, which don't; if none differs, no set of them does.
bool Baseline::differs(LineId id, std::uint32_t firstOpen, EventNo at, const LineBytes& least) const {
  auto history = index_->history(id);
  bool zeros = !index_->files().zeroRanges(fileOf(addressOf(index_->lineNo(id)))).empty();
  for (std::uint32_t i = firstOpen; i < history.size(); ++i) {
    const StoreRow& store = index_->stores()[history[i]];
    if (store.event >= at) break;
    if (store.guaranteedAt < at) continue;
    LineStore one = index_->lineStore(id, i);
    if (zeros) one.live = ~index_->files().zeroedMask(index_->lineNo(id), store.event, at);
    LineBytes bytes = least;
    one.applyTo(bytes);
    if (bytes != least) return true;
  }
  return false;
}

void Baseline::findCheckpoints() {
  std::set<TrackedNo> lines;
  std::size_t passed = 0;
  for (PointNo o = 0; o < points_.endId(); ++o) {
    for (RowNo r = firstRow(o); r < firstRow(o + 1); ++r) {
      if (rows_[r].uncertain)
        lines.insert(rows_[r].line);
      else
        lines.erase(rows_[r].line);
    }
    passed += firstRow(o + 1) - firstRow(o);
    // So that all checkpoints together take no more than the rows.
    if (o > 0 && passed < std::max<std::size_t>(lines.size(), 64)) continue;
    checkpoints_.push_back({o, {lines.begin(), lines.end()}});
    passed = 0;
  }
}

void Baseline::findPaths() {
  const FileTimeline& files = index_->files();
  const Trace& trace = index_->trace();
  paths_.resize(tracked_->paths().size());
  EventNo n = 0;
  for (PointNo o = 0; o < points_.endId(); ++o) {
    // What is settled of the files changes with them, or by a sync if a model leaves any uncertain.
    bool news = o == 0 || files.uncertain();
    for (; n < points_[o]; n = trace.next(n)) news = news || groupOf(trace[n]) == EventGroup::File;
    if (!news) continue;
    std::map<std::string_view, PathState> now;
    std::vector<FileState> least = files.filesIn(points_[o], files.leastAt(points_[o]));
    for (const FileState& f : least) now[f.path] = {f.number, f.size};
    for (std::size_t p = 0; p < paths_.size(); ++p) {
      auto it = now.find(tracked_->paths()[p]);
      PathState state = it == now.end() ? PathState{} : it->second;
      if (paths_[p].empty() || paths_[p].back().state != state) paths_[p].push_back({o, state});
    }
  }
}

void Baseline::findLargest() {
  const Trace& trace = index_->trace();
  largest_ = IdVector<FileNo, std::uint64_t>(index_->files().last() + 1);
  for (EventNo n = 0; n < trace.end(); n = trace.next(n))
    if (kindOf(trace[n]) == EventKind::FileSize) {
      std::uint64_t& largest = largest_[fileOf(trace[n].addr)];
      largest = std::max(largest, trace[n].value);
    }
}

std::uint64_t Baseline::largestFile(FileNo f) const {
  if (largest_.has(f)) return largest_[f];
  return f < largest_.endId() + kMadeFiles ? kMadeFileSize : 0;
}

RowNo Baseline::rowAt(PointNo pointNo, TrackedNo w) const {
  auto begin = byLine_.begin() + lineRows_[w];
  auto end = byLine_.begin() + lineRows_[w + 1];
  return *(std::upper_bound(begin, end, pointNo, [&](PointNo o, RowNo r) { return o < rows_[r].pointNo; }) - 1);
}

LineBytes Baseline::addedContent(TrackedNo w) const {
  LineBytes bytes{};
  index_->files().initialBytes(tracked_->line(w), bytes);
  return bytes;
}

LineBytes Baseline::least(PointNo pointNo, TrackedNo w) const {
  return w < rowLines_ ? contentOf(rowAt(pointNo, w)) : addedContent(w);
}

std::vector<TrackedNo> Baseline::changed(PointNo from, PointNo to) const {
  if (from > to) std::swap(from, to);
  std::vector<TrackedNo> all;
  for (RowNo r = firstRow(from + 1); r < firstRow(to + 1); ++r)
    if (rows_[r].content != rows_[rows_[r].previous].content) all.push_back(rows_[r].line);
  std::sort(all.begin(), all.end());
  all.erase(std::unique(all.begin(), all.end()), all.end());
  return all;
}

std::vector<TrackedNo> Baseline::uncertain(PointNo pointNo) const {
  auto near = std::upper_bound(checkpoints_.begin(), checkpoints_.end(), pointNo,
                               [](PointNo o, const Checkpoint& c) { return o < c.pointNo; }) -
              1;
  std::map<TrackedNo, bool> news;
  for (RowNo r = firstRow(near->pointNo + 1); r < firstRow(pointNo + 1); ++r) news[rows_[r].line] = rows_[r].uncertain;
  std::vector<TrackedNo> out;
  auto next = news.begin();
  auto pass = [&](TrackedNo below) {
    for (; next != news.end() && next->first < below; ++next)
      if (next->second) out.push_back(next->first);
  };
  for (TrackedNo w : near->lines) {
    pass(w);
    if (next == news.end() || next->first != w) out.push_back(w);
  }
  pass(rowLines_);
  return out;
}

LineVersions Baseline::versions(RowNo r) const {
  const Row& row = rows_[r];
  EventNo at = points_[row.pointNo];
  LineNo line = tracked_->line(row.line);
  LineId id = index_->lineId(line);
  if (id == kNoLine) return index_->versionsOf(line, at);
  auto history = index_->history(id);
  std::uint32_t length = index_->historyLength(id, at);
  std::vector<bool> taken(length, true);
  for (std::uint32_t i = row.firstOpen; i < length; ++i) taken[i] = index_->stores()[history[i]].guaranteedAt < at;
  return enumerateVersions(versionOf(taken), contents_[row.content], index_->openStores(id, at, row.firstOpen, length),
                           index_->options());
}

LineBytes Baseline::newest(RowNo r) const {
  const Row& row = rows_[r];
  EventNo at = points_[row.pointNo];
  LineBytes bytes = contents_[row.content];
  LineId id = index_->lineId(tracked_->line(row.line));
  if (id == kNoLine) return bytes;
  for (const LineStore& s : index_->openStores(id, at, row.firstOpen, index_->historyLength(id, at))) s.applyTo(bytes);
  return bytes;
}

LineVersions Baseline::versions(PointNo pointNo, TrackedNo w) const {
  if (w < rowLines_) return versions(rowAt(pointNo, w));
  return {{{Version{}, addedContent(w)}}, 1, true};
}

PathState Baseline::pathState(PointNo pointNo, std::uint32_t path) const {
  const auto& rows = paths_[path];
  return (std::upper_bound(rows.begin(), rows.end(), pointNo,
                           [](PointNo o, const PathRow& r) { return o < r.pointNo; }) -
          1)
      ->state;
}

std::uint32_t Baseline::opState(PointNo pointNo, OperationNo operation) const {
  return static_cast<std::uint32_t>(index_->operations().stateAt(operation, points_[pointNo]));
}

}  // namespace blackout
