#include "runtime/namespaces.h"

#include <errno.h>
#include <fcntl.h>
#include <net/if.h>
#include <netinet/in.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "runtime/options.h"
#include "runtime/recovery.h"

namespace blackout::rt {

namespace {

void put(const char* path, const char* text) {
  int fd = int(syscall(SYS_openat, AT_FDCWD, path, O_WRONLY | O_CLOEXEC));
  if (fd < 0) return;
  syscall(SYS_write, fd, text, strlen(text));
  syscall(SYS_close, fd);
}

// Root may; everybody else in a user namespace in which he stays himself.
bool leave(int what) {
  if (syscall(SYS_unshare, what) == 0) return true;
  long user = syscall(SYS_geteuid);
  long group = syscall(SYS_getegid);
  if (syscall(SYS_unshare, CLONE_NEWUSER | what) != 0) return false;
  char line[64];
  put("/proc/self/setgroups", "deny");
  snprintf(line, sizeof line, "%ld %ld 1", user, user);
  put("/proc/self/uid_map", line);
  snprintf(line, sizeof line, "%ld %ld 1", group, group);
  put("/proc/self/gid_map", line);
  prctl(PR_SET_PDEATHSIG, SIGKILL);  // a change of rights takes it away
  return true;
}

void raiseLoopback() {
  int fd = int(syscall(SYS_socket, AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0));
  if (fd < 0) return;
  struct ifreq request{};
  strcpy(request.ifr_name, "lo");
  request.ifr_flags = IFF_UP | IFF_RUNNING;
  syscall(SYS_ioctl, fd, SIOCSIFFLAGS, &request);
  syscall(SYS_close, fd);
}

}  // namespace

void makePrivateNetwork() {
  static bool done = false;
  if (!isRestart() || isClient() || done) return;
  done = true;
  int saved = errno;
  if (leave(CLONE_NEWNET)) {
    raiseLoopback();
    note("a restart uses the network; each has a private one", nullptr);
  } else {
    note(
        "a restart uses the network, and no private one can be made here: restarts that want the same port at the same "
        "time may fail; use --jobs 1",
        nullptr);
  }
  errno = saved;
}

void makePrivateIpc() {
  static bool done = false;
  if (!isRestart() || isClient() || done) return;
  done = true;
  int saved = errno;
  if (!leave(CLONE_NEWIPC))
    note(
        "a restart uses shared objects of the kernel (System V, message queues), and no private ones can be made here: "
        "they outlive the restart; use --jobs 1",
        nullptr);
  errno = saved;
}

}  // namespace blackout::rt
