// Files by name and descriptor: a path that matches --pm leads to its private copy, and creation,
// change of size, removal, renaming and writing of a pool file are events. Everything else is the plain system
// call. Bytes that a system call writes into PM are recorded as stores of the calling function.

#undef _FORTIFY_SOURCE
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/uio.h>
#include <unistd.h>
#include <utime.h>

#include "runtime/access.h"
#include "runtime/options.h"
#include "runtime/overlay.h"
#include "runtime/pinned.h"
#include "runtime/pools.h"
#include "runtime/real.h"
#include "runtime/recorder.h"
#include "runtime/recovery.h"
#include "runtime/regions.h"
#include "runtime/trap/trap.h"
#include "runtime/trap/vectors.h"

using namespace blackout::rt;

namespace {

uint32_t libraryWhere(const char* function, const void* frame) {
  Stack stack;
  // Code that is trapped has no site of its own here: the call is the first frame.
  if (plainCode)
    walkCallers(stack, frame);
  else
    walkStack(stack, frame);
  return whereOf(librarySite(function), stack);
}

// A recovery run is about to change a pool, not only its memory.
void changesPools() {
  if (recovering()) ownPools();
}

// A recovery run opens a pool. Most only map it: the image itself will do, for reading. False: it must be opened as in
// a recording, among the run's own files.
bool openImage(const char* copy, const char* canonical, int flags, int& fd) {
  struct stat st;
  bool there = syscall(SYS_newfstatat, AT_FDCWD, copy, &st, 0) == 0;
  if (there && S_ISDIR(st.st_mode)) observeAllPaths();
  observePath(canonical);
  if (ownsPools()) return false;
  bool changes = there ? S_ISREG(st.st_mode) && st.st_size != 0 && (flags & O_TRUNC) != 0 : (flags & O_CREAT) != 0;
  if (changes || (flags & O_TMPFILE) == O_TMPFILE) {
    bool refused = there && (flags & (O_CREAT | O_EXCL)) == (O_CREAT | O_EXCL);
    if (!refused) ownPools();
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

// `n` bytes of a pool were read through its descriptor. What the run has stored to its private mapping, the
// descriptor doesn't know.
ssize_t readPool(int fd, void* buffer, ssize_t n, off_t at) {
  if (n <= 0 || at < 0) return n;
  uint32_t file = fileOfDescriptor(fd);
  observeFile(file, uint64_t(at), uint64_t(n));
  if (ownsPools()) return n;
  auto begin = uint64_t(at);
  uint64_t end = begin + uint64_t(n);
  for (int i = 0; i < regionCount; ++i) {
    const Region& r = regions[i];
    uint64_t from = r.offset > begin ? r.offset : begin;
    uint64_t to = r.offset + (r.end - r.begin) < end ? r.offset + (r.end - r.begin) : end;
    if (r.file != file || from >= to) continue;
    Scope scope;
    readThrough(static_cast<char*>(buffer) + (from - begin), r.begin + (from - r.offset), size_t(to - from));
  }
  return n;
}
bool readsPool(int fd) { return recovering() && isPoolDescriptor(fd); }

// The kernel reads the program's memory.
void kernelReads(const void* p, size_t n, const void* frame) {
  if (recovering() && mayBePm(p, n)) observe(p, n, nullptr, frame, newGroup());
}

void kernelReads(const iovec* parts, int count, const void* frame) {
  for (int i = 0; i < count && recovering(); ++i) kernelReads(parts[i].iov_base, parts[i].iov_len, frame);
}

// open and all its names. A path that isn't a pool's goes to libc, which knows about cancellation.
int openFile(int dirfd, const char* path, int flags, mode_t mode) {
  bool writes = (flags & O_ACCMODE) != O_RDONLY || (flags & (O_CREAT | O_TRUNC)) != 0;
  char copy[PATH_MAX];
  char canonical[PATH_MAX];
  if (!redirect(dirfd, path, copy, canonical)) {
    if (writes && isOriginalPool(dirfd, path)) {
      problem(BLACKOUT_PROBLEM_UNSUPPORTED);
      stop("a second name (a hard link) of a pool file was opened; name it with --pm too:", path, 2);
    }
    if (int random = openRandom(path, flags); random >= 0) return random;
    if (outside(dirfd, path, useOf(flags), copy)) {
      dirfd = AT_FDCWD;
      path = copy;
    }
    auto* real = BLACKOUT_REAL(openat);
    int fd = real == nullptr ? int(syscall(SYS_openat, dirfd, path, flags, mode)) : real(dirfd, path, flags, mode);
    // Through /proc/self/fd, say: a pool all the same.
    if (fd >= 0 && recording() && writes && fileOfDescriptor(fd) != 0) notePoolDescriptor(fd);
    return fd;
  }
  if (recovering()) {
    int fd = -1;
    if (openImage(copy, canonical, flags, fd)) return fd;
    redirect(dirfd, path, copy, canonical);
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

// A write of `size` bytes at `offset` has succeeded.
void wroteFile(int fd, uint64_t offset, const void* bytes, size_t size, uint32_t where) {
  uint32_t file = fileOfDescriptor(fd);
  if (file == 0 || size == 0) return;
  if (offset + size > header->files[file].size) setFileSize(file, offset + size);
  if (recovering()) overwriteFile(file, offset, size);
  recordFileStore(file, offset, bytes, size, where);
}

bool appends(int fd) {
  long flags = syscall(SYS_fcntl, fd, F_GETFL);
  return flags >= 0 && (flags & O_APPEND) != 0;
}

// Where the next write() of the descriptor goes.
uint64_t writeOffset(int fd) {
  if (appends(fd)) {
    struct stat st;
    return syscall(SYS_fstat, fd, &st) == 0 ? uint64_t(st.st_size) : 0;
  }
  long at = syscall(SYS_lseek, fd, 0, SEEK_CUR);
  return at < 0 ? 0 : uint64_t(at);
}

// At `*at`, or at the descriptor's own offset.
ssize_t writeVector(int fd, const iovec* parts, int count, const off_t* at, const char* name, const void* frame) {
  changesPools();
  ReadableParts readable(parts, count);
  parts = readable.get();
  auto plain = [&]() -> ssize_t {
    return at == nullptr ? syscall(SYS_writev, fd, parts, count) : syscall(SYS_pwritev, fd, parts, count, *at, 0L);
  };
  Scope scope;
  if (scope.nested) return plain();
  // Linux appends for O_APPEND whatever pwrite says.
  uint64_t offset = at == nullptr || appends(fd) ? writeOffset(fd) : uint64_t(*at);
  ssize_t n = plain();
  uint32_t where = n > 0 ? libraryWhere(name, frame) : 0;
  ssize_t left = n;
  for (int i = 0; i < count && left > 0; ++i) {
    size_t size = parts[i].iov_len < size_t(left) ? parts[i].iov_len : size_t(left);
    wroteFile(fd, offset, parts[i].iov_base, size, where);
    offset += size;
    left -= ssize_t(size);
  }
  return n;
}

int truncated(uint32_t file, long result, off_t size) {
  if (result == 0 && file != 0) setFileSize(file, uint64_t(size));
  return int(result);
}

int allocate(int fd, int mode, off_t offset, off_t size) {
  if (!isPoolDescriptor(fd)) return int(syscall(SYS_fallocate, fd, mode, offset, size));
  if (recovering() && !ownsPools()) {
    struct stat st;
    if (mode == 0 && syscall(SYS_fstat, fd, &st) == 0 && offset + size <= st.st_size) return 0;
    ownPools();
  }
  Scope scope;
  long r = syscall(SYS_fallocate, fd, mode, offset, size);
  if (r != 0 || scope.nested) return int(r);
  uint32_t file = fileOfDescriptor(fd);
  if (file == 0) return int(r);
  uint64_t end = uint64_t(offset + size);
  if ((mode & FALLOC_FL_KEEP_SIZE) == 0 && end > header->files[file].size) setFileSize(file, end);
  if ((mode & (FALLOC_FL_PUNCH_HOLE | FALLOC_FL_ZERO_RANGE)) != 0) {
    uint64_t limit = header->files[file].size;
    if (uint64_t(offset) < limit) {
      uint64_t n = (end < limit ? end : limit) - uint64_t(offset);
      append(BLACKOUT_EV_FileZero, 0, 0, (uint64_t{file} << 40) | uint64_t(offset), n);
    }
  }
  if ((mode & (FALLOC_FL_COLLAPSE_RANGE | FALLOC_FL_INSERT_RANGE)) != 0) problem(BLACKOUT_PROBLEM_UNSUPPORTED);
  return int(r);
}

// read and friends into PM: the kernel would write where nobody looks, so it writes beside it.
template <class Call>
ssize_t readInto(void* buffer, size_t size, const char* name, const void* frame, Call call) {
  if (!mayBePm(buffer, size)) return call(buffer);
  {
    Scope scope;
    auto a = reinterpret_cast<uintptr_t>(buffer);
    if (scope.nested || !overlapsRegion(a, a + size)) return call(buffer);
  }
  void* aside = reinterpret_cast<void*>(
      syscall(SYS_mmap, nullptr, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1L, 0L));
  if (aside == MAP_FAILED) return call(buffer);
  ssize_t n = call(aside);
  if (n > 0) {
    Scope scope;
    storeBytes(buffer, aside, size_t(n) < size ? size_t(n) : size, libraryWhere(name, frame));
  }
  int error = errno;
  syscall(SYS_munmap, aside, size);
  errno = error;
  return n;
}

// The same for a vector of buffers: one call, beside the parts, as the kernel makes one.
template <class Call>
ssize_t readParts(const iovec* parts, int count, const char* name, const void* frame, Call call) {
  bool pm = false;
  size_t total = 0;
  for (int i = 0; i < count; ++i) {
    pm |= mayBePm(parts[i].iov_base, parts[i].iov_len);
    total += parts[i].iov_len;
  }
  if (!pm || total == 0) return call(parts, count);
  void* aside = reinterpret_cast<void*>(
      syscall(SYS_mmap, nullptr, total, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1L, 0L));
  if (aside == MAP_FAILED) return call(parts, count);
  iovec one{aside, total};
  ssize_t n = call(&one, 1);
  int error = errno;
  if (n > 0) {
    Scope scope;
    uint32_t where = scope.nested ? 0 : libraryWhere(name, frame);
    const char* from = static_cast<const char*>(aside);
    size_t left = size_t(n);
    for (int i = 0; i < count && left > 0; ++i) {
      size_t size = parts[i].iov_len < left ? parts[i].iov_len : left;
      if (scope.nested)
        memcpy(parts[i].iov_base, from, size);
      else
        storeBytes(parts[i].iov_base, from, size, where);
      from += size;
      left -= size;
    }
  }
  syscall(SYS_munmap, aside, total);
  errno = error;
  return n;
}

int removeFile(int dirfd, const char* path, int flags) {
  char copy[PATH_MAX];
  if (!redirect(dirfd, path, copy)) {
    int result;
    return removeOutside(dirfd, path, flags, result) ? result : int(syscall(SYS_unlinkat, dirfd, path, flags));
  }
  if (recovering()) {
    ownPools();
    redirect(dirfd, path, copy);
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
  bool fromPool = redirect(fromDir, from, fromCopy);
  bool toPool = redirect(toDir, to, toCopy, canonical);
  if (!fromPool && !toPool) {
    int result;
    if (renameOutside(fromDir, from, toDir, to, flags, result)) return result;
    return int(syscall(SYS_renameat2, fromDir, from, toDir, to, flags));
  }
  if (!fromPool && outside(fromDir, from, Use::Read, fromCopy)) {
    fromDir = AT_FDCWD;
    from = fromCopy;
  }
  if (!toPool && outside(toDir, to, Use::Replace, toCopy)) {
    toDir = AT_FDCWD;
    to = toCopy;
  }
  if (recovering()) {
    ownPools();
    if (fromPool) redirect(fromDir, from, fromCopy);
    if (toPool) redirect(toDir, to, toCopy, canonical);
  }
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
  if ((flags & RENAME_EXCHANGE) != 0) problem(BLACKOUT_PROBLEM_UNSUPPORTED);
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

// A call that only looks at a path, or changes what is there without being an event: on the private copy.
struct Looked {
  Looked(int dirfd, const char* path, Use use = Use::Look) : fd(dirfd), path(path) {
    char canonical[PATH_MAX];
    pool = redirect(dirfd, path, copy, canonical);
    if (!pool && !outside(dirfd, path, use, copy)) return;
    if (pool && recovering()) observePath(canonical);
    if (pool && recovering() && use >= Use::Change) {
      ownPools();
      redirect(dirfd, path, copy);
    }
    fd = AT_FDCWD;
    this->path = copy;
  }
  int fd;
  const char* path;
  bool pool;
  char copy[PATH_MAX];
};
Use lookedAt(int flags) { return (flags & AT_SYMLINK_NOFOLLOW) != 0 ? Use::LookLink : Use::Look; }

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

// mkstemp opens inside libc, where nobody sees it.
BLACKOUT_EXPORT int mkostemp(char* pattern, int flags) {
  if (!recording()) return BLACKOUT_REAL(mkostemp)(pattern, flags);
  size_t n = strlen(pattern);
  if (n < 6 || memcmp(pattern + n - 6, "XXXXXX", 6) != 0) {
    errno = EINVAL;
    return -1;
  }
  // Numbers instead of chance: the same names in every run.
  static unsigned counter = 0;
  for (int attempt = 0; attempt < 100000; ++attempt) {
    char digits[16];
    snprintf(digits, sizeof digits, "%06u", __atomic_fetch_add(&counter, 1, __ATOMIC_RELAXED) % 1000000);
    memcpy(pattern + n - 6, digits, 6);
    int fd = openFile(AT_FDCWD, pattern, O_RDWR | O_CREAT | O_EXCL | flags, 0600);
    if (fd >= 0 || errno != EEXIST) return fd;
  }
  errno = EEXIST;
  return -1;
}
BLACKOUT_EXPORT int mkstemp(char* pattern) { return mkostemp(pattern, 0); }
BLACKOUT_EXPORT int mkstemp64(char* pattern) { return mkostemp(pattern, 0); }
BLACKOUT_EXPORT int mkostemp64(char* pattern, int flags) { return mkostemp(pattern, flags); }

BLACKOUT_EXPORT int close(int fd) {
  if (recording()) forgetDescriptor(fd);
  auto* real = BLACKOUT_REAL(close);
  return real == nullptr ? int(syscall(SYS_close, fd)) : real(fd);
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
  if (command == F_GETFL && readsPool(fd) && !ownsPools()) return poolFlags(fd) & ~(O_CREAT | O_EXCL | O_TRUNC);
  if (command == F_SETLK || command == F_SETLKW || command == F_OFD_SETLK || command == F_OFD_SETLKW) ownDescriptor(fd);
  auto* real = BLACKOUT_REAL(fcntl);
  int r = real == nullptr ? int(syscall(SYS_fcntl, fd, command, argument)) : real(fd, command, argument);
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

// Outside the pools libc's own functions are called: they are cancellation points.
BLACKOUT_EXPORT ssize_t write(int fd, const void* buffer, size_t size) {
  kernelReads(buffer, size, BLACKOUT_FRAME());
  if (!isPoolDescriptor(fd)) return BLACKOUT_REAL(write)(fd, buffer, size);
  iovec part{const_cast<void*>(buffer), size};
  return writeVector(fd, &part, 1, nullptr, "write", BLACKOUT_FRAME());
}
BLACKOUT_EXPORT ssize_t pwrite(int fd, const void* buffer, size_t size, off_t at) {
  kernelReads(buffer, size, BLACKOUT_FRAME());
  if (!isPoolDescriptor(fd)) return BLACKOUT_REAL(pwrite)(fd, buffer, size, at);
  iovec part{const_cast<void*>(buffer), size};
  return writeVector(fd, &part, 1, &at, "pwrite", BLACKOUT_FRAME());
}
BLACKOUT_EXPORT ssize_t pwrite64(int fd, const void* buffer, size_t size, off_t at) {
  return pwrite(fd, buffer, size, at);
}
BLACKOUT_EXPORT ssize_t writev(int fd, const iovec* parts, int count) {
  kernelReads(parts, count, BLACKOUT_FRAME());
  if (!isPoolDescriptor(fd)) return BLACKOUT_REAL(writev)(fd, ReadableParts(parts, count).get(), count);
  return writeVector(fd, parts, count, nullptr, "writev", BLACKOUT_FRAME());
}
BLACKOUT_EXPORT ssize_t pwritev(int fd, const iovec* parts, int count, off_t at) {
  kernelReads(parts, count, BLACKOUT_FRAME());
  if (!isPoolDescriptor(fd)) return BLACKOUT_REAL(pwritev)(fd, ReadableParts(parts, count).get(), count, at);
  return writeVector(fd, parts, count, &at, "pwritev", BLACKOUT_FRAME());
}
BLACKOUT_EXPORT ssize_t pwritev64(int fd, const iovec* parts, int count, off_t at) {
  return pwritev(fd, parts, count, at);
}
BLACKOUT_EXPORT ssize_t pwritev2(int fd, const iovec* parts, int count, off_t at, int flags) {
  kernelReads(parts, count, BLACKOUT_FRAME());
  if (!isPoolDescriptor(fd)) return BLACKOUT_REAL(pwritev2)(fd, ReadableParts(parts, count).get(), count, at, flags);
  return writeVector(fd, parts, count, at == -1 ? nullptr : &at, "pwritev2", BLACKOUT_FRAME());
}

BLACKOUT_EXPORT ssize_t read(int fd, void* buffer, size_t size) {
  return readInto(buffer, size, "read", BLACKOUT_FRAME(), [&](void* to) -> ssize_t {
    if (!readsPool(fd)) return BLACKOUT_REAL(read)(fd, to, size);
    off_t at = syscall(SYS_lseek, fd, 0, SEEK_CUR);
    return readPool(fd, to, BLACKOUT_REAL(read)(fd, to, size), at);
  });
}
BLACKOUT_EXPORT ssize_t pread(int fd, void* buffer, size_t size, off_t at) {
  return readInto(buffer, size, "pread", BLACKOUT_FRAME(), [&](void* to) -> ssize_t {
    ssize_t n = BLACKOUT_REAL(pread)(fd, to, size, at);
    return readsPool(fd) ? readPool(fd, to, n, at) : n;
  });
}
BLACKOUT_EXPORT ssize_t pread64(int fd, void* buffer, size_t size, off_t at) { return pread(fd, buffer, size, at); }
BLACKOUT_EXPORT ssize_t recv(int fd, void* buffer, size_t size, int flags) {
  return readInto(buffer, size, "recv", BLACKOUT_FRAME(),
                  [&](void* to) { return BLACKOUT_REAL(recv)(fd, to, size, flags); });
}
BLACKOUT_EXPORT ssize_t readv(int fd, const iovec* parts, int count) {
  if (readsPool(fd)) {
    // One part after the other, each seen as read() is.
    ssize_t total = 0;
    for (int i = 0; i < count; ++i) {
      ssize_t n = read(fd, parts[i].iov_base, parts[i].iov_len);
      if (n < 0) return total > 0 ? total : n;
      total += n;
      if (size_t(n) < parts[i].iov_len) break;
    }
    return total;
  }
  return readParts(parts, count, "readv", BLACKOUT_FRAME(),
                   [&](const iovec* p, int n) { return BLACKOUT_REAL(readv)(fd, p, n); });
}
BLACKOUT_EXPORT ssize_t preadv(int fd, const iovec* parts, int count, off_t at) {
  if (readsPool(fd)) {
    ssize_t total = 0;
    for (int i = 0; i < count; ++i) {
      ssize_t n = pread(fd, parts[i].iov_base, parts[i].iov_len, at + total);
      if (n < 0) return total > 0 ? total : n;
      total += n;
      if (size_t(n) < parts[i].iov_len) break;
    }
    return total;
  }
  return readParts(parts, count, "preadv", BLACKOUT_FRAME(),
                   [&](const iovec* p, int n) { return BLACKOUT_REAL(preadv)(fd, p, n, at); });
}
BLACKOUT_EXPORT ssize_t preadv64(int fd, const iovec* parts, int count, off_t at) {
  return preadv(fd, parts, count, at);
}
BLACKOUT_EXPORT ssize_t preadv2(int fd, const iovec* parts, int count, off_t at, int flags) {
  if (readsPool(fd)) return at == -1 ? readv(fd, parts, count) : preadv(fd, parts, count, at);
  return readParts(parts, count, "preadv2", BLACKOUT_FRAME(),
                   [&](const iovec* p, int n) { return BLACKOUT_REAL(preadv2)(fd, p, n, at, flags); });
}
BLACKOUT_EXPORT ssize_t recvmsg(int fd, msghdr* message, int flags) {
  return readParts(message->msg_iov, int(message->msg_iovlen), "recvmsg", BLACKOUT_FRAME(), [&](const iovec* p, int n) {
    iovec* parts = message->msg_iov;
    size_t count = message->msg_iovlen;
    message->msg_iov = const_cast<iovec*>(p);
    message->msg_iovlen = size_t(n);
    ssize_t got = BLACKOUT_REAL(recvmsg)(fd, message, flags);
    message->msg_iov = parts;
    message->msg_iovlen = count;
    return got;
  });
}
BLACKOUT_EXPORT ssize_t sendmsg(int fd, const msghdr* message, int flags) {
  kernelReads(message->msg_iov, int(message->msg_iovlen), BLACKOUT_FRAME());
  ReadableParts readable(message->msg_iov, int(message->msg_iovlen));
  msghdr passed = *message;
  passed.msg_iov = const_cast<iovec*>(readable.get());
  return BLACKOUT_REAL(sendmsg)(fd, &passed, flags);
}

BLACKOUT_EXPORT int ftruncate(int fd, off_t size) {
  if (!isPoolDescriptor(fd)) return int(syscall(SYS_ftruncate, fd, size));
  if (recovering() && !ownsPools()) {
    struct stat st;
    if (syscall(SYS_fstat, fd, &st) == 0 && st.st_size == size) return 0;
    ownPools();
  }
  Scope scope;
  uint32_t file = scope.nested ? 0 : fileOfDescriptor(fd);
  return truncated(file, syscall(SYS_ftruncate, fd, size), size);
}
BLACKOUT_EXPORT int ftruncate64(int fd, off_t size) { return ftruncate(fd, size); }
BLACKOUT_EXPORT int truncate(const char* path, off_t size) {
  char copy[PATH_MAX];
  if (!redirect(AT_FDCWD, path, copy)) {
    if (outside(AT_FDCWD, path, Use::Change, copy)) path = copy;
    return int(syscall(SYS_truncate, path, size));
  }
  if (recovering()) {
    ownPools();
    redirect(AT_FDCWD, path, copy);
  }
  Scope scope;
  uint32_t file = scope.nested ? 0 : fileOfPath(copy);
  return truncated(file, syscall(SYS_truncate, copy, size), size);
}
BLACKOUT_EXPORT int truncate64(const char* path, off_t size) { return truncate(path, size); }
BLACKOUT_EXPORT int fallocate(int fd, int mode, off_t offset, off_t size) { return allocate(fd, mode, offset, size); }
BLACKOUT_EXPORT int fallocate64(int fd, int mode, off_t offset, off_t size) { return allocate(fd, mode, offset, size); }
BLACKOUT_EXPORT int posix_fallocate(int fd, off_t offset, off_t size) {
  if (!isPoolDescriptor(fd)) return BLACKOUT_REAL(posix_fallocate)(fd, offset, size);
  int saved = errno;
  int error = allocate(fd, 0, offset, size) == 0 ? 0 : errno;
  if (error == EOPNOTSUPP) {
    // A file system without allocation: room is promised by size alone.
    struct stat st;
    error = syscall(SYS_fstat, fd, &st) != 0 ? errno : 0;
    if (error == 0 && st.st_size < offset + size) error = ftruncate(fd, offset + size) == 0 ? 0 : errno;
  }
  errno = saved;
  return error;
}
BLACKOUT_EXPORT int posix_fallocate64(int fd, off_t offset, off_t size) { return posix_fallocate(fd, offset, size); }

// A copy inside the kernel out of a pool: the kernel sees files, so the run must have its own.
static void sendsPool(int in, const off_t* from, size_t size) {
  if (!readsPool(in)) return;
  ownPools();
  observeFile(fileOfDescriptor(in), uint64_t(from != nullptr ? *from : syscall(SYS_lseek, in, 0, SEEK_CUR)), size);
}

// Copies inside the kernel: what arrived is read back.
template <class Call>
static ssize_t copyIn(int fd, uint64_t offset, const char* name, const void* frame, Call call) {
  changesPools();
  Scope scope;
  ssize_t n = call();
  if (n <= 0 || scope.nested) return n;
  uint32_t where = libraryWhere(name, frame);
  static char page[4096];
  int saved = errno;
  for (ssize_t done = 0; done < n;) {
    size_t want = size_t(n - done) < sizeof page ? size_t(n - done) : sizeof page;
    // The descriptor may be write-only, so through /proc.
    char link[64];
    snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
    int readable = int(syscall(SYS_openat, AT_FDCWD, link, O_RDONLY | O_CLOEXEC));
    long got = readable < 0 ? -1 : syscall(SYS_pread64, readable, page, want, off_t(offset) + done);
    if (readable >= 0) syscall(SYS_close, readable);
    if (got <= 0) break;
    wroteFile(fd, offset + uint64_t(done), page, size_t(got), where);
    done += got;
  }
  errno = saved;
  return n;
}
BLACKOUT_EXPORT ssize_t copy_file_range(int in, off_t* from, int out, off_t* to, size_t size, unsigned flags) {
  auto call = [&] { return syscall(SYS_copy_file_range, in, from, out, to, size, flags); };
  sendsPool(in, from, size);
  if (!isPoolDescriptor(out)) return call();
  return copyIn(out, to != nullptr ? uint64_t(*to) : writeOffset(out), "copy_file_range", BLACKOUT_FRAME(), call);
}
BLACKOUT_EXPORT ssize_t sendfile(int out, int in, off_t* from, size_t size) {
  auto call = [&] { return syscall(SYS_sendfile, out, in, from, size); };
  sendsPool(in, from, size);
  if (!isPoolDescriptor(out)) return call();
  return copyIn(out, writeOffset(out), "sendfile", BLACKOUT_FRAME(), call);
}
BLACKOUT_EXPORT ssize_t sendfile64(int out, int in, off_t* from, size_t size) { return sendfile(out, in, from, size); }

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

BLACKOUT_EXPORT int fstatat(int dirfd, const char* path, struct stat* st, int flags) {
  Looked l(dirfd, path, lookedAt(flags));
  return int(syscall(SYS_newfstatat, l.fd, l.path, st, flags));
}
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
  Looked l(dirfd, path, lookedAt(flags));
  return int(syscall(SYS_statx, l.fd, l.path, flags, mask, st));
}
BLACKOUT_EXPORT int faccessat(int dirfd, const char* path, int mode, int flags) {
  Looked l(dirfd, path);
  return BLACKOUT_REAL(faccessat)(l.fd, l.path, mode, flags);
}
BLACKOUT_EXPORT int access(const char* path, int mode) {
  Looked l(AT_FDCWD, path);
  return int(syscall(SYS_faccessat, l.fd, l.path, mode));
}
BLACKOUT_EXPORT int mkdirat(int dirfd, const char* path, mode_t mode) {
  Looked l(dirfd, path, Use::MakeFolder);
  return int(syscall(SYS_mkdirat, l.fd, l.path, mode));
}
BLACKOUT_EXPORT int mkdir(const char* path, mode_t mode) { return mkdirat(AT_FDCWD, path, mode); }
BLACKOUT_EXPORT int fchmodat(int dirfd, const char* path, mode_t mode, int flags) {
  Looked l(dirfd, path, Use::Change);
  return BLACKOUT_REAL(fchmodat)(l.fd, l.path, mode, flags);
}
BLACKOUT_EXPORT int chmod(const char* path, mode_t mode) {
  Looked l(AT_FDCWD, path, Use::Change);
  return int(syscall(SYS_fchmodat, l.fd, l.path, mode));
}
BLACKOUT_EXPORT int chown(const char* path, uid_t user, gid_t group) {
  Looked l(AT_FDCWD, path, Use::Change);
  return int(syscall(SYS_fchownat, l.fd, l.path, user, group, 0));
}
BLACKOUT_EXPORT int utimensat(int dirfd, const char* path, const struct timespec times[2], int flags) {
  Looked l(dirfd, path, Use::Change);
  return int(syscall(SYS_utimensat, l.fd, l.path, times, flags));
}
BLACKOUT_EXPORT int utimes(const char* path, const struct timeval times[2]) {
  Looked l(AT_FDCWD, path, Use::Change);
  return int(syscall(SYS_utimes, l.path, times));
}
BLACKOUT_EXPORT int utime(const char* path, const struct utimbuf* times) {
  Looked l(AT_FDCWD, path, Use::Change);
  return int(syscall(SYS_utime, l.path, times));
}
BLACKOUT_EXPORT int lchown(const char* path, uid_t user, gid_t group) {
  Looked l(AT_FDCWD, path, Use::Change);
  return int(syscall(SYS_fchownat, l.fd, l.path, user, group, AT_SYMLINK_NOFOLLOW));
}
BLACKOUT_EXPORT int symlink(const char* target, const char* path) {
  Looked l(AT_FDCWD, path, Use::MakeName);
  return int(syscall(SYS_symlinkat, target, l.fd, l.path));
}
BLACKOUT_EXPORT ssize_t readlink(const char* path, char* out, size_t size) {
  Looked l(AT_FDCWD, path, Use::LookLink);
  return syscall(SYS_readlinkat, l.fd, l.path, out, size);
}
BLACKOUT_EXPORT int chdir(const char* path) {
  Looked l(AT_FDCWD, path);
  return int(syscall(SYS_chdir, l.path));
}
BLACKOUT_EXPORT int linkat(int fromDir, const char* from, int toDir, const char* to, int flags) {
  // In a recovery both names must come to lie in one file system.
  Looked a(fromDir, from, Use::Change);
  Looked b(toDir, to, Use::MakeName);
  return int(syscall(SYS_linkat, a.fd, a.path, b.fd, b.path, flags));
}
BLACKOUT_EXPORT int link(const char* from, const char* to) { return linkat(AT_FDCWD, from, AT_FDCWD, to, 0); }
BLACKOUT_EXPORT DIR* opendir(const char* path) {
  Looked l(AT_FDCWD, path, Use::Read);
  if (recovering() && l.pool) observeAllPaths();
  return BLACKOUT_REAL(opendir)(l.path);
}
BLACKOUT_EXPORT char* realpath(const char* path, char* out) {
  char copy[PATH_MAX], canonical[PATH_MAX];
  if (!redirect(AT_FDCWD, path, copy, canonical)) {
    bool found;
    if (!resolveOutside(path, canonical, found)) return BLACKOUT_REAL_VERSION(realpath, "GLIBC_2.3")(path, out);
    if (!found) return nullptr;
  } else if (access(path, F_OK) != 0)
    return nullptr;
  if (out == nullptr) return strdup(canonical);
  return strcpy(out, canonical);
}
