#include "model/files_at_end.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "events/trace.h"

namespace blackout {

void Replay::event(EventNo n) {
  const Event& e = (*trace_)[n];
  if (isStore(e)) {
    auto value = std::as_bytes(std::span(&e.value, 1));
    files_[fileOf(e.addr)].bytes.write(offsetOf(e.addr), value.first(bytesOf(e)));
    return;
  }
  if (groupOf(e) != EventGroup::File) return;
  if (kindOf(e) == EventKind::FileNew) {
    files_.push_back({fileOf(e.addr), std::string(trace_->payload(n)), false, 0, {}});
    return;
  }
  ReplayedFile& f = files_[fileOf(e.addr)];
  switch (kindOf(e)) {
    case EventKind::FileData:
      f.bytes.show(offsetOf(e.addr), std::as_bytes(std::span(trace_->payload(n))));
      break;
    case EventKind::FileSize:
      if (e.value < f.size) f.bytes.zero(e.value, f.size - e.value);
      f.size = e.value;
      break;
    case EventKind::FileRename:
      f.path = trace_->payload(n);
      break;
    case EventKind::FileUnlink:
      f.removed = true;
      break;
    case EventKind::FileZero:
      f.bytes.zero(offsetOf(e.addr), e.value);
      break;
    default:
      break;
  }
}

std::vector<ReplayedFile> Replay::take() {
  files_.erase(files_.begin());
  return std::move(files_);
}

std::vector<ReplayedFile> replay(const Trace& trace) {
  Replay files(trace);
  for (EventNo n = 0; n < trace.end(); n = trace.next(n)) files.event(n);
  return files.take();
}

namespace {

// Collects differing bytes into ranges, until there are enough.
class Differences {
 public:
  Differences(FileNo file, std::size_t max) : file_(file), max_(max) {}

  bool full() const { return ranges_.size() > max_; }
  void add(std::uint64_t begin, std::uint64_t end) {
    if (begin >= end) return;
    PmAddr from = pmAddr(file_, begin);
    if (!ranges_.empty() && ranges_.back().end == from)
      ranges_.back().end = from + (end - begin);
    else
      ranges_.push_back({from, from + (end - begin)});
  }
  void compare(std::uint64_t offset, std::span<const std::byte> a, std::span<const std::byte> b) {
    if (std::memcmp(a.data(), b.data(), a.size()) == 0) return;
    for (std::size_t i = 0; i < a.size() && !full(); ++i)
      if (a[i] != b[i]) add(offset + i, offset + i + 1);
  }
  // One range too many is kept while collecting, so that the last one wanted is whole.
  std::vector<PmRange> take() {
    ranges_.resize(std::min(ranges_.size(), max_));
    return std::move(ranges_);
  }

 private:
  FileNo file_;
  std::size_t max_;
  std::vector<PmRange> ranges_;
};

}  // namespace

Result<std::vector<PmRange>> firstDifferences(const ReplayedFile& file, const std::string& path, std::size_t max,
                                              const std::function<void()>& compared) {
  auto broken = [&] { return fail(fmt::format("{}: {}", path, std::strerror(errno)), ExitCode::Inconclusive); };
  int fd = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (fd < 0) return broken();
  struct Close {
    int fd;
    ~Close() { ::close(fd); }
  } closer{fd};
  struct stat st{};
  if (fstat(fd, &st) != 0) return broken();
  auto size = static_cast<std::uint64_t>(st.st_size);
  std::uint64_t common = std::min(size, file.size);

  Differences differences(file.number, max);
  constexpr std::uint64_t kPage = SparseBytes::kPage;
  const std::vector<std::uint64_t> pages = file.bytes.pages();
  std::vector<std::byte> disk(kPage);
  std::vector<std::byte> replayed(kPage);
  auto comparePages = [&](std::uint64_t first, std::uint64_t past) -> Result<void> {
    for (std::uint64_t page = first; page < past && !differences.full(); ++page) {
      std::uint64_t offset = page * kPage;
      std::size_t n = std::min(kPage, common - offset);
      for (std::size_t done = 0; done < n;) {
        ssize_t got = pread(fd, disk.data() + done, n - done, static_cast<off_t>(offset + done));
        if (got < 0 && errno == EINTR) continue;
        if (got <= 0) return broken();
        done += static_cast<std::size_t>(got);
      }
      constexpr std::uint64_t kOften = 4096;  // pages
      if (compared && page % kOften == kOften - 1) compared();
      file.bytes.read(offset, replayed);
      differences.compare(offset, std::span(disk).first(n), std::span(replayed).first(n));
    }
    return {};
  };
  // Data of the file page by page; in its holes only the pages that the replay has.
  for (std::uint64_t offset = 0; offset < common && !differences.full();) {
    off_t data = lseek(fd, static_cast<off_t>(offset), SEEK_DATA);
    if (data < 0 && errno != ENXIO) data = static_cast<off_t>(offset);  // a file system without holes
    std::uint64_t from = data < 0 ? common : std::min(static_cast<std::uint64_t>(data), common);
    auto it = std::lower_bound(pages.begin(), pages.end(), offset / kPage);
    for (; it != pages.end() && *it * kPage < from; ++it)
      if (auto ok = comparePages(*it, *it + 1); !ok) return tl::unexpected(ok.error());
    if (from >= common) break;
    off_t hole = lseek(fd, static_cast<off_t>(from), SEEK_HOLE);
    std::uint64_t to = hole < 0 ? common : std::min(static_cast<std::uint64_t>(hole), common);
    // A page that a hole shares with data was compared above only if it begins in the hole.
    std::uint64_t first = from / kPage;
    std::uint64_t past = (to + kPage - 1) / kPage;
    if (first * kPage < from && std::binary_search(pages.begin(), pages.end(), first) && offset <= first * kPage)
      ++first;
    if (auto ok = comparePages(first, past); !ok) return tl::unexpected(ok.error());
    offset = past * kPage;
  }
  if (!differences.full()) differences.add(common, std::max(size, file.size));
  return differences.take();
}

}  // namespace blackout
