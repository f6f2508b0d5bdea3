// Sockets of a recovery run: one with a path is among the run's own files, one without (the "abstract" names) has
// the worker's number in its name, and internet sockets are in a network of the run's own. So what it listens on is
// there for itself, its children and its client, and for nobody else. That a program listens is told in a recording,
// too.

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/futex.h>
#include <poll.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

#include "runtime/namespaces.h"
#include "runtime/outside.h"
#include "runtime/overlay.h"
#include "runtime/pinned.h"
#include "runtime/real.h"
#include "runtime/recorder.h"
#include "runtime/recovery.h"
#include "runtime/schedule.h"

using namespace blackout::rt;

namespace {

constexpr socklen_t kHead = offsetof(sockaddr_un, sun_path);

// The address that a call takes instead. A path too long for an address is reached through its folder.
class Address {
 public:
  Address(const sockaddr* given, socklen_t size, Use use) : address(given), size(size) {
    if (!inRun() || given == nullptr || size <= kHead || given->sa_family != AF_UNIX) return;
    const auto* local = reinterpret_cast<const sockaddr_un*>(given);
    size_t length = size - kHead;
    if (local->sun_path[0] == '\0')
      abstractName(*local, length);
    else
      pathName(*local, length, use);
  }
  ~Address() {
    if (folder_ >= 0) syscall(SYS_close, folder_);
  }
  Address(const Address&) = delete;
  Address& operator=(const Address&) = delete;

  const sockaddr* address;
  socklen_t size;

 private:
  void take(socklen_t length) {
    made_.sun_family = AF_UNIX;
    address = reinterpret_cast<const sockaddr*>(&made_);
    size = kHead + length;
  }
  void abstractName(const sockaddr_un& local, size_t length) {
    if (!isRestart()) return;
    char mark[16];
    int n = snprintf(mark, sizeof mark, "#%u", worker->number);
    if (length + size_t(n) > sizeof made_.sun_path) return;
    memcpy(made_.sun_path, local.sun_path, length);
    memcpy(made_.sun_path + length, mark, size_t(n));
    take(socklen_t(length) + socklen_t(n));
  }
  void pathName(const sockaddr_un& local, size_t length, Use use) {
    char path[sizeof local.sun_path + 1] = {};
    memcpy(path, local.sun_path, length < sizeof local.sun_path ? length : sizeof local.sun_path);
    char own[PATH_MAX];
    if (!redirectToOverlay(AT_FDCWD, path, use, own)) return;
    if (strlen(own) >= sizeof made_.sun_path) {
      char* name = strrchr(own, '/');
      *name++ = '\0';
      folder_ = int(syscall(SYS_openat, AT_FDCWD, own, O_PATH | O_DIRECTORY | O_CLOEXEC));
      snprintf(made_.sun_path, sizeof made_.sun_path, "/proc/self/fd/%d/%s", folder_, name);
    } else {
      strcpy(made_.sun_path, own);
    }
    take(socklen_t(strlen(made_.sun_path)) + 1);
  }

  sockaddr_un made_{};
  int folder_ = -1;
};

// Whoever waits to talk to the program may begin (drive.h).
void listening() {
  uint32_t* word = isRestart() ? &worker->listening : &header->listening;
  __atomic_store_n(word, uint32_t(syscall(SYS_getpid)), __ATOMIC_RELEASE);
  syscall(SYS_futex, word, FUTEX_WAKE, INT_MAX, nullptr, nullptr, 0);
}

}  // namespace

BLACKOUT_EXPORT int socket(int domain, int type, int protocol) noexcept {
  used(BLACKOUT_USED_SOCKETS);
  if (domain == AF_INET || domain == AF_INET6) makePrivateNetwork();
  return int(syscall(SYS_socket, domain, type, protocol));
}
BLACKOUT_EXPORT int bind(int fd, const struct sockaddr* address, socklen_t size) noexcept {
  Address a(address, size, Use::MakeName);
  return int(syscall(SYS_bind, fd, a.address, a.size));
}
BLACKOUT_EXPORT int listen(int fd, int backlog) noexcept {
  long r = syscall(SYS_listen, fd, backlog);
  if (r == 0 && inRun()) listening();
  return int(r);
}
// A thread under control asks without waiting, and gives its turn away until there is an answer.
static int connectInTurn(int fd, const struct sockaddr* address, socklen_t size) {
  long flags = controlled && isRecording() ? syscall(SYS_fcntl, fd, F_GETFL) : -1;
  if (flags < 0 || (flags & O_NONBLOCK) != 0) return BLACKOUT_REAL(connect)(fd, address, size);
  syscall(SYS_fcntl, fd, F_SETFL, flags | O_NONBLOCK);
  int r = 0;
  // Too many wait for a local socket's owner already. No descriptor tells when that changes.
  while ((r = int(syscall(SYS_connect, fd, address, size))) != 0 && errno == EAGAIN && address->sa_family == AF_UNIX) {
    if (!controlled) break;
    gotOnHere();
    yieldTurn();
    struct timespec moment{0, 100000};
    syscall(SYS_nanosleep, &moment, nullptr);
  }
  if (r != 0 && errno == EINPROGRESS) {
    pollfd one{fd, POLLOUT, 0};
    waitOutside(&one, 1);
    while (syscall(SYS_poll, &one, 1, -1) < 0 && errno == EINTR) {
    }
    int error = 0;
    socklen_t length = sizeof error;
    syscall(SYS_getsockopt, fd, SOL_SOCKET, SO_ERROR, &error, &length);
    r = error == 0 ? 0 : -1;
    if (error != 0) errno = error;
  }
  int saved = errno;
  syscall(SYS_fcntl, fd, F_SETFL, flags);
  errno = saved;
  if (r != 0 && errno == EAGAIN) return BLACKOUT_REAL(connect)(fd, address, size);
  return r;
}
BLACKOUT_EXPORT int connect(int fd, const struct sockaddr* address, socklen_t size) {
  Address a(address, size, Use::Look);
  int r = connectInTurn(fd, a.address, a.size);
  usedOutside();
  return r;
}
BLACKOUT_EXPORT int accept(int fd, struct sockaddr* address, socklen_t* size) {
  waitToRead(fd);
  return BLACKOUT_REAL(accept)(fd, address, size);
}
BLACKOUT_EXPORT int accept4(int fd, struct sockaddr* address, socklen_t* size, int flags) {
  waitToRead(fd);
  return BLACKOUT_REAL(accept4)(fd, address, size, flags);
}
BLACKOUT_EXPORT ssize_t sendto(int fd, const void* bytes, size_t count, int flags, const struct sockaddr* address,
                               socklen_t size) {
  Address a(address, size, Use::Look);
  if ((flags & MSG_DONTWAIT) == 0) waitToWrite(fd);
  ssize_t n = BLACKOUT_REAL(sendto)(fd, bytes, count, flags, a.address, a.size);
  usedOutside();
  return n;
}
BLACKOUT_EXPORT ssize_t send(int fd, const void* bytes, size_t count, int flags) {
  if ((flags & MSG_DONTWAIT) == 0) waitToWrite(fd);
  ssize_t n = BLACKOUT_REAL(send)(fd, bytes, count, flags);
  usedOutside();
  return n;
}
BLACKOUT_EXPORT ssize_t recvfrom(int fd, void* bytes, size_t count, int flags, struct sockaddr* address,
                                 socklen_t* size) {
  if ((flags & MSG_DONTWAIT) == 0) waitToRead(fd);
  ssize_t n = BLACKOUT_REAL(recvfrom)(fd, bytes, count, flags, address, size);
  usedOutside();
  return n;
}
