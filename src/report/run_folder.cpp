#include "report/run_folder.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <filesystem>
#include <fstream>

#include "findings/numbers.h"
#include "report/output_file.h"
#include "report/run_index.h"

namespace blackout {

namespace fs = std::filesystem;

namespace {

constexpr const char* kMark = "/.run";

// The descriptor of a folder that nobody else is at work in; null: somebody is, or it can't be had.
std::shared_ptr<const int> lock(const std::string& folder) {
  int fd = ::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
  if (fd < 0) return nullptr;
  if (flock(fd, LOCK_EX | LOCK_NB) != 0) {
    ::close(fd);
    return nullptr;
  }
  return {new int(fd), [](const int* held) {
            ::close(*held);
            delete held;
          }};
}

std::string randomMark() {
  std::uint64_t n = 0;
  if (getrandom(&n, sizeof n, 0) != static_cast<ssize_t>(sizeof n)) n = static_cast<std::uint64_t>(getpid());
  return fmt::format("{:016x}", n);
}

std::string markIn(const std::string& folder) {
  std::string mark;
  std::ifstream(folder + kMark) >> mark;
  return mark;
}

// On the disk: holes take nothing.
std::uint64_t sizeOf(const std::string& folder) {
  std::uint64_t size = 0;
  std::error_code error;
  for (auto it = fs::recursive_directory_iterator(folder, error); !error && it != fs::recursive_directory_iterator();
       it.increment(error)) {
    struct stat st{};
    constexpr std::uint64_t kBlock = 512;
    if (lstat(it->path().c_str(), &st) == 0) size += static_cast<std::uint64_t>(st.st_blocks) * kBlock;
  }
  return size;
}

}  // namespace

Result<RunFolder> RunFolder::make(const std::string& parent) {
  std::error_code error;
  fs::create_directories(parent, error);
  if (error || !fs::is_directory(parent, error))
    return fail(fmt::format("--out {}: can't be made: {}", parent, error ? error.message() : "it is no folder"));
  std::uint64_t next = 1;
  for (const fs::directory_entry& entry : fs::directory_iterator(parent, error)) {
    std::string name = entry.path().filename().string();
    std::uint64_t number = 0;
    auto [end, wrong] = std::from_chars(name.data(), name.data() + name.size(), number);
    constexpr std::uint64_t kMost = std::uint64_t{1} << 40;
    if (wrong == std::errc() && end == name.data() + name.size() && number < kMost) next = std::max(next, number + 1);
  }
  auto index = RunIndex::open(parent, true);
  if (!index) return tl::unexpected(index.error());
  if (auto last = index->lastNumber(); last) next = std::max(next, *last + 1);
  RunFolder folder;
  folder.parent_ = parent;
  constexpr unsigned kTries = 1000;  // others may take numbers at the same time
  for (unsigned i = 0; i < kTries; ++i, ++next) {
    folder.number_ = next;
    folder.path_ = fmt::format("{}/{}", parent, next);
    if (mkdir(folder.path_.c_str(), 0777) == 0) {
      folder.lock_ = lock(folder.path_);
      std::string mark = randomMark();
      if (auto ok = folder.write(kMark + 1, mark + "\n"); !ok) return tl::unexpected(ok.error());
      if (auto ok = index->begin(next, mark); !ok) return tl::unexpected(ok.error());
      return folder;
    }
    if (errno != EEXIST) break;
  }
  return fail(fmt::format("--out {}: no folder can be made in it: {}", parent, std::strerror(errno)));
}

Result<void> RunFolder::write(const std::string& name, std::string_view content) const {
  std::error_code error;
  fs::create_directories(fs::path(path_ + "/" + name).parent_path(), error);
  auto file = OutputFile::prepare(path_ + "/" + name, "--out");
  if (!file) return tl::unexpected(file.error());
  return file->write(content);
}

Result<void> RunFolder::finish(const Report& report, FailOn failOn) const {
  auto index = RunIndex::open(parent_, true);
  if (!index) return tl::unexpected(index.error());
  if (auto ok = index->finish(number_, report, failOn); !ok) return ok;
  std::string link = parent_ + "/latest";
  std::error_code error;
  if (fs::exists(fs::symlink_status(link, error)) && !fs::is_symlink(fs::symlink_status(link, error)))
    return fail(fmt::format("{}: is there and no link, so it stays as it is", link));
  // By a rename: there is always one.
  std::string fresh = fmt::format("{}/.latest-{}", parent_, getpid());
  fs::remove(fresh, error);
  if (symlink(std::to_string(number_).c_str(), fresh.c_str()) != 0 || rename(fresh.c_str(), link.c_str()) != 0)
    return fail(fmt::format("{}: can't be made: {}", link, std::strerror(errno)));
  return {};
}

Result<std::string> RunFolder::removeOldest(const Limits& limits) const {
  if (limits.runs == 0 && limits.bytes == 0) return std::string();
  auto index = RunIndex::open(parent_, true);
  if (!index) return tl::unexpected(index.error());
  auto runs = index->runs();
  if (!runs) return tl::unexpected(runs.error());
  struct Old {
    std::uint64_t number, bytes;
    std::string folder;
    std::shared_ptr<const int> held;
  };
  std::vector<Old> old;
  std::uint64_t count = 1, bytes = limits.bytes != 0 ? sizeOf(path_) : 0;
  for (const IndexedRun& run : *runs) {
    if (run.number == number_) continue;
    std::string folder = fmt::format("{}/{}", parent_, run.number);
    if (run.mark.empty() || markIn(folder) != run.mark) {
      // Somebody has removed it, or put something else there.
      if (auto ok = index->forget(run.number); !ok) return tl::unexpected(ok.error());
      continue;
    }
    ++count;
    std::uint64_t size = limits.bytes != 0 ? sizeOf(folder) : 0;
    bytes += size;
    if (auto held = lock(folder)) old.push_back({run.number, size, folder, std::move(held)});
  }
  std::vector<std::uint64_t> removed;
  std::uint64_t freed = 0;
  for (const Old& o : old) {
    bool tooMany = limits.runs != 0 && count > limits.runs, tooLarge = limits.bytes != 0 && bytes > limits.bytes;
    if (!tooMany && !tooLarge) break;
    // The mark goes last: what was removed in part is removed the next time.
    std::error_code error;
    for (const fs::directory_entry& entry : fs::directory_iterator(o.folder, error))
      if (!error && entry.path().filename() != kMark + 1) fs::remove_all(entry.path(), error);
    if (!error) fs::remove_all(o.folder, error);
    if (error) return fail(fmt::format("{}: an old run can't be removed: {}", o.folder, error.message()));
    if (auto ok = index->forget(o.number); !ok) return tl::unexpected(ok.error());
    removed.push_back(o.number);
    freed += o.bytes;
    --count;
    bytes -= o.bytes;
  }
  if (removed.empty()) return std::string();
  constexpr std::uint64_t kMiB = 1 << 20;
  std::string which = removed.size() == 1 ? fmt::format("run {} was", removed.front())
                                          : fmt::format("{}, {} to {}, were", counted(removed.size(), "run"),
                                                        removed.front(), removed.back());
  std::string size = limits.bytes != 0 ? fmt::format(" ({} MiB)", (freed + kMiB - 1) / kMiB) : std::string();
  return fmt::format("{}: {} removed{}: --keep-runs {}, --keep-mib {}", parent_, which, size,
                     limits.runs == 0 ? std::string("all") : std::to_string(limits.runs),
                     limits.bytes == 0 ? std::string("any") : std::to_string(limits.bytes / kMiB));
}

}  // namespace blackout
