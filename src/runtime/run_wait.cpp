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
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "runtime/blocked.h"
#include "runtime/drive.h"
#include "runtime/held_thread.h"
#include "runtime/loop_proof.h"
#include "runtime/options.h"
#include "runtime/processes.h"
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

uint64_t milliseconds() { return realNanoseconds() / 1000000; }

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

bool mapsPool(pid_t process) {
  const auto* base = reinterpret_cast<const char*>(plan);
  const auto* mappings = reinterpret_cast<const blackout_plan_mapping*>(base + plan->mappings);
  char path[64], line[4400];
  snprintf(path, sizeof path, "/proc/%d/maps", int(process));
  FILE* maps = fopen(path, "re");
  bool found = false;
  while (maps != nullptr && !found && fgets(line, sizeof line, maps) != nullptr) {
    char* at = line;
    uint64_t begin = strtoull(at, &at, 16), end = strtoull(at + 1, &at, 16);
    for (uint32_t i = 0; i < plan->mapping_count && !found; ++i)
      found = begin < mappings[i].address + mappings[i].size && mappings[i].address < end;
  }
  if (maps != nullptr) fclose(maps);
  return found;
}

// Processes that a run has left behind, which came to us, still do what it began: they are waited for while they work.
// Those that sleep are ended; what one of them would have done to a pool is not seen, which is said once. Nor is it
// known what it means that one of them failed, for whom nobody waits.
void waitForLeft() {
  static bool said = false;
  auto say = [](const char* what) {
    said = true;
    unseen("A restart does what is not followed:", what);
  };
  // One sentence, whether the process went with the run's group or had left it and was found asleep: which of them it
  // is depends on who came first.
  constexpr const char* kEndedWithIt =
      "it leaves a process behind, which was ended with it, and what that would have done was not seen; let it wait "
      "for its children";
  constexpr uint64_t kAsleepMs = 1000;
  uint64_t begin = milliseconds(), since = begin, ranBefore = 0;
  for (unsigned looks = 0;; ++looks) {
    int status;
    long gone;
    while ((gone = syscall(SYS_wait4, -1, &status, WNOHANG | __WALL, nullptr)) > 0) {
      int signal = WIFSIGNALED(status) ? WTERMSIG(status) : 0;
      bool failed = signal == 0 ? WEXITSTATUS(status) != 0
                                : signal == SIGSEGV || signal == SIGBUS || signal == SIGABRT || signal == SIGILL ||
                                      signal == SIGFPE;
      // Who was executed by a process of the run is killed with it.
      if (signal == SIGKILL && !said) say(kEndedWithIt);
      if (failed && !said)
        say("it leaves a process behind that failed, and nobody waited for it, so that says nothing of the restart; "
            "let it wait for its children");
    }
    if (gone < 0 || said) return;
    keepOutput(output, worker->output, worker->output_size, false);
    uint64_t ran = 0;
    bool asleep = true, any = false, mapped = false;
    uint64_t now = milliseconds();
    bool due = now - since >= kAsleepMs || now - begin >= worker->timeout_ms;
    auto look = [&](pid_t process) {
      forEachThread(process, [&](pid_t thread) {
        char state = stateOf(process, thread);
        if (state == 'Z' || state == 'X') return;
        any = true;
        asleep &= state == 'S' || state == 'T';
        ran += switchesOf(process, thread) + uint64_t(thread);
      });
      if (due) mapped |= mapsPool(process);
    };
    forEachBelow(pid_t(syscall(SYS_getpid)), 0, look);
    if (!any) continue;
    if (!asleep || ran != ranBefore) since = now;
    ranBefore = ran;
    if (now - since < kAsleepMs && now - begin < worker->timeout_ms) {
      struct timespec moment{0, looks < 20 ? 200000 : 5000000};
      syscall(SYS_nanosleep, &moment, nullptr);
      continue;
    }
    if (!mapped) return;
    return say(kEndedWithIt);
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
    RunLook look = ended ? RunLook{} : lookAt(run_, driver_, talks());
    charge(now - lookedAt_, look);
    lookedAt_ = now;
    if (!ended && takesTooMuch(look)) return true;
    if (!ended && stuck(last_, look) && nobodyElseWakes(look)) return waitsForEver(look);
    last_ = look;
    if (!ended && (endsAsKnown(look) || loopsForEver(look))) return true;
    if (!ended) lookedAt_ = milliseconds();  // what the worker took to look is not the run's time
    if (worker->timeout_ms == 0 || charged_ < worker->timeout_ms) return false;
    // A server that failed has, though its client waits for it.
    if (!ended || (worker->wait_status == 0 && worker->ended == 0)) timeIsOver(look);
    return true;
  }

  // It has ended, and between two looks it may have had more than it may, whatever they saw.
  static void hadTooMuch(const struct rusage& usage) {
    // Of its files some are in memory as well, and what it began with.
    constexpr uint64_t kBesides = uint64_t{64} << 20;
    if (worker->ended == 0 && uint64_t(usage.ru_maxrss) << 10 > memoryBound() + kBesides) {
      worker->ended = BLACKOUT_ENDED_BOUND;
      tellMemory();
    }
  }

  // It printed for ever.
  void printedTooMuch() {
    constexpr char kText[] = "it printed %u MiB";
    snprintf(worker->text, sizeof worker->text, kText, BLACKOUT_MAX_PRINTED >> 20);
    atBound(lookAt(run_, driver_, talks()));
  }
  // Until the next look.
  int pauseMs() const { return int(pauseMs_); }

 private:
  bool talks() const {
    return driver_ >= 0 && __atomic_load_n(&worker->drive.state, __ATOMIC_ACQUIRE) == BLACKOUT_DRIVE_TALKS;
  }
  // A server that waits for its client's next words is not stuck. It is if one of its threads waits for a lock and the
  // client, too, waits for ever, or if none of its threads has come so far and no client will help. A client that has
  // ended is followed by SIGTERM, whose handler may change anything.
  bool nobodyElseWakes(const RunLook& look) const {
    if (driver_ < 0) return true;
    if (!look.forLock) return false;
    // A signal by the clock may end any wait.
    if (talks()) return look.client != 0 && (worker->used & BLACKOUT_USED_TIMERS) == 0;
    return __atomic_load_n(&worker->drive.state, __ATOMIC_ACQUIRE) == BLACKOUT_DRIVE_WAITS &&
           look.byOwn == look.threads;
  }
  // The same for one thread that computes while all others wait.
  bool nobodyElseChanges(const RunLook& look) const {
    if (driver_ < 0) return true;
    if (talks()) return look.client != 0 && look.clientBlocked == look.client;
    return __atomic_load_n(&worker->drive.state, __ATOMIC_ACQUIRE) == BLACKOUT_DRIVE_WAITS &&
           look.byOwn == look.blocked;
  }

  // Time in which others had the processors is not the run's. How long a thread waited for one is told only when it
  // gets it, which may be many looks later: until then, whoever could run and does not is waiting.
  void charge(uint64_t passed, const RunLook& look) {
    auto grown = [](uint64_t before, uint64_t after) { return after > before ? after - before : 0; };
    passed_ += passed;
    queued_ += grown(last_.queuedMs, look.queuedMs);
    // Nor is time in which its output waits for us to read it.
    constexpr uint64_t kPipe = 65536;
    if (grown(printed_, worker->output_size) >= kPipe / 2) queued_ += passed;
    printed_ = worker->output_size;
    if (queued_ > passed_) queued_ = passed_;
    uint64_t computed = grown(last_.computedMs, look.computedMs);
    computed_ += computed;
    if (computed != 0 || !look.computes) ranAt_ = passed_;
    uint64_t waited = queued_ + (passed_ - ranAt_);
    charged_ = passed_ > waited ? passed_ - waited : 0;
    if (charged_ < computed_) charged_ = computed_;
  }

  bool waitsForEver(const RunLook& look) {
    worker->ended = BLACKOUT_ENDED_HUNG;
    // The place follows.
    snprintf(worker->text, sizeof worker->text,
             look.threads == 1 ? "nobody is left to wake it, and it waits for %s"
                               : "nobody is left to wake any of its threads, and one waits for %s",
             look.waits.what);
    ThreadId told[RunLook::kMostWaiting + 1];
    size_t count = 0;
    auto tell = [&](const ThreadId& thread) {
      worker->frame_count = 0;
      HeldThread held(thread);
      if (held.held()) held.tellPlace();
      told[count++] = thread;
    };
    size_t kept = look.blocked < RunLook::kMostWaiting ? look.blocked : RunLook::kMostWaiting;
    static_assert(RunLook::kMostWaiting == BLACKOUT_MAX_WAITING);
    // The most telling one comes last: its place is the run's.
    size_t most = kept;
    for (size_t i = 0; i < kept; ++i) {
      if (look.waiting[i].id.thread == look.waits.id.thread)
        most = i;
      else
        tell(look.waiting[i].id), keepWaiting(i, look.waiting[i].what);
    }
    tell(look.waits.id);
    if (most < kept) keepWaiting(most, look.waits.what);
    worker->waiting_count = look.blocked;
    endTold(told, count);
    return true;
  }
  static void keepWaiting(size_t at, const char* what) {
    blackout_waiting& w = worker->waiting[at];
    snprintf(w.what, sizeof w.what, "%s", what);
    w.frame_count = worker->frame_count;
    memcpy(w.frames, worker->frames, sizeof w.frames);
  }

  static void atBound(const RunLook& look) {
    worker->ended = BLACKOUT_ENDED_BOUND;
    ThreadId thread = look.goes.thread != 0 ? look.goes : look.waits.id;
    HeldThread held(thread);
    if (!held.held()) return;
    held.tellPlace();
    endTold(&thread, 1);
  }

  bool takesTooMuch(const RunLook& look) {
    // One of its processes said so, and others may go on for ever.
    if (worker->ended == BLACKOUT_ENDED_BROKEN || worker->ended == BLACKOUT_ENDED_BOUND) return true;
    uint64_t most = memoryBound();
    // It may soon be there, and every further page takes time.
    if (look.memory > most / 4) pauseMs_ = kFirstMs;
    if (look.memory > most)
      tellMemory();
    else if (look.threads > BLACKOUT_MAX_TASKS)
      snprintf(worker->text, sizeof worker->text, "it has %u threads and processes", BLACKOUT_MAX_TASKS);
    else
      return false;
    atBound(look);
    return true;
  }
  static void tellMemory() {
    snprintf(worker->text, sizeof worker->text, "it has %llu MiB of memory besides its pools",
             static_cast<unsigned long long>(worker->memory_limit >> 20));
  }
  // What it stores to its pools is memory of its own.
  static uint64_t memoryBound() {
    const auto* base = reinterpret_cast<const char*>(plan);
    const auto* files = reinterpret_cast<const blackout_plan_file*>(base + plan->files);
    const auto* mappings = reinterpret_cast<const blackout_plan_mapping*>(base + plan->mappings);
    uint64_t known = 0, mapped = 0;
    for (uint32_t i = 0; i < plan->file_count; ++i) known += files[i].lines * BLACKOUT_LINE;
    for (uint32_t i = 0; i < plan->mapping_count; ++i) mapped += mappings[i].size;
    return worker->memory_limit + (known > mapped ? known : mapped);
  }

  // What leads to a hang that is known is over when nothing more is observed.
  bool endsAsKnown(const RunLook& look) {
    constexpr uint64_t kQuietMs = 300;
    if (worker->hangs == 0) return false;
    if (worker->query_count != queries_) queries_ = worker->query_count, quietSinceMs_ = look.computedMs;
    if (look.computedMs < quietSinceMs_ + kQuietMs) return false;
    worker->ended = BLACKOUT_ENDED_TIMEOUT;
    return true;
  }

  // One thread computes, and all others wait for it: can it ever do anything else? That is tried after some time,
  // sooner where another run was seen to loop, and when it is over its steps.
  bool loopsForEver(const RunLook& look) {
    uint32_t asks = __atomic_load_n(&worker->asks, __ATOMIC_ACQUIRE);
    bool asked = asks != 0 && asks < BLACKOUT_ASKS_TRIED;
    bool shown = asked ? isAlone(look) && uint32_t(look.goes.thread) == asks && showOver(look.goes)
                       : mayLoop(look) && show(look);
    if (asked && !shown) __atomic_store_n(&worker->asks, BLACKOUT_ASKS_DENIED, __ATOMIC_RELEASE);
    return shown;
  }
  bool isAlone(const RunLook& look) const {
    return look.blocked + 1 == look.threads && (worker->used & BLACKOUT_USED_TIMERS) == 0 && nobodyElseChanges(look);
  }
  bool mayLoop(const RunLook& look) const { return look.computes && isAlone(look); }
  bool show(const RunLook& look) {
    bool due = look.computedMs >= proofAtMs_;
    if (!due && !anyLoopKnown()) return false;
    HeldThread held(look.goes);
    if (!held.held()) return false;
    unsigned known = knownLoopAt(held);
    if (!due && known == 0) return false;
    // On a busy machine there were fewer looks: those that were left out made this one larger.
    for (; proofAtMs_ <= look.computedMs / 2 && instructions_ < kMostInstructions; proofAtMs_ *= 2) instructions_ *= 2;
    unsigned most = known * 2 > instructions_ ? known * 2 : instructions_;
    if (due) {
      proofAtMs_ = look.computedMs * 2;
      if (instructions_ < kMostInstructions) instructions_ *= 2;
    }
    return show(held, most);
  }
  // It sleeps until it is told to go on, and is held before it is told: past its limit it makes no step that is not
  // looked at, so it can't end before the answer is there.
  static bool showOver(const ThreadId& thread) {
    HeldThread held(thread);
    if (!held.held()) return false;
    __atomic_store_n(&worker->asks, BLACKOUT_ASKS_TRIED, __ATOMIC_RELEASE);
    if (show(held, kOverInstructions)) return true;
    __atomic_store_n(&worker->asks, BLACKOUT_ASKS_DENIED, __ATOMIC_RELEASE);
    return false;
  }
  static bool show(HeldThread& held, unsigned instructions) {
    if (!rt::loopsForEver(held, instructions)) return false;
    worker->ended = BLACKOUT_ENDED_HUNG;
    snprintf(worker->text, sizeof worker->text, "its registers and memory repeat, so it loops for ever");
    held.tellPlace();
    endTold(&held.id(), 1);
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
  uint64_t proofAtMs_ = 100;
  static constexpr unsigned kMostInstructions = 160000;
  static constexpr unsigned kOverInstructions = 10000;
  unsigned instructions_ = 2000;
  // Most runs are over before the first look.
  static constexpr uint64_t kFirstMs = 20;
  static constexpr uint64_t kMostMs = 160;
  uint64_t pauseMs_ = anyLoopKnown() ? kFirstMs / 4 : kFirstMs;
  uint64_t lookedAt_ = 0;
  uint64_t queries_ = 0;
  uint64_t quietSinceMs_ = 0;
  uint64_t passed_ = 0;    // since the run began, but for what the worker took to look
  uint64_t queued_ = 0;    // of it, in which the run waited for a processor
  uint64_t computed_ = 0;  // and had one
  uint64_t ranAt_ = 0;     // how much had passed when it was last seen to have one, or to want none
  uint64_t printed_ = 0;   // by the last look
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

// How the run ended, which whoever held it may have been told before us.
static void endsOf(pid_t run, struct rusage& usage) {
  int status = 0;
  if (syscall(SYS_wait4, run, &status, 0, &usage) != run) endedWhileHeld(run, status, usage);
  worker->wait_status = status;
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
      struct rusage usage{};
      endsOf(run, usage);
      Watch::hadTooMuch(usage);
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
    struct rusage usage{};
    syscall(SYS_kill, run, SIGKILL);
    endsOf(run, usage);
  }
  if (worker->ended == 0 && WIFSIGNALED(worker->wait_status) && WTERMSIG(worker->wait_status) == SIGXFSZ) {
    worker->ended = BLACKOUT_ENDED_BOUND;
    snprintf(worker->text, sizeof worker->text, "it made a file %llu GiB larger than the largest pool",
             BLACKOUT_MAX_GROWTH >> 30);
  }
  if (process >= 0) syscall(SYS_close, process);
  if (driverProcess >= 0) syscall(SYS_close, driverProcess);
  if (ended && present && driver < 0 && worker->ended == 0 && worker->wait_status == 0) waitForLeft();
  endChildren();
  if (driver >= 0) joinStatus();
  return present;
}

}  // namespace blackout::rt
