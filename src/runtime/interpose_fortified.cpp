// Other names of calls that ours stand before: what -D_FORTIFY_SOURCE makes of them where the compiler can't tell a
// size, and names for large files or for the same thing. libc makes them from inside, past ours.

#undef _FORTIFY_SOURCE
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/uio.h>
#include <unistd.h>

#include "runtime/real.h"
#include "runtime/role.h"

extern "C" [[noreturn]] void __chk_fail() noexcept;

namespace {

void mustFit(size_t count, size_t room) {
  if (count > room) __chk_fail();
}

}  // namespace

BLACKOUT_EXPORT ssize_t __read_chk(int fd, void* to, size_t count, size_t room) {
  mustFit(count, room);
  return read(fd, to, count);
}
BLACKOUT_EXPORT ssize_t __pread_chk(int fd, void* to, size_t count, off_t at, size_t room) {
  mustFit(count, room);
  return pread(fd, to, count, at);
}
BLACKOUT_EXPORT ssize_t __pread64_chk(int fd, void* to, size_t count, off_t at, size_t room) {
  return __pread_chk(fd, to, count, at, room);
}
BLACKOUT_EXPORT ssize_t __recv_chk(int fd, void* to, size_t count, size_t room, int flags) {
  mustFit(count, room);
  return recv(fd, to, count, flags);
}
BLACKOUT_EXPORT ssize_t __readlink_chk(const char* path, char* to, size_t count, size_t room) {
  mustFit(count, room);
  return readlink(path, to, count);
}
BLACKOUT_EXPORT ssize_t __readlinkat_chk(int folder, const char* path, char* to, size_t count, size_t room) {
  mustFit(count, room);
  return readlinkat(folder, path, to, count);
}
BLACKOUT_EXPORT char* __getcwd_chk(char* to, size_t count, size_t room) {
  mustFit(count, room);
  return getcwd(to, count);
}
BLACKOUT_EXPORT char* __realpath_chk(const char* path, char* to, size_t room) {
  mustFit(PATH_MAX, room);
  return realpath(path, to);
}
BLACKOUT_EXPORT int __poll_chk(pollfd* fds, nfds_t count, int timeout, size_t room) {
  mustFit(count * sizeof *fds, room);
  return poll(fds, count, timeout);
}
BLACKOUT_EXPORT int __ppoll_chk(pollfd* fds, nfds_t count, const timespec* timeout, const sigset_t* mask, size_t room) {
  mustFit(count * sizeof *fds, room);
  return ppoll(fds, count, timeout, mask);
}
// The flag asks for a check of %n, which libc makes for programs that it was told of.
BLACKOUT_EXPORT int __vdprintf_chk(int fd, int, const char* format, va_list arguments) {
  return vdprintf(fd, format, arguments);
}
BLACKOUT_EXPORT int __dprintf_chk(int fd, int, const char* format, ...) {
  va_list arguments;
  va_start(arguments, format);
  int n = vdprintf(fd, format, arguments);
  va_end(arguments);
  return n;
}

BLACKOUT_EXPORT ssize_t preadv64v2(int fd, const iovec* parts, int count, off_t at, int flags) {
  return preadv2(fd, parts, count, at, flags);
}
BLACKOUT_EXPORT ssize_t pwritev64v2(int fd, const iovec* parts, int count, off_t at, int flags) {
  return pwritev2(fd, parts, count, at, flags);
}
BLACKOUT_EXPORT char* canonicalize_file_name(const char* path) { return realpath(path, nullptr); }
BLACKOUT_EXPORT int euidaccess(const char* path, int mode) {
  return blackout::rt::inRun() ? faccessat(AT_FDCWD, path, mode, AT_EACCESS) : BLACKOUT_REAL(euidaccess)(path, mode);
}
BLACKOUT_EXPORT int eaccess(const char* path, int mode) { return euidaccess(path, mode); }
BLACKOUT_EXPORT int futimesat(int folder, const char* path, const timeval times[2]) {
  timespec converted[2];
  for (int i = 0; times != nullptr && i < 2; ++i) converted[i] = {times[i].tv_sec, times[i].tv_usec * 1000};
  const timespec* passed = times == nullptr ? nullptr : converted;
  return path == nullptr ? futimens(folder, passed) : utimensat(folder, path, passed, 0);
}
BLACKOUT_EXPORT int lutimes(const char* path, const timeval times[2]) {
  timespec converted[2];
  for (int i = 0; times != nullptr && i < 2; ++i) converted[i] = {times[i].tv_sec, times[i].tv_usec * 1000};
  return utimensat(AT_FDCWD, path, times == nullptr ? nullptr : converted, AT_SYMLINK_NOFOLLOW);
}
