// Reading and writing files through descriptors, and their sizes: what is written to a pool is an event, what a
// recovery run reads of one is observed. Bytes that a system call writes into PM are recorded as stores of the calling
// function.

#undef _FORTIFY_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/fiemap.h>
#include <linux/fs.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/sendfile.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#include "runtime/access.h"
#include "runtime/buffers.h"
#include "runtime/options.h"
#include "runtime/outside.h"
#include "runtime/overlay.h"
#include "runtime/pool_locks.h"
#include "runtime/pools.h"
#include "runtime/real.h"
#include "runtime/recorder.h"
#include "runtime/recovery.h"
#include "runtime/regions.h"
#include "runtime/trap/pages.h"
#include "runtime/trap/vectors.h"
#include "runtime/unfollowed.h"

using namespace blackout::rt;

namespace {

uint32_t libraryWhere(const char* function, const void* frame) {
  Stack stack;
  walkCallersInAnyCode(stack, frame);
  return whereOf(librarySite(function), stack);
}

// A recovery run's descriptor is really open for reading only. False, with errno: the program did not ask for this.
bool openFor(int fd, int mode) {
  int asked = poolFlags(fd) & O_ACCMODE;
  if (!mapsImage() || asked == O_RDWR || asked == mode) return true;
  errno = EBADF;
  return false;
}

// `n` bytes of a pool were read through its descriptor. What the run has stored to its private mapping, the
// descriptor doesn't know.
ssize_t readPool(int fd, void* buffer, ssize_t n, off_t at) {
  if (n <= 0 || at < 0) return n;
  uint32_t file = fileOfDescriptor(fd);
  if (isAside(file)) {
    // Once more, from a file that has it.
    makePrivatePools();
    ssize_t again = syscall(SYS_pread64, fd, buffer, size_t(n), at);
    file = fileOfDescriptor(fd);
    if (again <= 0) return again;
    n = again;
  }
  observeFile(file, uint64_t(at), uint64_t(n));
  if (hasPrivatePools()) return n;
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

// The kernel reads the program's memory.
void kernelReads(const void* p, size_t n, const void* frame) {
  if (observesCrash() && mayBePm(p, n)) observe(p, n, nullptr, frame, newGroup());
}

void kernelReads(const iovec* parts, int count, const void* frame) {
  for (int i = 0; i < count && observesCrash(); ++i) kernelReads(parts[i].iov_base, parts[i].iov_len, frame);
}

// A write of `size` bytes at `offset` has succeeded.
void wroteFile(int fd, uint64_t offset, const void* bytes, size_t size, uint32_t where) {
  uint32_t file = fileOfDescriptor(fd);
  if (file == 0 || size == 0) return;
  if (offset + size > header->files[file].size) setFileSize(file, offset + size);
  if (observesCrash()) overwriteFile(file, offset, size);
  recordFileStore(file, offset, bytes, size, where);
}

bool hasFlag(int fd, int flag) {
  long flags = syscall(SYS_fcntl, fd, F_GETFL);
  return flags >= 0 && (flags & flag) == flag;
}
bool appends(int fd) { return hasFlag(fd, O_APPEND); }

// What was written through a descriptor that was opened with O_DSYNC, or O_SYNC, which has its bit, is durable when the
// call returns.
void syncedByWrite(int fd, uint64_t offset, ssize_t size) {
  uint32_t file = size > 0 && hasFlag(fd, O_DSYNC) ? fileOfDescriptor(fd) : 0;
  if (file == 0) return;
  append(BLACKOUT_EV_SyncStart, 0, 0, 0, 0);
  append(BLACKOUT_EV_Msync, 0, 0, (uint64_t{file} << 40) | offset, uint64_t(size));
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
  if (!openFor(fd, O_WRONLY)) return -1;
  makePrivatePools();
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
    wroteFile(fd, offset + uint64_t(n - left), parts[i].iov_base, size, where);
    left -= ssize_t(size);
  }
  syncedByWrite(fd, offset, n);
  return n;
}

int truncated(uint32_t file, long result, off_t size) {
  if (result == 0 && file != 0) setFileSize(file, uint64_t(size));
  return int(result);
}

int allocate(int fd, int mode, off_t offset, off_t size) {
  if (!isPoolDescriptor(fd)) return int(syscall(SYS_fallocate, fd, mode, offset, size));
  if (!openFor(fd, O_WRONLY)) return -1;
  if (mapsImage()) {
    struct stat st;
    if (mode == 0 && syscall(SYS_fstat, fd, &st) == 0 && offset + size <= st.st_size) return 0;
    makePrivatePools();
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
  bool pm = count > 0 && mayBePm(parts, size_t(count) * sizeof *parts);
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

}  // namespace

static ssize_t written(ssize_t n) {
  usedOutside();
  return n;
}
// The same for what was read: there is room now.
static ssize_t taken(ssize_t n) { return written(n); }

// Outside the pools libc's own functions are called: they are cancellation points.
BLACKOUT_EXPORT ssize_t write(int fd, const void* buffer, size_t size) {
  kernelReads(buffer, size, BLACKOUT_FRAME());
  if (!isPoolDescriptor(fd))
    return written(writeOutside(
        fd, buffer, size, [&](const void* part, size_t length) { return BLACKOUT_REAL(write)(fd, part, length); }));
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
  if (!isPoolDescriptor(fd)) {
    waitToWrite(fd);
    return written(BLACKOUT_REAL(writev)(fd, ReadableParts(parts, count).get(), count));
  }
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
  if (__builtin_expect(controlled, 0)) waitToRead(fd);
  return readInto(buffer, size, "read", BLACKOUT_FRAME(), [&](void* to) -> ssize_t {
    if (!readsPool(fd)) return taken(BLACKOUT_REAL(read)(fd, to, size));
    if (!openFor(fd, O_RDONLY)) return -1;
    off_t at = syscall(SYS_lseek, fd, 0, SEEK_CUR);
    return readPool(fd, to, BLACKOUT_REAL(read)(fd, to, size), at);
  });
}
BLACKOUT_EXPORT ssize_t pread(int fd, void* buffer, size_t size, off_t at) {
  return readInto(buffer, size, "pread", BLACKOUT_FRAME(), [&](void* to) -> ssize_t {
    if (readsPool(fd) && !openFor(fd, O_RDONLY)) return -1;
    ssize_t n = BLACKOUT_REAL(pread)(fd, to, size, at);
    return readsPool(fd) ? readPool(fd, to, n, at) : n;
  });
}
BLACKOUT_EXPORT ssize_t pread64(int fd, void* buffer, size_t size, off_t at) { return pread(fd, buffer, size, at); }
BLACKOUT_EXPORT ssize_t recv(int fd, void* buffer, size_t size, int flags) {
  if ((flags & MSG_DONTWAIT) == 0) waitToRead(fd);
  return readInto(buffer, size, "recv", BLACKOUT_FRAME(),
                  [&](void* to) { return taken(BLACKOUT_REAL(recv)(fd, to, size, flags)); });
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
  waitToRead(fd);
  return readParts(parts, count, "readv", BLACKOUT_FRAME(),
                   [&](const iovec* p, int n) { return taken(BLACKOUT_REAL(readv)(fd, p, n)); });
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
// Descriptors of pools that come with a message.
static void noteReceived(msghdr* message) {
  if (!inRun()) return;
  for (cmsghdr* c = CMSG_FIRSTHDR(message); c != nullptr; c = CMSG_NXTHDR(message, c)) {
    if (c->cmsg_level != SOL_SOCKET || c->cmsg_type != SCM_RIGHTS) continue;
    size_t count = (c->cmsg_len - CMSG_LEN(0)) / sizeof(int);
    for (size_t i = 0; i < count; ++i) {
      int received;
      memcpy(&received, CMSG_DATA(c) + i * sizeof received, sizeof received);
      Scope scope;
      if (scope.nested || fileOfDescriptor(received) == 0) continue;
      notePoolDescriptor(received);
      long mode = syscall(SYS_fcntl, received, F_GETFL);
      // In a restart it is really open for reading only, whoever opened it.
      if (observesCrash()) notePoolFlags(received, hasPrivatePools() && mode >= 0 ? int(mode) : O_RDWR);
    }
  }
}
// What a message has besides its parts, an address or control data: where the kernel can reach it.
class BesideMessage {
 public:
  BesideMessage(void* memory, size_t size) : memory_(memory) {
    if (memory == nullptr || size == 0 || !inRun() || !mayBePm(memory, size)) return;
    long p = syscall(SYS_mmap, nullptr, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1L, 0L);
    if (p == -1) return;
    aside_ = reinterpret_cast<void*>(p);
    size_ = size;
  }
  ~BesideMessage() {
    if (aside_ != nullptr) syscall(SYS_munmap, aside_, size_);
  }
  BesideMessage(const BesideMessage&) = delete;
  BesideMessage& operator=(const BesideMessage&) = delete;
  void* get() const { return aside_ != nullptr ? aside_ : memory_; }
  // The program's bytes, for a call that reads them.
  void fill(const void* frame) {
    if (aside_ == nullptr) return;
    kernelReads(memory_, size_, frame);
    Scope scope;
    readThrough(aside_, reinterpret_cast<uintptr_t>(memory_), size_);
  }
  // So much was written by the call.
  void store(size_t size, const char* name, const void* frame) {
    if (aside_ == nullptr || size == 0) return;
    Scope scope;
    if (!scope.nested) storeBytes(memory_, aside_, size < size_ ? size : size_, libraryWhere(name, frame));
  }

 private:
  void* memory_;
  void* aside_ = nullptr;
  size_t size_ = 0;
};
// The header may lie in PM as well, so the kernel gets one of ours.
BLACKOUT_EXPORT ssize_t recvmsg(int fd, msghdr* message, int flags) {
  if ((flags & MSG_DONTWAIT) == 0) waitToRead(fd);
  msghdr passed = *message;
  BesideMessage name(passed.msg_name, passed.msg_namelen);
  BesideMessage control(passed.msg_control, passed.msg_controllen);
  passed.msg_name = name.get();
  passed.msg_control = control.get();
  ssize_t received =
      readParts(message->msg_iov, int(message->msg_iovlen), "recvmsg", BLACKOUT_FRAME(), [&](const iovec* p, int n) {
        passed.msg_iov = const_cast<iovec*>(p);
        passed.msg_iovlen = size_t(n);
        return taken(BLACKOUT_REAL(recvmsg)(fd, &passed, flags));
      });
  if (received < 0) return received;
  noteReceived(&passed);
  name.store(passed.msg_namelen, "recvmsg", BLACKOUT_FRAME());
  control.store(passed.msg_controllen, "recvmsg", BLACKOUT_FRAME());
  message->msg_namelen = passed.msg_namelen;
  message->msg_controllen = passed.msg_controllen;
  message->msg_flags = passed.msg_flags;
  return received;
}
// Several messages at once. With PM among their parts they are made one after the other, as the kernel makes them.
static bool touchesPm(const mmsghdr* messages, unsigned count) {
  if (!inRun()) return false;
  if (mayBePm(messages, count * sizeof *messages)) return true;
  for (unsigned i = 0; i < count; ++i) {
    const msghdr& m = messages[i].msg_hdr;
    if (mayBePm(m.msg_name, m.msg_namelen) || mayBePm(m.msg_control, m.msg_controllen) ||
        mayBePm(m.msg_iov, m.msg_iovlen * sizeof *m.msg_iov))
      return true;
    for (size_t part = 0; part < m.msg_iovlen; ++part)
      if (mayBePm(m.msg_iov[part].iov_base, m.msg_iov[part].iov_len)) return true;
  }
  return false;
}
BLACKOUT_EXPORT int recvmmsg(int fd, mmsghdr* messages, unsigned count, int flags, timespec* timeout) {
  if (!touchesPm(messages, count)) return BLACKOUT_REAL(recvmmsg)(fd, messages, count, flags, timeout);
  constexpr uint64_t kSecond = 1000000000;
  uint64_t until = timeout == nullptr
                       ? UINT64_MAX
                       : realNanoseconds() + uint64_t(timeout->tv_sec) * kSecond + uint64_t(timeout->tv_nsec);
  unsigned got = 0;
  while (got < count && (got == 0 || realNanoseconds() < until)) {
    ssize_t n = recvmsg(fd, &messages[got].msg_hdr, flags & ~MSG_WAITFORONE);
    if (n < 0) return got == 0 ? -1 : int(got);
    messages[got++].msg_len = unsigned(n);
    if ((flags & MSG_WAITFORONE) != 0) flags |= MSG_DONTWAIT;
  }
  return int(got);
}
BLACKOUT_EXPORT int sendmmsg(int fd, mmsghdr* messages, unsigned count, int flags) {
  if (!touchesPm(messages, count)) return BLACKOUT_REAL(sendmmsg)(fd, messages, count, flags);
  unsigned sent = 0;
  for (; sent < count; ++sent) {
    ssize_t n = sendmsg(fd, &messages[sent].msg_hdr, flags);
    if (n < 0) return sent == 0 ? -1 : int(sent);
    messages[sent].msg_len = unsigned(n);
  }
  return int(sent);
}
BLACKOUT_EXPORT ssize_t sendmsg(int fd, const msghdr* message, int flags) {
  kernelReads(message->msg_iov, int(message->msg_iovlen), BLACKOUT_FRAME());
  ReadableParts readable(message->msg_iov, int(message->msg_iovlen));
  msghdr passed = *message;
  BesideMessage name(passed.msg_name, passed.msg_namelen);
  BesideMessage control(passed.msg_control, passed.msg_controllen);
  name.fill(BLACKOUT_FRAME());
  control.fill(BLACKOUT_FRAME());
  passed.msg_name = name.get();
  passed.msg_control = control.get();
  passed.msg_iov = const_cast<iovec*>(readable.get());
  if ((flags & MSG_DONTWAIT) == 0) waitToWrite(fd);
  return written(BLACKOUT_REAL(sendmsg)(fd, &passed, flags));
}

BLACKOUT_EXPORT int ftruncate(int fd, off_t size) {
  if (!isPoolDescriptor(fd)) return int(syscall(SYS_ftruncate, fd, size));
  if (!openFor(fd, O_WRONLY)) {
    errno = EINVAL;
    return -1;
  }
  if (mapsImage()) {
    struct stat st;
    if (syscall(SYS_fstat, fd, &st) == 0 && st.st_size == size) return 0;
    makePrivatePools();
  }
  emptyAllBuffers();
  Scope scope;
  uint32_t file = scope.nested ? 0 : fileOfDescriptor(fd);
  return truncated(file, syscall(SYS_ftruncate, fd, size), size);
}
BLACKOUT_EXPORT int ftruncate64(int fd, off_t size) { return ftruncate(fd, size); }
BLACKOUT_EXPORT int truncate(const char* path, off_t size) {
  char copy[PATH_MAX];
  if (!redirect(AT_FDCWD, path, copy)) {
    if (redirectToOverlay(AT_FDCWD, path, Use::Change, copy)) path = copy;
    return int(syscall(SYS_truncate, path, size));
  }
  if (observesCrash()) {
    makePrivatePools();
    redirect(AT_FDCWD, path, copy);
  }
  emptyAllBuffers();
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
  makePrivatePools();
  observeFile(fileOfDescriptor(in), uint64_t(from != nullptr ? *from : syscall(SYS_lseek, in, 0, SEEK_CUR)), size);
}

// Copies inside the kernel: what arrived is read back.
template <class Call>
static ssize_t copyIn(int fd, uint64_t offset, const char* name, const void* frame, Call call) {
  makePrivatePools();
  Scope scope;
  ssize_t n = call();
  if (n <= 0 || scope.nested) return n;
  uint32_t where = libraryWhere(name, frame);
  static char page[4096];
  int saved = errno;
  for (ssize_t done = 0; done < n;) {
    size_t want = size_t(n - done) < sizeof page ? size_t(n - done) : sizeof page;
    // The descriptor may be write-only.
    uint32_t file = fileOfDescriptor(fd);
    int readable = file == 0 ? -1 : keptDescriptor(file, fd);
    long got = readable < 0 ? -1 : syscall(SYS_pread64, readable, page, want, off_t(offset) + done);
    if (got <= 0) break;
    wroteFile(fd, offset + uint64_t(done), page, size_t(got), where);
    done += got;
  }
  errno = saved;
  return n;
}
// An offset that may lie in PM, which the kernel reads and moves on.
class Offset {
 public:
  explicit Offset(off_t* program) : program_(program), own_(program == nullptr ? 0 : *program) {}
  ~Offset() {
    if (program_ != nullptr && *program_ != own_) *program_ = own_;
  }
  Offset(const Offset&) = delete;
  Offset& operator=(const Offset&) = delete;
  off_t* get() { return program_ == nullptr ? nullptr : &own_; }

 private:
  off_t* program_;
  off_t own_;
};
BLACKOUT_EXPORT ssize_t copy_file_range(int in, off_t* from, int out, off_t* to, size_t size, unsigned flags) {
  Offset readAt(from), writeAt(to);
  auto call = [&] { return syscall(SYS_copy_file_range, in, readAt.get(), out, writeAt.get(), size, flags); };
  sendsPool(in, from, size);
  if (!isPoolDescriptor(out)) return call();
  return copyIn(out, to != nullptr ? uint64_t(*to) : writeOffset(out), "copy_file_range", BLACKOUT_FRAME(), call);
}
BLACKOUT_EXPORT ssize_t sendfile(int out, int in, off_t* from, size_t size) {
  Offset readAt(from);
  auto call = [&] { return syscall(SYS_sendfile, out, in, readAt.get(), size); };
  sendsPool(in, from, size);
  if (!isPoolDescriptor(out)) return call();
  return copyIn(out, writeOffset(out), "sendfile", BLACKOUT_FRAME(), call);
}
BLACKOUT_EXPORT ssize_t splice(int in, off_t* from, int out, off_t* to, size_t size, unsigned flags) {
  Offset readAt(from), writeAt(to);
  auto call = [&] { return syscall(SYS_splice, in, readAt.get(), out, writeAt.get(), size, flags); };
  sendsPool(in, from, size);
  if (!isPoolDescriptor(out)) return call();
  return copyIn(out, to != nullptr ? uint64_t(*to) : writeOffset(out), "splice", BLACKOUT_FRAME(), call);
}
BLACKOUT_EXPORT ssize_t sendfile64(int out, int in, off_t* from, size_t size) { return sendfile(out, in, from, size); }

// Where a pool has holes says something of what was stored there. In a restart it has none, which a file system may say
// of any file; and it can't be cloned.
BLACKOUT_EXPORT off_t lseek(int fd, off_t offset, int whence) {
  if (!readsPool(fd) || (whence != SEEK_DATA && whence != SEEK_HOLE)) return syscall(SYS_lseek, fd, offset, whence);
  struct stat st;
  if (syscall(SYS_fstat, fd, &st) != 0) return -1;
  if (offset < 0 || offset >= st.st_size) {
    errno = ENXIO;
    return -1;
  }
  return syscall(SYS_lseek, fd, whence == SEEK_DATA ? offset : st.st_size, SEEK_SET);
}
BLACKOUT_EXPORT off_t lseek64(int fd, off_t offset, int whence) { return lseek(fd, offset, whence); }

BLACKOUT_EXPORT int ioctl(int fd, unsigned long request, ...) {
  va_list arguments;
  va_start(arguments, request);
  long argument = va_arg(arguments, long);
  va_end(arguments);
  bool clones = request == FICLONE && (isPoolDescriptor(fd) || isPoolDescriptor(int(argument)));
  bool asks = (request == FICLONERANGE || request == FS_IOC_FIEMAP || request == FIBMAP) && isPoolDescriptor(fd);
  if (clones || asks) {
    errno = EOPNOTSUPP;
    return -1;
  }
  long r = callForProgram(SYS_ioctl, fd, long(request), argument);
  if (r == -1 && errno == EFAULT && inRun())
    unfollowed(
        "an ioctl() could not reach memory that it was handed: what such a call reads or writes in PM by way of "
        "an address inside another structure is not followed");
  return int(r);
}
