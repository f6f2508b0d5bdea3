// Processes and their threads as /proc tells of them. Free of the rest of the runtime, because the tool uses it too.
#pragma once

#include <fcntl.h>
#include <linux/futex.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/types.h>
#include <sys/uio.h>
#include <unistd.h>

namespace blackout::rt {

inline bool readText(const char* path, char* to, size_t size) {
  int fd = int(syscall(SYS_openat, AT_FDCWD, path, O_RDONLY | O_CLOEXEC));
  if (fd < 0) return false;
  size_t n = 0;
  for (long r; n < size - 1 && (r = syscall(SYS_read, fd, to + n, size - 1 - n)) > 0;) n += size_t(r);
  to[n] = '\0';
  syscall(SYS_close, fd);
  return n > 0;
}

template <class Body>
void forEachNumber(const char* text, Body body) {
  for (char* end; *text != '\0'; text = end) {
    long n = strtol(text, &end, 10);
    if (end == text) return;
    body(pid_t(n));
  }
}

// The names of a folder that are numbers.
template <class Body>
void forEachNumberIn(const char* folder, Body body) {
  struct Dirent {
    uint64_t inode;
    int64_t next;
    unsigned short size;
    unsigned char type;
    char name[];
  };
  int fd = int(syscall(SYS_openat, AT_FDCWD, folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (fd < 0) return;
  alignas(8) char buffer[2048];
  for (long n; (n = syscall(SYS_getdents64, fd, buffer, sizeof buffer)) > 0;) {
    for (long at = 0; at < n;) {
      auto* d = reinterpret_cast<Dirent*>(buffer + at);
      at += d->size;
      if (d->name[0] != '.') body(int(strtol(d->name, nullptr, 10)));
    }
  }
  syscall(SYS_close, fd);
}

// The threads of a process, by its folder in /proc.
template <class Body>
void forEachThread(pid_t process, Body body) {
  char path[64];
  snprintf(path, sizeof path, "/proc/%d/task", int(process));
  forEachNumberIn(path, body);
}

// All processes below one, but one of them and what is below that. False: this kernel does not tell children.
template <class Body>
bool forEachBelow(pid_t process, pid_t except, Body& body) {
  bool told = false;
  forEachThread(process, [&](pid_t thread) {
    char path[64], children[4096];
    snprintf(path, sizeof path, "/proc/%d/task/%d/children", int(process), int(thread));
    struct stat st;
    told |= syscall(SYS_newfstatat, AT_FDCWD, path, &st, 0) == 0;
    if (!readText(path, children, sizeof children)) return;
    forEachNumber(children, [&](pid_t child) {
      if (child == except) return;
      body(child);
      forEachBelow(child, except, body);
    });
  });
  return told;
}

// Memory of another process; false: not all of it is there.
inline bool readMemory(pid_t process, uint64_t address, void* to, size_t size) {
  iovec mine{to, size}, theirs{reinterpret_cast<void*>(address), size};
  return syscall(SYS_process_vm_readv, process, &mine, 1UL, &theirs, 1UL, 0UL) == long(size);
}

// The state's letter in a stat file; Z: there is none any more.
inline char stateOf(const char* stat) {
  const char* name = strrchr(stat, ')');
  return name == nullptr || strlen(name) < 3 ? 'Z' : name[2];
}
inline char stateOf(pid_t process, pid_t thread) {
  char path[64], text[512];
  snprintf(path, sizeof path, "/proc/%d/task/%d/stat", int(process), int(thread));
  return readText(path, text, sizeof text) ? stateOf(text) : 'Z';
}

// A system call in which a thread sleeps.
struct SleepingCall {
  long number = -1;
  uint64_t a[6] = {};
};
inline bool callOf(pid_t process, pid_t thread, SleepingCall& call) {
  char path[64], text[512];
  snprintf(path, sizeof path, "/proc/%d/task/%d/syscall", int(process), int(thread));
  if (!readText(path, text, sizeof text) || text[0] < '0' || text[0] > '9') return false;
  char* at = text;
  call.number = strtol(at, &at, 10);
  for (uint64_t& a : call.a) a = strtoull(at, &at, 16);
  return true;
}
// For a mutex, without a time limit: only a thread that goes on lets it go. Whoever waits for a semaphore or a
// condition, which a signal's handler may post, waits with a set of bits.
inline bool waitsForMutex(const SleepingCall& c) {
  uint64_t what = c.a[1] & uint64_t(FUTEX_CMD_MASK);
  return c.number == SYS_futex && c.a[3] == 0 &&
         (what == FUTEX_WAIT || what == FUTEX_LOCK_PI || what == FUTEX_LOCK_PI2);
}
// For the end of another thread of its process: for the word with its number.
inline bool joinsThread(pid_t process, const SleepingCall& c) {
  if (c.number != SYS_futex || (c.a[1] & uint64_t(FUTEX_CMD_MASK)) != FUTEX_WAIT_BITSET || c.a[2] == 0) return false;
  char path[64];
  struct stat st;
  snprintf(path, sizeof path, "/proc/%d/task/%d", int(process), int(c.a[2]));
  return syscall(SYS_newfstatat, AT_FDCWD, path, &st, 0) == 0;
}

// How often a thread was put on a processor.
inline uint64_t switchesOf(pid_t process, pid_t thread) {
  char path[64], text[4096];
  snprintf(path, sizeof path, "/proc/%d/task/%d/status", int(process), int(thread));
  if (!readText(path, text, sizeof text)) return 0;
  uint64_t count = 0;
  constexpr char kSwitches[] = "ctxt_switches:";
  for (const char* at = text; (at = strstr(at, kSwitches)) != nullptr;) {
    at += sizeof kSwitches - 1;
    count += strtoull(at, nullptr, 10);
  }
  return count;
}

}  // namespace blackout::rt
