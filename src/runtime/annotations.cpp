// blackout.h: what a program says of its memory. What it says of its operations is in operations.cpp, of where crashes
// and findings are wanted in stages.cpp.

#include "runtime/annotations.h"

#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "runtime/modules.h"
#include "runtime/options.h"
#include "runtime/pools.h"
#include "runtime/real.h"
#include "runtime/recorder.h"
#include "runtime/recovery.h"
#include "runtime/regions.h"
#include "runtime/trap/pages.h"

using namespace blackout::rt;

namespace {

bool registered[BLACKOUT_MAX_FILES];  // by file number: memory that the program registered

void mark(uint8_t kind, const char* function, const void* p, size_t size, const void* frame) {
  if (!recordsEvents()) return;
  Stack stack;
  walkCallers(stack, frame);
  Scope scope;
  if (scope.nested) return;
  auto a = reinterpret_cast<uintptr_t>(p);
  if (size > UINTPTR_MAX - a) size = UINTPTR_MAX - a;
  forEachRegion(a, a + size, [&](const Region& r, uintptr_t from, uintptr_t to) {
    append(kind, 0, whereOf(librarySite(function), stack), pmAddressOf(r, from), to - from);
  });
}

// The pages of [begin, end) become shared pages of `fd` (or private ones if it is -1) with the same content.
bool replacePages(uintptr_t begin, uintptr_t end, int fd) {
  size_t size = end - begin;
  if (fd < 0) {
    void* fresh = reinterpret_cast<void*>(
        syscall(SYS_mmap, nullptr, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1L, 0L));
    if (fresh == MAP_FAILED) return false;
    memcpy(fresh, reinterpret_cast<void*>(begin), size);
    return syscall(SYS_mremap, fresh, size, size, MREMAP_MAYMOVE | MREMAP_FIXED, begin) != -1;
  }
  if (syscall(SYS_ftruncate, fd, off_t(size)) != 0) return false;
  for (size_t done = 0; done < size;) {
    long n = syscall(SYS_pwrite64, fd, reinterpret_cast<char*>(begin) + done, size - done, off_t(done));
    if (n <= 0) return false;
    done += size_t(n);
  }
  return syscall(SYS_mmap, begin, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, fd, 0L) != -1;
}

// A recovery run registers memory that the recording registered too, under the same name and as often: it finds
// there what the crash left. False: at the crash there was no such memory yet.
bool findRegistered(uintptr_t a, size_t size, uintptr_t begin, uintptr_t end, const char* name) {
  static uint32_t asked = 0;
  char text[80];
  snprintf(text, sizeof text, "-%.64s", name);
  for (char* c = text + 1; *c != '\0'; ++c)
    if (*c == '/') *c = '_';
  const auto* bytes = reinterpret_cast<const char*>(plan);
  const auto* offsets = reinterpret_cast<const uint32_t*>(bytes + plan->paths);
  uint32_t skip = asked++;
  // Their numbers rise in the order in which they were registered.
  uint64_t last = 0;
  for (;;) {
    const char* found = nullptr;
    uint64_t number = UINT64_MAX;
    for (uint32_t i = 0; i < plan->path_count; ++i) {
      const char* path = bytes + offsets[i];
      if (strncmp(path, "/registered/", 12) != 0) continue;
      char* rest = nullptr;
      uint64_t n = strtoull(path + 12, &rest, 10);
      if (n > last && n < number) {
        number = n;
        found = path;
      }
    }
    if (found == nullptr) return false;
    last = number;
    if (skip-- != 0) continue;
    if (strcmp(strchr(found + 12, '-'), text) != 0) return false;
    observePath(found);
    char shadow[PATH_MAX];
    snprintf(shadow, sizeof shadow, "%s%s", options.shadow, found);
    int fd = int(syscall(SYS_openat, AT_FDCWD, shadow, O_RDWR | O_CLOEXEC));
    if (fd < 0) return false;
    struct stat st;
    if (syscall(SYS_fstat, fd, &st) != 0 || uint64_t(st.st_size) < end - begin) {
      syscall(SYS_close, fd);  // the crash came while it was being registered
      return false;
    }
    uint32_t file = fileOfDescriptor(fd);
    long at = file == 0 ? -1
                        : syscall(SYS_mmap, begin, end - begin, PROT_READ | PROT_WRITE,
                                  (hasPrivatePools() ? MAP_SHARED : MAP_PRIVATE) | MAP_FIXED, fd, 0L);
    if (at == -1) endRun(BLACKOUT_ENDED_BROKEN, "registered memory can't be mapped", nullptr);
    noteReservation(begin - (uintptr_t{64} << 10), end + kPage);
    Region region{a, a + size, file, a - begin};
    trapRegion(region, fd, hasPrivatePools());
    syscall(SYS_close, fd);
    addRegion(region);
    registered[file] = true;
    return true;
  }
}

}  // namespace

namespace blackout::rt {

bool isRegistered(const Region& r) { return registered[r.file]; }

void registerMemory(void* p, size_t size, const char* name, const char* caller) {
  if (!inRun() || size == 0) return;
  noteModules();
  Scope scope;
  if (scope.nested) return;
  auto a = reinterpret_cast<uintptr_t>(p);
  if (overlapsRegion(a, a + size)) return;  // a pool already
  if (a >= self.stackLow && a < self.stackTop) {
    char text[128];
    snprintf(text, sizeof text, "%s: a stack can't be PM", caller);
    stop(text, nullptr, 2);
  }
  uintptr_t begin = a & ~(kPage - 1);
  uintptr_t end = (a + size + kPage - 1) & ~(kPage - 1);
  if (isRestart()) {
    if (findRegistered(a, size, begin, end, name == nullptr ? "" : name)) return;
    makePrivatePools();
  }
  // A file of its own among the private copies, so that the memory outlives the program.
  char path[128], shadow[PATH_MAX];
  snprintf(path, sizeof path, "/registered/%u-%.64s", header->next_file, name == nullptr ? "" : name);
  for (char* c = path + 12; *c != '\0'; ++c)
    if (*c == '/') *c = '_';
  snprintf(shadow, sizeof shadow, "%s/registered", options.shadow);
  syscall(SYS_mkdir, shadow, 0700);
  snprintf(shadow, sizeof shadow, "%s%s", options.shadow, path);
  int fd = int(syscall(SYS_openat, AT_FDCWD, shadow, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600));
  struct stat st;
  if (fd < 0 || syscall(SYS_fstat, fd, &st) != 0 || !replacePages(begin, end, fd))
    stop("registered memory can't be made PM:", path, 3);
  uint32_t file = newFile(path, st);
  if (file == 0) return void(syscall(SYS_close, fd));
  setFileSize(file, end - begin);
  // What was there before is settled.
  for (uintptr_t page = begin; page < end; page += kPage) {
    const auto* bytes = reinterpret_cast<const uint64_t*>(page);
    bool zero = true;
    for (size_t i = 0; i < kPage / 8 && zero; ++i) zero = bytes[i] == 0;
    if (!zero) appendBlob(BLACKOUT_EV_FileData, 0, (uint64_t{file} << 40) | (page - begin), bytes, kPage);
  }
  // Part of an object may be registered, and pointers to the object begin before it.
  noteReservation(begin - (uintptr_t{64} << 10), end + kPage);
  Region region{a, a + size, file, a - begin};
  trapRegion(region, fd, true);
  syscall(SYS_close, fd);
  addRegion(region);
  registered[file] = true;
}

void unregisterMemory(void* p) {
  if (!inRun()) return;
  Scope scope;
  if (scope.nested) return;
  const Region* found = findRegion(p);
  if (found == nullptr) return;
  Region r = *found;
  uintptr_t begin = r.begin & ~(kPage - 1);
  uintptr_t end = (r.end + kPage - 1) & ~(kPage - 1);
  fileRemoved(r.file);
  removeRegions(r.begin, r.end);
  if (r.alias != 0) syscall(SYS_mprotect, begin, end - begin, PROT_READ | PROT_WRITE);
  if (!replacePages(begin, end, -1)) problem(BLACKOUT_PROBLEM_UNSUPPORTED);
}

}  // namespace blackout::rt

BLACKOUT_EXPORT int blackout_active() { return inRun() ? 1 : 0; }

BLACKOUT_EXPORT void blackout_pm_register(void* p, size_t size, const char* name) {
  registerMemory(p, size, name, "blackout_pm_register");
}
BLACKOUT_EXPORT void blackout_pm_unregister(void* p) { unregisterMemory(p); }

BLACKOUT_EXPORT void blackout_discard(const void* p, size_t size) {
  mark(BLACKOUT_EV_Discard, "blackout_discard", p, size, BLACKOUT_FRAME());
}
BLACKOUT_EXPORT void blackout_ignore(const void* p, size_t size) {
  mark(BLACKOUT_EV_Ignore, "blackout_ignore", p, size, BLACKOUT_FRAME());
}
