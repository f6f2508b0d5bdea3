// Extended attributes. A restart changes those of its own copies of files, as it does with their content. Private
// copies of pools have none: asked for, they are those of the user's file; changing them is not followed, and leaves
// that alone.

#include <errno.h>
#include <limits.h>
#include <sys/syscall.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "runtime/overlay.h"
#include "runtime/pools.h"
#include "runtime/real.h"
#include "runtime/recorder.h"
#include "runtime/recovery.h"
#include "runtime/unfollowed.h"

using namespace blackout::rt;

namespace {

long address(const void* p) { return reinterpret_cast<long>(p); }

struct Asked {
  Asked(const char* given, Use use) : path(given) {
    char pool[PATH_MAX];
    if (!redirect(AT_FDCWD, given, pool) && redirectToOverlay(AT_FDCWD, given, use, own)) path = own;
  }
  const char* path;
  char own[PATH_MAX];
};

void changesPool() { unfollowed("it changes the extended attributes of a pool"); }

// What a restart changes lies in memory, where not every kernel keeps attributes.
int changed(long r) {
  if (r != 0 && errno == EOPNOTSUPP && isRestart())
    unfollowed("it changes extended attributes, and files in memory have none here");
  return int(r);
}

int changeAt(long number, const char* path, const char* name, const void* value, size_t size, int flags) {
  char pool[PATH_MAX];
  if (redirect(AT_FDCWD, path, pool)) {
    changesPool();
    if (isRestart()) makePrivatePools();
    redirect(AT_FDCWD, path, pool);
    return int(callForProgram(number, address(pool), address(name), address(value), long(size), long(flags)));
  }
  Asked a(path, Use::Change);
  return changed(callForProgram(number, address(a.path), address(name), address(value), long(size), long(flags)));
}

int changeOf(long number, int fd, const char* name, const void* value, size_t size, int flags) {
  if (isPoolDescriptor(fd)) {
    changesPool();
    if (isRestart()) makePrivatePools();
  } else {
    makePrivateDescriptor(fd);
  }
  return changed(callForProgram(number, long(fd), address(name), address(value), long(size), long(flags)));
}

}  // namespace

BLACKOUT_EXPORT int setxattr(const char* path, const char* name, const void* value, size_t size, int flags) noexcept {
  return changeAt(SYS_setxattr, path, name, value, size, flags);
}
BLACKOUT_EXPORT int lsetxattr(const char* path, const char* name, const void* value, size_t size, int flags) noexcept {
  return changeAt(SYS_lsetxattr, path, name, value, size, flags);
}
BLACKOUT_EXPORT int fsetxattr(int fd, const char* name, const void* value, size_t size, int flags) noexcept {
  return changeOf(SYS_fsetxattr, fd, name, value, size, flags);
}
BLACKOUT_EXPORT int removexattr(const char* path, const char* name) noexcept {
  return changeAt(SYS_removexattr, path, name, nullptr, 0, 0);
}
BLACKOUT_EXPORT int lremovexattr(const char* path, const char* name) noexcept {
  return changeAt(SYS_lremovexattr, path, name, nullptr, 0, 0);
}
BLACKOUT_EXPORT int fremovexattr(int fd, const char* name) noexcept {
  return changeOf(SYS_fremovexattr, fd, name, nullptr, 0, 0);
}

BLACKOUT_EXPORT ssize_t getxattr(const char* path, const char* name, void* value, size_t size) noexcept {
  Asked a(path, Use::Look);
  return callForProgram(SYS_getxattr, address(a.path), address(name), address(value), long(size));
}
BLACKOUT_EXPORT ssize_t lgetxattr(const char* path, const char* name, void* value, size_t size) noexcept {
  Asked a(path, Use::LookLink);
  return callForProgram(SYS_lgetxattr, address(a.path), address(name), address(value), long(size));
}
BLACKOUT_EXPORT ssize_t listxattr(const char* path, char* list, size_t size) noexcept {
  Asked a(path, Use::Look);
  return callForProgram(SYS_listxattr, address(a.path), address(list), long(size));
}
BLACKOUT_EXPORT ssize_t llistxattr(const char* path, char* list, size_t size) noexcept {
  Asked a(path, Use::LookLink);
  return callForProgram(SYS_llistxattr, address(a.path), address(list), long(size));
}
