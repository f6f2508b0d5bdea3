#include "runtime/outside.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "runtime/role.h"

namespace blackout::rt {

namespace {

// In a recording. A restart that waits for the outside is looked at from there (blocked.h).
struct Waiting {
  pollfd* fds;
  nfds_t count;
};
constexpr int kMost = 64;
Waiting waiting[kMost];  // changed by whoever has the turn, or when nobody has
uint32_t waitingCount = 0;

bool hasSomething(pollfd* fds, nfds_t count) { return syscall(SYS_poll, fds, count, 0) != 0; }

// Those that something has come for are ready.
void lookAround() {
  for (Waiting& w : waiting)
    if (w.fds != nullptr && hasSomething(w.fds, w.count)) wakeWaiting(&w, 1);
}

}  // namespace

bool waitOutside(pollfd* fds, nfds_t count, uint64_t moment) {
  if (!controlled || !isRecording() || count == 0) return true;
  int saved = errno;
  switchPoint(fds);
  bool inTime = true;
  while (controlled && inTime && !hasSomething(fds, count)) {
    Waiting* mine = nullptr;
    for (Waiting& w : waiting)
      if (w.fds == nullptr) mine = &w;
    if (mine == nullptr) break;
    *mine = {fds, count};
    ++waitingCount;
    lookOutside = lookAround;
    inTime = waitTurn(mine, Retry::No, moment);
    *mine = {nullptr, 0};
    if (--waitingCount == 0) lookOutside = nullptr;
  }
  errno = saved;
  return inTime;
}

void waitToRead(int fd) {
  if (!controlled || !isRecording()) return;
  long flags = syscall(SYS_fcntl, fd, F_GETFL);
  if (flags < 0 || (flags & O_NONBLOCK) != 0) return switchPoint(__builtin_return_address(0));
  pollfd one{fd, POLLIN, 0};
  waitOutside(&one, 1);
}

void wroteOutside() {
  if (!controlled || waitingCount == 0) return;
  int saved = errno;
  lookAround();
  errno = saved;
}

}  // namespace blackout::rt
