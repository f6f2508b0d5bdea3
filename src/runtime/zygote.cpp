// The fork server of recovery runs: zygote, workers, runs. It runs as the first constructor, before
// anything of the program, so a run is a fork and goes on into the program as if it had just been started. A worker
// has one run at a time, keeps its output, waits for everything that came of it, and cleans up after it. Where the
// program is a server, the worker starts its client beside each run.

#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <ucontext.h>
#include <unistd.h>

#include "runtime/drive.h"
#include "runtime/modules.h"
#include "runtime/options.h"
#include "runtime/real.h"
#include "runtime/recorder.h"
#include "runtime/recovery.h"
#include "runtime/trap/trap.h"

namespace blackout::rt {

const char* workerFolder = nullptr;
bool traced = false;
bool firstOfRun = true;

namespace {

char folderText[4096];
long workerProcess = 0;
char tracePath[4200];
char shadowPath[4200];
char optionsText[20000];
alignas(16) char handlerStack[65536];

long readByte(int fd, unsigned char& b) {
  long n;
  do n = syscall(SYS_read, fd, &b, 1);
  while (n < 0 && errno == EINTR);
  return n;
}

// A client sees what the worker has to say, and nothing that it does itself is seen by anybody.
void mapControl() {
  char path[4200];
  snprintf(path, sizeof path, "%s/control", workerFolder);
  int fd = int(syscall(SYS_openat, AT_FDCWD, path, O_RDWR | O_CLOEXEC));
  void* p =
      fd < 0
          ? MAP_FAILED
          : reinterpret_cast<void*>(syscall(SYS_mmap, 0x309000000000ul, sizeof(blackout_worker), PROT_READ | PROT_WRITE,
                                            options.client != 0 ? MAP_PRIVATE : MAP_SHARED, fd, 0L));
  if (fd >= 0) syscall(SYS_close, fd);
  if (p == MAP_FAILED) stop("the control block of a recovery can't be mapped:", path, 3);
  worker = static_cast<blackout_worker*>(p);
  if (worker->magic != BLACKOUT_WORKER_MAGIC || worker->version != BLACKOUT_RECOVERY_VERSION)
    stop("the control block of a recovery is of another version of Blackout:", path, 3);
}

// Appends the chain of frames at `at` to those of the run; false if it has none.
bool keepChain(uintptr_t at, uintptr_t low) {
  uint32_t n = worker->frame_count;
  uint32_t first = n;
  while (n < BLACKOUT_MAX_RUN_FRAMES && at >= low && at < self.stackTop - 16 && (at & 7) == 0) {
    uint64_t pc = reinterpret_cast<const uint64_t*>(at)[1];
    if (pc == 0) break;
    worker->frames[n++] = pc;
    low = at + 1;
    at = *reinterpret_cast<const uintptr_t*>(at);
  }
  worker->frame_count = n;
  return n > first;
}

// libc keeps no frame pointers: from inside abort() the program's own frames are found by looking up the stack for a
// return into it, and from there for a saved frame pointer.
void keepScanned(uintptr_t at) {
  constexpr uintptr_t kWords = 2048;
  uintptr_t end = at + kWords * 8 < self.stackTop - 16 ? at + kWords * 8 : self.stackTop - 16;
  at = (at + 7) & ~uintptr_t{7};
  auto word = [](uintptr_t a) { return *reinterpret_cast<const uintptr_t*>(a); };
  while (at < end && !inInstrumented(word(at))) at += 8;
  if (at >= end) return;
  worker->frames[worker->frame_count++] = word(at);
  for (at += 8; at < end; at += 8)
    if (word(at) > at && word(at) < self.stackTop && inInstrumented(word(at + 8))) return void(keepChain(at, at));
}

// A trapped program has unwind tables instead of frame pointers.
void keepUnwound(const Frame& from) {
  uint32_t& n = worker->frame_count;
  n += uint32_t(unwind(from, self.stackLow, self.stackTop, worker->frames + n, int(BLACKOUT_MAX_RUN_FRAMES - n)));
}

// Whether the frames of an end of this kind are to be kept: they tell more than what is there. A first process that
// exits with its child's code only passes it on.
bool tellsMore(uint32_t kind, int code) {
  if (kind == BLACKOUT_END_EXIT && !firstOfRun) kind = BLACKOUT_END_CHILD_EXIT;
  bool passedOn = kind == BLACKOUT_END_EXIT && worker->end_kind == BLACKOUT_END_CHILD_EXIT && worker->end_code == code;
  if (worker->frame_count != 0 && (kind <= worker->end_kind || passedOn)) return false;
  worker->end_kind = kind;
  worker->end_code = code;
  worker->frame_count = 0;
  return true;
}

// Where a signal found the run: the stack by frame pointers, from the interrupted instruction up.
void fatal(int signal, siginfo_t* info, void* context) {
  auto* u = static_cast<ucontext_t*>(context);
  if (tellsMore(BLACKOUT_END_FATAL, 0)) {
    auto pc = uintptr_t(u->uc_mcontext.gregs[REG_RIP]);
    auto low = uintptr_t(u->uc_mcontext.gregs[REG_RSP]);
    worker->frames[0] = pc;
    worker->frame_count = 1;
    if (plainCode)
      keepUnwound(frameOf(*u));
    else if (traced && !inInstrumented(pc))
      keepScanned(low);
    else
      keepChain(uintptr_t(u->uc_mcontext.gregs[REG_RBP]), low);
    if (info->si_code > 0) worker->fault_address = reinterpret_cast<uint64_t>(info->si_addr);
  }
  // The handler is gone (SA_RESETHAND): a fault comes again by itself, what somebody sent is sent again.
  if (info->si_code <= 0) syscall(SYS_tgkill, syscall(SYS_getpid), syscall(SYS_gettid), signal);
}

void watchSignals() {
  stack_t stack{};
  stack.ss_sp = handlerStack;
  stack.ss_size = sizeof handlerStack;
  sigaltstack(&stack, nullptr);
  struct sigaction action{};
  action.sa_sigaction = fatal;
  action.sa_flags = SA_SIGINFO | SA_ONSTACK | int(SA_RESETHAND) | SA_NODEFER;
  const int signals[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT, SIGTRAP, SIGSYS};
  for (int s : signals) sigaction(s, &action, nullptr);
}

// Which words of BLACKOUT_OPTIONS are of use to a program that joins the run.
bool forChildren(const char* word) {
  const char* const ours[] = {"zygote=", "shadow=", "trace=", "drive="};
  for (const char* zygotes : ours)
    if (strncmp(word, zygotes, strlen(zygotes)) == 0) return false;
  return true;
}
// To a client no path is a pool, and no heap is persistent.
bool forClients(const char* word) { return strncmp(word, "pin=", 4) == 0 || strncmp(word, "before=", 7) == 0; }

// What the run's children are started with: they join the run instead of becoming zygotes.
void setEnvironment(bool (*wanted)(const char* word), const char* more) {
  const char* words = getenv("BLACKOUT_OPTIONS");
  size_t n = 0;
  auto put = [&](const char* text, size_t size) {
    if (n + size + 1 >= sizeof optionsText) return;
    memcpy(optionsText + n, text, size);
    n += size;
    optionsText[n] = '\0';
  };
  for (const char* w = words; w != nullptr && *w != '\0';) {
    const char* end = strchrnul(w, ':');
    if (wanted(w) && end > w) {
      put(w, size_t(end - w));
      put(":", 1);
    }
    w = *end == '\0' ? end : end + 1;
  }
  put(more, strlen(more));
  put("worker=", 7);
  for (const char* c = workerFolder; *c != '\0'; ++c) {
    if (*c == ':' || *c == '%') {
      char code[4];
      snprintf(code, sizeof code, "%%%02X", static_cast<unsigned char>(*c));
      put(code, 3);
    } else {
      put(c, 1);
    }
  }
  setenv("BLACKOUT_OPTIONS", optionsText, 1);
}

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

// A pipe whose writing end is the standard output and error of all runs; the reading end comes back.
int makeOutput() {
  int out, writes;
  makePipe(out, writes);
  syscall(SYS_dup2, writes, 2);
  moveTo(writes, 1);
  if (options.input == nullptr) moveTo(int(syscall(SYS_openat, AT_FDCWD, "/dev/null", O_RDONLY)), 0);
  return out;
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
pid_t startDriver(pid_t run, int socket, int output) {
  client.size = 0;
  if (client.command[0] == nullptr) return -1;
  pid_t driver = BLACKOUT_REAL(fork)();
  if (driver != 0) return driver;
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (syscall(SYS_getppid) != workerProcess) syscall(SYS_exit_group, 1);
  syscall(SYS_close, socket);
  syscall(SYS_close, output);
  setEnvironment(forClients, "client=1:");
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

// What a run looks up is looked up once for all of them.
void lookUpCommon() {
  lookUp<"openat">(), lookUp<"close">(), lookUp<"read">(), lookUp<"write">(), lookUp<"exit">(), lookUp<"fcntl">();
  lookUp<"fopen">(), lookUp<"fclose">(), lookUp<"fflush">(), lookUp<"msync">(), lookUp<"pthread_mutex_lock">();
  lookUp<"pthread_mutex_unlock">(), lookUp<"pread">(), lookUp<"fork">();
  lookUpVersion<"realpath", "GLIBC_2.3">();
}

// In the new process: everything is set up, and the program begins.
void beginRun(int socket, int output) {
  const int ours[] = {socket, output, client.reads, client.writes};
  for (int fd : ours)
    if (fd >= 0) syscall(SYS_close, fd);
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  // The worker may have gone before that.
  if (syscall(SYS_getppid) != workerProcess) syscall(SYS_exit_group, 1);
  syscall(SYS_setpgid, 0, 0);  // a signal to its group is not for the worker
  // A file is opened by each run: a descriptor's position would be shared.
  if (options.input != nullptr) {
    int in = int(syscall(SYS_openat, AT_FDCWD, options.input, O_RDONLY));
    if (in < 0) endRun(BLACKOUT_ENDED_BROKEN, "its standard input can't be opened", nullptr);
    moveTo(in, 0);
  }
  traced = worker->traced != 0;
  options.trace = traced ? tracePath : nullptr;
  self.tid = uint32_t(syscall(SYS_gettid));
}

int removeEntry(const char* path, const struct stat*, int type, FTW*) {
  syscall(SYS_unlinkat, AT_FDCWD, path, type == FTW_DP || type == FTW_D ? AT_REMOVEDIR : 0);
  return 0;
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

// What is left in the pipes; the client's words come last.
void keepRest(int output) {
  keepOutput(output, worker->output, worker->output_size, true);
  if (client.reads < 0) return;
  keepOutput(client.reads, client.output, client.size, true);
  uint64_t kept = client.size < BLACKOUT_MAX_OUTPUT ? client.size : BLACKOUT_MAX_OUTPUT;
  uint64_t at = worker->output_size;
  if (at < BLACKOUT_MAX_OUTPUT)
    memcpy(worker->output + at, client.output, kept < BLACKOUT_MAX_OUTPUT - at ? kept : BLACKOUT_MAX_OUTPUT - at);
  worker->output_size += client.size;
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

// How often a trapped run is looked at.
constexpr int kLookMs = 250;
uint64_t processorMs(pid_t process) {
  struct timespec t{};
  clockid_t clock = (~clockid_t(process) << 3) | 2;  // as clock_getcpuclockid()
  if (syscall(SYS_clock_gettime, clock, &t) != 0) return 0;
  return uint64_t(t.tv_sec) * 1000 + uint64_t(t.tv_nsec) / 1000000;
}

// Waits for the run, and for its client if it has one; false if the tool is gone.
bool waitForRun(pid_t run, pid_t driver, int socket, int output) {
  int process = int(syscall(SYS_pidfd_open, run, 0));
  int driverProcess = driver < 0 ? -1 : int(syscall(SYS_pidfd_open, driver, 0));
  uint64_t deadline = 0;  // known once there was something to wait for twice
  int left = worker->timeout_ms == 0 ? -1 : int(worker->timeout_ms);
  bool present = true;
  bool ended = false;
  pollfd fds[5] = {{process, POLLIN, 0},
                   {output, POLLIN, 0},
                   {socket, POLLIN, 0},
                   {driverProcess, POLLIN, 0},
                   {client.reads, POLLIN, 0}};
  for (;;) {
    // Steps of a trapped run are not all counted. One that computes for a fifth of the time that it has hangs; one that
    // waits may wait for anything.
    bool looks = plainCode && !ended && worker->timeout_ms != 0;
    int patience = looks && left > kLookMs ? kLookMs : left;
    long r = syscall(SYS_poll, fds, 5, patience);
    if (looks && processorMs(run) > worker->timeout_ms / 5) {
      worker->ended = BLACKOUT_ENDED_HUNG;
      break;
    }
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
    if (r == 0 && patience == left) {
      // A server that failed has, though its client waits for it.
      if (!ended || (worker->wait_status == 0 && worker->ended == 0)) worker->ended = BLACKOUT_ENDED_TIMEOUT;
      break;
    }
    if (worker->timeout_ms != 0) {
      uint64_t now = milliseconds();
      if (deadline == 0) deadline = now + worker->timeout_ms;
      left = now >= deadline ? 0 : int(deadline - now);
    }
  }
  if (!ended) {
    syscall(SYS_kill, run, SIGKILL);
    syscall(SYS_wait4, run, &worker->wait_status, 0, nullptr);
  }
  if (process >= 0) syscall(SYS_close, process);
  if (driverProcess >= 0) syscall(SYS_close, driverProcess);
  endChildren();
  if (driver >= 0) joinStatus();
  return present;
}

// Serves runs until the tool goes. Returns in each run.
void beWorker(int socket) {
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  prctl(PR_SET_CHILD_SUBREAPER, 1);
  workerProcess = syscall(SYS_getpid);
  mapControl();
  worker->process = uint32_t(workerProcess);
  mapSeen();
  snprintf(tracePath, sizeof tracePath, "%s/trace", workerFolder);
  snprintf(shadowPath, sizeof shadowPath, "%s/pools", workerFolder);
  options.shadow = shadowPath;
  char table[4200];
  snprintf(table, sizeof table, "%s/table", workerFolder);
  attachTable(table);
  beginThread();
  watchSignals();
  setEnvironment(forChildren, "");
  lookUpCommon();
  int output = makeOutput();
  makeClient();
  char own[4200];
  snprintf(own, sizeof own, "%s/run", workerFolder);
  for (;;) {
    unsigned char b;
    if (readByte(socket, b) != 1) syscall(SYS_exit_group, 0);
    worker->steps = worker->query_count = worker->output_size = worker->fault_address = 0;
    worker->ended = worker->used = worker->owns = worker->frame_count = worker->instrumented = 0;
    worker->listening = 0;
    memset(worker->history, 0,
           worker->history_size < BLACKOUT_MAX_HISTORY ? worker->history_size : BLACKOUT_MAX_HISTORY);
    worker->history_size = worker->history_threads = 0;
    worker->drive = {};
    worker->text[0] = worker->notes[0] = worker->unseen[0] = '\0';
    worker->end_kind = 0;
    pid_t run = BLACKOUT_REAL(fork)();
    if (run == 0) return beginRun(socket, output);
    if (run < 0) {
      worker->ended = BLACKOUT_ENDED_BROKEN;
      snprintf(worker->text, sizeof worker->text, "no process can be made: %s", strerror(errno));
    } else if (!waitForRun(run, startDriver(run, socket, output), socket, output)) {
      syscall(SYS_exit_group, 0);
    }
    keepRest(output);
    if (worker->owns != 0 || options.drive != nullptr) nftw(own, removeEntry, 16, FTW_DEPTH | FTW_PHYS);
    if (syscall(SYS_write, socket, &b, 1) != 1) syscall(SYS_exit_group, 0);
  }
}

}  // namespace

void becomeZygote() {
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  syscall(SYS_setsid);
  int first = int(options.sockets);
  int count = int(options.workers);
  for (int i = 0; i <= count; ++i) syscall(SYS_fcntl, first + i, F_SETFD, FD_CLOEXEC);
  snprintf(folderText, sizeof folderText, "%s/plan", options.zygote);
  mapPlan(folderText);
  followRecorded();
  // Workers are nobody's to wait for.
  signal(SIGCHLD, SIG_IGN);
  for (;;) {
    unsigned char w;
    if (readByte(first, w) != 1) syscall(SYS_exit_group, 0);
    pid_t child = BLACKOUT_REAL(fork)();
    if (child == 0) {
      signal(SIGCHLD, SIG_DFL);
      for (int i = 0; i <= count; ++i)
        if (i != w + 1) syscall(SYS_close, first + i);
      snprintf(folderText, sizeof folderText, "%s/w%u", options.zygote, w);
      workerFolder = folderText;
      return beWorker(first + 1 + w);
    }
    syscall(SYS_close, first + 1 + w);
    if (child < 0 || syscall(SYS_write, first, &w, 1) != 1) syscall(SYS_exit_group, 3);
  }
}

void joinRun() {
  snprintf(folderText, sizeof folderText, "%s", options.worker);
  workerFolder = folderText;
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  mapControl();
  firstOfRun = worker->process == uint32_t(syscall(SYS_getppid));
  snprintf(tracePath, sizeof tracePath, "%s/../plan", workerFolder);
  mapPlan(tracePath);
  mapSeen();
  snprintf(tracePath, sizeof tracePath, "%s/trace", workerFolder);
  char table[4200];
  snprintf(table, sizeof table, "%s/run/table", workerFolder);
  struct stat st;
  bool isClient = options.client != 0;
  bool owns = !isClient && syscall(SYS_newfstatat, AT_FDCWD, table, &st, 0) == 0;
  if (owns || isClient) joinOwnPools();
  if (isClient) {
    worker->owns = 1;  // there are files of the run's own, or may be soon
    worker->step_limit = UINT64_MAX;
  }
  // Otherwise it was started past us (a sanitizer starts its symbolizer so): it has the image, as every run has.
  if (!owns) snprintf(table, sizeof table, "%s/table", workerFolder);
  snprintf(shadowPath, sizeof shadowPath, owns ? "%s/run/pools" : "%s/pools", workerFolder);
  options.shadow = shadowPath;
  traced = worker->traced != 0 && owns;
  options.trace = traced ? tracePath : nullptr;
  if (!traced) attachTable(table);
  beginThread();
  watchSignals();
}

void noteEnd(uint32_t kind, int code, const void* frame) {
  if (!tellsMore(kind, code)) return;
  if (plainCode && (frame != nullptr || self.trapped != nullptr)) {
    Stack stack;
    if (self.trapped != nullptr)
      stack = *self.trapped;
    else
      walkCallers(stack, frame);
    worker->frame_count = uint32_t(stack.count);
    memcpy(worker->frames, stack.frames, size_t(stack.count) * sizeof(uint64_t));
  } else if (frame != nullptr) {
    keepChain(reinterpret_cast<uintptr_t>(frame), self.stackLow);
  }
}

void endRun(uint32_t how, const char* text, const void* frame) {
  noteEnd(BLACKOUT_END_FATAL, 0, frame);
  snprintf(worker->text, sizeof worker->text, "%s", text);
  worker->ended = how;
  syscall(SYS_exit_group, 0);
  __builtin_unreachable();
}

}  // namespace blackout::rt

using namespace blackout::rt;

// Where the program gave up.
BLACKOUT_EXPORT __attribute__((noreturn)) void exit(int status) {
  if (recovering() && status != 0) noteEnd(BLACKOUT_END_EXIT, status & 0xff, BLACKOUT_FRAME());
  BLACKOUT_REAL(exit)(status);
  __builtin_unreachable();
}
