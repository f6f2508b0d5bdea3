#include "runtime/drive.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/futex.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "runtime/processes.h"

namespace blackout::rt {

namespace {

// A client whose server is gone has this long to notice.
constexpr uint64_t kLastWordsMs = 2000;

uint64_t nowMs() {
  struct timespec t;
  syscall(SYS_clock_gettime, CLOCK_MONOTONIC, &t);
  return uint64_t(t.tv_sec) * 1000 + uint64_t(t.tv_nsec) / 1000000;
}

void nap(uint64_t microseconds) {
  struct timespec t{time_t(microseconds / 1000000), long(microseconds % 1000000) * 1000};
  syscall(SYS_nanosleep, &t, nullptr);
}

// All processes of the server at one look.
struct Look {
  bool asleep = true;  // every thread sleeps in a system call
  bool timed = false;  // one of them only until some time has passed
  bool stuck = true;   // and every one for another: for a mutex, or a thread's end
  uint32_t alive = 0;  // threads
  uint64_t ran = 0;    // how often one was put on a processor
};

class Server {
 public:
  explicit Server(pid_t first)
      : first_(first), self_(pid_t(syscall(SYS_getpid))), above_(pid_t(syscall(SYS_getppid))) {}

  // A process whose parent ends meanwhile comes up to where the look has already been: nobody is a reason to look
  // again.
  Look look() const {
    Look l = lookOnce();
    return l.alive != 0 ? l : lookOnce();
  }
  bool gone() const { return look().alive == 0; }

  // To the first process; once that is gone, to what it left behind.
  void send(int signal) const {
    if (syscall(SYS_kill, first_, 0) == 0 && !isZombie(first_)) return void(syscall(SYS_kill, first_, signal));
    sendAll(signal);
  }
  void sendAll(int signal) const {
    visit([&](pid_t process) { syscall(SYS_kill, process, signal); });
  }
  bool ignores(int signal) const {
    char path[64], text[4096];
    snprintf(path, sizeof path, "/proc/%d/status", int(first_));
    const char* line = readText(path, text, sizeof text) ? strstr(text, "SigIgn:") : nullptr;
    return line != nullptr && (strtoull(line + 7, nullptr, 16) >> (signal - 1) & 1) != 0;
  }

 private:
  Look lookOnce() const {
    Look l;
    visit([&](pid_t process) { forEachThread(process, [&](pid_t thread) { add(process, thread, l); }); });
    return l;
  }

  template <class Body>
  void visit(Body body) const {
    if (!forEachBelow(above_, self_, body)) body(first_);
  }

  static bool isZombie(pid_t process) {
    char path[64], text[512];
    snprintf(path, sizeof path, "/proc/%d/stat", int(process));
    return !readText(path, text, sizeof text) || stateOf(text) == 'Z';
  }

  static void add(pid_t process, pid_t thread, Look& l) {
    char path[64], text[4096];
    snprintf(path, sizeof path, "/proc/%d/task/%d/stat", int(process), int(thread));
    if (!readText(path, text, sizeof text)) return;
    char state = stateOf(text);
    if (state == 'Z' || state == 'X') return;
    ++l.alive;
    l.asleep &= state == 'S';
    snprintf(path, sizeof path, "/proc/%d/task/%d/wchan", int(process), int(thread));
    l.timed |= readText(path, text, sizeof text) && strstr(text, "nanosleep") != nullptr;
    SleepingCall call;
    l.stuck = l.stuck && callOf(process, thread, call) && (waitsForMutex(call) || joinsThread(process, call));
    l.ran += switchesOf(process, thread);
  }

  pid_t first_, self_, above_;
};

// Looks again and again. Two looks that find everybody asleep, and nobody having run in between, saw the server at a
// moment at which nobody but the world outside could make it go on.
class Idleness {
 public:
  explicit Idleness(const Server& server) : server_(server) {}
  // For how long it has been so; 0: it is not. `gone`: there is no server any more.
  uint64_t lasts(bool& gone) {
    Look l = server_.look();
    gone = l.alive == 0;
    bool same = l.asleep && last_.asleep && l.alive == last_.alive && l.ran == last_.ran;
    last_ = l;
    uint64_t now = nowMs();
    if (!same) since_ = now;
    ++looks_;
    if (!l.asleep) ++awake_;
    return same ? now - since_ + 1 : 0;
  }
  // Whether somebody sleeps until some time has passed, and so will go on by himself.
  bool timed() const { return last_.timed; }
  // Whether nobody from outside can make it go on.
  bool stuck() const { return last_.stuck; }
  // Whether it did hardly anything but sleep for so long, as a program does that looks for its input now and then.
  bool dozed(uint64_t ms) {
    uint64_t now = nowMs();
    if (begin_ == 0) begin_ = now;
    if (now - begin_ < ms) return false;
    bool hardly = awake_ * 5 <= looks_;
    looks_ = awake_ = 0;
    begin_ = now;
    return hardly;
  }

 private:
  const Server& server_;
  Look last_{.asleep = false};
  uint64_t since_ = 0;
  uint64_t begin_ = 0, looks_ = 0, awake_ = 0;  // of the present interval
};

bool waitUntilReady(const Drive& order, const Server& server, blackout_drive& result) {
  uint64_t begin = nowMs();
  Idleness idle(server);
  while (__atomic_load_n(order.listening, __ATOMIC_ACQUIRE) == 0) {
    bool gone;
    if (idle.lasts(gone) > order.momentMs && !idle.timed() && !idle.stuck()) return true;
    if (!gone && !idle.stuck() && idle.dozed(uint64_t{order.momentMs} * 10)) return true;
    if (gone || (order.readyMs != 0 && nowMs() - begin > order.readyMs)) {
      result.state = gone ? BLACKOUT_DRIVE_NO_SERVER : BLACKOUT_DRIVE_NEVER_READY;
      return false;
    }
    struct timespec tick{0, 2000000};
    syscall(SYS_futex, order.listening, FUTEX_WAIT, 0, &tick, nullptr, 0);
  }
  return true;
}

// The network and kernel objects of the server's own, if it has any. In a user namespace of its own it may only be
// met there.
void join(pid_t process) {
  const struct {
    const char* name;
    int type;
  } kinds[] = {{"user", CLONE_NEWUSER}, {"net", CLONE_NEWNET}, {"ipc", CLONE_NEWIPC}};
  for (const auto& kind : kinds) {
    char theirs[64], ours[64];
    snprintf(theirs, sizeof theirs, "/proc/%d/ns/%s", int(process), kind.name);
    snprintf(ours, sizeof ours, "/proc/self/ns/%s", kind.name);
    struct stat a, b;
    if (syscall(SYS_newfstatat, AT_FDCWD, theirs, &a, 0) != 0 || syscall(SYS_newfstatat, AT_FDCWD, ours, &b, 0) != 0 ||
        (a.st_dev == b.st_dev && a.st_ino == b.st_ino))
      continue;
    int fd = int(syscall(SYS_openat, AT_FDCWD, theirs, O_RDONLY | O_CLOEXEC));
    if (fd < 0) continue;
    syscall(SYS_setns, fd, kind.type);
    syscall(SYS_close, fd);
  }
}

[[noreturn]] void becomeClient(const Drive& order) {
  uint32_t listener = __atomic_load_n(order.listening, __ATOMIC_ACQUIRE);
  join(listener != 0 ? pid_t(listener) : order.server);
  prctl(PR_SET_PDEATHSIG, SIGKILL);  // after a change of rights, which takes it away
  syscall(SYS_setpgid, 0, 0);        // what it sends to its group is not for us
  int null = int(syscall(SYS_openat, AT_FDCWD, "/dev/null", O_RDONLY));
  syscall(SYS_dup2, null, 0);
  syscall(SYS_dup2, order.output, 1);
  syscall(SYS_dup2, order.output, 2);
  if (null > 2) syscall(SYS_close, null);
  struct sigaction plain{};
  plain.sa_handler = SIG_DFL;
  const int signals[] = {SIGINT, SIGQUIT, SIGTERM, SIGHUP, SIGPIPE, SIGCHLD};
  for (int s : signals) sigaction(s, &plain, nullptr);
  syscall(SYS_execve, order.command[0], order.command, environ);
  char line[512];
  int n = snprintf(line, sizeof line, "blackout: %.400s: can't be started: %s\n", order.command[0], strerror(errno));
  syscall(SYS_write, 2, line, n);
  syscall(SYS_exit_group, 127);
  __builtin_unreachable();
}

// What the client started and did not wait for comes to the driver, which is its subreaper.
void endOrphans() {
  for (;;) {
    long r = syscall(SYS_wait4, -1, nullptr, WNOHANG, nullptr);
    if (r < 0) return;
    if (r > 0) continue;
    forEachThread(pid_t(syscall(SYS_getpid)), [](pid_t thread) {
      char path[64], children[4096];
      snprintf(path, sizeof path, "/proc/self/task/%d/children", int(thread));
      if (readText(path, children, sizeof children))
        forEachNumber(children, [](pid_t child) { syscall(SYS_kill, child, SIGKILL); });
    });
    nap(200);
  }
}

void runClient(const Drive& order, const Server& server, blackout_drive& result) {
  prctl(PR_SET_CHILD_SUBREAPER, 1);
  auto client = pid_t(syscall(SYS_clone, SIGCHLD, 0, nullptr, nullptr, 0));
  if (client == 0) becomeClient(order);
  result.state = BLACKOUT_DRIVE_TALKS;
  int process = client < 0 ? -1 : int(syscall(SYS_pidfd_open, client, 0));
  uint64_t alone = 0;  // since when
  for (bool over = process < 0; !over;) {
    constexpr int kTickMs = 20;
    pollfd fds{process, POLLIN, 0};
    over = syscall(SYS_poll, &fds, 1, kTickMs) > 0;
    if (over || !server.gone()) continue;
    if (alone == 0) alone = nowMs();
    if (nowMs() - alone > kLastWordsMs) syscall(SYS_kill, client, SIGKILL);
  }
  if (client < 0 || syscall(SYS_wait4, client, &result.client_status, 0, nullptr) != client)
    result.client_status = 127 << 8;
  if (process >= 0) syscall(SYS_close, process);
  endOrphans();
  result.state = BLACKOUT_DRIVE_ENDED;
}

// Waits for the server's end, or, if that is wanted, until it has nothing to do. False: it goes on.
bool comesToRest(const Server& server, uint64_t patienceMs, bool idleToo) {
  uint64_t begin = nowMs();
  Idleness idle(server);
  for (;;) {
    bool gone;
    uint64_t lasts = idle.lasts(gone);
    if (gone || (idleToo && lasts != 0)) return true;
    if (nowMs() - begin > patienceMs) return false;
    nap(500);
  }
}

void endServer(const Server& server, uint64_t patienceMs, blackout_drive& result) {
  if (server.gone()) return;
  if (!server.ignores(SIGTERM)) {
    result.sent = SIGTERM;
    server.send(SIGTERM);
    if (comesToRest(server, patienceMs, false)) return;
  }
  result.sent = SIGKILL;
  server.sendAll(SIGKILL);
}

}  // namespace

void drive(const Drive& order, blackout_drive& result) {
  Server server(order.server);
  if (!waitUntilReady(order, server, result)) {
    if (result.state == BLACKOUT_DRIVE_NEVER_READY) endServer(server, order.patienceMs, result);
    return;
  }
  runClient(order, server, result);
  // What it does behind its last answer belongs to the run; SIGTERM in the middle of it would end it anywhere.
  comesToRest(server, order.patienceMs, true);
  endServer(server, order.patienceMs, result);
}

int serverStatus(int waitStatus, const blackout_drive& result) {
  if (!WIFSIGNALED(waitStatus) || result.sent == 0) return waitStatus;
  int signal = WTERMSIG(waitStatus);
  return signal == SIGTERM || (signal == SIGKILL && result.sent == SIGKILL) ? 0 : waitStatus;
}

int clientCode(int waitStatus) {
  return WIFSIGNALED(waitStatus) ? 128 + WTERMSIG(waitStatus) : WEXITSTATUS(waitStatus);
}

}  // namespace blackout::rt
