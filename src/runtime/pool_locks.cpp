#include "runtime/pool_locks.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "runtime/pools.h"
#include "runtime/processes.h"
#include "runtime/recorder.h"
#include "runtime/recovery.h"

namespace blackout::rt {

namespace {

// Descriptors of ours are out of the program's way.
constexpr int kFirstOfOurs = 690;
int kept[BLACKOUT_MAX_FILES];  // + 1
bool lockedOnce = false;       // by this process: it may hold record locks

// A lock that the run holds while its files change below it.
struct Held {
  int fd;  // -1: of ours, so any descriptor of the file will do
  uint32_t file;
  int command;  // F_SETLK, F_OFD_SETLK; 0: flock
  struct flock range;
};
constexpr int kMaxHeld = 1024;
Held held[kMaxHeld];
int heldCount = 0;
int descriptors[kMaxHeld];
uint32_t filesOf[kMaxHeld];
int descriptorCount = 0;

// "lock:\t1: POSIX  ADVISORY  WRITE 1234 fe:00:5678 0 EOF"
void rememberLine(const char* line, int fd, uint32_t file) {
  char kind[16], type[16], from[32], to[32];
  if (sscanf(line, "lock: %*d: %15s %*s %15s %*s %*s %31s %31s", kind, type, from, to) != 4) return;
  if (heldCount == kMaxHeld) endRun(BLACKOUT_ENDED_BROKEN, "a restart with more than 1024 locks on its pools", nullptr);
  Held& h = held[heldCount++];
  h = {fd, file, strcmp(kind, "POSIX") == 0 ? F_SETLK : strcmp(kind, "OFDLCK") == 0 ? F_OFD_SETLK : 0, {}};
  h.range.l_type = strcmp(type, "WRITE") == 0 ? F_WRLCK : F_RDLCK;
  h.range.l_whence = SEEK_SET;
  h.range.l_start = off_t(strtoll(from, nullptr, 10));
  h.range.l_len = strcmp(to, "EOF") == 0 ? 0 : off_t(strtoll(to, nullptr, 10)) - h.range.l_start + 1;
}

// What the kernel says of a descriptor.
char described[65536];
bool describe(int fd) {
  char path[64];
  snprintf(path, sizeof path, "/proc/self/fdinfo/%d", fd);
  return readText(path, described, sizeof described);
}

void rememberThrough(int fd, int stands, uint32_t file) {
  if (!describe(fd)) return;
  for (char *line = described, *end; line != nullptr && *line != '\0'; line = end) {
    end = strchr(line, '\n');
    if (end != nullptr) *end++ = '\0';
    rememberLine(line, stands, file);
  }
}

bool modeAllows(int mode, short type) {
  return type == F_UNLCK || (type == F_WRLCK ? mode != O_RDONLY : mode != O_WRONLY);
}

}  // namespace

int keptDescriptor(uint32_t file, int fd) {
  struct stat st;
  const blackout_trace_file& f = header->files[file];
  int& ours = kept[file];
  if (ours != 0) {
    if (syscall(SYS_fstat, ours - 1, &st) == 0 && st.st_ino == f.inode && st.st_dev == f.device) return ours - 1;
    ours = 0;  // the program closed it, or it is of a file that is gone
  }
  char link[64];
  snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
  int made = int(syscall(SYS_openat, AT_FDCWD, link, O_RDWR | O_CLOEXEC));
  if (made < 0) return -1;
  // To close the first would take the locks away.
  int high = lockedOnce ? -1 : int(syscall(SYS_fcntl, made, F_DUPFD_CLOEXEC, kFirstOfOurs));
  int error = errno;
  if (high >= 0) syscall(SYS_close, made);
  errno = error;
  ours = (high >= 0 ? high : made) + 1;
  return ours - 1;
}

void noteLock(int fd) {
  if (isPoolDescriptor(fd)) lockedOnce = true;
}

void forgetLocks() { lockedOnce = false; }

void keepLocksOverExec() {
  if (!lockedOnce) return;
  for (int ours : kept)
    if (ours != 0) syscall(SYS_fcntl, ours - 1, F_SETFD, 0);
}

void inheritLocks() {
  for (int fd = -1; (fd = nextPoolDescriptor(fd + 1)) >= 0;) {
    // The one that keepLocksOverExec() left open: a program's own of such a number does as well.
    bool both = (syscall(SYS_fcntl, fd, F_GETFL) & O_ACCMODE) == O_RDWR;
    int& ours = kept[fileOfDescriptor(fd)];
    if (fd >= kFirstOfOurs && both && ours == 0) ours = fd + 1;
    if (describe(fd) && strstr(described, ": POSIX ") != nullptr) lockedOnce = true;
  }
}

bool lockPool(int fd, int command, struct flock* lock, int& result) {
  if (!readsImage(fd)) return false;
  bool sets = command != F_GETLK && command != F_OFD_GETLK;
  bool ofDescription = command == F_OFD_SETLK || command == F_OFD_SETLKW || command == F_OFD_GETLK;
  short type = lock->l_type;
  if (sets && !modeAllows(poolFlags(fd) & O_ACCMODE, type)) {
    errno = EBADF;
    result = -1;
    return true;
  }
  if (ofDescription) return false;
  struct flock asked = *lock;
  if (asked.l_whence == SEEK_CUR) {
    asked.l_start += syscall(SYS_lseek, fd, 0, SEEK_CUR);
    asked.l_whence = SEEK_SET;
  }
  int ours;
  {
    Scope scope;
    uint32_t file = fileOfDescriptor(fd);
    ours = file == 0 ? -1 : keptDescriptor(file, fd);
  }
  if (ours < 0) endRun(BLACKOUT_ENDED_BROKEN, "its pool can't be opened for a lock", nullptr);
  result = int(syscall(SYS_fcntl, ours, command, &asked));
  if (sets && result == 0) lockedOnce = true;
  if (!sets && result == 0) {
    if (asked.l_type == F_UNLCK)
      lock->l_type = F_UNLCK;
    else
      *lock = asked;
  }
  return true;
}

bool lockPoolPart(int fd, int command, off_t size, int& result) {
  if (!readsImage(fd)) return false;
  struct flock lock{};
  lock.l_type = command == F_ULOCK ? F_UNLCK : F_WRLCK;
  lock.l_whence = SEEK_CUR;
  lock.l_len = size;
  if (command != F_ULOCK && command != F_LOCK && command != F_TLOCK && command != F_TEST) return false;
  if (!lockPool(fd, command == F_TEST ? F_GETLK : command == F_LOCK ? F_SETLKW : F_SETLK, &lock, result)) return false;
  if (command == F_TEST && result == 0 && lock.l_type != F_UNLCK) {
    errno = EACCES;
    result = -1;
  }
  return true;
}

void rememberLocks(const int* fds, const uint32_t* files, int count) {
  heldCount = descriptorCount = 0;
  for (int i = 0; i < count && i < kMaxHeld; ++i) {
    descriptors[descriptorCount] = fds[i];
    filesOf[descriptorCount++] = files[i];
    rememberThrough(fds[i], fds[i], files[i]);
  }
  for (uint32_t file = 1; file < BLACKOUT_MAX_FILES; ++file) {
    if (kept[file] == 0) continue;
    rememberThrough(kept[file] - 1, -1, file);
    syscall(SYS_close, kept[file] - 1);
    kept[file] = 0;
  }
}

void lockAgain() {
  for (int i = 0; i < heldCount; ++i) {
    Held& h = held[i];
    for (int k = 0; k < descriptorCount && h.fd < 0; ++k)
      if (filesOf[k] == h.file && modeAllows(poolFlags(descriptors[k]) & O_ACCMODE, h.range.l_type))
        h.fd = descriptors[k];
    if (h.fd < 0) continue;
    // Of two descriptors of one description the first has taken it for both.
    if (h.command == 0)
      syscall(SYS_flock, h.fd, (h.range.l_type == F_WRLCK ? LOCK_EX : LOCK_SH) | LOCK_NB);
    else
      syscall(SYS_fcntl, h.fd, h.command, &h.range);
  }
}

}  // namespace blackout::rt
