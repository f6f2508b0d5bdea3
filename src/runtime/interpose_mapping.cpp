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

#include "runtime/buffers.h"
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

struct Wanted {
  void* at;
  size_t size;
  int prot;
  int flags;
  int fd;
  off_t offset;

  bool fixed() const { return (flags & (MAP_FIXED | MAP_FIXED_NOREPLACE)) != 0; }
  bool shared() const { return (flags & MAP_TYPE) == MAP_SHARED || (flags & MAP_TYPE) == MAP_SHARED_VALIDATE; }
};
void* plainMap(const Wanted& w) { return plainMap(w.at, w.size, w.prot, w.flags, w.fd, w.offset); }
void* mapAt(uintptr_t at, const Wanted& w) {
  return plainMap(reinterpret_cast<void*>(at), w.size, w.prot, w.flags | MAP_FIXED_NOREPLACE, w.fd, w.offset);
}

// What a restart reads matters, whatever way it maps it; of a recording, what it may store.
bool isPool(const Wanted& w) {
  if ((w.flags & MAP_ANONYMOUS) != 0 || !isPoolDescriptor(w.fd)) return false;
  return isRestart() || (w.shared() && accessMode(w.fd) != O_RDONLY);
}

void* mapOther(const Wanted& w) {
  void* r = plainMap(w);
  if (r == MAP_FAILED) return r;
  auto begin = reinterpret_cast<uintptr_t>(r);
  bool anonymous = (w.flags & MAP_ANONYMOUS) != 0;
  if ((w.prot & PROT_EXEC) != 0 && anonymous) noteExecutable(r, w.size, (w.prot & PROT_WRITE) != 0);
  // Later pools may be mapped into it.
  if (!w.fixed() && anonymous && w.prot == PROT_NONE) {
    Scope scope;
    if (!scope.nested) noteReservation(begin, begin + pages(w.size));
  }
  // Something else now lies where PM was.
  if (w.fixed() && mayBePm(r, w.size)) {
    Scope scope;
    if (!scope.nested) removeRegions(begin, begin + pages(w.size));
  }
  return r;
}

// Whether the way in which a restart opened the pool allows it, which the image's own descriptor doesn't know.
bool allowed(const Wanted& w) {
  int mode = accessMode(w.fd);
  return mode != O_WRONLY && !(w.shared() && (w.prot & PROT_WRITE) != 0 && mode == O_RDONLY);
}

// How a restart maps these bytes of a pool: of the image privately, else as it asked for. `readOnly`: by a descriptor
// that is open for reading only. False, with errno: it can't.
bool chooseInRestart(uint32_t file, Wanted& w, bool& readOnly) {
  // Events of plain code are recorded through a second mapping, and what it reads by the first: they must be of the
  // same memory.
  if ((recordsEvents() && plainCode) || isAside(file)) makePrivatePools();
  readOnly = w.shared() && accessMode(w.fd) == O_RDONLY;
  if (mapsImage()) {
    bool second = mapsFile(file, uint64_t(w.offset), w.size);
    if (w.shared() ? second && !canHoldAll(file, uint64_t(w.offset), pages(w.size))
                   : second || (w.prot & PROT_WRITE) != 0)
      makePrivatePools();
    else
      w.flags = (w.flags & ~MAP_TYPE) | MAP_PRIVATE;
  }
  if ((w.flags & MAP_TYPE) == MAP_PRIVATE) w.flags |= MAP_NORESERVE;
  // What the program may only read is protected and opened again all the same.
  return !readOnly || !hasPrivatePools() || (w.fd = keptDescriptor(file, w.fd)) >= 0;
}

// Where it is mapped in every run, if the program has no wish.
void* mapPlaced(uint32_t file, const Wanted& w) {
  if (isRestart() && w.at == nullptr) {
    uintptr_t recorded = recordedAddress(file, uint64_t(w.offset), pages(w.size));
    void* r = recorded == 0 ? MAP_FAILED : mapAt(recorded, w);
    if (r != MAP_FAILED) return r;
  }
  // A hint is taken too: programs with pointers inside their pools depend on it.
  if (w.at != nullptr || w.fixed() || (w.flags & MAP_32BIT) != 0) {
    void* r = plainMap(w);
    if (r != MAP_FAILED || w.at != nullptr) return r;
  } else {
    for (int attempt = 0; attempt < 16; ++attempt) {
      void* r = mapAt(placeForMapping(w.size), w);
      if (r != MAP_FAILED) return r;
      if (errno == ENOMEM) break;  // our stretch is used up: wherever there is room
      if (errno != EEXIST) return r;
    }
  }
  return plainMap(w);
}

// Before what lies at addresses changes, the buffers of all threads that store there are empty: the kernel interrupts
// each of their processors.
void* map(Wanted w) {
  emptyAllBuffers();
  auto at = reinterpret_cast<uintptr_t>(w.at);
  if (w.fixed() && isAside(at, at + pages(w.size))) makePrivatePools();
  if (!isPool(w)) return mapOther(w);
  // Private copies are on no DAX file system; a recording and its restarts must hear the same.
  if ((w.flags & MAP_TYPE) == MAP_SHARED_VALIDATE && (w.flags & MAP_SYNC) != 0) {
    errno = EOPNOTSUPP;
    return MAP_FAILED;
  }
  if (isRestart() && !allowed(w)) {
    errno = EACCES;
    return MAP_FAILED;
  }
  noteModules();
  Scope scope;
  if (scope.nested) return plainMap(w);
  uint32_t file = fileOfDescriptor(w.fd);
  if (file == 0) return plainMap(w);
  bool copied = isRestart() && !w.shared();
  bool readOnly = false;
  if (isRestart() && !chooseInRestart(file, w, readOnly)) return MAP_FAILED;
  void* r = mapPlaced(file, w);
  if (r == MAP_FAILED) return r;
  auto begin = reinterpret_cast<uintptr_t>(r);
  Region region{begin, begin + pages(w.size), file, uint64_t(w.offset)};
  region.protection = w.prot;
  region.copied = copied;
  region.readOnly = readOnly;
  removeRegions(region.begin, region.end);
  if (!addTrapped(region, w.fd, (w.flags & MAP_TYPE) != MAP_PRIVATE)) problem(BLACKOUT_PROBLEM_UNSUPPORTED);
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
  void* r = map({at, size, prot, flags, fd, offset});
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
  emptyAllBuffers();
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
  emptyAllBuffers();
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
  emptyAllBuffers();
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
