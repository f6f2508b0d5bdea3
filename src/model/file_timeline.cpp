#include "model/file_timeline.h"

#include <algorithm>
#include <cassert>
#include <cstring>

#include "events/trace.h"
#include "model/versions.h"

namespace blackout {

namespace {
std::span<const std::byte> bytesOf(std::string_view s) { return std::as_bytes(std::span(s)); }
}  // namespace

bool FileTimeline::event(EventNo n) {
  const Event& e = (*trace_)[n];
  if (kindOf(e) == EventKind::FileNew) {
    assert(fileOf(e.addr) == files_.endId());
    File& f = files_.emplace_back();
    f.before = (e.len & 1) != 0;
    f.born = n;
    f.paths.push_back({0, n});
    if (!f.before) f.birth = add(n, kNever, n);
    return !f.before;
  }
  File& f = files_[fileOf(e.addr)];
  switch (kindOf(e)) {
    case EventKind::FileSize: {
      if (f.sizes.empty() && f.before) {
        f.sizes.push_back({0, e.value});
        return false;
      }
      std::uint64_t old = f.sizes.empty() ? 0 : f.sizes.back().value;
      if (e.value < old) f.zeros.push_back({n, e.value, old});
      f.sizes.push_back({n + 1, e.value, add(n)});
      return true;
    }
    case EventKind::FileData: {
      f.data.push_back(n);
      if (e.value > 0)
        for (std::uint64_t p = e.addr / SparseBytes::kPage; p <= (e.addr + e.value - 1) / SparseBytes::kPage; ++p)
          pages_.push_back({p, n});
      return !f.before;
    }
    case EventKind::FileRename:
      f.paths.push_back({n + 1, n, add(n, f.paths.back().value, n)});
      return true;
    case EventKind::FileUnlink: {
      std::uint32_t removal = add(n, f.paths.back().value);
      if (f.removed != kNever) return true;
      f.removed = n;
      f.removal = removal;
      return true;
    }
    case EventKind::FileZero:
      f.zeros.push_back({n, offsetOf(e.addr), offsetOf(e.addr) + e.value});
      return true;
    default:
      assert(false && "an event of another group");
      return false;
  }
}

void FileTimeline::finish() {
  for (const FileChange& c : changes_) uncertain_ = uncertain_ || c.guaranteedAt != c.event;
  std::sort(pages_.begin(), pages_.end());
}

// --- the history ---

std::uint32_t FileTimeline::add(EventNo n, EventNo from, EventNo to) {
  auto number = static_cast<std::uint32_t>(changes_.size());
  changes_.push_back({n, fileOf((*trace_)[n].addr), kNever, from, to});
  open_.push_back(number);
  return number;
}

bool FileTimeline::ordered(const FileChange& earlier, const FileChange& later) const {
  if (earlier.file == later.file) return true;
  for (EventNo a : {earlier.from, earlier.to})
    for (EventNo b : {later.from, later.to})
      if (a != kNever && b != kNever && trace_->payload(a) == trace_->payload(b)) return true;
  return false;
}

void FileTimeline::guarantee(std::uint32_t change, EventNo at) {
  if (changes_[change].guaranteedAt != kNever) return;
  changes_[change].guaranteedAt = at;
  std::vector<std::uint32_t> before;
  for (std::uint32_t c : open_)
    if (c < change && ordered(changes_[c], changes_[change])) before.push_back(c);
  std::erase(open_, change);
  for (std::uint32_t c : before) guarantee(c, at);
}

void FileTimeline::guaranteeAll(EventNo at) {
  for (std::uint32_t c : open_) changes_[c].guaranteedAt = at;
  open_.clear();
}

std::uint32_t FileTimeline::changesBefore(EventNo at) const {
  auto it = std::partition_point(changes_.begin(), changes_.end(), [&](const FileChange& c) { return c.event < at; });
  return static_cast<std::uint32_t>(it - changes_.begin());
}

Version FileTimeline::leastAt(EventNo at) const {
  if (!uncertain_) return newestAt(at);
  std::vector<bool> taken(changesBefore(at));
  for (std::size_t i = 0; i < taken.size(); ++i) taken[i] = changes_[i].guaranteedAt < at;
  return versionOf(taken);
}

std::vector<FileState> FileTimeline::filesIn(EventNo at, const Version& version) const {
  std::vector<FileState> out;
  for (FileNo f = 1; f <= last(); ++f)
    if (existsAt(f, at, &version)) out.push_back({f, std::string(pathAt(f, at, &version)), sizeAt(f, at, &version)});
  return out;
}

FilesVersions FileTimeline::versionsAt(EventNo at) const {
  std::vector<bool> taken(changesBefore(at));
  std::vector<std::uint32_t> open;
  for (std::uint32_t i = 0; i < taken.size(); ++i) {
    taken[i] = changes_[i].guaranteedAt < at;
    if (!taken[i]) open.push_back(i);
  }
  FilesVersions out;
  auto add = [&](const Version& version) {
    std::vector<FileState> files = filesIn(at, version);
    auto same = [&](const FilesVersion& v) { return v.files == files; };
    auto it = std::find_if(out.versions.begin(), out.versions.end(), same);
    if (it == out.versions.end()) {
      out.versions.push_back({version, std::move(files)});
    } else if (version.size() < it->version.size()) {
      it->version = version;
    }
  };
  // Decides change after change in trace order, so that what is ordered before one has been decided when its turn
  // comes.
  std::size_t visited = 0;
  auto decide = [&](auto& self, std::size_t i) -> bool {
    if (i == open.size()) {
      if (visited++ == kFilesVersionLimit) return false;
      add(versionOf(taken));
      return true;
    }
    if (!self(self, i + 1)) return false;
    for (std::size_t j = 0; j < i; ++j)
      if (!taken[open[j]] && ordered(changes_[open[j]], changes_[open[i]])) return true;
    taken[open[i]] = true;
    bool more = self(self, i + 1);
    taken[open[i]] = false;
    return more;
  };
  out.complete = decide(decide, 0);
  if (!out.complete) add(newestAt(at));  // whatever was left out, this one is there
  std::sort(out.versions.begin(), out.versions.end(), [](const FilesVersion& a, const FilesVersion& b) {
    return a.version.size() != b.version.size() ? a.version.size() < b.version.size() : a.version < b.version;
  });
  std::vector<FileState> newest = filesIn(at, newestAt(at));
  while (out.versions[out.newest].files != newest) ++out.newest;
  return out;
}

bool FileTimeline::isFeasible(EventNo at, const Version& version) const {
  std::uint32_t length = changesBefore(at);
  if (version == Version{length, {}}) return true;
  if (version.prefix > length || (!version.extra.empty() && version.extra.back() >= length)) return false;
  std::vector<bool> taken(length);
  for (std::uint32_t i = 0; i < length; ++i) {
    taken[i] = version.contains(i);
    if (!taken[i] && changes_[i].guaranteedAt < at) return false;
    for (std::uint32_t j = version.prefix; taken[i] && j < i; ++j)
      if (!taken[j] && ordered(changes_[j], changes_[i])) return false;
  }
  return versionOf(taken) == version;
}

// --- one file ---

namespace {
bool survives(std::uint32_t change, std::uint32_t setUp, const Version* survived) {
  return survived == nullptr || change == setUp || survived->contains(change);
}
}  // namespace

bool FileTimeline::existsAt(FileNo f, EventNo at, const Version* survived) const {
  const File& file = files_[f];
  bool made = file.before || (at > file.born && survives(file.birth, kSetUp, survived));
  return made && (at <= file.removed || !survives(file.removal, kSetUp, survived));
}

std::uint64_t FileTimeline::sizeAt(FileNo f, EventNo at, const Version* survived) const {
  std::uint64_t size = 0;
  for (const auto& c : files_[f].sizes) {
    if (c.at > at) break;
    if (survives(c.number, kSetUp, survived)) size = c.value;
  }
  return size;
}

std::string_view FileTimeline::pathAt(FileNo f, EventNo at, const Version* survived) const {
  EventNo named = 0;
  for (const auto& c : files_[f].paths) {
    if (c.at > at) break;
    if (survives(c.number, kSetUp, survived)) named = c.value;
  }
  return trace_->payload(named);
}

void FileTimeline::initialBytes(LineNo line, LineBytes& out) const {
  out.fill(std::byte{0});
  PmAddr begin = addressOf(line);
  auto it = std::lower_bound(pages_.begin(), pages_.end(), PageData{begin / SparseBytes::kPage, 0});
  for (; it != pages_.end() && it->page == begin / SparseBytes::kPage; ++it) {
    const Event& e = (*trace_)[it->event];
    PmAddr from = std::max<PmAddr>(begin, e.addr);
    PmAddr to = std::min<PmAddr>(begin + BLACKOUT_LINE, e.addr + e.value);
    if (from < to)
      std::memcpy(out.data() + (from - begin), trace_->payload(it->event).data() + (from - e.addr), to - from);
  }
}

void FileTimeline::initialBytes(FileNo f, SparseBytes& out) const {
  for (EventNo n : files_[f].data) out.show(offsetOf((*trace_)[n].addr), bytesOf(trace_->payload(n)));
}

std::uint64_t FileTimeline::zeroedMask(LineNo line, EventNo after, EventNo at) const {
  std::uint64_t mask = 0;
  std::uint64_t begin = offsetOf(addressOf(line));
  for (const ZeroRange& z : files_[fileOf(addressOf(line))].zeros) {
    if (z.at >= at) break;
    if (z.at <= after || z.end <= begin || z.begin >= begin + BLACKOUT_LINE) continue;
    std::uint64_t from = std::max(z.begin, begin) - begin;
    std::uint64_t size = std::min<std::uint64_t>(z.end - begin, BLACKOUT_LINE) - from;
    mask |= (size == 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << size) - 1) << from;
  }
  return mask;
}

}  // namespace blackout
