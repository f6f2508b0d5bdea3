// A folder of the operating system as a file system that a harness could have: what the model is compared with.
#pragma once

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>

#include "blackout/fs.hpp"

class Directory {
 public:
  explicit Directory(std::string root) : root_(std::move(root)) {}

  int creat(const char* path) {
    int file = ::open(at(path).c_str(), O_CREAT | O_WRONLY | O_NOFOLLOW | O_CLOEXEC, 0644);
    return file < 0 ? -errno : result(::close(file));
  }
  int mkdir(const char* path) { return result(::mkdir(at(path).c_str(), 0755)); }
  int write(const char* path, std::uint64_t offset, const void* data, std::size_t size) {
    return withFile(path, O_WRONLY, [&](int file) { return ::pwrite(file, data, size, static_cast<off_t>(offset)); });
  }
  int append(const char* path, const void* data, std::size_t size) {
    return withFile(path, O_WRONLY | O_APPEND, [&](int file) { return ::write(file, data, size); });
  }
  int fallocate(const char* path, std::uint64_t offset, std::uint64_t size) {
    return withFile(path, O_WRONLY, [&](int file) {
      return ::fallocate(file, 0, static_cast<off_t>(offset), static_cast<off_t>(size));
    });
  }
  int truncate(const char* path, std::uint64_t size) {
    return withFile(path, O_WRONLY, [&](int file) { return ftruncate(file, static_cast<off_t>(size)); });
  }
  int symlink(const char* says, const char* path) { return result(::symlink(says, at(path).c_str())); }
  int link(const char* path, const char* to) { return result(::link(at(path).c_str(), at(to).c_str())); }
  int unlink(const char* path) { return result(::unlink(at(path).c_str())); }
  int rmdir(const char* path) { return result(::rmdir(at(path).c_str())); }
  int rename(const char* path, const char* to) { return result(::rename(at(path).c_str(), at(to).c_str())); }
  int open(const char* path) {
    int file = ::open(at(path).c_str(), O_RDWR | O_NOFOLLOW | O_CLOEXEC);
    return file < 0 ? -errno : file;
  }
  int pwrite(int file, std::uint64_t offset, const void* data, std::size_t size) {
    return ::pwrite(file, data, size, static_cast<off_t>(offset)) < 0 ? -errno : 0;
  }
  int pread(int file, std::uint64_t offset, void* data, std::size_t size) {
    return ::pread(file, data, size, static_cast<off_t>(offset)) < 0 ? -errno : 0;
  }
  int close(int file) { return result(::close(file)); }
  template <class Visit>
  int list(const char* path, Visit visit) {
    for (const auto& entry : std::filesystem::directory_iterator(at(path))) visit(entry.path().filename().c_str());
    return 0;
  }
  int stat(const char* path, blackout::fs::Status& status) {
    struct stat st{};
    if (lstat(at(path).c_str(), &st) != 0) return -errno;
    using blackout::fs::Kind;
    status.kind = S_ISDIR(st.st_mode) ? Kind::Directory : S_ISLNK(st.st_mode) ? Kind::Link : Kind::File;
    status.inode = st.st_ino;
    status.links = st.st_nlink;
    status.size = static_cast<std::uint64_t>(st.st_size);
    return 0;
  }
  int read(const char* path, std::uint64_t offset, void* data, std::size_t size) {
    return withFile(path, O_RDONLY, [&](int file) { return ::pread(file, data, size, static_cast<off_t>(offset)); });
  }
  int readlink(const char* path, std::string& says) {
    char text[256];
    ssize_t n = ::readlink(at(path).c_str(), text, sizeof text);
    if (n >= 0) says.assign(text, static_cast<std::size_t>(n));
    return n < 0 ? -errno : 0;
  }

 private:
  // A symbolic link on the way would be followed: here it is no folder, as in the model.
  std::string at(const std::string& path) const {
    for (std::size_t end = path.find('/'); end != std::string::npos; end = path.find('/', end + 1))
      if (std::filesystem::is_symlink(root_ + '/' + path.substr(0, end))) return "/dev/null/" + path;
    return path.empty() ? root_ : root_ + '/' + path;
  }
  static int result(int code) { return code == 0 ? 0 : -errno; }
  template <class Action>
  int withFile(const char* path, int flags, Action action) {
    int file = ::open(at(path).c_str(), flags | O_NOFOLLOW | O_CLOEXEC);
    if (file < 0) return -errno;
    int code = action(file) < 0 ? -errno : 0;
    ::close(file);
    return code;
  }
  std::string root_;
};
