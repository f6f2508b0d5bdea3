// The worker's side of a run: it keeps the run's output, starts its client beside it where the program is a server,
// waits for everything that came of it, and ends what runs into a bound.

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "runtime/blocked.h"
#include "runtime/drive.h"
#include "runtime/held_thread.h"
#include "runtime/loop_proof.h"
#include "runtime/options.h"
#include "runtime/real.h"
#include "runtime/recorder.h"
#include "runtime/recovery.h"
#include "runtime/run_worker.h"

namespace blackout::rt {

namespace {

void moveTo(int fd, int number) {
  if (fd == number || fd < 0) return;
  syscall(SYS_dup2, fd, number);
  syscall(SYS_close, fd);
}

// A pipe; the reading end is out of the way and never waits.
void makePipe(int& reads, int& writes) {
  int ends[2];
  if (syscall(SYS_pipe2, ends, 0) != 0) stop("no pipe for recovery runs", nullptr, 3);
  reads = int(syscall(SYS_fcntl, ends[0], F_DUPFD_CLOEXEC, 690));
  syscall(SYS_close, ends[0]);
  if (reads < 0) stop("no descriptor for the output of recovery runs", nullptr, 3);
  syscall(SYS_fcntl, reads, F_SETFL, O_NONBLOCK);
  writes = ends[1];
}

// A pipe whose writing end is the standard output and error of all runs.
int output = -1;

void makeOutput() {
  int writes;
  makePipe(output, writes);
  syscall(SYS_dup2, writes, 2);
  moveTo(writes, 1);
  if (options.input == nullptr) moveTo(int(syscall(SYS_openat, AT_FDCWD, "/dev/null", O_RDONLY)), 0);
}

// The client of a server's runs. Its output is kept apart and comes behind the server's: which of the two speaks first
// is chance.
struct Client {
  char* command[512];  // none: the program is no server
  int reads = -1;
  int writes = -1;
  uint64_t size = 0;
  char output[BLACKOUT_MAX_OUTPUT];
};
Client client;

void makeClient() {
  if (options.drive == nullptr) return;
  char* word = const_cast<char*>(options.drive);
  auto count = size_t(strtoul(word, nullptr, 10));
  if (count == 0 || count >= sizeof client.command / sizeof *client.command)
    stop("the client's command has too many words, or none", nullptr, 3);
  for (size_t i = 0; i < count; ++i) client.command[i] = word += strlen(word) + 1;
  makePipe(client.reads, client.writes);
  int high = int(syscall(SYS_fcntl, client.writes, F_DUPFD_CLOEXEC, 690));
  syscall(SYS_close, client.writes);
  client.writes = high;
}

// Beside a run: a process that waits until the server is ready, and talks to it. -1: there is no client.
pid_t startDriver(pid_t run, int socket) {
  client.size = 0;
  if (client.command[0] == nullptr) return -1;
  pid_t driver = BLACKOUT_REAL(fork)();
  if (driver != 0) return driver;
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (syscall(SYS_getppid) != long(worker->process)) syscall(SYS_exit_group, 1);
  syscall(SYS_close, socket);
  syscall(SYS_close, output);
  setClientEnvironment();
  // A restart sleeps for nothing but input: its clock goes on by itself.
  Drive order;
  order.server = run;
  order.listening = &worker->listening;
  order.command = client.command;
  order.output = client.writes;
  order.momentMs = 10;
  order.patienceMs = 2000;
  drive(order, worker->drive);
  syscall(SYS_exit_group, 0);
  __builtin_unreachable();
}

// Children of the run that outlived it came to us.
void endChildren() {
  for (;;) {
    int status;
    long r = syscall(SYS_wait4, -1, &status, WNOHANG, nullptr);
    if (r < 0 && errno == ECHILD) return;
    if (r != 0) continue;
    char path[64], list[4096];
    snprintf(path, sizeof path, "/proc/self/task/%ld/children", syscall(SYS_gettid));
    int fd = int(syscall(SYS_openat, AT_FDCWD, path, O_RDONLY | O_CLOEXEC));
    long n = fd < 0 ? -1 : syscall(SYS_read, fd, list, sizeof list - 1);
    if (fd >= 0) syscall(SYS_close, fd);
    if (n <= 0) return;
    list[n] = '\0';
    for (char* p = list; *p != '\0';) {
      long pid = strtol(p, &p, 10);
      if (pid > 0) syscall(SYS_kill, pid, SIGKILL);
      while (*p == ' ' || *p == '\n') ++p;
    }
    struct timespec moment{0, 100000};
    syscall(SYS_nanosleep, &moment, nullptr);
  }
}

uint64_t milliseconds() {
  struct timespec t;
  syscall(SYS_clock_gettime, CLOCK_MONOTONIC, &t);
  return uint64_t(t.tv_sec) * 1000 + uint64_t(t.tv_nsec) / 1000000;
}

void keepOutput(int fd, char* to, uint64_t& size, bool all) {
  static char drop[65536];
  for (;;) {
    size_t room = size < BLACKOUT_MAX_OUTPUT ? BLACKOUT_MAX_OUTPUT - size_t(size) : 0;
    long n = room > 0 ? syscall(SYS_read, fd, to + size, room) : syscall(SYS_read, fd, drop, sizeof drop);
    if (n <= 0) return;
    size += uint64_t(n);
    if (!all) return;
  }
}

// A server that ended well, or as it was told to, ends as its client did.
void joinStatus() {
  if (worker->ended != 0) return;
  worker->wait_status = serverStatus(worker->wait_status, worker->drive);
  if (worker->wait_status == 0 && worker->drive.state == BLACKOUT_DRIVE_ENDED)
    worker->wait_status = clientCode(worker->drive.client_status) << 8;
  if (worker->wait_status == 0 && worker->drive.state == BLACKOUT_DRIVE_NO_SERVER)
    note("a restarted server exited with 0 before it was ready, so its client did not talk to it", nullptr);
  if (worker->drive.sent == SIGKILL)
    note(
        "a restarted server did not end on SIGTERM and was killed, which each restart waits for; let it end on SIGTERM",
        nullptr);
}

// Looks at a run now and then, and says when it is over because it can't end, or because its time is. Only what the
// kernel says of its threads is a reason for the first; how long it takes merely says when to look.
class Watch {
 public:
  Watch(pid_t run, pid_t driver) : run_(run), driver_(driver) {}

  // True: the run is to be ended; worker->ended says why.
  bool over(bool ended) {
    uint64_t now = milliseconds();
    if (lookedAt_ == 0) lookedAt_ = now;
    if (now - lookedAt_ < pauseMs_) return false;
    if (pauseMs_ < kMostMs) pauseMs_ *= 2;
    RunLook look = ended ? RunLook{} : lookAt(run_, driver_);
    charge(now - lookedAt_, look);
    lookedAt_ = now;
    if (!ended && takesTooMuch(look)) return true;
    // A server waits for its client, and whose turn it is between them is not followed.
    if (!ended && driver_ < 0 && stuck(last_, look)) return waitsForEver(look);
    last_ = look;
    if (!ended && driver_ < 0 && loopsForEver(look)) return true;
    if (worker->timeout_ms == 0 || charged_ < worker->timeout_ms) return false;
    // A server that failed has, though its client waits for it.
    if (!ended || (worker->wait_status == 0 && worker->ended == 0)) timeIsOver(look);
    return true;
  }

  // It printed for ever.
  void printedTooMuch() {
    constexpr char kText[] = "it printed %u MiB";
    snprintf(worker->text, sizeof worker->text, kText, BLACKOUT_MAX_PRINTED >> 20);
    atBound(lookAt(run_, driver_));
  }
  // Until the next look.
  int pauseMs() const { return int(pauseMs_); }

 private:
  // Time in which others had the processors is not the run's.
  void charge(uint64_t passed, const RunLook& look) {
    auto grown = [&](uint64_t before, uint64_t after) {
      uint64_t grew = after > before ? after - before : 0;
      return grew < passed ? grew : passed;
    };
    uint64_t queued = grown(last_.queuedMs, look.queuedMs), computed = grown(last_.computedMs, look.computedMs);
    charged_ += passed - queued > computed ? passed - queued : computed;
  }

  bool waitsForEver(const RunLook& look) {
    worker->ended = BLACKOUT_ENDED_HUNG;
    // The place follows.
    snprintf(worker->text, sizeof worker->text,
             look.threads == 1 ? "nobody is left to wake it, and it waits for %s"
                               : "nobody is left to wake any of its threads, and one waits for %s",
             look.waitsFor);
    HeldThread held(look.waits);
    if (held.held()) held.tellPlace();
    return true;
  }

  static void atBound(const RunLook& look) {
    worker->ended = BLACKOUT_ENDED_BOUND;
    HeldThread held(look.goes.thread != 0 ? look.goes : look.waits);
    if (held.held()) held.tellPlace();
  }

  bool takesTooMuch(const RunLook& look) {
    // One of its processes said so, and others may go on for ever.
    if (worker->ended == BLACKOUT_ENDED_BROKEN) return true;
    uint64_t most = memoryBound();
    if (look.memory > most)
      snprintf(worker->text, sizeof worker->text, "it has %.1f GiB of memory", double(most) / double(1 << 30));
    else if (look.threads > BLACKOUT_MAX_TASKS)
      snprintf(worker->text, sizeof worker->text, "it has %u threads and processes", BLACKOUT_MAX_TASKS);
    else
      return false;
    atBound(look);
    return true;
  }
  static uint64_t memoryBound() {
    auto half = uint64_t(sysconf(_SC_PHYS_PAGES)) * uint64_t(sysconf(_SC_PAGESIZE)) / 2;
    return half < BLACKOUT_MAX_MEMORY ? half : BLACKOUT_MAX_MEMORY;
  }

  // One thread computes, and all others wait for it: can it ever do anything else?
  bool loopsForEver(const RunLook& look) {
    bool alone = look.computes && look.blocked + 1 == look.threads && (worker->used & BLACKOUT_USED_TIMERS) == 0;
    if (!alone || look.computedMs < proofAtMs_) return false;
    HeldThread held(look.goes);
    bool proved = held.held() && rt::loopsForEver(held, instructions_);
    proofAtMs_ = look.computedMs * 2;
    if (instructions_ < kMostInstructions) instructions_ *= 2;
    if (!proved) return false;
    worker->ended = BLACKOUT_ENDED_HUNG;
    snprintf(worker->text, sizeof worker->text, "its registers and memory repeat, so it loops for ever");
    held.tellPlace();
    return true;
  }

  void timeIsOver(const RunLook& look) {
    worker->ended = BLACKOUT_ENDED_TIMEOUT;
    if (driver_ >= 0) return;  // which of the two took it is not known
    bool computes = look.computedMs >= worker->timeout_ms / 2;
    snprintf(worker->text, sizeof worker->text,
             computes
                 ? "a restart still computed when its time was over, and nothing shows that it never ends; give it "
                   "more time with --run-timeout"
                 : "a restart still waited for something when its time was over, and nothing shows that it never "
                   "comes; give it more time with --run-timeout");
  }

  pid_t run_, driver_;
  RunLook last_;
  // Of processor time: others may have the machine.
  uint64_t proofAtMs_ = 500;
  static constexpr unsigned kMostInstructions = 160000;
  unsigned instructions_ = 10000;
  // Most runs are over before the first look.
  static constexpr uint64_t kMostMs = 160;
  uint64_t pauseMs_ = 20;
  uint64_t lookedAt_ = 0;
  uint64_t charged_ = 0;
};

}  // namespace

void makeOutputs() {
  makeOutput();
  makeClient();
}

void closeOutputs() {
  const int ours[] = {output, client.reads, client.writes};
  for (int fd : ours)
    if (fd >= 0) syscall(SYS_close, fd);
}

// What is left in the pipes; the client's words come last.
void keepRest() {
  keepOutput(output, worker->output, worker->output_size, true);
  if (client.reads < 0) return;
  keepOutput(client.reads, client.output, client.size, true);
  uint64_t kept = client.size < BLACKOUT_MAX_OUTPUT ? client.size : BLACKOUT_MAX_OUTPUT;
  uint64_t at = worker->output_size;
  if (at < BLACKOUT_MAX_OUTPUT)
    memcpy(worker->output + at, client.output, kept < BLACKOUT_MAX_OUTPUT - at ? kept : BLACKOUT_MAX_OUTPUT - at);
  worker->output_size += client.size;
}

bool waitForRun(pid_t run, int socket) {
  pid_t driver = startDriver(run, socket);
  int process = int(syscall(SYS_pidfd_open, run, 0));
  int driverProcess = driver < 0 ? -1 : int(syscall(SYS_pidfd_open, driver, 0));
  Watch watch(run, driver);
  bool present = true;
  bool ended = false;
  pollfd fds[5] = {{process, POLLIN, 0},
                   {output, POLLIN, 0},
                   {socket, POLLIN, 0},
                   {driverProcess, POLLIN, 0},
                   {client.reads, POLLIN, 0}};
  for (;;) {
    long r = syscall(SYS_poll, fds, 5, watch.pauseMs());
    if (r < 0 && errno != EINTR) break;
    if ((fds[1].revents & POLLIN) != 0) keepOutput(output, worker->output, worker->output_size, false);
    if ((fds[4].revents & POLLIN) != 0) keepOutput(client.reads, client.output, client.size, false);
    if ((fds[0].revents & POLLIN) != 0) {
      syscall(SYS_wait4, run, &worker->wait_status, 0, nullptr);
      ended = true;
      fds[0].fd = -1;
    }
    if ((fds[3].revents & POLLIN) != 0) fds[3].fd = -1;
    if (ended && fds[3].fd < 0) break;
    if ((fds[2].revents & (POLLHUP | POLLERR | POLLIN)) != 0) {
      present = false;
      break;
    }
    if (!ended && worker->output_size > BLACKOUT_MAX_PRINTED) {
      watch.printedTooMuch();
      break;
    }
    if (watch.over(ended)) break;
  }
  if (!ended) {
    syscall(SYS_kill, run, SIGKILL);
    syscall(SYS_wait4, run, &worker->wait_status, 0, nullptr);
  }
  if (worker->ended == 0 && WIFSIGNALED(worker->wait_status) && WTERMSIG(worker->wait_status) == SIGXFSZ) {
    worker->ended = BLACKOUT_ENDED_BOUND;
    snprintf(worker->text, sizeof worker->text, "it made a file %llu GiB larger than the largest pool",
             BLACKOUT_MAX_GROWTH >> 30);
  }
  if (process >= 0) syscall(SYS_close, process);
  if (driverProcess >= 0) syscall(SYS_close, driverProcess);
  endChildren();
  if (driver >= 0) joinStatus();
  return present;
}

}  // namespace blackout::rt
