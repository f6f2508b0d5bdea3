// Mappings: a pool file mapped shared is PM. Without a wish of the
// program's it is placed where it is in every run. msync and fsync are events; the private copy itself is never forced
// to disk.

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "runtime/generated_code.h"
#include "runtime/modules.h"
#include "runtime/options.h"
#include "runtime/pool_locks.h"
#include "runtime/pools.h"
#include "runtime/real.h"
#include "runtime/recorder.h"
#include "runtime/recovery.h"
#include "runtime/regions.h"
#include "runtime/trap/pages.h"
#include "runtime/unfollowed.h"

using namespace blackout::rt;

namespace {

uintptr_t pages(size_t size) { return (size + kPage - 1) & ~(kPage - 1); }

void* plainMap(void* at, size_t size, int prot, int flags, int fd, off_t offset) {
  return reinterpret_cast<void*>(syscall(SYS_mmap, at, size, prot, flags, fd, offset));
}

bool mapsFile(uint32_t file, uint64_t offset, size_t size) {
  for (int i = 0; i < regionCount; ++i) {
    const Region& r = regions[i];
    if (r.file == file && r.offset < offset + size && offset < r.offset + (r.end - r.begin)) return true;
  }
  return false;
}

// The same bytes lie in two places, with one content.
bool canHoldAll(uint32_t file, uint64_t offset, size_t size) {
  for (int i = 0; i < regionCount; ++i) {
    const Region& r = regions[i];
    if (r.copied && r.file == file && r.offset < offset + size && offset < r.offset + (r.end - r.begin)) return false;
  }
  return canHold(file, offset, size);
}

// What the program opened it for.
int accessMode(int fd) {
  if (mapsImage()) return poolFlags(fd) & O_ACCMODE;
  long flags = syscall(SYS_fcntl, fd, F_GETFL);
  return flags < 0 ? O_RDONLY : int(flags & O_ACCMODE);
}

void* map(void* at, size_t size, int prot, int flags, int fd, off_t offset) {
  bool fixed = (flags & (MAP_FIXED | MAP_FIXED_NOREPLACE)) != 0;
  if (fixed && isAside(reinterpret_cast<uintptr_t>(at), reinterpret_cast<uintptr_t>(at) + pages(size)))
    makePrivatePools();
  bool shared = (flags & MAP_TYPE) == MAP_SHARED || (flags & MAP_TYPE) == MAP_SHARED_VALIDATE;
  bool pool = shared && (flags & MAP_ANONYMOUS) == 0 && isPoolDescriptor(fd) && accessMode(fd) != O_RDONLY;
  // What a recovery run reads matters, whatever way it maps it.
  if (isRestart()) pool = (flags & MAP_ANONYMOUS) == 0 && isPoolDescriptor(fd);
  auto begin = reinterpret_cast<uintptr_t>(at);
  if (!pool) {
    void* r = plainMap(at, size, prot, flags, fd, offset);
    if (r != MAP_FAILED && (prot & PROT_EXEC) != 0 && (flags & MAP_ANONYMOUS) != 0)
      noteExecutable(r, size, (prot & PROT_WRITE) != 0);
    // Later pools may be mapped into it.
    if (r != MAP_FAILED && !fixed && (flags & MAP_ANONYMOUS) != 0 && prot == PROT_NONE) {
      Scope scope;
      auto from = reinterpret_cast<uintptr_t>(r);
      if (!scope.nested) noteReservation(from, from + pages(size));
    }
    // Something else now lies where PM was.
    if (r != MAP_FAILED && fixed && mayBePm(r, size)) {
      Scope scope;
      if (!scope.nested) removeRegions(begin, begin + pages(size));
    }
    return r;
  }
  // Private copies are on no DAX file system; a recording and its restarts must hear the same.
  if ((flags & MAP_TYPE) == MAP_SHARED_VALIDATE && (flags & MAP_SYNC) != 0) {
    errno = EOPNOTSUPP;
    return MAP_FAILED;
  }
  if (isRestart() &&
      (accessMode(fd) == O_WRONLY || (shared && (prot & PROT_WRITE) != 0 && accessMode(fd) == O_RDONLY))) {
    errno = EACCES;
    return MAP_FAILED;
  }
  noteModules();
  Scope scope;
  if (scope.nested) return plainMap(at, size, prot, flags, fd, offset);
  uint32_t file = fileOfDescriptor(fd);
  if (file == 0) return plainMap(at, size, prot, flags, fd, offset);
  void* r = MAP_FAILED;
  // Events of plain code are recorded through a second mapping, and what it reads by the first: they must be of the
  // same memory.
  if (recordsEvents() && plainCode) makePrivatePools();
  if (isAside(file)) makePrivatePools();
  bool readOnly = isRestart() && shared && accessMode(fd) == O_RDONLY;
  if (mapsImage()) {
    bool second = mapsFile(file, uint64_t(offset), size);
    if (shared ? second && !canHoldAll(file, uint64_t(offset), pages(size)) : second || (prot & PROT_WRITE) != 0)
      makePrivatePools();
    else
      flags = (flags & ~MAP_TYPE) | MAP_PRIVATE;
  }
  if (isRestart() && (flags & MAP_TYPE) == MAP_PRIVATE) flags |= MAP_NORESERVE;
  // What the program may only read is protected and opened again all the same.
  if (readOnly && hasPrivatePools() && (fd = keptDescriptor(file, fd)) < 0) return MAP_FAILED;
  if (isRestart() && at == nullptr) {
    if (uintptr_t recorded = recordedAddress(file, uint64_t(offset), pages(size)))
      r = plainMap(reinterpret_cast<void*>(recorded), size, prot, flags | MAP_FIXED_NOREPLACE, fd, offset);
  }
  if (r != MAP_FAILED) {
  } else if (at != nullptr || fixed || (flags & MAP_32BIT) != 0) {
    // A hint is taken too: programs with pointers inside their pools depend on it.
    r = plainMap(at, size, prot, flags, fd, offset);
  } else {
    for (int attempt = 0; attempt < 16 && r == MAP_FAILED; ++attempt) {
      r = plainMap(reinterpret_cast<void*>(placeForMapping(size)), size, prot, flags | MAP_FIXED_NOREPLACE, fd, offset);
      if (r == MAP_FAILED && errno == ENOMEM) break;  // our stretch is used up: wherever there is room
      if (r == MAP_FAILED && errno != EEXIST) return r;
    }
  }
  if (r == MAP_FAILED && at == nullptr) r = plainMap(nullptr, size, prot, flags, fd, offset);
  if (r == MAP_FAILED) return r;
  begin = reinterpret_cast<uintptr_t>(r);
  Region region{begin, begin + pages(size), file, uint64_t(offset)};
  region.protection = prot;
  region.copied = isRestart() && !shared;
  region.readOnly = readOnly;
  removeRegions(region.begin, region.end);
  if (!addTrapped(region, fd, (flags & MAP_TYPE) != MAP_PRIVATE)) problem(BLACKOUT_PROBLEM_UNSUPPORTED);
  return r;
}

// msync and fsync cover the stores before the call, at its return.
template <class Call, class Done>
int synced(Call call, Done done) {
  {
    Scope scope;
    if (!scope.nested) append(BLACKOUT_EV_SyncStart, 0, 0, 0, 0);
  }
  int r = call();
  if (r == 0) {
    Scope scope;
    if (!scope.nested) done();
  }
  return r;
}

int syncFile(int fd, int (*real)(int)) {
  if (!isPoolDescriptor(fd)) return real(fd);
  uint32_t file;
  {
    Scope scope;
    file = scope.nested ? 0 : fileOfDescriptor(fd);
  }
  if (file == 0) return real(fd);
  return synced([] { return 0; }, [&] { append(BLACKOUT_EV_Fsync, 0, 0, uint64_t{file} << 40, 0); });
}

}  // namespace

BLACKOUT_EXPORT void* mmap(void* at, size_t size, int prot, int flags, int fd, off_t offset) {
  if (!inRun()) return plainMap(at, size, prot, flags, fd, offset);
  void* r = map(at, size, prot, flags, fd, offset);
  if (r == MAP_FAILED && errno == ENOMEM && (flags & MAP_ANONYMOUS) == 0 && isPoolDescriptor(fd)) {
    // Without Blackout there may be room: what the program does now says nothing of it.
    unfollowed("it can't map a pool here: no memory or address space is left for it");
    errno = ENOMEM;
  }
  return r;
}
BLACKOUT_EXPORT void* mmap64(void* at, size_t size, int prot, int flags, int fd, off_t offset) {
  return mmap(at, size, prot, flags, fd, offset);
}

BLACKOUT_EXPORT int munmap(void* at, size_t size) {
  if (!mayBePm(at, size)) return int(syscall(SYS_munmap, at, size));
  Scope scope;
  auto begin = reinterpret_cast<uintptr_t>(at);
  bool valid = begin % kPage == 0 && size != 0;
  if (valid && !scope.nested && isRestart() && putAside(begin, begin + pages(size))) return 0;
  if (valid && isAside(begin, begin + pages(size))) makePrivatePools();
  long r = syscall(SYS_munmap, at, size);
  if (r == 0 && !scope.nested) removeRegions(begin, begin + pages(size));
  return int(r);
}

BLACKOUT_EXPORT void* mremap(void* from, size_t oldSize, size_t newSize, int flags, ...) {
  va_list arguments;
  va_start(arguments, flags);
  void* to = (flags & MREMAP_FIXED) != 0 ? va_arg(arguments, void*) : nullptr;
  va_end(arguments);
  auto plain = [&](int f, void* target) {
    return reinterpret_cast<void*>(syscall(SYS_mremap, from, oldSize, newSize, f, target));
  };
  if (to != nullptr && isAside(reinterpret_cast<uintptr_t>(to), reinterpret_cast<uintptr_t>(to) + pages(newSize)))
    makePrivatePools();
  if (!mayBePm(from, oldSize == 0 ? 1 : oldSize)) {
    void* r = plain(flags, to);
    // Ordinary memory now lies where PM was.
    if (r != MAP_FAILED && to != nullptr && mayBePm(to, newSize)) {
      Scope scope;
      auto begin = reinterpret_cast<uintptr_t>(to);
      if (!scope.nested) removeRegions(begin, begin + pages(newSize));
    }
    return r;
  }
  // Private pages can't be mapped a second time once they are moved.
  if (trapping) makePrivatePools();
  Scope scope;
  const Region* known = scope.nested ? nullptr : findRegion(from);
  if (known == nullptr) return plain(flags, to);
  Region old = *known;
  auto begin = reinterpret_cast<uintptr_t>(from);
  uint64_t offset = old.offset + (begin - old.begin);
  unguard(begin, begin + oldSize, old.protection);
  void* r;
  if (to != nullptr || newSize <= oldSize || (flags & MREMAP_MAYMOVE) == 0) {
    r = plain(flags, to);
  } else {
    r = plain(flags & ~MREMAP_MAYMOVE, nullptr);
    if (r == MAP_FAILED) r = plain(flags | MREMAP_FIXED, reinterpret_cast<void*>(placeForMapping(newSize)));
  }
  if (r == MAP_FAILED) {
    if (Region* stays = pageRegion(begin)) guardAgain(*stays);
    return r;
  }
  if (oldSize != 0 && (flags & MREMAP_DONTUNMAP) == 0) removeRegions(begin, begin + pages(oldSize));
  auto now = reinterpret_cast<uintptr_t>(r);
  Region region{now, now + pages(newSize), old.file, offset};
  region.protection = old.protection;
  removeRegions(region.begin, region.end);
  trapAgain(region);
  if (!addRegion(region)) problem(BLACKOUT_PROBLEM_UNSUPPORTED);
  return r;
}

// The program's own protection of trapped PM is kept beside ours: a fault that it would have had is its own.
BLACKOUT_EXPORT int mprotect(void* at, size_t size, int protection) {
  auto plain = [&] {
    int r = int(syscall(SYS_mprotect, at, size, protection));
    if (r == 0 && (protection & PROT_EXEC) != 0) noteExecutable(at, size, (protection & PROT_WRITE) != 0);
    return r;
  };
  if ((!trapping && !isRestart()) || !mayBePm(at, size)) return plain();
  Scope scope;
  auto begin = reinterpret_cast<uintptr_t>(at);
  uintptr_t end = begin + pages(size);
  if (scope.nested || !overlapsRegion(begin, end)) return plain();
  if (isRestart() && (protection & PROT_WRITE) != 0) {
    bool refused = false, copied = false;
    forEachRegion(begin, end, [&](const Region& r, uintptr_t, uintptr_t) {
      refused |= r.readOnly;
      copied |= r.copied;
    });
    if (refused) {
      errno = EACCES;
      return -1;
    }
    if (copied) makePrivatePools();
  }
  if (!trapping) return plain();
  if (begin % kPage != 0 || (protection & ~(PROT_READ | PROT_WRITE | PROT_EXEC)) != 0) {
    errno = EINVAL;
    return -1;
  }
  if (!recordsEvents()) {
    // Only pages that are not ours to open change.
    forEachRegion(begin, end, [&](const Region& r, uintptr_t from, uintptr_t to) {
      for (uintptr_t p = from; p < to; p += kPage)
        if (reach(r, p) == p) syscall(SYS_mprotect, p, kPage, protection);
    });
  } else if ((protection & PROT_READ) == 0) {
    syscall(SYS_mprotect, at, size, PROT_NONE);
  } else if (isRestart()) {
    makePrivatePools();  // its pages are all one kind then
  } else if (options.loads == 0) {
    syscall(SYS_mprotect, at, size, protection & ~PROT_WRITE);
  }
  setProtection(begin, end, protection);
  return 0;
}

// Pages that are protected can't be locked into memory. It makes no difference to what they hold.
BLACKOUT_EXPORT int mlock(const void* at, size_t size) {
  return trapping && mayBePm(at, size) ? 0 : int(syscall(SYS_mlock, at, size));
}
BLACKOUT_EXPORT int mlock2(const void* at, size_t size, unsigned flags) {
  return trapping && mayBePm(at, size) ? 0 : int(syscall(SYS_mlock2, at, size, flags));
}

BLACKOUT_EXPORT int msync(void* at, size_t size, int flags) {
  if (!mayBePm(at, size)) return BLACKOUT_REAL(msync)(at, size, flags);
  auto begin = reinterpret_cast<uintptr_t>(at);
  // The kernel checks the range; MS_ASYNC spares the disk.
  auto checked = [&] { return int(syscall(SYS_msync, at, size, (flags & ~MS_SYNC) | MS_ASYNC)); };
  if ((flags & MS_SYNC) == 0) return int(syscall(SYS_msync, at, size, flags));
  return synced(checked, [&] {
    forEachRegion(begin, begin + pages(size), [&](const Region& r, uintptr_t from, uintptr_t to) {
      append(BLACKOUT_EV_Msync, 0, 0, pmAddressOf(r, from), to - from);
    });
  });
}

BLACKOUT_EXPORT int fsync(int fd) { return syncFile(fd, BLACKOUT_REAL(fsync)); }
BLACKOUT_EXPORT int fdatasync(int fd) { return syncFile(fd, BLACKOUT_REAL(fdatasync)); }

BLACKOUT_EXPORT int madvise(void* at, size_t size, int advice) {
  if (mapsImage() && mayBePm(at, size)) {
    auto begin = reinterpret_cast<uintptr_t>(at);
    bool touches = overlapsRegion(begin, begin + pages(size));
    // On a shared mapping these lose nothing; on our private one they would.
    if (touches && (advice == MADV_DONTNEED || advice == MADV_FREE || advice == MADV_PAGEOUT)) return 0;
    if (touches && advice == MADV_REMOVE) makePrivatePools();
  }
  long r = syscall(SYS_madvise, at, size, advice);
  if (r != 0 || advice != MADV_REMOVE || !mayBePm(at, size)) return int(r);
  Scope scope;
  if (scope.nested) return int(r);
  auto begin = reinterpret_cast<uintptr_t>(at);
  forEachRegion(begin, begin + pages(size), [&](const Region& region, uintptr_t from, uintptr_t to) {
    append(BLACKOUT_EV_FileZero, 0, 0, pmAddressOf(region, from), to - from);
  });
  return int(r);
}
