#include "report/run_folder.h"

#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <filesystem>

#include "report/output_file.h"

namespace blackout {

namespace fs = std::filesystem;

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
  RunFolder folder;
  folder.parent_ = parent;
  constexpr unsigned kTries = 1000;  // others may take numbers at the same time
  for (unsigned i = 0; i < kTries; ++i, ++next) {
    folder.name_ = std::to_string(next);
    folder.path_ = parent + "/" + folder.name_;
    if (mkdir(folder.path_.c_str(), 0777) == 0) return folder;
    if (errno != EEXIST) break;
  }
  return fail(fmt::format("--out {}: no folder can be made in it: {}", parent, std::strerror(errno)));
}

Result<void> RunFolder::write(const std::string& name, std::string_view content) const {
  auto file = OutputFile::prepare(path_ + "/" + name, "--out");
  if (!file) return tl::unexpected(file.error());
  return file->write(content);
}

Result<void> RunFolder::finish() const {
  std::string link = parent_ + "/latest";
  std::error_code error;
  if (fs::exists(fs::symlink_status(link, error)) && !fs::is_symlink(fs::symlink_status(link, error)))
    return fail(fmt::format("{}: is there and no link, so it stays as it is", link));
  // By a rename: there is always one.
  std::string fresh = fmt::format("{}/.latest-{}", parent_, getpid());
  fs::remove(fresh, error);
  if (symlink(name_.c_str(), fresh.c_str()) != 0 || rename(fresh.c_str(), link.c_str()) != 0)
    return fail(fmt::format("{}: can't be made: {}", link, std::strerror(errno)));
  return {};
}

}  // namespace blackout
