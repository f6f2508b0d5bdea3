#include "runtime/blocked.h"

#include <linux/futex.h>
#include <poll.h>
#include <sched.h>
#include <sys/file.h>
#include <sys/select.h>
#include <sys/socket.h>
#include <sys/time.h>

#include "events/address_map.h"
#include "events/waits.h"
#include "runtime/processes.h"
#include "runtime/recovery.h"

namespace blackout::rt {

namespace {

// How telling a place is where a thread waits.
enum Rank : uint8_t { kForOthers, kForSignal, kForData, kForLock };

struct Wait {
  bool blocked = false;
  Rank rank = kForOthers;
  const char* what = nullptr;
  bool byOwn = false;  // nothing but a thread of the program's own that goes on ends it: no signal, no client
};

// While this look lasts, a socket that leads from the server to its client is the run's own.
bool talking = false;

bool linkOf(pid_t process, const char* what, char* to, size_t size) {
  char path[64];
  snprintf(path, sizeof path, "/proc/%d/%s", int(process), what);
  long n = syscall(SYS_readlinkat, AT_FDCWD, path, to, size - 1);
  to[n < 0 ? 0 : n] = '\0';
  return n > 0;
}
bool fileOf(pid_t process, uint64_t fd, char* to, size_t size) {
  char what[32];
  snprintf(what, sizeof what, "fd/%d", int(fd));
  return linkOf(process, what, to, size);
}

// Whether the worker has it as well: then it comes from outside of the run.
bool isInherited(const char* link) {
  constexpr int kDescriptors = 1024;
  char ours[4200];
  for (int fd = 0; fd < kDescriptors; ++fd)
    if (fileOf(pid_t(worker->process), uint64_t(fd), ours, sizeof ours) && strcmp(ours, link) == 0) return true;
  return false;
}

bool sameLink(pid_t process, const char* what) {
  char theirs[64], ours[64];
  return linkOf(process, what, theirs, sizeof theirs) && linkOf(pid_t(worker->process), what, ours, sizeof ours) &&
         strcmp(theirs, ours) == 0;
}

bool isBelowWorker(pid_t process) {
  constexpr int kDeepest = 64;
  for (int depth = 0; process > 1 && depth < kDeepest; ++depth) {
    char path[64], text[512];
    snprintf(path, sizeof path, "/proc/%d/stat", int(process));
    const char* name = readText(path, text, sizeof text) ? strrchr(text, ')') : nullptr;
    if (name == nullptr || strlen(name) < 4) return false;
    process = pid_t(strtol(name + 4, nullptr, 10));
    if (process == pid_t(worker->process)) return true;
  }
  return false;
}

// Whether nobody outside of the run can be at the other end of this socket, and a wait for it has no time limit.
bool leadsInside(pid_t process, int socket) {
  auto ask = [&](int option, auto& value) {
    socklen_t size = sizeof value;
    return syscall(SYS_getsockopt, socket, SOL_SOCKET, option, &value, &size) == 0;
  };
  struct timeval reading{}, writing{};
  int domain = 0, listens = 0;
  if (!ask(SO_RCVTIMEO, reading) || !ask(SO_SNDTIMEO, writing) || !ask(SO_DOMAIN, domain)) return false;
  if (reading.tv_sec != 0 || reading.tv_usec != 0 || writing.tv_sec != 0 || writing.tv_usec != 0) return false;
  if (domain == AF_INET || domain == AF_INET6) return !sameLink(process, "ns/net");
  if (domain != AF_UNIX) return false;
  // The path of one that listens is the run's own too.
  struct ucred peer{};
  return (ask(SO_ACCEPTCONN, listens) && listens != 0) || (ask(SO_PEERCRED, peer) && isBelowWorker(peer.pid));
}
bool leadsInside(pid_t process, uint64_t fd) {
  constexpr long kPidfdGetfd = 438;
  int handle = int(syscall(SYS_pidfd_open, process, 0));
  int socket = handle < 0 ? -1 : int(syscall(kPidfdGetfd, handle, int(fd), 0));
  bool inside = socket >= 0 && leadsInside(process, socket);
  if (socket >= 0) syscall(SYS_close, socket);
  if (handle >= 0) syscall(SYS_close, handle);
  return inside;
}

// Whether nobody but the run can make this descriptor ready.
bool isOwn(pid_t process, uint64_t fd) {
  char link[4200];
  if (!fileOf(process, fd, link, sizeof link)) return false;
  bool pipe = strncmp(link, "pipe:", 5) == 0 || strcmp(link, "anon_inode:[eventfd]") == 0 ||
              strcmp(link, "anon_inode:[signalfd]") == 0;
  if (strncmp(link, "socket:", 7) == 0)
    return !isInherited(link) && ((worker->used & BLACKOUT_USED_SOCKETS) == 0 || (talking && leadsInside(process, fd)));
  return pipe && !isInherited(link);
}
// The same of a lock on a file: files of the run are in the worker's folder.
bool isOwnFile(pid_t process, uint64_t fd) {
  char link[4200];
  return fileOf(process, fd, link, sizeof link) && strncmp(link, workerFolder, strlen(workerFolder)) == 0;
}
bool hasOwnObjects(pid_t process) { return !sameLink(process, "ns/ipc"); }

bool ownPolled(pid_t process, uint64_t address, uint64_t count) {
  for (uint64_t i = 0; i < count; ++i) {
    pollfd p;
    if (!readMemory(process, address + i * sizeof p, &p, sizeof p)) return false;
    if (p.fd >= 0 && !isOwn(process, uint64_t(p.fd))) return false;
  }
  return true;
}

bool ownSelected(pid_t process, uint64_t count, const uint64_t* sets) {
  if (count > FD_SETSIZE) return false;
  for (int s = 0; s < 3; ++s) {
    uint8_t bits[FD_SETSIZE / 8] = {};
    if (sets[s] != 0 && !readMemory(process, sets[s], bits, (count + 63) / 64 * 8)) return false;
    for (uint64_t fd = 0; fd < count; ++fd)
      if ((bits[fd / 8] >> (fd % 8) & 1) != 0 && !isOwn(process, fd)) return false;
  }
  return true;
}

bool ownWatched(pid_t process, uint64_t epoll) {
  char path[64], text[4096];
  snprintf(path, sizeof path, "/proc/%d/fdinfo/%d", int(process), int(epoll));
  if (!readText(path, text, sizeof text) || strlen(text) == sizeof text - 1) return false;
  for (const char* at = text; (at = strstr(at, "tfd:")) != nullptr;) {
    at += 4;
    if (!isOwn(process, strtoull(at, nullptr, 10))) return false;
  }
  return true;
}

Wait futexWait(pid_t process, const SleepingCall& c) {
  // The kernel is given the second mapping, where there is one.
  bool inPm = c.a[0] - kPmBase < kPmSpan || c.a[0] - kAliasBase < kAliasEnd - kAliasBase;
  const char* lock = inPm ? kWaitsForPmLock : kWaitsForLock;
  switch (c.a[1] & FUTEX_CMD_MASK) {
    case FUTEX_WAIT:
    case FUTEX_LOCK_PI:
    case FUTEX_LOCK_PI2:
      return {c.a[3] == 0, kForLock, lock, waitsForMutex(c)};
    case FUTEX_WAIT_BITSET:
    case FUTEX_WAIT_REQUEUE_PI: {
      bool joins = joinsThread(process, c);
      return {c.a[3] == 0, joins ? kForOthers : kForLock, joins ? "a thread" : lock, joins};
    }
    default:
      return {};
  }
}

Wait waitOf(pid_t process, const SleepingCall& c) {
  // Timers of the program make signals out of time.
  bool signals = (worker->used & BLACKOUT_USED_TIMERS) == 0;
  switch (c.number) {
    case SYS_futex:
      return futexWait(process, c);
    case 449:  // futex_waitv
      return {c.a[3] == 0, kForLock, kWaitsForLock};
    case SYS_pause:
    case SYS_rt_sigsuspend:
      return {signals, kForSignal, "a signal"};
    case SYS_rt_sigtimedwait:
      return {signals && c.a[2] == 0, kForSignal, "a signal"};
    case SYS_read:
    case SYS_readv:
    case SYS_recvfrom:
    case SYS_recvmsg:
    case SYS_accept:
    case SYS_accept4:
      return {isOwn(process, c.a[0]), kForData, "data"};
    case SYS_write:
    case SYS_writev:
    case SYS_sendto:
    case SYS_sendmsg:
      return {isOwn(process, c.a[0]), kForData, "room to write"};
    case SYS_poll:
      return {int(c.a[2]) < 0 && ownPolled(process, c.a[0], c.a[1]), kForData, "descriptors"};
    case SYS_ppoll:
      return {c.a[2] == 0 && ownPolled(process, c.a[0], c.a[1]), kForData, "descriptors"};
    case SYS_select:
    case SYS_pselect6:
      return {c.a[4] == 0 && ownSelected(process, c.a[0], c.a + 1), kForData, "descriptors"};
    case SYS_epoll_wait:
    case SYS_epoll_pwait:
      return {int(c.a[3]) < 0 && ownWatched(process, c.a[0]), kForData, "descriptors"};
    case SYS_wait4:
    case SYS_waitid:
      return {true, kForOthers, "a child"};
    case SYS_flock:
      return {isOwnFile(process, c.a[0]), kForLock, "a file lock"};
    case SYS_fcntl:
      return {(c.a[1] == F_SETLKW || c.a[1] == F_OFD_SETLKW) && isOwnFile(process, c.a[0]), kForLock, "a file lock"};
    case SYS_semop:
    case SYS_msgrcv:
    case SYS_msgsnd:
      return {hasOwnObjects(process), kForLock, "a semaphore or a message"};
    case SYS_semtimedop:
      return {c.a[3] == 0 && hasOwnObjects(process), kForLock, "a semaphore or a message"};
    default:
      return {};
  }
}

// A parent that waits for what its child does with the memory of both.
bool sharesUntilExec(const SleepingCall& c) {
  return c.number == SYS_vfork || c.number == SYS_clone3 || (c.number == SYS_clone && (c.a[0] & CLONE_VFORK) != 0);
}

Wait waitOf(pid_t process, pid_t thread, char state) {
  if (state == 'T') return {true, kForSignal, "SIGCONT"};
  SleepingCall call;
  if ((state != 'S' && state != 'D') || !callOf(process, thread, call)) return {};
  if (state == 'D') return {sharesUntilExec(call), kForOthers, "a child"};
  return waitOf(process, call);
}

void addTimes(pid_t process, pid_t thread, RunLook& look) {
  constexpr uint64_t kMs = 1000000;
  char path[64], text[128];
  snprintf(path, sizeof path, "/proc/%d/task/%d/schedstat", int(process), int(thread));
  if (!readText(path, text, sizeof text)) return;
  char* at = text;
  look.computedMs += strtoull(at, &at, 10) / kMs;
  look.queuedMs += strtoull(at, &at, 10) / kMs;
}

uint64_t memoryOf(pid_t process) {
  char path[64], text[4096];
  snprintf(path, sizeof path, "/proc/%d/status", int(process));
  const char* line = readText(path, text, sizeof text) ? strstr(text, "RssAnon:") : nullptr;
  return line == nullptr ? 0 : strtoull(line + 8, nullptr, 10) * 1024;
}

// POSIX timers, however they were made.
bool hasTimers(pid_t process) {
  char path[64], text[64];
  snprintf(path, sizeof path, "/proc/%d/timers", int(process));
  return readText(path, text, sizeof text);
}

// Whether a client asked for signals by the clock, as its own copy of the control block says; one without the runtime
// may have.
bool mayGetSignals(pid_t client) {
  uint32_t used = 0;
  return !readMemory(client, kControlBase + offsetof(blackout_worker, used), &used, sizeof used) ||
         (used & BLACKOUT_USED_TIMERS) != 0;
}

// Every thread that has not ended, and what it waits for: body(thread, state, wait).
template <class Body>
void eachSleeper(pid_t process, bool timers, RunLook& look, Body body) {
  forEachThread(process, [&](pid_t thread) {
    char state = stateOf(process, thread);
    if (state == 'Z' || state == 'X') return;
    look.ran += (switchesOf(process, thread) + 1) * (uint64_t(thread) * 0x9e3779b97f4a7c15u | 1);
    body(thread, state, timers ? Wait{} : waitOf(process, thread, state));
  });
}

}  // namespace

RunLook lookAt(pid_t run, pid_t driver, bool talks) {
  RunLook look;
  talking = talks;
  int best = -1;
  auto visit = [&](pid_t process) {
    bool timers = hasTimers(process);
    look.memory += memoryOf(process);
    eachSleeper(process, timers, look, [&](pid_t thread, char state, const Wait& wait) {
      ++look.threads;
      addTimes(process, thread, look);
      if (!wait.blocked) {
        look.goes = {process, thread};
        look.computes = state == 'R';
        return;
      }
      WaitingThread waiting{{process, thread}, wait.what};
      if (look.blocked < RunLook::kMostWaiting) look.waiting[look.blocked] = waiting;
      ++look.blocked;
      look.byOwn += wait.byOwn;
      look.forLock |= wait.rank == kForLock;
      if (wait.rank <= best) return;
      best = wait.rank;
      look.waits = waiting;
    });
  };
  if (!forEachBelow(pid_t(worker->process), driver, visit)) visit(run);
  auto visitClient = [&](pid_t process) {
    eachSleeper(process, hasTimers(process) || mayGetSignals(process), look, [&](pid_t, char, const Wait& wait) {
      ++look.client;
      look.clientBlocked += wait.blocked;
    });
  };
  if (talks) forEachBelow(driver, -1, visitClient);
  return look;
}

}  // namespace blackout::rt
