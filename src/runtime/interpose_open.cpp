// Opening files, and their descriptors: a path that matches --pm leads to its private copy, and a pool that comes into
// being is an event. Everything else is the plain system call.

#undef _FORTIFY_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "runtime/outside.h"
#include "runtime/overlay.h"
#include "runtime/pinned.h"
#include "runtime/pool_locks.h"
#include "runtime/pools.h"
#include "runtime/real.h"
#include "runtime/recorder.h"
#include "runtime/recovery.h"
#include "runtime/unfollowed.h"

using namespace blackout::rt;

namespace {

// A recovery run opens a pool. Most only map it: the image itself will do, for reading. False: it must be opened as in
// a recording, among the run's own files.
bool openImage(const char* copy, const char* canonical, int flags, int& fd) {
  struct stat st;
  bool there = syscall(SYS_newfstatat, AT_FDCWD, copy, &st, 0) == 0;
  if (there && S_ISDIR(st.st_mode)) observeAllPaths();
  observePath(canonical);
  if (hasPrivatePools()) return false;
  bool changes = there ? S_ISREG(st.st_mode) && st.st_size != 0 && (flags & O_TRUNC) != 0 : (flags & O_CREAT) != 0;
  if (changes || (flags & O_TMPFILE) == O_TMPFILE) {
    bool refused = there && (flags & (O_CREAT | O_EXCL)) == (O_CREAT | O_EXCL);
    if (!refused) makePrivatePools();
    if (!refused) return false;
  }
  int plain = flags & ~(O_ACCMODE | O_TRUNC | O_DIRECT | O_APPEND);
  if ((flags & O_EXCL) == 0) plain &= ~O_CREAT;
  fd = int(syscall(SYS_openat, AT_FDCWD, copy, plain | O_RDONLY, 0));
  if (fd >= 0 && S_ISREG(st.st_mode)) {
    notePoolDescriptor(fd);
    notePoolFlags(fd, flags);
  }
  return true;
}

bool isMemory(const char* path) {
  size_t n = strlen(path);
  return strncmp(path, "/proc/", 6) == 0 && n > 4 && strcmp(path + n - 4, "/mem") == 0;
}

// open and all its names. A path that isn't a pool's goes to libc, which knows about cancellation.
int openFile(int dirfd, const char* path, int flags, mode_t mode) {
  bool writes = (flags & O_ACCMODE) != O_RDONLY || (flags & (O_CREAT | O_TRUNC)) != 0;
  char copy[PATH_MAX];
  char canonical[PATH_MAX];
  bool keeps = (flags & O_NOFOLLOW) != 0 || (flags & (O_CREAT | O_EXCL)) == (O_CREAT | O_EXCL);
  Last last = keeps ? Last::Keep : Last::Follow;
  if (!redirect(dirfd, path, copy, canonical, last)) {
    if (int random = openRandom(path, flags); random >= 0) return random;
    if (redirectToOverlay(dirfd, path, useOf(flags), copy)) {
      dirfd = AT_FDCWD;
      path = copy;
    }
    auto* real = BLACKOUT_REAL(openat);
    int fd = real == nullptr ? int(syscall(SYS_openat, dirfd, path, flags, mode)) : real(dirfd, path, flags, mode);
    if (fd >= 0 && isMemory(path))
      unfollowed(
          "it opens a process's memory (/proc/self/mem): what is read from PM and written to it there is not seen");
    // Through /proc/self/fd, say, a file that was removed: a pool all the same.
    if (fd >= 0 && inRun() && (writes || isRestart()) && fileOfDescriptor(fd) != 0) notePoolDescriptor(fd);
    return fd;
  }
  if (isRestart()) {
    int fd = -1;
    if (openImage(copy, canonical, flags, fd)) return fd;
    redirect(dirfd, path, copy, canonical, last);
  }
  Scope scope;
  int fd = int(syscall(SYS_openat, AT_FDCWD, copy, flags & ~O_DIRECT, mode));
  if (fd < 0 || scope.nested) return fd;
  struct stat st;
  if (syscall(SYS_fstat, fd, &st) != 0 || !S_ISREG(st.st_mode)) return fd;
  uint32_t file = fileOfDescriptor(fd);
  if (file == 0 && st.st_nlink > 0) {
    file = newFile(canonical, st);
    if (file != 0 && st.st_size != 0) {
      int readable = int(syscall(SYS_openat, AT_FDCWD, copy, O_RDONLY | O_CLOEXEC));
      if (readable >= 0) recordWholeFile(file, readable, whereOf(librarySite("open"), Stack{0, 0, {}}), false);
      if (readable >= 0) syscall(SYS_close, readable);
    }
  }
  if (file != 0 && (flags & O_TRUNC) != 0) setFileSize(file, uint64_t(st.st_size));
  notePoolDescriptor(fd);
  return fd;
}

mode_t modeOf(int flags, va_list arguments) {
  return (flags & (O_CREAT | O_TMPFILE)) != 0 ? va_arg(arguments, mode_t) : 0;
}

}  // namespace

#define BLACKOUT_OPEN(name)                                    \
  BLACKOUT_EXPORT int name(const char* path, int flags, ...) { \
    va_list arguments;                                         \
    va_start(arguments, flags);                                \
    mode_t mode = modeOf(flags, arguments);                    \
    va_end(arguments);                                         \
    return openFile(AT_FDCWD, path, flags, mode);              \
  }
#define BLACKOUT_OPENAT(name)                                             \
  BLACKOUT_EXPORT int name(int dirfd, const char* path, int flags, ...) { \
    va_list arguments;                                                    \
    va_start(arguments, flags);                                           \
    mode_t mode = modeOf(flags, arguments);                               \
    va_end(arguments);                                                    \
    return openFile(dirfd, path, flags, mode);                            \
  }
BLACKOUT_OPEN(open)
BLACKOUT_OPEN(open64)
BLACKOUT_OPENAT(openat)
BLACKOUT_OPENAT(openat64)
// The names that fortified programs call.
BLACKOUT_EXPORT int __open_2(const char* path, int flags) { return openFile(AT_FDCWD, path, flags, 0); }
BLACKOUT_EXPORT int __open64_2(const char* path, int flags) { return openFile(AT_FDCWD, path, flags, 0); }
BLACKOUT_EXPORT int __openat_2(int dirfd, const char* path, int flags) { return openFile(dirfd, path, flags, 0); }
BLACKOUT_EXPORT int __openat64_2(int dirfd, const char* path, int flags) { return openFile(dirfd, path, flags, 0); }
BLACKOUT_EXPORT int creat(const char* path, mode_t mode) {
  return openFile(AT_FDCWD, path, O_CREAT | O_WRONLY | O_TRUNC, mode);
}
BLACKOUT_EXPORT int creat64(const char* path, mode_t mode) { return creat(path, mode); }

// mkstemp opens inside libc, where nobody sees it. Behind the Xs is a suffix of so many characters.
BLACKOUT_EXPORT int mkostemps(char* pattern, int suffix, int flags) {
  if (!inRun()) return BLACKOUT_REAL(mkostemps)(pattern, suffix, flags);
  constexpr size_t kXs = 6;
  size_t n = strlen(pattern);
  if (suffix < 0 || n < kXs + size_t(suffix) || memcmp(pattern + n - size_t(suffix) - kXs, "XXXXXX", kXs) != 0) {
    errno = EINVAL;
    return -1;
  }
  // Numbers instead of chance: the same names in every run.
  static unsigned counter = 0;
  for (int attempt = 0; attempt < 100000; ++attempt) {
    char digits[16];
    snprintf(digits, sizeof digits, "%06u", __atomic_fetch_add(&counter, 1, __ATOMIC_RELAXED) % 1000000);
    memcpy(pattern + n - size_t(suffix) - kXs, digits, kXs);
    int fd = openFile(AT_FDCWD, pattern, O_RDWR | O_CREAT | O_EXCL | flags, 0600);
    if (fd >= 0 || errno != EEXIST) return fd;
  }
  errno = EEXIST;
  return -1;
}
BLACKOUT_EXPORT int mkostemps64(char* pattern, int suffix, int flags) { return mkostemps(pattern, suffix, flags); }
BLACKOUT_EXPORT int mkstemps(char* pattern, int suffix) { return mkostemps(pattern, suffix, 0); }
BLACKOUT_EXPORT int mkstemps64(char* pattern, int suffix) { return mkostemps(pattern, suffix, 0); }
BLACKOUT_EXPORT int mkostemp(char* pattern, int flags) { return mkostemps(pattern, 0, flags); }
BLACKOUT_EXPORT int mkstemp(char* pattern) { return mkostemps(pattern, 0, 0); }
BLACKOUT_EXPORT int mkstemp64(char* pattern) { return mkostemps(pattern, 0, 0); }
BLACKOUT_EXPORT int mkostemp64(char* pattern, int flags) { return mkostemps(pattern, 0, flags); }

BLACKOUT_EXPORT int close(int fd) {
  if (inRun()) forgetDescriptor(fd);
  auto* real = BLACKOUT_REAL(close);
  int r = real == nullptr ? int(syscall(SYS_close, fd)) : real(fd);
  usedOutside();
  return r;
}
BLACKOUT_EXPORT int dup(int fd) {
  int made = int(syscall(SYS_dup, fd));
  if (made >= 0) copyDescriptor(fd, made);
  return made;
}
BLACKOUT_EXPORT int dup2(int fd, int to) {
  int made = int(syscall(SYS_dup2, fd, to));
  if (made >= 0 && fd != to) copyDescriptor(fd, made);
  return made;
}
BLACKOUT_EXPORT int dup3(int fd, int to, int flags) {
  int made = int(syscall(SYS_dup3, fd, to, flags));
  if (made >= 0) copyDescriptor(fd, made);
  return made;
}
static int control(int fd, int command, unsigned long argument) {
  if (command == F_GETFL && readsImage(fd)) return poolFlags(fd) & ~(O_CREAT | O_EXCL | O_TRUNC);
  if (command == F_SETFL && readsImage(fd)) {
    constexpr int kChangeable = O_APPEND | O_ASYNC | O_DIRECT | O_NOATIME | O_NONBLOCK;
    notePoolFlags(fd, (poolFlags(fd) & ~kChangeable) | (int(argument) & kChangeable));
    return 0;
  }
  bool sets = command == F_SETLK || command == F_SETLKW || command == F_OFD_SETLK || command == F_OFD_SETLKW;
  if (sets) makePrivateDescriptor(fd);
  int done;
  if ((sets || command == F_GETLK || command == F_OFD_GETLK) && argument != 0 &&
      lockPool(fd, command, reinterpret_cast<struct flock*>(argument), done))
    return done;
  // The lock of a description is taken on it, for which the kernel wants it to be open for writing.
  bool ofDescription = argument != 0 && (command == F_OFD_SETLK || command == F_OFD_SETLKW);
  if (ofDescription && readsPool(fd) && reinterpret_cast<struct flock*>(argument)->l_type == F_WRLCK)
    makePrivatePools();
  auto* real = BLACKOUT_REAL(fcntl);
  int r = real == nullptr ? int(syscall(SYS_fcntl, fd, command, argument)) : real(fd, command, argument);
  if (r == 0 && sets) noteLock(fd);
  if (r >= 0 && (command == F_DUPFD || command == F_DUPFD_CLOEXEC)) copyDescriptor(fd, r);
  return r;
}
BLACKOUT_EXPORT int fcntl(int fd, int command, ...) {
  va_list arguments;
  va_start(arguments, command);
  unsigned long argument = va_arg(arguments, unsigned long);
  va_end(arguments);
  return control(fd, command, argument);
}
BLACKOUT_EXPORT int fcntl64(int fd, int command, ...) {
  va_list arguments;
  va_start(arguments, command);
  unsigned long argument = va_arg(arguments, unsigned long);
  va_end(arguments);
  return control(fd, command, argument);
}
