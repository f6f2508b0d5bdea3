#include "runtime/outside.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "runtime/role.h"

namespace blackout::rt {

namespace {

// In a recording. A restart that waits for the outside is looked at from there (blocked.h). The descriptors are kept
// here: whoever looks may come late, when the one that waited has gone on.
constexpr nfds_t kMostDescriptors = 16;
struct Waiting {
  pollfd fds[kMostDescriptors];
  nfds_t count;  // 0: free
};
constexpr int kMost = 64;
Waiting waiting[kMost];  // changed by whoever has the turn, or when nobody has
uint32_t waitingCount = 0;

bool hasSomething(pollfd* fds, nfds_t count) { return syscall(SYS_poll, fds, count, 0) != 0; }

// Those that something has come for are ready.
void lookAround() {
  for (Waiting& w : waiting)
    if (nfds_t n = __atomic_load_n(&w.count, __ATOMIC_ACQUIRE); n != 0 && hasSomething(w.fds, n)) wakeWaiting(&w, 1);
}

}  // namespace

bool waitOutside(pollfd* fds, nfds_t count, uint64_t moment) {
  if (!controlled || !isRecording() || count == 0 || count > kMostDescriptors) return true;
  int saved = errno;
  switchPoint(fds);
  bool inTime = true;
  while (controlled && inTime && !hasSomething(fds, count)) {
    Waiting* mine = nullptr;
    for (Waiting& w : waiting)
      if (w.count == 0) mine = &w;
    if (mine == nullptr) break;
    for (nfds_t i = 0; i < count; ++i) mine->fds[i] = fds[i];
    __atomic_store_n(&mine->count, count, __ATOMIC_RELEASE);
    ++waitingCount;
    lookOutside = lookAround;
    inTime = waitTurn(mine, Retry::No, moment);
    __atomic_store_n(&mine->count, 0, __ATOMIC_RELEASE);
    if (--waitingCount == 0) lookOutside = nullptr;
    pthread_testcancel();  // as the call itself would: a thread that is cancelled was woken for it
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
