#include "runtime/outside.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "runtime/buffers.h"
#include "runtime/role.h"

namespace blackout::rt {

namespace {

// In a recording. A restart that waits for the outside is looked at from there (blocked.h). The descriptors are kept
// here: whoever looks may come late, when the one that waited has gone on.
constexpr nfds_t kMostDescriptors = 16;
struct Waiting {
  pollfd fds[kMostDescriptors];
  pid_t child;   // as waitpid() has it, if it waits for one
  int flags;     // of that
  nfds_t count;  // of descriptors; 0: free
};
constexpr nfds_t kChild = kMostDescriptors + 1;  // a count: it waits for a child
constexpr int kMost = 64;
Waiting waiting[kMost];  // changed by whoever has the turn, or when nobody has
uint32_t waitingCount = 0;

bool hasSomething(pollfd* fds, nfds_t count) { return syscall(SYS_poll, fds, count, 0) != 0; }

// Whether the call would come back at once, which it also does where there is no such child.
bool hasEnded(pid_t child, int flags) {
  siginfo_t info{};
  idtype_t type = child > 0 ? P_PID : child == -1 ? P_ALL : P_PGID;
  int id = child > 0 ? child : child == -1 ? 0 : -child;
  int wanted = WEXITED | ((flags & WUNTRACED) != 0 ? WSTOPPED : 0) | (flags & WCONTINUED);
  return syscall(SYS_waitid, type, id, &info, wanted | WNOHANG | WNOWAIT, nullptr) != 0 || info.si_pid != 0;
}

// Those that something has come for are ready. What becomes of children is a matter of time: it is not looked at where
// that would decide which step of the others comes first.
void lookAround(bool children) {
  for (Waiting& w : waiting) {
    nfds_t n = __atomic_load_n(&w.count, __ATOMIC_ACQUIRE);
    if (n == 0 || (n == kChild && !children)) continue;
    if (n == kChild ? hasEnded(w.child, w.flags) : hasSomething(w.fds, n)) wakeWaiting(&w, 1);
  }
}
void lookAtAll() { lookAround(true); }

// Waits as one of the table does, once. False: it is full; `inTime` is false when the moment has come.
bool waitAs(const Waiting& what, bool& inTime, uint64_t moment) {
  Waiting* mine = nullptr;
  for (Waiting& w : waiting)
    if (w.count == 0) mine = &w;
  if (mine == nullptr) return false;
  for (nfds_t i = 0; what.count != kChild && i < what.count; ++i) mine->fds[i] = what.fds[i];
  mine->child = what.child;
  mine->flags = what.flags;
  __atomic_store_n(&mine->count, what.count, __ATOMIC_RELEASE);
  ++waitingCount;
  lookOutside = lookAtAll;
  inTime = waitTurn(mine, Retry::No, moment);
  __atomic_store_n(&mine->count, 0, __ATOMIC_RELEASE);
  if (--waitingCount == 0) lookOutside = nullptr;
  pthread_testcancel();  // as the call itself would: a thread that is cancelled was woken for it
  return true;
}

bool waits(int fd) {
  long flags = syscall(SYS_fcntl, fd, F_GETFL);
  return flags >= 0 && (flags & O_NONBLOCK) == 0;
}

// Who wrote to it had all of its stores take effect before: libc writes without being seen.
void waitFor(int fd, short event, const void* site) {
  if (!controlled || !isRecording()) return;
  emptyAllBuffers();
  if (!waits(fd)) return switchPoint(site);
  pollfd one{fd, event, 0};
  waitOutside(&one, 1);
}

}  // namespace

bool waitOutside(pollfd* fds, nfds_t count, uint64_t moment) {
  if (!controlled || !isRecording() || count == 0 || count > kMostDescriptors) return true;
  emptyAllBuffers();
  int saved = errno;
  switchPoint(fds);
  bool inTime = true;
  Waiting what{};
  for (nfds_t i = 0; i < count; ++i) what.fds[i] = fds[i];
  what.count = count;
  while (controlled && inTime && !hasSomething(fds, count))
    if (!waitAs(what, inTime, moment)) break;
  errno = saved;
  return inTime;
}

bool waitOutside(int count, const fd_set* reads, const fd_set* writes, const fd_set* errors, uint64_t moment) {
  pollfd fds[kMostDescriptors];
  nfds_t known = 0;
  for (int fd = 0; fd < count && fd < FD_SETSIZE; ++fd) {
    short events = 0;
    if (reads != nullptr && FD_ISSET(fd, reads)) events |= POLLIN;
    if (writes != nullptr && FD_ISSET(fd, writes)) events |= POLLOUT;
    if (errors != nullptr && FD_ISSET(fd, errors)) events |= POLLPRI;
    if (events == 0) continue;
    if (known == kMostDescriptors) return true;
    fds[known++] = {fd, events, 0};
  }
  return waitOutside(fds, known, moment);
}

void waitToRead(int fd) { waitFor(fd, POLLIN, __builtin_return_address(0)); }
void waitToWrite(int fd) { waitFor(fd, POLLOUT, __builtin_return_address(0)); }

void waitForChild(pid_t pid, int flags) {
  if (!controlled || !isRecording() || (flags & WNOHANG) != 0) return;
  emptyAllBuffers();
  int saved = errno;
  Waiting what{};
  what.child = pid;
  what.flags = flags;
  what.count = kChild;
  siginfo_t info;
  bool any = syscall(SYS_waitid, P_ALL, 0, &info, WEXITED | WNOHANG | WNOWAIT, nullptr) == 0;
  // Even where it has ended already: whether it has is a matter of time.
  for (bool inTime = true, first = true; any && controlled && (first || !hasEnded(pid, flags)); first = false)
    if (!waitAs(what, inTime, kNever)) break;
  errno = saved;
}

size_t partToWrite(int fd, size_t size) {
  struct stat st;
  if (!controlled || !isRecording() || size == 0 || syscall(SYS_fstat, fd, &st) != 0) return 0;
  if ((!S_ISFIFO(st.st_mode) && !S_ISSOCK(st.st_mode)) || !waits(fd)) return 0;
  int type = SOCK_STREAM;
  socklen_t length = sizeof type;
  if (S_ISSOCK(st.st_mode)) syscall(SYS_getsockopt, fd, SOL_SOCKET, SO_TYPE, &type, &length);
  // A message is one; a pipe or a stream that is ready takes that much.
  return type == SOCK_STREAM ? PIPE_BUF : size;
}

void usedOutside() {
  if (!controlled || waitingCount == 0) return;
  int saved = errno;
  lookAround(false);
  errno = saved;
}

}  // namespace blackout::rt
