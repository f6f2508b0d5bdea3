#include "model/file_timeline.h"

#include <algorithm>
#include <cassert>
#include <cstring>

namespace blackout {

namespace {
std::span<const std::byte> bytesOf(std::string_view s) { return std::as_bytes(std::span(s)); }
}  // namespace

bool FileTimeline::event(EventNo n) {
  const Event& e = (*trace_)[n];
  if (kindOf(e) == EventKind::FileNew) {
    assert(fileOf(e.addr) == files_.size());
    File& f = files_.emplace_back();
    f.before = (e.len & 1) != 0;
    f.born = n;
    f.paths.push_back({0, n});
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
      f.sizes.push_back({n + 1, e.value});
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
      f.paths.push_back({n + 1, n});
      return true;
    case EventKind::FileUnlink:
      f.removed = std::min(f.removed, n);
      return true;
    case EventKind::FileZero:
      f.zeros.push_back({n, offsetOf(e.addr), offsetOf(e.addr) + e.value});
      return true;
    default:
      assert(false && "an event of another group");
      return false;
  }
}

void FileTimeline::finish() { std::sort(pages_.begin(), pages_.end()); }

bool FileTimeline::existsAt(FileNo f, EventNo at) const {
  const File& file = files_[f];
  return (file.before || at > file.born) && at <= file.removed;
}

std::uint64_t FileTimeline::sizeAt(FileNo f, EventNo at) const {
  std::uint64_t size = 0;
  for (const Change& c : files_[f].sizes) {
    if (c.at > at) break;
    size = c.value;
  }
  return size;
}

std::string_view FileTimeline::pathAt(FileNo f, EventNo at) const {
  EventNo named = 0;
  for (const Change& c : files_[f].paths) {
    if (c.at > at) break;
    named = static_cast<EventNo>(c.value);
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
  for (EventNo n : files_[f].data) out.write(offsetOf((*trace_)[n].addr), bytesOf(trace_->payload(n)));
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
