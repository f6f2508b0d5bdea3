#include "report/output_file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>

namespace blackout {

namespace {

Result<void> writeTo(int fd, std::string_view content, const std::string& path) {
  while (!content.empty()) {
    ssize_t n = ::write(fd, content.data(), content.size());
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0)
      return fail(fmt::format("{}: can't be written: {}", path, std::strerror(n < 0 ? errno : ENOSPC)),
                  ExitCode::Inconclusive);
    content.remove_prefix(static_cast<std::size_t>(n));
  }
  return {};
}

}  // namespace

Result<OutputFile> OutputFile::prepare(const std::string& path, const std::string& option) {
  OutputFile out;
  out.path_ = path;
  if (path == "-") return out;
  auto refuse = [&](std::string_view why) {
    return fail(fmt::format("{} {}: can't be written: {}; name another file", option, path, why));
  };
  if (path.empty()) return refuse("the name is empty");
  std::string folder = std::filesystem::path(path).parent_path().string();
  if (folder.empty()) folder = ".";
  struct stat st{};
  if (stat(path.c_str(), &st) == 0) {
    if (S_ISDIR(st.st_mode)) return refuse("it is a folder");
    if (access(path.c_str(), W_OK) != 0) return refuse(std::strerror(errno));
    out.direct_ = !S_ISREG(st.st_mode) || access(folder.c_str(), W_OK | X_OK) != 0;
    return out;
  }
  if (errno != ENOENT) return refuse(std::strerror(errno));
  if (stat(folder.c_str(), &st) != 0) return refuse(fmt::format("there is no folder {}", folder));
  if (!S_ISDIR(st.st_mode)) return refuse(fmt::format("{} is not a folder", folder));
  if (access(folder.c_str(), W_OK | X_OK) != 0) return refuse(std::strerror(errno));
  return out;
}

Result<void> OutputFile::write(std::string_view content) const {
  if (isStandardOutput()) {
    std::fflush(stdout);
    return writeTo(STDOUT_FILENO, content, "standard output");
  }
  std::string target = direct_ ? path_ : fmt::format("{}.{}.new", path_, getpid());
  int fd = ::open(target.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
  if (fd < 0) return fail(fmt::format("{}: can't be written: {}", path_, std::strerror(errno)), ExitCode::Inconclusive);
  Result<void> written = writeTo(fd, content, path_);
  if (::close(fd) != 0 && written)
    written = fail(fmt::format("{}: can't be written: {}", path_, std::strerror(errno)), ExitCode::Inconclusive);
  if (direct_) return written;
  if (written && ::rename(target.c_str(), path_.c_str()) != 0)
    written = fail(fmt::format("{}: can't be written: {}", path_, std::strerror(errno)), ExitCode::Inconclusive);
  if (!written) ::unlink(target.c_str());
  return written;
}

}  // namespace blackout
