// Walks over folders, which libc makes from inside: scandir, glob, ftw and nftw are made of our own functions, so that
// a run sees its own files and pools. fts is not followed, and that is said.

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <fts.h>
#include <ftw.h>
#include <glob.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "runtime/real.h"
#include "runtime/role.h"
#include "runtime/unfollowed.h"

using namespace blackout::rt;

BLACKOUT_EXPORT int scandirat(int dirfd, const char* path, dirent*** list, int (*wanted)(const dirent*),
                              int (*compare)(const dirent**, const dirent**)) {
  if (!inRun()) return BLACKOUT_REAL(scandirat)(dirfd, path, list, wanted, compare);
  int fd = openat(dirfd, path, O_RDONLY | O_DIRECTORY | O_NONBLOCK | O_CLOEXEC);
  DIR* folder = fd < 0 ? nullptr : fdopendir(fd);
  if (folder == nullptr) {
    if (fd >= 0) close(fd);
    return -1;
  }
  dirent** found = nullptr;
  size_t count = 0, room = 0;
  int saved = errno, error = 0;
  errno = 0;
  while (const dirent* entry = readdir(folder)) {
    if (wanted != nullptr && wanted(entry) == 0) continue;
    errno = 0;
    if (count == room) {
      room = room == 0 ? 16 : 2 * room;
      auto** larger = static_cast<dirent**>(realloc(found, room * sizeof *found));
      if (larger == nullptr) break;
      found = larger;
    }
    found[count] = static_cast<dirent*>(malloc(entry->d_reclen));
    if (found[count] == nullptr) break;
    memcpy(found[count++], entry, entry->d_reclen);
  }
  error = errno;
  closedir(folder);
  if (error != 0) {
    while (count > 0) free(found[--count]);
    free(found);
    errno = error;
    return -1;
  }
  if (compare != nullptr && count > 0)
    qsort(found, count, sizeof *found, reinterpret_cast<int (*)(const void*, const void*)>(compare));
  *list = found;
  errno = saved;
  return int(count);
}
BLACKOUT_EXPORT int scandir(const char* path, dirent*** list, int (*wanted)(const dirent*),
                            int (*compare)(const dirent**, const dirent**)) {
  return scandirat(AT_FDCWD, path, list, wanted, compare);
}
BLACKOUT_EXPORT int scandir64(const char* path, dirent64*** list, int (*wanted)(const dirent64*),
                              int (*compare)(const dirent64**, const dirent64**)) {
  return scandir(path, reinterpret_cast<dirent***>(list), reinterpret_cast<int (*)(const dirent*)>(wanted),
                 reinterpret_cast<int (*)(const dirent**, const dirent**)>(compare));
}
BLACKOUT_EXPORT int glob(const char* pattern, int flags, int (*failed)(const char*, int), glob_t* result) {
  auto real = BLACKOUT_REAL_VERSION(glob, "GLIBC_2.27");
  if (!inRun() || (flags & GLOB_ALTDIRFUNC) != 0) return real(pattern, flags, failed, result);
  result->gl_opendir = [](const char* path) -> void* { return opendir(path); };
  result->gl_readdir = [](void* folder) { return readdir(static_cast<DIR*>(folder)); };
  result->gl_closedir = [](void* folder) { closedir(static_cast<DIR*>(folder)); };
  result->gl_stat = stat;
  result->gl_lstat = lstat;
  return real(pattern, flags | GLOB_ALTDIRFUNC, failed, result);
}
BLACKOUT_EXPORT int glob64(const char* pattern, int flags, int (*failed)(const char*, int), glob64_t* result) {
  return glob(pattern, flags, failed, reinterpret_cast<glob_t*>(result));
}

namespace {

using Visit = int (*)(const char*, const struct stat*, int, struct FTW*);
using PlainVisit = int (*)(const char*, const struct stat*, int);

// One walk of ftw or nftw.
class Walk {
 public:
  Walk(Visit visit, PlainVisit plain, int flags) : visit_(visit), plain_(plain), flags_(flags) {}
  ~Walk() {
    free(seen_);
    if (start_ >= 0) close(start_);
  }
  Walk(const Walk&) = delete;
  Walk& operator=(const Walk&) = delete;

  int from(const char* path) {
    size_t length = strlen(path);
    if (length >= sizeof path_) {
      errno = ENAMETOOLONG;
      return -1;
    }
    memcpy(path_, path, length + 1);
    while (length > 1 && path_[length - 1] == '/') path_[--length] = '\0';
    const char* slash = strrchr(path_, '/');
    if ((flags_ & FTW_CHDIR) != 0) {
      start_ = open(".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
      if (start_ < 0) return -1;
    }
    struct stat st;
    int type = look(st);
    if (type == FTW_NS) return -1;
    device_ = st.st_dev;
    int result = visit(length, slash == nullptr || length == 1 ? 0 : size_t(slash + 1 - path_), 0, st, type);
    int saved = errno;
    if (start_ >= 0 && fchdir(start_) != 0) return -1;
    errno = saved;
    return acts() && (result == FTW_SKIP_SUBTREE || result == FTW_SKIP_SIBLINGS) ? 0 : result;
  }

 private:
  struct Identity {
    dev_t device;
    ino_t inode;
  };
  // Names one after the other, each with its zero.
  struct Names {
    char* bytes = nullptr;
    size_t size = 0;
    bool opened = false;
    ~Names() { free(bytes); }
  };

  bool follows() const { return (flags_ & FTW_PHYS) == 0; }
  bool acts() const { return (flags_ & FTW_ACTIONRETVAL) != 0; }
  // A relative path means something in the folder where the walk began.
  int beginning() const { return start_ >= 0 ? start_ : AT_FDCWD; }

  int look(struct stat& st) const {
    if (fstatat(beginning(), path_, &st, follows() ? 0 : AT_SYMLINK_NOFOLLOW) == 0)
      return S_ISDIR(st.st_mode) ? FTW_D : S_ISLNK(st.st_mode) ? FTW_SL : FTW_F;
    int saved = errno;
    if (follows() && fstatat(beginning(), path_, &st, AT_SYMLINK_NOFOLLOW) == 0 && S_ISLNK(st.st_mode)) return FTW_SLN;
    memset(&st, 0, sizeof st);
    errno = saved;
    return FTW_NS;
  }
  // Where links are followed, no folder is walked twice.
  bool isNew(const struct stat& st) {
    if (!follows()) return true;
    for (size_t i = 0; i < seenCount_; ++i)
      if (seen_[i].device == st.st_dev && seen_[i].inode == st.st_ino) return false;
    auto* larger = static_cast<Identity*>(realloc(seen_, (seenCount_ + 1) * sizeof *seen_));
    if (larger == nullptr) return true;
    seen_ = larger;
    seen_[seenCount_++] = {st.st_dev, st.st_ino};
    return true;
  }
  int call(size_t base, int level, const struct stat& st, int type) {
    if (visit_ == nullptr) return plain_(path_, &st, type == FTW_SLN ? FTW_NS : type);
    if (start_ >= 0) {
      // From within the folder that it lies in; of a folder that has been walked, from within itself.
      size_t end = type == FTW_DP ? strlen(path_) : base;
      char kept = path_[end];
      path_[end] = '\0';
      bool there = fchdir(start_) == 0 && (end == 0 || chdir(path_) == 0);
      path_[end] = kept;
      if (!there) return -1;
    }
    struct FTW where = {int(base), level};
    return visit_(path_, &st, type, &where);
  }
  // All names at once: how many folders may be open is the program's to say.
  bool list(Names& names) const {
    int fd = openat(beginning(), path_, O_RDONLY | O_DIRECTORY | O_NONBLOCK | O_CLOEXEC);
    DIR* folder = fd < 0 ? nullptr : fdopendir(fd);
    if (folder == nullptr) {
      int saved = errno;
      if (fd >= 0) close(fd);
      errno = saved;
      return saved == EACCES;
    }
    names.opened = true;
    size_t room = 0;
    bool enough = true;
    while (const dirent* entry = readdir(folder)) {
      if (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0) continue;
      size_t n = strlen(entry->d_name) + 1;
      if (names.size + n > room) {
        room = 2 * room + 4096;
        auto* larger = static_cast<char*>(realloc(names.bytes, room));
        enough = larger != nullptr;
        if (!enough) break;
        names.bytes = larger;
      }
      memcpy(names.bytes + names.size, entry->d_name, n);
      names.size += n;
    }
    closedir(folder);
    return enough;
  }

  int visit(size_t length, size_t base, int level, const struct stat& st, int type) {
    if (type != FTW_D) return call(base, level, st, type);
    if (!isNew(st)) return 0;
    Names names;
    if (!list(names)) return -1;
    if (!names.opened) return call(base, level, st, FTW_DNR);
    int result = 0;
    bool after = (flags_ & FTW_DEPTH) != 0;
    if (!after) result = call(base, level, st, FTW_D);
    if (result != 0) return acts() && result == FTW_SKIP_SUBTREE ? 0 : result;
    size_t inside = length;
    if (path_[length - 1] != '/') path_[inside++] = '/';
    for (const char* name = names.bytes; result == 0 && name != names.bytes + names.size; name += strlen(name) + 1) {
      size_t n = strlen(name);
      if (inside + n >= sizeof path_) {
        errno = ENAMETOOLONG;
        return -1;
      }
      memcpy(path_ + inside, name, n + 1);
      struct stat entry;
      int kind = look(entry);
      if (kind == FTW_NS && errno != EACCES && errno != ENOENT) return -1;
      if ((flags_ & FTW_MOUNT) != 0 && kind != FTW_NS && entry.st_dev != device_) continue;
      result = visit(inside + n, inside, level + 1, entry, kind);
      if (acts() && result == FTW_SKIP_SUBTREE) result = 0;
    }
    path_[length] = '\0';
    if (acts() && result == FTW_SKIP_SIBLINGS) result = 0;
    return after && result == 0 ? call(base, level, st, FTW_DP) : result;
  }

  Visit visit_;
  PlainVisit plain_;
  int flags_;
  int start_ = -1;
  dev_t device_ = 0;
  Identity* seen_ = nullptr;
  size_t seenCount_ = 0;
  char path_[PATH_MAX];
};

}  // namespace

BLACKOUT_EXPORT int nftw(const char* path, Visit visit, int most, int flags) {
  if (!inRun()) return BLACKOUT_REAL_VERSION(nftw, "GLIBC_2.3.3")(path, visit, most, flags);
  return Walk(visit, nullptr, flags).from(path);
}
BLACKOUT_EXPORT int nftw64(const char* path, int (*visit)(const char*, const struct stat64*, int, struct FTW*),
                           int most, int flags) {
  return nftw(path, reinterpret_cast<Visit>(visit), most, flags);
}
BLACKOUT_EXPORT int ftw(const char* path, PlainVisit visit, int most) {
  if (!inRun()) return BLACKOUT_REAL(ftw)(path, visit, most);
  return Walk(nullptr, visit, 0).from(path);
}
BLACKOUT_EXPORT int ftw64(const char* path, int (*visit)(const char*, const struct stat64*, int), int most) {
  return ftw(path, reinterpret_cast<PlainVisit>(visit), most);
}

// The kernel's own lists of devices, which libpmem2 looks through, have no pools and nothing that a run could make.
static bool isOfDevices(const char* path) { return strncmp(path, "/sys/", 5) == 0 && strstr(path, "/..") == nullptr; }
static void saysFts(char* const* paths) {
  bool devices = true;
  for (; *paths != nullptr; ++paths) devices &= isOfDevices(*paths);
  if (inRun() && !devices)
    unfollowed(
        "it walks folders by fts_open, which lists them from inside libc: pools, and files of a run's own, are "
        "not among what it sees");
}
BLACKOUT_EXPORT FTS* fts_open(char* const* paths, int options, int (*compare)(const FTSENT**, const FTSENT**)) {
  saysFts(paths);
  return BLACKOUT_REAL(fts_open)(paths, options, compare);
}
BLACKOUT_EXPORT FTS64* fts64_open(char* const* paths, int options, int (*compare)(const FTSENT64**, const FTSENT64**)) {
  saysFts(paths);
  return BLACKOUT_REAL(fts64_open)(paths, options, compare);
}
