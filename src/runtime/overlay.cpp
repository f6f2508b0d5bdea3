// See overlay.h. Not covered: fts shows the file system as it is, and that is said; a folder
// that the recording renamed is gone for recoveries; statvfs is the real one, and
// so are the extended attributes of folders.

#include "runtime/overlay.h"

#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <linux/fs.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "events/waits.h"
#include "runtime/layers.h"
#include "runtime/options.h"
#include "runtime/process_numbers.h"
#include "runtime/recorder.h"
#include "runtime/recovery.h"
#include "runtime/unfollowed.h"

namespace blackout::rt {

using namespace layers;

namespace {

constexpr size_t kMaxCopy = size_t{64} << 20;

bool writableByUser(const char* path) { return syscall(SYS_faccessat2, AT_FDCWD, path, W_OK, AT_EACCESS) == 0; }

void makeGone(const char* path) { syscall(SYS_symlinkat, kGone, AT_FDCWD, path); }

// --- recording ---

// Keeps what is at `f`, once; whoever comes second finds it kept.
void keep(const Found& f) {
  if (f.kernels || !f.parent || f.kind == Kind::Other) return;
  const char* root = roots().path[kBefore];
  char to[PATH_MAX];
  inLayer(kBefore, f.canonical, to);
  // Kept already, or below a folder that was not there.
  for (char* c = to + strlen(root) + 1;; ++c) {
    if (*c != '/' && *c != '\0') continue;
    char was = *c;
    *c = '\0';
    struct stat st;
    bool there = syscall(SYS_newfstatat, AT_FDCWD, to, &st, AT_SYMLINK_NOFOLLOW) == 0;
    *c = was;
    if (there && (!S_ISDIR(st.st_mode) || was == '\0')) return;
    if (!there || was == '\0') break;
  }
  if (!makeParents(to)) return;
  char from[PATH_MAX], text[PATH_MAX];
  inLayer(kReal, f.canonical, from);
  switch (f.kind) {
    case Kind::Nothing:
      makeGone(to);
      return;
    case Kind::Folder:
      syscall(SYS_mkdir, to, 0700);
      return;
    case Kind::Link:
      if (linkText(from, text)) syscall(SYS_symlinkat, text, AT_FDCWD, to);
      return;
    case Kind::Other:
      return;
    case Kind::File:
      break;
  }
  char part[PATH_MAX];
  if (snprintf(part, sizeof part, "%s/../copying-%ld", root, syscall(SYS_gettid)) >= PATH_MAX) return;
  if (copyFile(AT_FDCWD, from, AT_FDCWD, part, kMaxCopy)) {
    syscall(SYS_linkat, AT_FDCWD, part, AT_FDCWD, to, 0);
  } else if (errno == EFBIG) {
    if (syscall(SYS_symlinkat, kTooLarge, AT_FDCWD, to) == 0)
      say("a file of more than 64 MiB that is not a pool was changed; restarts will see it as this run left it:",
          f.canonical);
  } else {
    say("what a file was like before can't be kept; restarts will see it as this run left it:", f.canonical);
  }
  syscall(SYS_unlinkat, AT_FDCWD, part, 0);
}

// --- recovery ---

void noteRecorded(const Found& f, Use use) {
  if (!f.recorded) return;
  // What it only adds to does not decide how it ends, nor does what it made itself.
  bool own = f.layer == kOwn && f.kind != Kind::Nothing;
  if (use != Use::Add && !own) __atomic_fetch_or(&worker->used, BLACKOUT_USED_RECORDED, __ATOMIC_RELAXED);
  char text[PATH_MAX + 128];
  snprintf(text, sizeof text,
           f.tooLarge
               ? "%s%.900s, which the recorded run wrote; it was too large to be kept, and restarts see it as the "
                 "recording left it"
               : "%s%.900s, which the recorded run wrote; it sees it as it was before the recording",
           kReadsRecorded, f.canonical);
  note(text, nullptr);
}

[[noreturn]] void broken(const char* what, const char* path) {
  char text[512];
  snprintf(text, sizeof text, "%s: %.300s: %s", what, path, strerror(errno));
  endRun(BLACKOUT_ENDED_BROKEN, text, nullptr);
}

void beginOwning(char* own) {
  worker->owns = 1;
  if (!makeParents(own)) broken("no folder for its own files", own);
}

// The run's own copy of what is at `f`; its content only if it is wanted.
void takeUp(Found& f, bool content, char* own) {
  inLayer(kOwn, f.canonical, own);
  beginOwning(own);
  if (f.layer == kOwn && f.kind != Kind::Nothing && f.kind != Kind::Folder) return;
  char from[PATH_MAX], text[PATH_MAX];
  inLayer(f.layer, f.canonical, from);
  switch (f.kind) {
    case Kind::Nothing:
      // The mark that nothing is there goes, if there is one.
      syscall(SYS_unlinkat, AT_FDCWD, own, 0);
      return;
    case Kind::Folder:
      syscall(SYS_mkdir, own, 0700);
      return;
    case Kind::Link:
      if (linkText(from, text)) syscall(SYS_symlinkat, text, AT_FDCWD, own);
      return;
    case Kind::File: {
      struct stat st;
      if (!content && syscall(SYS_newfstatat, AT_FDCWD, from, &st, 0) == 0)
        syscall(SYS_mknod, own, S_IFREG | (st.st_mode & 0777), 0);
      else if (!copyFile(AT_FDCWD, from, AT_FDCWD, own, kMaxCopy))
        broken(errno == EFBIG ? "it changes a file of more than 64 MiB that is not a pool" : "a file can't be copied",
               f.canonical);
      return;
    }
    case Kind::Other:
      return;
  }
}

// Type and names of a folder's entries are all that readdir gives.
void addToListing(const char* listing, const char* name, Kind kind) {
  char at[PATH_MAX];
  if (snprintf(at, sizeof at, "%s/%s", listing, name) >= PATH_MAX) return;
  switch (kind) {
    case Kind::Nothing:
      return;
    case Kind::Folder:
      syscall(SYS_mkdir, at, 0700);
      return;
    case Kind::Link:
      syscall(SYS_symlinkat, kGone, AT_FDCWD, at);
      return;
    case Kind::File:
      syscall(SYS_mknod, at, S_IFREG | 0600, 0);
      return;
    case Kind::Other:
      syscall(SYS_mknod, at, S_IFIFO | 0600, 0);
      return;
  }
}

template <class Body>
void forEachName(const char* folder, Body body) {
  struct Dirent {
    uint64_t inode;
    int64_t next;
    unsigned short size;
    unsigned char type;
    char name[];
  };
  int fd = int(syscall(SYS_openat, AT_FDCWD, folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (fd < 0) return;
  alignas(8) char buffer[4096];
  for (;;) {
    long n = syscall(SYS_getdents64, fd, buffer, sizeof buffer);
    if (n <= 0) break;
    for (long at = 0; at < n;) {
      auto* d = reinterpret_cast<Dirent*>(buffer + at);
      at += d->size;
      if (strcmp(d->name, ".") != 0 && strcmp(d->name, "..") != 0) body(d->name);
    }
  }
  syscall(SYS_close, fd);
}

void empty(const char* folder) {
  forEachName(folder, [&](const char* name) {
    char at[PATH_MAX];
    if (snprintf(at, sizeof at, "%s/%s", folder, name) >= PATH_MAX) return;
    if (syscall(SYS_unlinkat, AT_FDCWD, at, 0) != 0) syscall(SYS_unlinkat, AT_FDCWD, at, AT_REMOVEDIR);
  });
}

// A folder whose entries are those of all layers together. Returns how many there are.
int list(const Found& f, char* listing) {
  if (snprintf(listing, PATH_MAX, "%s%s", roots().listings, f.canonical) >= PATH_MAX - 1) return 0;
  worker->owns = 1;
  if (!makeParents(listing)) broken("no folder for a listing", listing);
  syscall(SYS_mkdir, listing, 0700);
  // One made before may be out of date. A listing of a folder below stays: it is one of the entries.
  empty(listing);
  int count = 0;
  for (int layer = kReal; layer >= kOwn; --layer) {
    if (!f.live[layer]) continue;
    char folder[PATH_MAX];
    inLayer(layer, f.canonical, folder);
    forEachName(folder, [&](const char* name) {
      Found entry = f;
      descend(entry, name, strlen(name));
      if (entry.kind == Kind::Nothing) return;
      addToListing(listing, name, entry.kind);
      if (entry.layer == layer) ++count;  // each once
    });
  }
  return count;
}

// Nothing is at `f` from now on.
int removeOwn(Found& f, bool folder) {
  char own[PATH_MAX];
  inLayer(kOwn, f.canonical, own);
  if (folder) {
    char listing[PATH_MAX];
    if (list(f, listing) != 0) return errno = ENOTEMPTY, -1;
    syscall(SYS_unlinkat, AT_FDCWD, listing, AT_REMOVEDIR);
    empty(own);  // of marks that old entries are gone
  }
  if (f.live[kOwn] || f.layer == kOwn) syscall(SYS_unlinkat, AT_FDCWD, own, folder ? AT_REMOVEDIR : 0);
  if (f.below) {
    beginOwning(own);
    makeGone(own);
  }
  return 0;
}

// Permission is the real one's, though the copy would be ours.
bool mayChange(const Found& f) {
  char path[PATH_MAX];
  if (f.kind != Kind::Nothing && f.layer == kReal) {
    inLayer(kReal, f.canonical, path);
    return writableByUser(path);
  }
  parentOf(f.canonical, path);
  struct stat st;
  return syscall(SYS_newfstatat, AT_FDCWD, path, &st, 0) != 0 || writableByUser(path);
}

// The kernel's number for one that begins a part of a path; 0: none does, or it is the same, or nobody's.
pid_t realNumberIn(const char* part, char** end) {
  if (*part < '0' || *part > '9') return 0;
  auto number = pid_t(strtol(part, end, 10));
  pid_t real = realNumber(number);
  return real == number || real < 0 || (**end != '/' && **end != '\0') ? 0 : real;
}

// A process of the run by its number: /proc/1000/..., and its first thread, which has the same:
// /proc/1000/task/1000/...
bool processPath(const char* path, char* out) {
  if (strncmp(path, "/proc/", 6) != 0) return false;
  const char* rest = path + 6;
  char* end;
  pid_t process = realNumberIn(rest, &end);
  int n = 0;
  if (process != 0) {
    n = snprintf(out, PATH_MAX, "/proc/%d", int(process));
    rest = end;
  } else if (strncmp(rest, "self/task/", 10) == 0) {
    n = snprintf(out, PATH_MAX, "/proc/self");
    rest += 4;
  } else {
    return false;
  }
  if (pid_t thread = strncmp(rest, "/task/", 6) == 0 ? realNumberIn(rest + 6, &end) : 0; thread != 0) {
    n += snprintf(out + n, size_t(PATH_MAX - n), "/task/%d", int(thread));
    rest = end;
  }
  return snprintf(out + n, size_t(PATH_MAX - n), "%s", rest) < PATH_MAX - n;
}

bool untouched() { return worker->owns == 0 && !roots().before; }

}  // namespace

Use useOf(int flags) {
  if ((flags & O_TMPFILE) == O_TMPFILE) return Use::Change;
  if ((flags & O_CREAT) != 0 && (flags & O_EXCL) != 0) return Use::MakeName;
  bool writes = (flags & O_ACCMODE) != O_RDONLY;
  if ((flags & O_TRUNC) != 0) return (flags & O_CREAT) != 0 ? Use::Replace : Use::Change;
  if ((flags & O_CREAT) != 0) return (flags & O_ACCMODE) == O_WRONLY ? Use::Add : Use::Make;
  return writes ? Use::Change : (flags & O_NOFOLLOW) != 0 ? Use::ReadName : Use::Read;
}

Use useOf(const char* mode) {
  if (mode[0] == 'w') return strchr(mode, 'x') != nullptr ? Use::MakeName : Use::Replace;
  if (mode[0] == 'a') return strchr(mode, '+') != nullptr ? Use::Make : Use::Add;
  return strchr(mode, '+') != nullptr ? Use::Change : Use::Read;
}

// Those that programs give. The kernel's own (rights, labels) are not theirs to copy.
static void copyAttributes(int in, int out) {
  char names[4096], value[4096];
  long size = syscall(SYS_flistxattr, in, names, sizeof names);
  if (size < 0 && errno != ERANGE) return;  // there are none here
  bool all = size >= 0;
  for (const char* name = names; name < names + size; name += strlen(name) + 1) {
    if (strncmp(name, "user.", 5) != 0) continue;
    long n = syscall(SYS_fgetxattr, in, name, value, sizeof value);
    all &= n >= 0 && syscall(SYS_fsetxattr, out, name, value, n, 0) == 0;
  }
  if (!all) unfollowed("it changes a file with extended attributes of which no copy can be kept here");
}

bool copyFile(int fromDir, const char* from, int toDir, const char* to, size_t limit) {
  int in = int(syscall(SYS_openat, fromDir, from, O_RDONLY | O_CLOEXEC));
  if (in < 0) return false;
  struct stat st;
  int out = syscall(SYS_fstat, in, &st) != 0
                ? -1
                : int(syscall(SYS_openat, toDir, to, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, st.st_mode & 0777));
  bool ok = out >= 0;
  // Sharing the blocks costs nothing, where the file system can.
  if (ok && syscall(SYS_ioctl, out, FICLONE, in) != 0) {
    errno = EFBIG;
    ok = size_t(st.st_size) <= limit;
    for (off_t left = st.st_size; ok && left > 0;) {
      long n = syscall(SYS_sendfile, out, in, nullptr, size_t(left));
      if (n == 0) break;  // it has become shorter
      ok = n > 0;
      left -= n;
    }
  }
  int saved = errno;
  if (out >= 0) {
    copyAttributes(in, out);
    struct timespec times[2] = {st.st_atim, st.st_mtim};
    syscall(SYS_fchmod, out, st.st_mode & 07777);
    syscall(SYS_utimensat, out, nullptr, times, 0);
    syscall(SYS_close, out);
  }
  syscall(SYS_close, in);
  errno = saved;
  return ok;
}

bool redirectToOverlay(int dirfd, const char* path, Use use, char* out) {
  if (path == nullptr || *path == '\0' || !inRun()) return false;
  if (redirectsFiles() && processPath(path, out)) return true;
  bool changes = use >= Use::Change;
  if (!redirectsFiles() && !changes) return false;
  if (redirectsFiles() && !changes && untouched()) return false;
  int saved = errno;
  bool lastLink = use == Use::Look || use == Use::Read || use == Use::Change || use == Use::Replace ||
                  use == Use::Make || use == Use::Add;
  Found f;
  if (!follow(dirfd, path, lastLink, f)) {
    errno = saved;
    return false;
  }
  errno = saved;
  if (f.kernels) return false;
  if (!redirectsFiles()) {
    keep(f);
    errno = saved;
    return false;
  }
  if (use != Use::Replace && use != Use::MakeName && use != Use::MakeFolder) noteRecorded(f, use);
  if (f.kind == Kind::Nothing && (!changes || use == Use::Change || !f.parent)) {
    // A path that isn't there, whatever the real one is.
    snprintf(out, PATH_MAX, "%s/run/nothing/here", workerFolder);
    return true;
  }
  if (f.kind == Kind::Nothing && __atomic_add_fetch(&worker->names_made, 1, __ATOMIC_RELAXED) > BLACKOUT_MAX_NAMES)
    endRun(BLACKOUT_ENDED_BOUND, "it made more than 10000 files", nullptr);
  if (!changes) {
    if (f.kind == Kind::Folder) {
      // The real one has the real attributes.
      bool lists = use == Use::Read || use == Use::ReadName;
      if (lists && (f.live[kOwn] || f.live[kBefore])) {
        list(f, out);
        return true;
      }
      if (f.live[kReal]) f.layer = kReal;
    }
    inLayer(f.layer, f.canonical, out);
    return true;
  }
  if (f.kind == Kind::Other && f.layer == kReal) return false;
  if (!mayChange(f)) return false;
  if (use == Use::MakeFolder && f.kind == Kind::Nothing) makeOpaque(f.canonical);
  takeUp(f, use != Use::Replace, out);
  errno = saved;
  return true;
}

bool removeInOverlay(int dirfd, const char* path, int flags, int& result) {
  char ignored[PATH_MAX];
  if (!redirectsFiles()) {
    redirectToOverlay(dirfd, path, Use::Remove, ignored);
    return false;
  }
  Found f;
  if (!follow(dirfd, path, false, f) || f.kernels) return false;
  if (f.kind == Kind::Nothing) {
    errno = ENOENT;
    result = -1;
    return true;
  }
  parentOf(f.canonical, ignored);
  struct stat st;
  if (syscall(SYS_newfstatat, AT_FDCWD, ignored, &st, 0) == 0 && !writableByUser(ignored)) return false;
  bool folder = (flags & AT_REMOVEDIR) != 0;
  if (folder != (f.kind == Kind::Folder)) {
    errno = folder ? ENOTDIR : EISDIR;
    result = -1;
    return true;
  }
  result = removeOwn(f, folder);
  return true;
}

bool renameInOverlay(int fromDir, const char* from, int toDir, const char* to, unsigned flags, int& result) {
  char ignored[PATH_MAX];
  if (!redirectsFiles()) {
    Found f;
    if (inRun() && follow(fromDir, from, false, f) && f.kind == Kind::Folder)
      say("a folder was renamed; restarts will not find what was in it:", f.canonical);
    redirectToOverlay(fromDir, from, Use::Remove, ignored);
    redirectToOverlay(toDir, to, Use::Remove, ignored);
    return false;
  }
  Found a, b;
  if (!follow(fromDir, from, false, a) || !follow(toDir, to, false, b)) return false;
  if (a.kernels || b.kernels || (a.kind != Kind::Nothing && !mayChange(a))) return false;
  result = -1;
  auto refused = [&](int error) {
    errno = error;
    return true;
  };
  if (a.kind == Kind::Nothing || !b.parent) return refused(ENOENT);
  if ((flags & RENAME_NOREPLACE) != 0 && b.kind != Kind::Nothing) return refused(EEXIST);
  if ((flags & RENAME_EXCHANGE) != 0) return refused(EINVAL);
  // As other overlays do: whoever renames folders knows that file systems may refuse.
  if (a.kind == Kind::Folder && (a.live[kBefore] || a.live[kReal])) return refused(EXDEV);
  if (a.kind != Kind::Folder && b.kind == Kind::Folder) return refused(EISDIR);
  if (a.kind == Kind::Folder && b.kind != Kind::Folder && b.kind != Kind::Nothing) return refused(ENOTDIR);
  if (strcmp(a.canonical, b.canonical) == 0) {
    result = 0;
    return true;
  }
  char ownFrom[PATH_MAX], ownTo[PATH_MAX];
  takeUp(a, true, ownFrom);
  inLayer(kOwn, b.canonical, ownTo);
  beginOwning(ownTo);
  if (a.kind == Kind::Folder) {
    if (b.kind == Kind::Folder && removeOwn(b, true) != 0) return true;
    syscall(SYS_unlinkat, AT_FDCWD, ownTo, 0);
    makeOpaque(b.canonical);
  }
  if (syscall(SYS_renameat2, AT_FDCWD, ownFrom, AT_FDCWD, ownTo, 0) != 0) return true;
  if (a.below) makeGone(ownFrom);
  result = 0;
  return true;
}

bool resolveInOverlay(const char* path, char* out, bool& found) {
  if (!redirectsFiles() || path == nullptr || untouched()) return false;
  Found f;
  if (!follow(AT_FDCWD, path, true, f) || f.kernels) return false;
  found = f.kind != Kind::Nothing;
  if (!found) errno = ENOENT;
  strcpy(out, f.canonical[0] == '\0' ? "/" : f.canonical);
  return true;
}

void makePrivateDescriptor(int fd) {
  if (!redirectsFiles()) return;
  int saved = errno;
  struct stat st;
  char link[64], path[PATH_MAX], own[PATH_MAX];
  snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
  if (syscall(SYS_fstat, fd, &st) == 0 && (S_ISREG(st.st_mode) || S_ISDIR(st.st_mode)) && st.st_nlink > 0 &&
      linkText(link, path) && !below(path, workerFolder) && redirectToOverlay(AT_FDCWD, path, Use::Change, own)) {
    long flags = syscall(SYS_fcntl, fd, F_GETFL);
    long closes = syscall(SYS_fcntl, fd, F_GETFD);
    int made = int(syscall(SYS_openat, AT_FDCWD, own, (flags & ~(O_CREAT | O_EXCL | O_TRUNC)) | O_CLOEXEC));
    if (made >= 0) {
      long at = syscall(SYS_lseek, fd, 0, SEEK_CUR);
      if (at > 0) syscall(SYS_lseek, made, at, SEEK_SET);
      syscall(SYS_dup3, made, fd, (closes & FD_CLOEXEC) != 0 ? O_CLOEXEC : 0);
      syscall(SYS_close, made);
    }
  }
  errno = saved;
}

}  // namespace blackout::rt
