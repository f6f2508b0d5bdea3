// Further calls that make, lock or change files which are no pools, by name or by descriptor: in a recovery run on
// the run's own (overlay.h). The common ones, which pools share, are in
// interpose_{open,io,names}.cpp and interpose_stdio.cpp.

#undef _FORTIFY_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <mqueue.h>
#include <sched.h>
#include <semaphore.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/ipc.h>
#include <sys/mman.h>
#include <sys/msg.h>
#include <sys/sem.h>
#include <sys/shm.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <unistd.h>

#include "runtime/chosen_path.h"
#include "runtime/layers.h"
#include "runtime/namespaces.h"
#include "runtime/overlay.h"
#include "runtime/pinned.h"
#include "runtime/pool_locks.h"
#include "runtime/pools.h"
#include "runtime/real.h"
#include "runtime/recorder.h"
#include "runtime/recovery.h"

using namespace blackout::rt;

static long address(const void* p) { return reinterpret_cast<long>(p); }

namespace {

// The file behind a shared memory object or a named semaphore.
bool sharedPath(const char* kind, const char* name, char* out) {
  while (*name == '/') ++name;
  if (*name == '\0' || strchr(name, '/') != nullptr || strlen(name) > NAME_MAX - 4) {
    errno = EINVAL;
    return false;
  }
  snprintf(out, PATH_MAX, "/dev/shm/%s%s", kind, name);
  return true;
}

}  // namespace

BLACKOUT_EXPORT int symlinkat(const char* target, int dirfd, const char* path) noexcept {
  ChosenPath c(dirfd, path, Use::MakeName);
  return int(callForProgram(SYS_symlinkat, address(target), long(c.fd), address(c.path)));
}
BLACKOUT_EXPORT ssize_t readlinkat(int dirfd, const char* path, char* out, size_t size) noexcept {
  ChosenPath c(dirfd, path, Use::LookLink);
  return callForProgram(SYS_readlinkat, long(c.fd), address(c.path), address(out), long(size));
}
BLACKOUT_EXPORT int mknodat(int dirfd, const char* path, mode_t mode, dev_t device) noexcept {
  ChosenPath c(dirfd, path, Use::MakeName);
  return int(callForProgram(SYS_mknodat, long(c.fd), address(c.path), long(mode), long(device)));
}
BLACKOUT_EXPORT int mknod(const char* path, mode_t mode, dev_t device) noexcept {
  return mknodat(AT_FDCWD, path, mode, device);
}
BLACKOUT_EXPORT int mkfifoat(int dirfd, const char* path, mode_t mode) noexcept {
  return mknodat(dirfd, path, mode | S_IFIFO, 0);
}
BLACKOUT_EXPORT int mkfifo(const char* path, mode_t mode) noexcept { return mkfifoat(AT_FDCWD, path, mode); }
BLACKOUT_EXPORT int fchownat(int dirfd, const char* path, uid_t user, gid_t group, int flags) noexcept {
  ChosenPath c(dirfd, path, Use::Change);
  return int(callForProgram(SYS_fchownat, long(c.fd), address(c.path), long(user), long(group), long(flags)));
}

// Through a descriptor.
BLACKOUT_EXPORT int flock(int fd, int operation) noexcept {
  makePrivateDescriptor(fd);
  return int(syscall(SYS_flock, fd, operation));
}
BLACKOUT_EXPORT int lockf(int fd, int command, off_t size) {
  int done;
  if (lockPoolPart(fd, command, size, done)) return done;
  makePrivateDescriptor(fd);
  int r = BLACKOUT_REAL(lockf)(fd, command, size);
  if (r == 0) noteLock(fd);
  return r;
}
BLACKOUT_EXPORT int lockf64(int fd, int command, off_t size) { return lockf(fd, command, size); }
BLACKOUT_EXPORT int fchmod(int fd, mode_t mode) noexcept {
  makePrivateDescriptor(fd);
  return int(syscall(SYS_fchmod, fd, mode));
}
BLACKOUT_EXPORT int fchown(int fd, uid_t user, gid_t group) noexcept {
  makePrivateDescriptor(fd);
  return int(syscall(SYS_fchown, fd, user, group));
}
BLACKOUT_EXPORT int futimens(int fd, const struct timespec times[2]) noexcept {
  makePrivateDescriptor(fd);
  return int(callForProgram(SYS_utimensat, long(fd), 0, address(times), long(0)));
}
BLACKOUT_EXPORT int futimes(int fd, const struct timeval times[2]) noexcept {
  makePrivateDescriptor(fd);
  return BLACKOUT_REAL(futimes)(fd, times);
}

// A working folder of the run's own is the user's to the program.
BLACKOUT_EXPORT char* getcwd(char* out, size_t size) noexcept {
  char* r = BLACKOUT_REAL(getcwd)(out, size);
  if (r != nullptr && redirectsFiles()) layers::publicPath(r);
  return r;
}

BLACKOUT_EXPORT char* mkdtemp(char* pattern) noexcept {
  if (!inRun()) return BLACKOUT_REAL(mkdtemp)(pattern);
  // Numbers instead of chance, and not made inside libc: as mkostemp.
  size_t n = strlen(pattern);
  if (n < 6 || memcmp(pattern + n - 6, "XXXXXX", 6) != 0) {
    errno = EINVAL;
    return nullptr;
  }
  for (int attempt = 0; attempt < 100000; ++attempt) {
    char digits[16];
    snprintf(digits, sizeof digits, "%06d", attempt);
    memcpy(pattern + n - 6, digits, 6);
    if (mkdir(pattern, 0700) == 0) return pattern;
    if (errno != EEXIST) return nullptr;
  }
  return nullptr;
}

// Shared memory is a file of /dev/shm, which may even be a pool.
BLACKOUT_EXPORT int shm_open(const char* name, int flags, mode_t mode) {
  char path[PATH_MAX];
  if (!sharedPath("", name, path)) return -1;
  return open(path, flags | O_NOFOLLOW | O_CLOEXEC, mode);
}
BLACKOUT_EXPORT int shm_unlink(const char* name) {
  char path[PATH_MAX];
  return sharedPath("", name, path) ? unlink(path) : -1;
}

// A named semaphore too; libc's own functions would share it with every other run.
BLACKOUT_EXPORT sem_t* sem_open(const char* name, int flags, ...) noexcept {
  va_list arguments;
  va_start(arguments, flags);
  mode_t mode = (flags & O_CREAT) != 0 ? va_arg(arguments, mode_t) : 0;
  unsigned value = (flags & O_CREAT) != 0 ? va_arg(arguments, unsigned) : 0;
  va_end(arguments);
  char path[PATH_MAX];
  if (!sharedPath("sem.", name, path)) return SEM_FAILED;
  if (!redirectsFiles()) {
    char ignored[PATH_MAX];
    if ((flags & O_CREAT) != 0) redirectToOverlay(AT_FDCWD, path, Use::Make, ignored);
    return BLACKOUT_REAL_VERSION(sem_open, "GLIBC_2.34")(name, flags, mode, value);
  }
  int fd = open(path, O_RDWR | O_CLOEXEC | (flags & (O_CREAT | O_EXCL)), mode);
  if (fd < 0) return SEM_FAILED;
  struct stat st;
  bool fresh = syscall(SYS_fstat, fd, &st) == 0 && st.st_size == 0;
  auto* s = static_cast<sem_t*>(MAP_FAILED);
  if (!fresh || syscall(SYS_ftruncate, fd, sizeof(sem_t)) == 0)
    s = reinterpret_cast<sem_t*>(syscall(SYS_mmap, nullptr, sizeof(sem_t), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0L));
  syscall(SYS_close, fd);
  if (s == MAP_FAILED) return SEM_FAILED;
  if (fresh) sem_init(s, 1, value);
  return s;
}
BLACKOUT_EXPORT int sem_close(sem_t* s) noexcept {
  if (!redirectsFiles()) return BLACKOUT_REAL_VERSION(sem_close, "GLIBC_2.34")(s);
  return int(syscall(SYS_munmap, s, sizeof(sem_t)));
}
BLACKOUT_EXPORT int sem_unlink(const char* name) noexcept {
  char path[PATH_MAX];
  return sharedPath("sem.", name, path) ? unlink(path) : -1;
}

// What the kernel keeps by a number of the program's choice.
BLACKOUT_EXPORT int shmget(key_t key, size_t size, int flags) noexcept {
  makePrivateIpc();
  return int(syscall(SYS_shmget, key, size, flags));
}
BLACKOUT_EXPORT int semget(key_t key, int count, int flags) noexcept {
  makePrivateIpc();
  return int(syscall(SYS_semget, key, count, flags));
}
BLACKOUT_EXPORT int msgget(key_t key, int flags) noexcept {
  makePrivateIpc();
  return int(syscall(SYS_msgget, key, flags));
}
BLACKOUT_EXPORT mqd_t mq_open(const char* name, int flags, ...) noexcept {
  va_list arguments;
  va_start(arguments, flags);
  mode_t mode = (flags & O_CREAT) != 0 ? va_arg(arguments, mode_t) : 0;
  auto* attributes = (flags & O_CREAT) != 0 ? va_arg(arguments, struct mq_attr*) : nullptr;
  va_end(arguments);
  makePrivateIpc();
  return BLACKOUT_REAL_VERSION(mq_open, "GLIBC_2.34")(name, flags, mode, attributes);
}
