#include "run/worker_image.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fstream>

#include "events/trace.h"
#include "events/trace_writer.h"

namespace fs = std::filesystem;

namespace blackout {

namespace {

tl::unexpected<Error> broken(const fs::path& path) {
  return fail(fmt::format("{}: the image of a crash can't be written: {}", path.string(), std::strerror(errno)),
              ExitCode::Inconclusive);
}

}  // namespace

fs::path WorkerImage::copyOf(const std::string& path) const {
  return folder_ / "pools" / fs::path(path).relative_path();
}

Result<WorkerImage> WorkerImage::make(const fs::path& folder, const Baseline& baseline) {
  WorkerImage image(folder, baseline);
  std::error_code error;
  fs::create_directories(folder / "pools", error);
  // Folders of pools are there before any pool is made in them.
  for (const std::string& p : baseline.tracked().paths()) fs::create_directories(image.copyOf(p).parent_path(), error);
  if (error) return fail(fmt::format("{}: {}", folder.string(), error.message()), ExitCode::Inconclusive);
  image.files_.resize(baseline.index().files().last().value() + 1);
  if (auto ok = image.become({}); !ok) return tl::unexpected(ok.error());
  return image;
}

WorkerImage::~WorkerImage() {
  for (const File& f : files_)
    if (f.fd >= 0) ::close(f.fd);
}

Result<void> WorkerImage::become(const Run& request) {
  std::vector<TrackedNo> back = std::move(changed_);
  changed_.clear();
  if (pointNo_ && *pointNo_ != request.pointNo) {
    auto moved = baseline_->changed(*pointNo_, request.pointNo);
    back.insert(back.end(), moved.begin(), moved.end());
    std::sort(back.begin(), back.end());
    back.erase(std::unique(back.begin(), back.end()), back.end());
  }
  if (pointNo_ != request.pointNo || request.files || otherFiles_)
    if (auto ok = moveFiles(filesOf(request), request.pointNo); !ok) return ok;
  otherFiles_ = request.files.has_value();
  pointNo_ = request.pointNo;
  // What the request sets anyway needs no way back.
  auto next = request.lines.begin();
  for (TrackedNo w : back) {
    while (next != request.lines.end() && next->first < w) ++next;
    if (next == request.lines.end() || next->first != w) write(w, baseline_->least(request.pointNo, w));
  }
  for (const auto& [w, bytes] : request.lines) {
    write(w, bytes);
    changed_.push_back(w);
  }
  return {};
}

void WorkerImage::write(TrackedNo w, const LineBytes& bytes) const {
  PmAddr at = addressOf(baseline_->tracked().line(w));
  if (!files_.has(fileOf(at))) return;
  const File& f = files_[fileOf(at)];
  if (!f.exists || offsetOf(at) >= f.size) return;
  std::size_t size = std::min<std::uint64_t>(bytes.size(), f.size - offsetOf(at));
  ssize_t n = pwrite(f.fd, bytes.data(), size, static_cast<off_t>(offsetOf(at)));
  (void)n;  // the file has its size; a full disk shows when it is made
}

// The whole content of a file that was made anew or changed its size.
Result<void> WorkerImage::fill(FileNo number, PointNo pointNo) {
  File& f = files_[number];
  if (ftruncate(f.fd, 0) != 0 || ftruncate(f.fd, static_cast<off_t>(f.size)) != 0) return broken(f.path);
  SparseBytes bytes;
  if (number <= baseline_->index().files().last()) baseline_->index().files().initialBytes(number, bytes);
  std::size_t written = 0;
  for (std::uint64_t page : bytes.pages()) {
    constexpr std::size_t kOften = 4096;
    if (++written % kOften == 0) baseline_->index().trace().forgetPages();
    std::uint64_t at = page * SparseBytes::kPage;
    if (at >= f.size) continue;
    std::size_t size = std::min(SparseBytes::kPage, f.size - at);
    if (pwrite(f.fd, bytes.page(page)->data(), size, static_cast<off_t>(at)) != static_cast<ssize_t>(size))
      return broken(f.path);
  }
  for (TrackedNo w : idRange<TrackedNo>(baseline_->tracked().count())) {
    PmAddr at = addressOf(baseline_->tracked().line(w));
    if (fileOf(at) != number || offsetOf(at) >= f.size) continue;
    LineBytes content = baseline_->least(pointNo, w);
    LineBytes before{};
    bytes.read(offsetOf(at), before);
    if (content != before) write(w, content);
  }
  return {};
}

WorkerImage::Files WorkerImage::filesOf(const Run& request) const {
  const FileTimeline& timeline = baseline_->index().files();
  EventNo at = baseline_->point(request.pointNo);
  Files now(timeline.last() + 1);
  std::vector<FileState> least;
  if (!request.files) least = timeline.filesIn(at, timeline.leastAt(at));
  for (const FileState& f : request.files ? *request.files : least) {
    if (!now.has(f.number)) now.resize(f.number.value() + 1);
    now[f.number].exists = true;
    now[f.number].path = f.path;
    now[f.number].size = f.size;
  }
  return now;
}

Result<void> WorkerImage::moveFiles(Files now, PointNo pointNo) {
  now.resize(std::max(now.size(), files_.size()));
  files_.resize(now.size());
  std::vector<FileNo> stale;
  for (FileNo n = 1; n < now.endId(); ++n)
    if (now[n].state() != files_[n].state()) stale.push_back(n);
  if (stale.empty() && pointNo_) return {};
  // All that changes goes first: a path may pass from one file to another.
  for (FileNo n : stale) {
    File& f = files_[n];
    if (f.fd >= 0) ::close(f.fd);
    f.fd = -1;
    if (f.exists) ::unlink(copyOf(f.path).c_str());
  }
  for (FileNo n : stale) {
    File& f = files_[n];
    f = std::move(now[n]);
    if (!f.exists) continue;
    fs::path copy = copyOf(f.path);
    std::error_code error;
    fs::create_directories(copy.parent_path(), error);
    f.fd = ::open(copy.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    if (f.fd < 0) return broken(copy);
    if (auto ok = fill(n, pointNo); !ok) return ok;
  }
  return saveTable();
}

std::string WorkerImage::traceBeginning() const {
  TraceWriter writer;
  for (FileNo n = 1; n < files_.endId(); ++n) {
    const File& f = files_[n];
    // Numbers are those of the first trace; a file that isn't there takes its number and goes.
    FileNo made =
        f.exists ? writer.file(f.path, f.size, true) : writer.file(fmt::format("/absent/{}", n.value()), 0, false);
    if (!f.exists) writer.remove(made);
    struct stat st{};
    if (f.exists && fstat(f.fd, &st) == 0) writer.identify(made, {st.st_dev, st.st_ino}, {});
  }
  return writer.bytes();
}

Result<void> WorkerImage::saveTable() const {
  // In place: the worker has it mapped.
  std::string bytes = traceBeginning();
  fs::path path = folder_ / "table";
  int fd = ::open(path.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
  bool ok = fd >= 0 && ::write(fd, bytes.data(), BLACKOUT_HEADER_SIZE) == BLACKOUT_HEADER_SIZE;
  if (fd >= 0) ::close(fd);
  return ok ? Result<void>() : broken(path);
}

}  // namespace blackout
