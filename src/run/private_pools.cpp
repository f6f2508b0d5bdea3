#include "run/private_pools.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <fnmatch.h>
#include <glob.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <set>

#include "events/trace_writer.h"

namespace fs = std::filesystem;

namespace blackout {

namespace {

bool isGlob(const std::string& s) { return s.find_first_of("*?[") != std::string::npos; }

struct Descriptor {
  int fd;
  explicit Descriptor(int fd) : fd(fd) {}
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  ~Descriptor() {
    if (fd >= 0) ::close(fd);
  }
};

// Copies the parts of a file that hold data, and hands each to the trace.
Result<void> copyFile(const fs::path& from, const fs::path& to, TraceWriter& trace) {
  auto broken = [&](const fs::path& at) {
    return fail(fmt::format("{}: can't be copied: {}", at.string(), std::strerror(errno)));
  };
  Descriptor in(::open(from.c_str(), O_RDONLY | O_CLOEXEC));
  if (in.fd < 0) return broken(from);
  struct stat st{};
  if (fstat(in.fd, &st) != 0) return broken(from);
  std::error_code error;
  fs::create_directories(to.parent_path(), error);
  Descriptor out(::open(to.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600));
  if (out.fd < 0) return broken(to);
  if (fchmod(out.fd, (st.st_mode & 0777) | 0600) != 0 || ftruncate(out.fd, st.st_size) != 0) return broken(to);
  if (static_cast<std::uint64_t>(st.st_size) >= BLACKOUT_MAX_FILE_SIZE)
    return fail(fmt::format("{}: a pool of 1 TiB or more; use a smaller one", from.string()));
  FileNo file = trace.file(from.string(), static_cast<std::uint64_t>(st.st_size), true);
  if (file >= BLACKOUT_MAX_FILES)
    return fail(fmt::format("--pm matches more than {} files; name fewer", BLACKOUT_MAX_FILES - 1));
  struct stat copy{};
  if (fstat(out.fd, &copy) != 0) return broken(to);
  trace.identify(file, {copy.st_dev, copy.st_ino}, {st.st_dev, st.st_ino});
  std::string buffer(1 << 20, '\0');
  off_t at = 0;
  while (at < st.st_size) {
    off_t data = lseek(in.fd, at, SEEK_DATA);
    if (data < 0 && errno == ENXIO) break;  // a hole up to the end
    if (data < 0) data = at;                // no holes on this file system
    off_t end = lseek(in.fd, data, SEEK_HOLE);
    if (end < 0) end = st.st_size;
    for (at = data; at < end;) {
      ssize_t n =
          pread(in.fd, buffer.data(), std::min<std::size_t>(buffer.size(), static_cast<std::size_t>(end - at)), at);
      if (n <= 0) return broken(from);
      if (pwrite(out.fd, buffer.data(), static_cast<std::size_t>(n), at) != n) return broken(to);
      trace.fileData(pmAddr(file, static_cast<std::uint64_t>(at)),
                     std::string_view(buffer.data(), static_cast<std::size_t>(n)));
      at += n;
    }
  }
  return {};
}

}  // namespace

namespace {

constexpr const char* kFolderPrefix = "blackout-";
constexpr const char* kLockName = ".in-use";

// Folders whose makers are gone: nobody holds their lock.
void removeAbandoned(const fs::path& base) {
  std::error_code error;
  for (auto it = fs::directory_iterator(base, error); it != fs::directory_iterator(); it.increment(error)) {
    if (!it->path().filename().string().starts_with(kFolderPrefix)) continue;
    struct stat st{};
    if (lstat(it->path().c_str(), &st) != 0 || !S_ISDIR(st.st_mode) || st.st_uid != geteuid()) continue;
    Descriptor lock(::open((it->path() / kLockName).c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW));
    if (lock.fd < 0 || flock(lock.fd, LOCK_EX | LOCK_NB) != 0) continue;
    fs::remove_all(it->path(), error);
  }
}

}  // namespace

Result<PrivateFolder> PrivateFolder::make(Kind kind) {
  const char* given = std::getenv("TMPDIR");
  std::string base = given != nullptr && *given != '\0' ? given : "/tmp";
  if (kind == InMemory && (given == nullptr || *given == '\0') && access("/dev/shm", W_OK | X_OK) == 0)
    base = "/dev/shm";
  removeAbandoned(base);
  std::string pattern = base + "/" + kFolderPrefix + "XXXXXX";
  if (mkdtemp(pattern.data()) == nullptr)
    return fail(fmt::format("{}: no private folder can be made there: {}; set TMPDIR to a folder that can be written",
                            base, std::strerror(errno)));
  std::error_code error;
  fs::path path = fs::canonical(pattern, error);
  // It gets its name once it is held: whoever finds it unlocked may remove the folder.
  fs::path nameless = path / ".made";
  int lock = ::open(nameless.c_str(), O_RDONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
  if (lock < 0 || flock(lock, LOCK_EX) != 0 || ::rename(nameless.c_str(), (path / kLockName).c_str()) != 0)
    return fail(fmt::format("{}: {}; set TMPDIR to a folder that can be written", path.string(), std::strerror(errno)));
  return PrivateFolder(std::move(path), lock);
}

PrivateFolder::~PrivateFolder() {
  if (path_.empty()) return;
  std::error_code error;  // what can't be removed stays; there is nobody to tell
  fs::remove_all(path_, error);
  if (lock_ >= 0) ::close(lock_);
}

namespace {

// As the runtime matches them.
bool matches(const std::vector<PoolPattern>& patterns, const std::string& path) {
  return std::any_of(patterns.begin(), patterns.end(), [&](const PoolPattern& p) {
    if (p.glob) return fnmatch(p.text.c_str(), path.c_str(), FNM_PATHNAME | FNM_PERIOD) == 0;
    return p.text.back() == '/' ? path.starts_with(p.text) : path == p.text;
  });
}

// Where a link leads to whose target isn't there yet; the path itself if it is none.
fs::path followLinks(fs::path path) {
  std::error_code error;
  for (int links = 0; links < 40 && fs::is_symlink(path, error); ++links)
    path = (path.parent_path() / fs::read_symlink(path, error)).lexically_normal();
  fs::path folder = fs::canonical(path.parent_path(), error);
  return error ? path : folder / path.filename();
}

// Every regular file that a pattern matches now, under the name by which it was found.
std::vector<std::string> matchedFiles(const PoolPattern& pattern) {
  std::vector<std::string> files;
  std::error_code error;
  if (pattern.glob) {
    glob_t found{};
    if (glob(pattern.text.c_str(), 0, nullptr, &found) == 0)
      for (std::size_t i = 0; i < found.gl_pathc; ++i)
        if (fs::is_regular_file(found.gl_pathv[i], error)) files.emplace_back(found.gl_pathv[i]);
    globfree(&found);
  } else if (pattern.text.back() == '/') {
    for (auto it = fs::recursive_directory_iterator(pattern.text, fs::directory_options::skip_permission_denied, error);
         it != fs::recursive_directory_iterator(); it.increment(error))
      if (it->is_regular_file(error)) files.push_back(it->path().string());
  } else if (fs::is_regular_file(pattern.text, error)) {
    files.push_back(pattern.text);
  }
  return files;
}

}  // namespace

Result<std::vector<PoolPattern>> canonicalPatterns(const std::vector<std::string>& pm) {
  std::set<PoolPattern> patterns;
  for (const std::string& p : pm) {
    if (p.empty()) return fail("--pm: an empty path; name a pool file, a folder or a glob");
    std::error_code error;
    fs::path plain = fs::absolute(p, error).lexically_normal();
    // What exists under this very name is no glob.
    bool there = fs::exists(fs::symlink_status(plain, error));
    if (there) {
      fs::path real = fs::canonical(plain, error);
      if (fs::is_directory(real, error)) {
        auto slashed = [](const fs::path& d) { return d.string().back() == '/' ? d.string() : d.string() + "/"; };
        patterns.insert({slashed(plain), false});
        patterns.insert({slashed(real), false});
      } else if (fs::is_regular_file(real, error)) {
        patterns.insert({plain.string(), false});
        patterns.insert({real.string(), false});
      } else if (real.empty() && fs::is_symlink(plain, error) && fs::is_directory(followLinks(plain).parent_path())) {
        patterns.insert({plain.string(), false});
        patterns.insert({followLinks(plain).string(), false});
      } else {
        return fail(fmt::format("--pm {}: not a file or folder; devices can't be recorded, use a file", p));
      }
      continue;
    }
    fs::path folder = plain.parent_path();
    bool glob = isGlob(plain.string());
    if (glob && !fs::is_directory(folder, error)) {
      patterns.insert({plain.string(), true});
      continue;
    }
    if (!fs::is_directory(folder, error))
      return fail(fmt::format("--pm {}: no such folder: {}; make it, or correct the path", p, folder.string()));
    glob = isGlob(plain.filename().string());
    auto escaped = [&](const fs::path& f) {
      // In front of a glob, the folder's own characters mean themselves.
      std::string out;
      for (char c : f.string()) {
        if (glob && std::strchr("*?[\\", c) != nullptr) out += '\\';
        out += c;
      }
      return out + (out.ends_with('/') ? "" : "/");
    };
    patterns.insert({escaped(folder) + plain.filename().string(), glob});
    patterns.insert({escaped(fs::canonical(folder, error)) + plain.filename().string(), glob});
  }
  // What is matched through a link is the same pool under its own name.
  std::set<PoolPattern> linked;
  std::vector<PoolPattern> all(patterns.begin(), patterns.end());
  for (const PoolPattern& p : all)
    for (const std::string& file : matchedFiles(p)) {
      std::error_code error;
      fs::path real = fs::canonical(file, error);
      if (!error && !matches(all, real.string())) linked.insert({real.string(), false});
    }
  patterns.merge(linked);
  if (patterns.size() > 32) return fail("--pm: more than 32 patterns; use a folder or a glob");
  return std::vector<PoolPattern>(patterns.begin(), patterns.end());
}

Result<void> copyPools(const std::vector<PoolPattern>& patterns, const fs::path& shadow, TraceWriter& trace) {
  std::set<std::string> files;
  std::error_code error;
  for (const PoolPattern& p : patterns) {
    for (const std::string& file : matchedFiles(p)) {
      fs::path real = fs::canonical(file, error);
      files.insert(!error && matches(patterns, real.string()) ? real.string() : file);
    }
    if (p.glob) {
      // A pool that is made there needs its folder.
      fs::path parent = fs::path(p.text).parent_path();
      if (!isGlob(parent.string())) fs::create_directories(shadow / parent.relative_path(), error);
    } else if (p.text.back() == '/') {
      fs::create_directories(shadow / fs::path(p.text).relative_path(), error);
      for (auto it = fs::recursive_directory_iterator(p.text, fs::directory_options::skip_permission_denied, error);
           it != fs::recursive_directory_iterator(); it.increment(error))
        if (it->is_directory(error)) fs::create_directories(shadow / it->path().relative_path(), error);
    } else {
      fs::create_directories(shadow / fs::path(p.text).parent_path().relative_path(), error);
    }
  }
  // Two names of one file must stay one file.
  std::set<std::pair<dev_t, ino_t>> seen;
  std::vector<std::pair<std::string, fs::path>> aliases;
  for (const std::string& f : files) {
    struct stat st{};
    if (stat(f.c_str(), &st) != 0) return fail(fmt::format("{}: {}", f, std::strerror(errno)));
    fs::path to = shadow / fs::path(f).relative_path();
    if (!seen.insert({st.st_dev, st.st_ino}).second) {
      aliases.emplace_back(f, to);
      continue;
    }
    if (auto ok = copyFile(f, to, trace); !ok) return ok;
  }
  for (const auto& [name, to] : aliases) {
    struct stat st{};
    stat(name.c_str(), &st);
    for (const std::string& f : files) {
      struct stat other{};
      fs::path first = shadow / fs::path(f).relative_path();
      if (f != name && stat(f.c_str(), &other) == 0 && other.st_dev == st.st_dev && other.st_ino == st.st_ino &&
          fs::exists(first, error)) {
        fs::create_directories(to.parent_path(), error);
        fs::create_hard_link(first, to, error);
        break;
      }
    }
  }
  return {};
}

Result<void> makeHeap(unsigned mebibytes, const fs::path& shadow, TraceWriter& trace) {
  fs::path to = shadow / fs::path(BLACKOUT_HEAP_PATH).relative_path();
  std::error_code error;
  fs::create_directories(to.parent_path(), error);
  Descriptor out(::open(to.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600));
  std::uint64_t size = std::uint64_t{mebibytes} << 20;
  struct stat st{};
  if (out.fd < 0 || ftruncate(out.fd, static_cast<off_t>(size)) != 0 || fstat(out.fd, &st) != 0)
    return fail(fmt::format("--heap {}: {}: {}", mebibytes, to.string(), std::strerror(errno)));
  trace.identify(trace.file(BLACKOUT_HEAP_PATH, size, true), {st.st_dev, st.st_ino}, {});
  return {};
}

}  // namespace blackout
