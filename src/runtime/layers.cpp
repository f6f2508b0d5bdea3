#include "runtime/layers.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "runtime/options.h"
#include "runtime/recorder.h"
#include "runtime/recovery.h"

namespace blackout::rt::layers {

namespace {

// The kernel's own files, which are the same for everybody. `next` is the name below `path` that follows.
bool isKernels(const char* path, const char* next) {
  if (below(path, "/dev")) return !below(path, "/dev/shm") && !below(next, "shm");
  return below(path, "/proc") || below(path, "/sys");
}

Kind kindOf(const struct stat& st) {
  return S_ISREG(st.st_mode)   ? Kind::File
         : S_ISDIR(st.st_mode) ? Kind::Folder
         : S_ISLNK(st.st_mode) ? Kind::Link
                               : Kind::Other;
}

// What one layer has at a path.
struct Entry {
  Kind kind = Kind::Nothing;
  bool gone = false;      // and nothing of the layers below shows
  bool tooLarge = false;  // see kTooLarge
  struct stat st;
};
Entry entryOf(int layer, const char* canonical) {
  Entry e;
  char path[PATH_MAX];
  inLayer(layer, canonical, path);
  if (syscall(SYS_newfstatat, AT_FDCWD, path, &e.st, AT_SYMLINK_NOFOLLOW) != 0) return e;
  e.kind = kindOf(e.st);
  if (layer == kReal || e.kind != Kind::Link) return e;
  char text[PATH_MAX];
  if (!linkText(path, text)) return e;
  e.gone = strcmp(text, kGone) == 0;
  e.tooLarge = strcmp(text, kTooLarge) == 0;
  if (e.gone || e.tooLarge) e.kind = Kind::Nothing;
  return e;
}

bool isOpaque(const char* canonical) {
  char path[PATH_MAX];
  struct stat st;
  return snprintf(path, sizeof path, "%s%s/.here", roots().opaque, canonical) < PATH_MAX &&
         syscall(SYS_newfstatat, AT_FDCWD, path, &st, 0) == 0;
}

}  // namespace

void parentOf(const char* canonical, char* out) {
  snprintf(out, PATH_MAX, "%s", canonical);
  char* slash = strrchr(out, '/');
  if (slash == out) ++slash;
  if (slash != nullptr) *slash = '\0';
}

const Roots& roots() {
  static Roots r;
  static bool known = false;
  if (known) return r;
  if (redirectsFiles()) {
    strcpy(r.base, workerFolder);
    snprintf(r.path[kOwn], PATH_MAX, "%s/run/files", workerFolder);
    snprintf(r.listings, PATH_MAX, "%s/run/listings", workerFolder);
    snprintf(r.opaque, PATH_MAX, "%s/run/opaque", workerFolder);
  }
  if (redirectsFiles()) {
    if (options.before != nullptr) snprintf(r.path[kBefore], PATH_MAX, "%s/files", options.before);
  } else if (options.shadow != nullptr) {
    // Beside the private copies of the pools.
    parentOf(options.shadow, r.base);
    snprintf(r.path[kBefore], PATH_MAX, "%s/before/files", r.base);
  }
  struct stat st;
  r.before =
      redirectsFiles() && r.path[kBefore][0] != '\0' && syscall(SYS_newfstatat, AT_FDCWD, r.path[kBefore], &st, 0) == 0;
  known = true;
  return r;
}

bool below(const char* path, const char* folder) {
  size_t n = strlen(folder);
  return n > 0 && strncmp(path, folder, n) == 0 && (path[n] == '/' || path[n] == '\0');
}

void inLayer(int layer, const char* canonical, char* out) {
  snprintf(out, PATH_MAX, "%s%s", roots().path[layer], canonical);
  if (*out == '\0') strcpy(out, "/");
}

bool linkText(const char* path, char* out) {
  long n = syscall(SYS_readlinkat, AT_FDCWD, path, out, PATH_MAX - 1);
  if (n < 0) return false;
  out[n] = '\0';
  return true;
}

bool makeParents(char* path) {
  for (char* c = path + strlen(roots().base) + 1; *c != '\0'; ++c) {
    if (*c != '/') continue;
    *c = '\0';
    long r = syscall(SYS_mkdir, path, 0700);
    int error = errno;
    *c = '/';
    if (r != 0 && error != EEXIST) return false;
  }
  return true;
}

void makeOpaque(const char* canonical) {
  char mark[PATH_MAX];
  if (snprintf(mark, sizeof mark, "%s%s/.here", roots().opaque, canonical) >= PATH_MAX) return;
  worker->owns = 1;
  makeParents(mark);
  syscall(SYS_mknod, mark, S_IFREG | 0600, 0);
}

void descend(Found& f, const char* name, size_t size) {
  size_t n = strlen(f.canonical);
  if (n + 1 + size >= PATH_MAX) {
    f.kind = Kind::Nothing;
    f.parent = false;
    return;
  }
  f.parent = f.kind == Kind::Folder;
  f.canonical[n] = '/';
  memcpy(f.canonical + n + 1, name, size);
  f.canonical[n + 1 + size] = '\0';
  f.kind = Kind::Nothing;
  f.layer = kReal;
  f.below = false;
  bool gone = false;     // no layer further down shows anything
  bool covered = false;  // nor is any seen through the ones above it
  bool decided = false;
  for (int layer = kOwn; layer < kLayers; ++layer) {
    bool live = f.live[layer] && !gone;
    f.live[layer] = false;
    if (!live) continue;
    Entry e = entryOf(layer, f.canonical);
    gone = e.gone;
    if (layer == kBefore && (e.gone || e.tooLarge || (e.kind != Kind::Nothing && e.kind != Kind::Folder)))
      f.recorded = true;
    f.tooLarge |= e.tooLarge;
    if (e.kind == Kind::Nothing) continue;
    if (layer != kOwn) f.below = true;
    if (covered) continue;
    if (!decided) {
      f.kind = e.kind;
      f.layer = layer;
      decided = true;
    }
    f.live[layer] = e.kind == Kind::Folder && f.kind == Kind::Folder;
    covered = e.kind != Kind::Folder || (layer == kOwn && isOpaque(f.canonical));
  }
}

bool absolute(int dirfd, const char* path, char* joined, char* out) {
  if (path[0] == '/') {
    if (strlen(path) >= PATH_MAX) return false;
    strcpy(joined, path);
  } else {
    size_t n;
    if (dirfd == AT_FDCWD) {
      long r = syscall(SYS_getcwd, joined, PATH_MAX);
      if (r <= 0) return false;
      n = strlen(joined);
    } else {
      char link[64];
      snprintf(link, sizeof link, "/proc/self/fd/%d", dirfd);
      long r = syscall(SYS_readlinkat, AT_FDCWD, link, joined, PATH_MAX - 1);
      if (r <= 0) return false;
      n = size_t(r);
      // The descriptor of a private folder stands for the user's.
      size_t s = strlen(options.shadow);
      joined[n] = '\0';
      if (n >= s && memcmp(joined, options.shadow, s) == 0 && (joined[s] == '/' || joined[s] == '\0')) {
        memmove(joined, joined + s, n - s + 1);
        n -= s;
      }
    }
    if (n + 1 + strlen(path) >= PATH_MAX) return false;
    joined[n] = '/';
    strcpy(joined + n + 1, path);
  }
  char* to = out;
  for (const char* p = joined; *p != '\0';) {
    while (*p == '/') ++p;
    const char* end = p;
    while (*end != '\0' && *end != '/') ++end;
    size_t n = size_t(end - p);
    if (n == 2 && p[0] == '.' && p[1] == '.') {
      while (to > out && *--to != '/') {
      }
    } else if (n > 0 && !(n == 1 && p[0] == '.')) {
      *to++ = '/';
      memcpy(to, p, n);
      to += n;
    }
    p = end;
  }
  if (to == out) *to++ = '/';
  *to = '\0';
  return true;
}

bool follow(int dirfd, const char* path, bool lastLink, Found& f) {
  char joined[PATH_MAX], rest[PATH_MAX], plain[PATH_MAX];
  if (!absolute(dirfd, path, joined, plain)) return false;
  publicPath(joined);
  int links = 0;
  const char* p = joined;
  const bool recovers = redirectsFiles();
  auto restart = [&] {
    f.canonical[0] = '\0';
    f.kind = Kind::Folder;
    f.parent = true;
    f.live[kOwn] = recovers && worker->owns != 0;
    f.live[kBefore] = recovers && roots().before;
    f.live[kReal] = true;
  };
  restart();
  for (;;) {
    while (*p == '/') ++p;
    if (*p == '\0') break;
    const char* end = p;
    while (*end != '\0' && *end != '/') ++end;
    size_t size = size_t(end - p);
    if (size == 1 && *p == '.') {
      p = end;
      continue;
    }
    if (size == 2 && p[0] == '.' && p[1] == '.') {
      // Back to the folder above, from the top: it is known to hold no links.
      char* slash = strrchr(f.canonical, '/');
      if (slash != nullptr) *slash = '\0';
      if (snprintf(rest, sizeof rest, "%s%s", f.canonical, end) >= PATH_MAX) return errno = ENAMETOOLONG, false;
      strcpy(joined, rest);
      p = joined;
      restart();
      continue;
    }
    if (f.kind != Kind::Folder) {
      // Below nothing, or below a file.
      f.parent = false;
      f.kind = Kind::Nothing;
      if (strlen(f.canonical) + strlen(p) + 2 < PATH_MAX) {
        strcat(f.canonical, "/");
        strcat(f.canonical, p);
      }
      return true;
    }
    descend(f, p, size);
    p = end;
    const char* after = p;
    while (*after == '/') ++after;
    if (isKernels(f.canonical, after)) {
      f.kernels = true;
      return true;
    }
    if (f.kind != Kind::Link || (*after == '\0' && !lastLink)) continue;
    if (++links > 40) return errno = ELOOP, false;
    char at[PATH_MAX], text[PATH_MAX];
    inLayer(f.layer, f.canonical, at);
    if (!linkText(at, text)) return false;
    char* slash = strrchr(f.canonical, '/');
    *slash = '\0';
    int n = text[0] == '/' ? snprintf(rest, sizeof rest, "%s/%s", text, after)
                           : snprintf(rest, sizeof rest, "%s/%s/%s", f.canonical, text, after);
    if (n >= PATH_MAX) return errno = ENAMETOOLONG, false;
    strcpy(joined, rest);
    p = joined;
    restart();
  }
  return true;
}

void publicPath(char* path) {
  if (!inRun()) return;
  const Roots& r = roots();
  const char* privates[] = {r.path[kOwn], r.path[kBefore], r.listings};
  for (const char* root : privates) {
    if (!below(path, root)) continue;
    size_t n = strlen(root);
    if (path[n] == '\0')
      strcpy(path, "/");
    else
      memmove(path, path + n, strlen(path + n) + 1);
    return;
  }
}

}  // namespace blackout::rt::layers
