// A recovery run maps its worker's image privately, which costs nothing and leaves the image alone. Some
// things a private mapping can't do; before the first of them the run takes copies of all pools, with what it
// has written so far, and from then on works on them as a recording works on its private copies.

#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <limits.h>
#include <linux/kcmp.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "runtime/options.h"
#include "runtime/pool_locks.h"
#include "runtime/pools.h"
#include "runtime/real.h"
#include "runtime/recorder.h"
#include "runtime/recovery.h"
#include "runtime/regions.h"
#include "runtime/trap/pages.h"

namespace blackout::rt {

namespace {

char ownShadow[PATH_MAX];
int copies[BLACKOUT_MAX_FILES];  // descriptors of the copies, while they are made

// Private mappings that the program has unmapped: what it stored is still there.
constexpr int kMaxAside = 256;
constinit Region aside[kMaxAside] = {};
int asideCount = 0;

[[noreturn]] void broken(const char* what) {
  char text[256];
  snprintf(text, sizeof text, "its pools can't be copied: %s: %s", what, strerror(errno));
  endRun(BLACKOUT_ENDED_BROKEN, text, nullptr);
}

bool copyData(int from, int to, off_t size) {
  static char page[65536];
  for (off_t at = 0; at < size;) {
    off_t data = off_t(syscall(SYS_lseek, from, at, SEEK_DATA));
    if (data < 0 && errno == ENXIO) return true;
    if (data < 0) data = at;
    off_t end = off_t(syscall(SYS_lseek, from, data, SEEK_HOLE));
    if (end < 0 || end > size) end = size;
    for (at = data; at < end;) {
      size_t want = size_t(end - at) < sizeof page ? size_t(end - at) : sizeof page;
      long n = syscall(SYS_pread64, from, page, want, at);
      if (n <= 0 || syscall(SYS_pwrite64, to, page, n, at) != n) return false;
      at += n;
    }
  }
  return true;
}

// One entry of the image's folder.
int copyEntry(const char* path, const struct stat* st, int type, FTW*) {
  char to[PATH_MAX];
  int n = snprintf(to, sizeof to, "%s%s", ownShadow, path + strlen(options.shadow));
  if (n <= 0 || size_t(n) >= sizeof to) return 0;
  if (type == FTW_D) {
    syscall(SYS_mkdir, to, 0700);
    return 0;
  }
  if (type != FTW_F || !S_ISREG(st->st_mode)) return 0;
  int from = int(syscall(SYS_openat, AT_FDCWD, path, O_RDONLY | O_CLOEXEC));
  int made = int(syscall(SYS_openat, AT_FDCWD, to, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, st->st_mode & 0777));
  struct stat now;
  if (from < 0 || made < 0 || syscall(SYS_ftruncate, made, st->st_size) != 0 || !copyData(from, made, st->st_size) ||
      syscall(SYS_fstat, made, &now) != 0)
    broken(path);
  syscall(SYS_close, from);
  for (uint32_t i = 1; i < BLACKOUT_MAX_FILES && i < header->next_file; ++i) {
    blackout_trace_file& f = header->files[i];
    if (f.live == 0 || f.inode != st->st_ino || f.device != st->st_dev) continue;
    f.inode = now.st_ino;
    f.device = now.st_dev;
    copies[i] = made;
    return 0;
  }
  syscall(SYS_close, made);
  return 0;
}

// Pages of a private mapping that the run has written are anonymous: bit 61 of their entry is clear.
void foldDirtyPages(const Region& r, int copy) {
  uintptr_t begin = r.begin & ~(kPage - 1);
  uint64_t offset = r.offset - (r.begin - begin);
  uint64_t limit = header->files[r.file].size;
  int map = int(syscall(SYS_openat, AT_FDCWD, "/proc/self/pagemap", O_RDONLY | O_CLOEXEC));
  if (map < 0) broken("/proc/self/pagemap");
  static uint64_t entries[4096];
  for (uintptr_t at = begin; at < r.end;) {
    size_t pages = (r.end - at + kPage - 1) / kPage;
    if (pages > 4096) pages = 4096;
    long n = syscall(SYS_pread64, map, entries, pages * 8, off_t(at / kPage * 8));
    if (n <= 0) broken("/proc/self/pagemap");
    for (long i = 0; i < n / 8; ++i, at += kPage) {
      bool present = (entries[i] >> 62) != 0;  // in memory or swapped out
      if (!present || (entries[i] >> 61 & 1) != 0) continue;
      uint64_t to = offset + (at - begin);
      if (to >= limit) continue;
      size_t size = limit - to < kPage ? size_t(limit - to) : kPage;
      if (syscall(SYS_pwrite64, copy, at, size, off_t(to)) != long(size)) broken("a page");
    }
  }
  syscall(SYS_close, map);
}

void saveTable() {
  char path[PATH_MAX];
  snprintf(path, sizeof path, "%s/run/table", workerFolder);
  int fd = int(syscall(SYS_openat, AT_FDCWD, path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600));
  if (fd < 0 || syscall(SYS_write, fd, header, BLACKOUT_HEADER_SIZE) != BLACKOUT_HEADER_SIZE) broken(path);
  syscall(SYS_close, fd);
}

}  // namespace

bool isAside(uint32_t file) {
  for (int i = 0; i < asideCount; ++i)
    if (aside[i].file == file) return true;
  return false;
}
bool isAside(uintptr_t begin, uintptr_t end) {
  for (int i = 0; i < asideCount; ++i)
    if (aside[i].begin < end && begin < aside[i].end) return true;
  return false;
}

bool putAside(uintptr_t begin, uintptr_t end) {
  bool stored = (worker->used & BLACKOUT_USED_STORED) != 0 || !trapping;
  if (hasPrivatePools() || !stored) return false;
  int pieces = 0;
  bool odd = false;  // registered memory may begin anywhere
  forEachRegion(begin, end, [&](const Region& r, uintptr_t, uintptr_t) {
    pieces += r.copied ? 0 : 1;
    odd |= r.begin % kPage != 0;
  });
  if (pieces == 0 || odd) return false;
  if (asideCount + pieces > kMaxAside) {
    makePrivatePools();
    return false;
  }
  forEachRegion(begin, end, [&](const Region& r, uintptr_t from, uintptr_t to) {
    if (r.copied) return;
    // The content of protected pages is the second mapping's.
    syscall(SYS_mprotect, from, to - from, PROT_READ | PROT_WRITE);
    for (uintptr_t p = from; p < to && r.pages != nullptr; p += kPage) {
      uint16_t state = stateOf(r, pageOf(r, p));
      if (state != kPageOpen && (state & kPageWritten) != 0)
        memcpy(reinterpret_cast<void*>(p), reinterpret_cast<void*>(p + uintptr_t(r.alias)), kPage);
    }
    syscall(SYS_mprotect, from, to - from, PROT_NONE);
    aside[asideCount++] = Region{from, to, r.file, r.offset + (from - r.begin)};
  });
  removeRegions(begin, end);
  for (uintptr_t at = begin; at < end;) {
    const Region* next = nullptr;
    for (int i = 0; i < asideCount; ++i)
      if (aside[i].end > at && aside[i].begin < end && (next == nullptr || aside[i].begin < next->begin))
        next = &aside[i];
    uintptr_t to = next == nullptr ? end : next->begin;
    if (to > at) syscall(SYS_munmap, at, to - at);
    at = next == nullptr ? end : next->end;
  }
  return true;
}

void makePrivatePools() {
  if (!mapsImage()) return;
  int saved = errno;
  Scope scope;
  privatePools = true;
  worker->owns = 1;
  char folder[PATH_MAX];
  snprintf(folder, sizeof folder, "%s/run", workerFolder);
  syscall(SYS_mkdir, folder, 0700);
  snprintf(ownShadow, sizeof ownShadow, "%s/run/pools", workerFolder);

  constexpr int kMaxOpen = 1024;
  int open[kMaxOpen];
  uint32_t files[kMaxOpen];
  int count = 0;
  for (int fd = -1; (fd = nextPoolDescriptor(fd + 1)) >= 0;) {
    uint32_t file = fileOfDescriptor(fd);
    if (file == 0) continue;
    if (count == kMaxOpen)
      endRun(BLACKOUT_ENDED_BROKEN, "a restart with more than 1024 descriptors of its pools", nullptr);
    open[count] = fd;
    files[count++] = file;
  }
  // Descriptors of one description stay one: they share their position and their locks.
  int sameAs[kMaxOpen];
  for (int i = 0; i < count; ++i) {
    sameAs[i] = -1;
    long me = syscall(SYS_getpid);
    for (int k = 0; k < i && sameAs[i] < 0; ++k)
      if (files[k] == files[i] && syscall(SYS_kcmp, me, me, KCMP_FILE, open[k], open[i]) == 0) sameAs[i] = k;
  }
  rememberLocks(open, files, count);
  openAllPages();
  if (BLACKOUT_REAL_VERSION(nftw, "GLIBC_2.3.3")(options.shadow, copyEntry, 16, FTW_PHYS) != 0) broken(options.shadow);
  options.shadow = ownShadow;
  // In the order in which it was unmapped: a page that was mapped again has the newer content.
  for (int i = 0; i < asideCount; ++i) {
    const Region& r = aside[i];
    syscall(SYS_mprotect, r.begin, r.end - r.begin, PROT_READ);
    if (copies[r.file] != 0) foldDirtyPages(r, copies[r.file]);
    syscall(SYS_munmap, r.begin, r.end - r.begin);
  }
  asideCount = 0;
  for (int i = 0; i < regionCount; ++i) {
    Region& r = regions[i];
    int copy = copies[r.file];
    if (copy == 0) continue;
    if (!r.copied) foldDirtyPages(r, copy);
    uintptr_t begin = r.begin & ~(kPage - 1);
    if (syscall(SYS_mmap, begin, r.end - begin, PROT_READ | PROT_WRITE,
                (r.copied ? MAP_PRIVATE | MAP_NORESERVE : MAP_SHARED) | MAP_FIXED, copy,
                off_t(r.offset - (r.begin - begin))) == -1)
      broken("a mapping");
    if (r.alias != 0) {
      Region before = r;
      r.alias = 0;
      r.pages = nullptr;
      dropAlias(before, r.begin, r.end);
      trapRegion(r, copy, !r.copied);
    } else if (r.protection != (PROT_READ | PROT_WRITE)) {
      syscall(SYS_mprotect, begin, r.end - begin, r.protection);
    }
  }
  for (int i = 0; i < count; ++i) {
    int fd = open[i];
    char link[64];
    snprintf(link, sizeof link, "/proc/self/fd/%d", copies[files[i]]);
    int flags = poolFlags(fd) & ~(O_CREAT | O_EXCL | O_TRUNC | O_DIRECT | O_NOFOLLOW);
    long at = syscall(SYS_lseek, fd, 0, SEEK_CUR);
    long close = syscall(SYS_fcntl, fd, F_GETFD);
    if (sameAs[i] >= 0) {
      syscall(SYS_dup3, open[sameAs[i]], fd, (close & FD_CLOEXEC) != 0 ? O_CLOEXEC : 0);
      continue;
    }
    int made = int(syscall(SYS_openat, AT_FDCWD, link, flags | O_CLOEXEC));
    if (made < 0) broken("a descriptor");
    if (at > 0) syscall(SYS_lseek, made, at, SEEK_SET);
    syscall(SYS_dup3, made, fd, (close & FD_CLOEXEC) != 0 ? O_CLOEXEC : 0);
    syscall(SYS_close, made);
  }
  for (int& copy : copies) {
    if (copy != 0) syscall(SYS_close, copy);
    copy = 0;
  }
  lockAgain();
  saveTable();
  errno = saved;
}

}  // namespace blackout::rt
