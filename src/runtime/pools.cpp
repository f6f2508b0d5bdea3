#include "runtime/pools.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <fnmatch.h>
#include <ftw.h>
#include <glob.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "runtime/access.h"
#include "runtime/layers.h"
#include "runtime/options.h"
#include "runtime/processes.h"
#include "runtime/real.h"
#include "runtime/recorder.h"
#include "runtime/recovery.h"
#include "runtime/unfollowed.h"

namespace blackout::rt {

namespace {

bool matchesPattern(const char* path, const Options::Pattern& pattern) {
  if (pattern.glob) return fnmatch(pattern.text, path, FNM_PATHNAME | FNM_PERIOD) == 0;
  size_t n = strlen(pattern.text);
  if (n > 0 && pattern.text[n - 1] == '/')
    return strncmp(path, pattern.text, n) == 0 || (strlen(path) == n - 1 && strncmp(path, pattern.text, n - 1) == 0);
  return strcmp(path, pattern.text) == 0;
}

bool matches(const char* path) {
  for (int i = 0; i < options.patternCount; ++i)
    if (matchesPattern(path, options.patterns[i])) return true;
  return false;
}

// The path with every link followed, as the kernel does (".." behind a link, too), or all but one at its end; the last
// part need not exist. False if there is no such folder. Changes `joined`.
bool resolve(char* joined, char* out, Last last) {
  auto real = BLACKOUT_REAL_VERSION(realpath, "GLIBC_2.3");
  constexpr int kMostLinks = 40;  // the kernel's
  for (int links = 0; links <= kMostLinks; ++links) {
    if (last == Last::Follow && real(joined, out) != nullptr) return true;
    char* slash = strrchr(joined, '/');
    if (slash == nullptr) return false;
    // A folder, whatever it is called.
    bool unnamed = slash[1] == '\0' || strcmp(slash, "/.") == 0 || strcmp(slash, "/..") == 0;
    if (unnamed) return real(joined, out) != nullptr;
    *slash = '\0';
    char folder[PATH_MAX], target[PATH_MAX];
    bool found = real(*joined == '\0' ? "/" : joined, folder) != nullptr;
    *slash = '/';
    if (!found) return false;
    const char* root = strcmp(folder, "/") == 0 ? "" : folder;
    int n = snprintf(out, PATH_MAX, "%s%s", root, slash);
    if (n <= 0 || n >= PATH_MAX) return false;
    long size = last == Last::Keep ? -1 : syscall(SYS_readlinkat, AT_FDCWD, out, target, sizeof target - 1);
    if (size <= 0) return true;
    // A link to what isn't there yet.
    target[size] = '\0';
    n = snprintf(joined, PATH_MAX, "%s%s%s", *target == '/' ? "" : root, *target == '/' ? "" : "/", target);
    if (n <= 0 || n >= PATH_MAX) return false;
  }
  return false;
}

bool isLink(const char* path) {
  struct stat st;
  return syscall(SYS_newfstatat, AT_FDCWD, path, &st, AT_SYMLINK_NOFOLLOW) == 0 && S_ISLNK(st.st_mode);
}

// --- the names of a file with several ---

// The smallest of its names that --pm knows: the one under which the tool has copied it.
struct Search {
  dev_t device;
  ino_t inode;
  char* found;
};
thread_local __attribute__((tls_model("initial-exec"))) constinit Search search = {};

int look(const char* path, const struct stat* st, int type, FTW*) {
  if (type != FTW_F || st->st_ino != search.inode || st->st_dev != search.device) return 0;
  if (strlen(path) < PATH_MAX && (*search.found == '\0' || strcmp(path, search.found) < 0)) strcpy(search.found, path);
  return 0;
}

bool firstName(const char* path, char* out) {
  struct stat st;
  if (syscall(SYS_newfstatat, AT_FDCWD, path, &st, 0) != 0 || !S_ISREG(st.st_mode) || st.st_nlink < 2) return false;
  Search before = search;
  *out = '\0';
  search = {st.st_dev, st.st_ino, out};
  for (int i = 0; i < options.patternCount; ++i) {
    const Options::Pattern& p = options.patterns[i];
    size_t n = strlen(p.text);
    char canonical[PATH_MAX];
    if (p.glob) {
      glob_t all{};
      if (BLACKOUT_REAL_VERSION(glob, "GLIBC_2.27")(p.text, 0, nullptr, &all) == 0)
        for (size_t k = 0; k < all.gl_pathc; ++k)
          if (syscall(SYS_newfstatat, AT_FDCWD, all.gl_pathv[k], &st, AT_SYMLINK_NOFOLLOW) == 0 &&
              BLACKOUT_REAL_VERSION(realpath, "GLIBC_2.3")(all.gl_pathv[k], canonical) != nullptr)
            look(matches(canonical) ? canonical : all.gl_pathv[k], &st, S_ISREG(st.st_mode) ? FTW_F : FTW_NS, nullptr);
      globfree(&all);
    } else if (BLACKOUT_REAL_VERSION(realpath, "GLIBC_2.3")(p.text, canonical) == nullptr) {
      continue;
    } else if (n > 0 && p.text[n - 1] == '/') {
      BLACKOUT_REAL_VERSION(nftw, "GLIBC_2.3.3")(canonical, look, 16, FTW_PHYS);
    } else if (syscall(SYS_newfstatat, AT_FDCWD, canonical, &st, 0) == 0) {
      look(canonical, &st, S_ISREG(st.st_mode) ? FTW_F : FTW_NS, nullptr);
    }
  }
  search = before;
  return *out != '\0';
}

uint8_t descriptors[kMaxDescriptors / 8];
int flagsOf[kMaxDescriptors];  // by descriptor, see poolFlags()

}  // namespace

// Links and folders that a restart made itself lie in its own layer, where what they lead to is not. The path without
// them, if it is another one.
static bool throughOwnLinks(int dirfd, const char* path, const char* plain, Last last, char (&target)[PATH_MAX]) {
  layers::Found f;
  if (!isRestart() || worker->owns == 0 || !layers::follow(dirfd, path, last == Last::Follow, f) || f.kernels)
    return false;
  strcpy(target, f.canonical);
  return strcmp(target, plain) != 0;
}

bool redirect(int dirfd, const char* path, char* out, char* canonical, Last last) {
  if (!inRun() || path == nullptr || *path == '\0' || options.shadow == nullptr) return false;
  char joined[PATH_MAX], plain[PATH_MAX], resolved[PATH_MAX];
  if (!layers::absolute(dirfd, path, joined, plain)) return false;
  size_t s = strlen(options.shadow);
  auto isPrivate = [&](const char* p) { return strncmp(p, options.shadow, s) == 0 && (p[s] == '/' || p[s] == '\0'); };
  // A private path that the program learnt by itself (its working folder, /proc/self/fd) stands for the user's.
  const char* found = nullptr;
  if (isPrivate(plain)) {
    found = matches(plain + s) ? plain + s : nullptr;
  } else {
    bool known = resolve(joined, resolved, last);
    if (known && isPrivate(resolved)) {
      found = matches(resolved + s) ? resolved + s : nullptr;
    } else {
      if (known && last == Last::Keep && isLink(resolved)) return false;
      // What --pm matches through a link is known by its own name where that is matched too.
      if (known && matches(resolved))
        found = resolved;
      else if (matches(plain))
        found = plain;
      if (known && firstName(resolved, joined)) found = joined;
    }
  }
  if (found == nullptr)
    return throughOwnLinks(dirfd, path, plain, last, resolved) && redirect(AT_FDCWD, resolved, out, canonical, last);
  if (s + strlen(found) >= PATH_MAX) return false;
  memcpy(out, options.shadow, s);
  strcpy(out + s, found);
  if (canonical != nullptr) strcpy(canonical, found);
  struct stat st;
  if (found == joined && strcmp(found, resolved) != 0 && syscall(SYS_newfstatat, AT_FDCWD, out, &st, 0) != 0)
    unfollowed("it uses a second name (a hard link) of a pool whose first name has changed");
  return true;
}

void nameChanges(int dirfd, const char* path) {
  char copy[PATH_MAX], canonical[PATH_MAX], joined[PATH_MAX], plain[PATH_MAX], resolved[PATH_MAX];
  if (!layers::absolute(dirfd, path, joined, plain) || !resolve(joined, resolved, Last::Keep)) return;
  if (isLink(resolved)) {
    if (redirect(dirfd, path, copy)) unfollowed("it removes or renames a symbolic link to a pool");
  } else if (redirect(dirfd, path, copy, canonical, Last::Keep) && strcmp(canonical, resolved) != 0 &&
             firstName(resolved, joined)) {
    unfollowed("it removes or renames a second name (a hard link) of a pool");
  }
}

uint64_t steadyInode(uint64_t device, uint64_t inode) {
  uint32_t n = header->next_file < BLACKOUT_MAX_FILES ? header->next_file : BLACKOUT_MAX_FILES;
  for (uint32_t i = n; i-- > 1;) {
    const blackout_trace_file& f = header->files[i];
    if (f.inode != inode || f.device != device || f.live == 0) continue;
    constexpr uint64_t kFirst = uint64_t{1} << 40;  // above those of file systems
    return f.original_inode != 0 ? f.original_inode : kFirst + i;
  }
  return inode;
}

static uint32_t fileOf(const struct stat& st) {
  if (!S_ISREG(st.st_mode)) return 0;
  uint32_t n = header->next_file < BLACKOUT_MAX_FILES ? header->next_file : BLACKOUT_MAX_FILES;
  for (uint32_t i = n; i-- > 1;) {
    const blackout_trace_file& f = header->files[i];
    if (f.inode == st.st_ino && f.device == st.st_dev && f.live != 0) return i;
  }
  return 0;
}

uint32_t fileOfDescriptor(int fd) {
  struct stat st;
  if (syscall(SYS_fstat, fd, &st) != 0) return 0;
  return fileOf(st);
}

uint32_t fileOfPath(const char* shadowPath) {
  struct stat st;
  if (syscall(SYS_newfstatat, AT_FDCWD, shadowPath, &st, 0) != 0) return 0;
  return fileOf(st);
}

uint32_t newFile(const char* canonicalPath, const struct stat& st) {
  uint32_t n = header->next_file;
  if (n >= BLACKOUT_MAX_FILES) {
    problem(BLACKOUT_PROBLEM_FILES);
    return 0;
  }
  header->next_file = n + 1;
  if (isRestart()) noteMadeFile(n);
  blackout_trace_file& f = header->files[n];
  f = {uint64_t(st.st_dev), uint64_t(st.st_ino), 0, 1, 0, 0, 0};
  appendBlob(BLACKOUT_EV_FileNew, 0, uint64_t{n} << 40, canonicalPath, strlen(canonicalPath));
  if (st.st_size != 0) setFileSize(n, uint64_t(st.st_size));
  return n;
}

void setFileSize(uint32_t file, uint64_t size) {
  if (header->files[file].size == size) return;
  header->files[file].size = size;
  append(BLACKOUT_EV_FileSize, 0, 0, uint64_t{file} << 40, size);
}

void fileRemoved(uint32_t file) {
  header->files[file].live = 0;
  append(BLACKOUT_EV_FileUnlink, 0, 0, uint64_t{file} << 40, 0);
}

void notePoolDescriptor(int fd) {
  if (fd >= kMaxDescriptors) unfollowed("it uses a pool through a descriptor above 65,535");
  if (fd >= 0 && fd < kMaxDescriptors)
    __atomic_fetch_or(&descriptors[fd / 8], uint8_t(1 << (fd % 8)), __ATOMIC_RELAXED);
}
void forgetDescriptor(int fd) {
  if (fd >= 0 && fd < kMaxDescriptors)
    __atomic_fetch_and(&descriptors[fd / 8], uint8_t(~(1 << (fd % 8))), __ATOMIC_RELAXED);
}
bool isPoolDescriptor(int fd) {
  return inRun() && fd >= 0 && fd < kMaxDescriptors && (descriptors[fd / 8] & (1 << (fd % 8))) != 0;
}
int nextPoolDescriptor(int fd) {
  for (; fd < kMaxDescriptors; ++fd) {
    if (descriptors[fd / 8] == 0)
      fd |= 7;
    else if (isPoolDescriptor(fd))
      return fd;
  }
  return -1;
}
void notePoolFlags(int fd, int flags) {
  if (fd >= 0 && fd < kMaxDescriptors) flagsOf[fd] = flags;
}
int poolFlags(int fd) { return fd >= 0 && fd < kMaxDescriptors ? flagsOf[fd] : 0; }
bool readsPool(int fd) { return observesCrash() && isPoolDescriptor(fd); }
bool readsImage(int fd) { return mapsImage() && isPoolDescriptor(fd); }
void copyDescriptor(int from, int to) {
  if (isPoolDescriptor(from)) {
    notePoolDescriptor(to);
    notePoolFlags(to, poolFlags(from));
  } else {
    forgetDescriptor(to);
  }
}

void findInheritedDescriptors() {
  forEachNumberIn("/proc/self/fd", [](int fd) {
    if (fileOfDescriptor(fd) != 0) notePoolDescriptor(fd);
  });
}

void recordWholeFile(uint32_t file, int fd, uint32_t where, bool zeroPagesToo) {
  static uint8_t page[4096];  // inside a Scope: one at a time
  uint64_t size = header->files[file].size;
  for (uint64_t at = 0; at < size; at += sizeof page) {
    size_t want = size - at < sizeof page ? size_t(size - at) : sizeof page;
    long n = syscall(SYS_pread64, fd, page, want, off_t(at));
    if (n <= 0) return;
    bool zero = true;
    for (long i = 0; i < n && zero; ++i) zero = page[i] == 0;
    if (!zero || zeroPagesToo) recordFileStore(file, at, page, size_t(n), where);
  }
}

}  // namespace blackout::rt
