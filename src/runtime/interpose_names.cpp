// Files by name: removing and renaming a pool are events, looking at one is done on its private copy. Everything else
// is the plain system call.

#undef _FORTIFY_SOURCE
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <sys/time.h>
#include <unistd.h>
#include <utime.h>

#include "runtime/chosen_path.h"
#include "runtime/overlay.h"
#include "runtime/pools.h"
#include "runtime/real.h"
#include "runtime/recorder.h"
#include "runtime/recovery.h"
#include "runtime/regions.h"
#include "runtime/unfollowed.h"

using namespace blackout::rt;

static long address(const void* p) { return reinterpret_cast<long>(p); }

namespace {

int removeFile(int dirfd, const char* path, int flags) {
  char copy[PATH_MAX];
  if (inRun()) nameChanges(dirfd, path);
  if (!redirect(dirfd, path, copy, nullptr, Last::Keep)) {
    int result;
    return removeInOverlay(dirfd, path, flags, result) ? result : int(syscall(SYS_unlinkat, dirfd, path, flags));
  }
  if (isRestart()) {
    makePrivatePools();
    redirect(dirfd, path, copy, nullptr, Last::Keep);
  }
  Scope scope;
  uint32_t file = scope.nested ? 0 : fileOfPath(copy);
  struct stat st;
  bool last = syscall(SYS_newfstatat, AT_FDCWD, copy, &st, 0) == 0 && st.st_nlink == 1;
  long r = syscall(SYS_unlinkat, AT_FDCWD, copy, flags);
  if (r == 0 && file != 0 && last) fileRemoved(file);
  return int(r);
}

int renameFile(int fromDir, const char* from, int toDir, const char* to, unsigned flags) {
  char fromCopy[PATH_MAX], toCopy[PATH_MAX], canonical[PATH_MAX];
  if (inRun()) {
    nameChanges(fromDir, from);
    nameChanges(toDir, to);
  }
  bool fromPool = redirect(fromDir, from, fromCopy, nullptr, Last::Keep);
  bool toPool = redirect(toDir, to, toCopy, canonical, Last::Keep);
  if (!fromPool && !toPool) {
    int result;
    if (renameInOverlay(fromDir, from, toDir, to, flags, result)) return result;
    return int(syscall(SYS_renameat2, fromDir, from, toDir, to, flags));
  }
  if ((flags & RENAME_EXCHANGE) != 0) {
    unfollowed("it exchanges the name of a pool with another (renameat2, RENAME_EXCHANGE), which is refused here");
    errno = EINVAL;
    return -1;
  }
  if (!fromPool && redirectToOverlay(fromDir, from, Use::Read, fromCopy)) {
    fromDir = AT_FDCWD;
    from = fromCopy;
  }
  if (!toPool && redirectToOverlay(toDir, to, Use::Replace, toCopy)) {
    toDir = AT_FDCWD;
    to = toCopy;
  }
  if (isRestart()) {
    makePrivatePools();
    if (fromPool) redirect(fromDir, from, fromCopy, nullptr, Last::Keep);
    if (toPool) redirect(toDir, to, toCopy, canonical, Last::Keep);
  }
  // Out of the pools nobody sees what is read of it.
  if (fromPool && !toPool && observesCrash())
    if (uint32_t leaves = fileOfPath(fromCopy)) observeFile(leaves, 0, header->files[leaves].size);
  Scope scope;
  uint32_t moved = fromPool ? fileOfPath(fromCopy) : 0;
  uint32_t replaced = toPool ? fileOfPath(toCopy) : 0;
  if (fromPool != toPool) {
    // Between the pools and the user's files: copied, and the user's file stays what it was.
    if (!copyFile(fromPool ? AT_FDCWD : fromDir, fromPool ? fromCopy : from, toPool ? AT_FDCWD : toDir,
                  toPool ? toCopy : to, SIZE_MAX))
      return -1;
    if (fromPool) syscall(SYS_unlinkat, AT_FDCWD, fromCopy, 0);
  }
  long r = fromPool == toPool ? syscall(SYS_renameat2, AT_FDCWD, fromCopy, AT_FDCWD, toCopy, flags) : 0;
  if (r != 0 || scope.nested) return int(r);
  if (replaced != 0 && replaced != moved) fileRemoved(replaced);
  if (moved != 0 && toPool) {
    appendBlob(BLACKOUT_EV_FileRename, 0, uint64_t{moved} << 40, canonical, strlen(canonical));
  } else if (moved != 0) {
    fileRemoved(moved);  // out of the pools
  } else if (toPool) {
    // Into the pools: its content comes with it.
    int fd = int(syscall(SYS_openat, AT_FDCWD, toCopy, O_RDONLY | O_CLOEXEC));
    struct stat st;
    if (fd >= 0 && syscall(SYS_fstat, fd, &st) == 0 && S_ISREG(st.st_mode)) {
      uint32_t file = newFile(canonical, st);
      if (file != 0) recordWholeFile(file, fd, whereOf(librarySite("rename"), Stack{0, 0, {}}), false);
    }
    if (fd >= 0) syscall(SYS_close, fd);
  }
  return int(r);
}

Use lookedAt(int flags) { return (flags & AT_SYMLINK_NOFOLLOW) != 0 ? Use::LookLink : Use::Look; }

}  // namespace

BLACKOUT_EXPORT int unlink(const char* path) { return removeFile(AT_FDCWD, path, 0); }
BLACKOUT_EXPORT int unlinkat(int dirfd, const char* path, int flags) { return removeFile(dirfd, path, flags); }
BLACKOUT_EXPORT int rmdir(const char* path) { return removeFile(AT_FDCWD, path, AT_REMOVEDIR); }
BLACKOUT_EXPORT int remove(const char* path) {
  int r = removeFile(AT_FDCWD, path, 0);
  return r != 0 && errno == EISDIR ? removeFile(AT_FDCWD, path, AT_REMOVEDIR) : r;
}
BLACKOUT_EXPORT int rename(const char* from, const char* to) { return renameFile(AT_FDCWD, from, AT_FDCWD, to, 0); }
BLACKOUT_EXPORT int renameat(int fromDir, const char* from, int toDir, const char* to) {
  return renameFile(fromDir, from, toDir, to, 0);
}
BLACKOUT_EXPORT int renameat2(int fromDir, const char* from, int toDir, const char* to, unsigned flags) {
  return renameFile(fromDir, from, toDir, to, flags);
}

static int steady(long r, struct stat* st) {
  if (r == 0 && isRestart() && !mayBePm(st, sizeof *st)) st->st_ino = steadyInode(st->st_dev, st->st_ino);
  return int(r);
}
BLACKOUT_EXPORT int fstatat(int dirfd, const char* path, struct stat* st, int flags) {
  ChosenPath l(dirfd, path, lookedAt(flags));
  return steady(callForProgram(SYS_newfstatat, long(l.fd), address(l.path), address(st), long(flags)), st);
}
BLACKOUT_EXPORT int fstat(int fd, struct stat* st) { return steady(callForProgram(SYS_fstat, fd, address(st)), st); }
BLACKOUT_EXPORT int fstat64(int fd, struct stat64* st) { return fstat(fd, reinterpret_cast<struct stat*>(st)); }
BLACKOUT_EXPORT int __fxstat(int, int fd, struct stat* st) { return fstat(fd, st); }
BLACKOUT_EXPORT int __fxstat64(int, int fd, struct stat64* st) { return fstat64(fd, st); }
BLACKOUT_EXPORT int fstatat64(int dirfd, const char* path, struct stat64* st, int flags) {
  return fstatat(dirfd, path, reinterpret_cast<struct stat*>(st), flags);
}
BLACKOUT_EXPORT int stat(const char* path, struct stat* st) { return fstatat(AT_FDCWD, path, st, 0); }
BLACKOUT_EXPORT int stat64(const char* path, struct stat64* st) { return fstatat64(AT_FDCWD, path, st, 0); }
BLACKOUT_EXPORT int lstat(const char* path, struct stat* st) {
  return fstatat(AT_FDCWD, path, st, AT_SYMLINK_NOFOLLOW);
}
BLACKOUT_EXPORT int lstat64(const char* path, struct stat64* st) {
  return fstatat64(AT_FDCWD, path, st, AT_SYMLINK_NOFOLLOW);
}
// The names of programs linked before glibc 2.33.
BLACKOUT_EXPORT int __xstat(int, const char* path, struct stat* st) { return stat(path, st); }
BLACKOUT_EXPORT int __xstat64(int, const char* path, struct stat64* st) { return stat64(path, st); }
BLACKOUT_EXPORT int __lxstat(int, const char* path, struct stat* st) { return lstat(path, st); }
BLACKOUT_EXPORT int __lxstat64(int, const char* path, struct stat64* st) { return lstat64(path, st); }
BLACKOUT_EXPORT int statx(int dirfd, const char* path, int flags, unsigned mask, struct statx* st) {
  ChosenPath l(dirfd, path, lookedAt(flags));
  long r = callForProgram(SYS_statx, long(l.fd), address(l.path), long(flags), long(mask), address(st));
  if (r == 0 && isRestart() && !mayBePm(st, sizeof *st))
    st->stx_ino = steadyInode(makedev(st->stx_dev_major, st->stx_dev_minor), st->stx_ino);
  return int(r);
}
BLACKOUT_EXPORT int faccessat(int dirfd, const char* path, int mode, int flags) {
  ChosenPath l(dirfd, path);
  return BLACKOUT_REAL(faccessat)(l.fd, l.path, mode, flags);
}
BLACKOUT_EXPORT int access(const char* path, int mode) {
  ChosenPath l(AT_FDCWD, path);
  return int(callForProgram(SYS_faccessat, long(l.fd), address(l.path), long(mode)));
}
BLACKOUT_EXPORT int mkdirat(int dirfd, const char* path, mode_t mode) {
  ChosenPath l(dirfd, path, Use::MakeFolder);
  return int(callForProgram(SYS_mkdirat, long(l.fd), address(l.path), long(mode)));
}
BLACKOUT_EXPORT int mkdir(const char* path, mode_t mode) { return mkdirat(AT_FDCWD, path, mode); }
BLACKOUT_EXPORT int fchmodat(int dirfd, const char* path, mode_t mode, int flags) {
  ChosenPath l(dirfd, path, Use::Change);
  return BLACKOUT_REAL(fchmodat)(l.fd, l.path, mode, flags);
}
BLACKOUT_EXPORT int chmod(const char* path, mode_t mode) {
  ChosenPath l(AT_FDCWD, path, Use::Change);
  return int(callForProgram(SYS_fchmodat, long(l.fd), address(l.path), long(mode)));
}
BLACKOUT_EXPORT int chown(const char* path, uid_t user, gid_t group) {
  ChosenPath l(AT_FDCWD, path, Use::Change);
  return int(callForProgram(SYS_fchownat, long(l.fd), address(l.path), long(user), long(group), long(0)));
}
BLACKOUT_EXPORT int utimensat(int dirfd, const char* path, const struct timespec times[2], int flags) {
  ChosenPath l(dirfd, path, Use::Change);
  return int(callForProgram(SYS_utimensat, long(l.fd), address(l.path), address(times), long(flags)));
}
BLACKOUT_EXPORT int utimes(const char* path, const struct timeval times[2]) {
  ChosenPath l(AT_FDCWD, path, Use::Change);
  return int(callForProgram(SYS_utimes, address(l.path), address(times)));
}
BLACKOUT_EXPORT int utime(const char* path, const struct utimbuf* times) {
  ChosenPath l(AT_FDCWD, path, Use::Change);
  return int(callForProgram(SYS_utime, address(l.path), address(times)));
}
BLACKOUT_EXPORT int lchown(const char* path, uid_t user, gid_t group) {
  ChosenPath l(AT_FDCWD, path, Use::Change);
  return int(callForProgram(SYS_fchownat, long(l.fd), address(l.path), long(user), long(group), AT_SYMLINK_NOFOLLOW));
}
BLACKOUT_EXPORT int symlink(const char* target, const char* path) {
  ChosenPath l(AT_FDCWD, path, Use::MakeName);
  return int(callForProgram(SYS_symlinkat, address(target), long(l.fd), address(l.path)));
}
BLACKOUT_EXPORT ssize_t readlink(const char* path, char* out, size_t size) {
  ChosenPath l(AT_FDCWD, path, Use::LookLink);
  return callForProgram(SYS_readlinkat, long(l.fd), address(l.path), address(out), long(size));
}
BLACKOUT_EXPORT int chdir(const char* path) {
  ChosenPath l(AT_FDCWD, path);
  return int(callForProgram(SYS_chdir, address(l.path)));
}
BLACKOUT_EXPORT int linkat(int fromDir, const char* from, int toDir, const char* to, int flags) {
  // In a recovery both names must come to lie in one file system.
  ChosenPath a(fromDir, from, Use::Change);
  ChosenPath b(toDir, to, Use::MakeName);
  return int(callForProgram(SYS_linkat, long(a.fd), address(a.path), long(b.fd), address(b.path), long(flags)));
}
BLACKOUT_EXPORT int link(const char* from, const char* to) { return linkat(AT_FDCWD, from, AT_FDCWD, to, 0); }
BLACKOUT_EXPORT DIR* opendir(const char* path) {
  ChosenPath l(AT_FDCWD, path, Use::Read);
  if (isRestart() && l.pool) observeAllPaths();
  return BLACKOUT_REAL(opendir)(l.path);
}
BLACKOUT_EXPORT char* realpath(const char* path, char* out) {
  char copy[PATH_MAX], canonical[PATH_MAX];
  if (!redirect(AT_FDCWD, path, copy, canonical)) {
    bool found;
    if (!resolveInOverlay(path, canonical, found)) return BLACKOUT_REAL_VERSION(realpath, "GLIBC_2.3")(path, out);
    if (!found) return nullptr;
  } else if (access(path, F_OK) != 0)
    return nullptr;
  if (out == nullptr) return strdup(canonical);
  return strcpy(out, canonical);
}
