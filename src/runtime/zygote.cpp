// The fork server of recovery runs: zygote, workers, runs. It runs as the first constructor, before
// anything of the program, so a run is a fork and goes on into the program as if it had just been started. A worker
// has one run at a time, waits for it (run_wait.cpp) and cleans up after it.

#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "events/address_map.h"
#include "runtime/modules.h"
#include "runtime/options.h"
#include "runtime/real.h"
#include "runtime/recorder.h"
#include "runtime/recovery.h"
#include "runtime/run_worker.h"
#include "runtime/trap/learned.h"
#include "runtime/trap/pages.h"
#include "runtime/trap/trap.h"

namespace blackout::rt {

namespace {

char folderText[4096];
char tracePath[4200];
char shadowPath[4200];

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
      fd < 0 ? MAP_FAILED
             : reinterpret_cast<void*>(syscall(SYS_mmap, kControlBase, sizeof(blackout_worker), PROT_READ | PROT_WRITE,
                                               options.client != 0 ? MAP_PRIVATE : MAP_SHARED, fd, 0L));
  if (fd >= 0) syscall(SYS_close, fd);
  if (p == MAP_FAILED) stop("the control block of a recovery can't be mapped:", path, 3);
  worker = static_cast<blackout_worker*>(p);
  // Our trouble, not the program's: it must not look like an exit of its own.
  toldOfStop = [](const char* line) { endRun(BLACKOUT_ENDED_BROKEN, line, nullptr); };
  if (worker->magic != BLACKOUT_WORKER_MAGIC || worker->version != BLACKOUT_RECOVERY_VERSION)
    stop("the control block of a recovery is of another version of Blackout:", path, 3);
}

void moveTo(int fd, int number) {
  if (fd == number || fd < 0) return;
  syscall(SYS_dup2, fd, number);
  syscall(SYS_close, fd);
}

// What a run looks up is looked up once for all of them.
void lookUpCommon() {
  lookUp<"openat">(), lookUp<"close">(), lookUp<"read">(), lookUp<"write">(), lookUp<"exit">(), lookUp<"fcntl">();
  lookUp<"fopen">(), lookUp<"fclose">(), lookUp<"fflush">(), lookUp<"msync">(), lookUp<"pthread_mutex_lock">();
  lookUp<"pthread_mutex_unlock">(), lookUp<"pread">(), lookUp<"fork">();
  lookUp<"clock_gettime">(), lookUp<"gettimeofday">(), lookUp<"time">(), lookUp<"getrandom">();
  lookUpVersion<"realpath", "GLIBC_2.3">();
}

// A file that never ends would fill the memory in which the run's files are. Inherited by the runs.
void boundFiles() {
  uint64_t largest = 0;
  const auto* base = reinterpret_cast<const char*>(plan);
  const auto* files = reinterpret_cast<const blackout_plan_file*>(base + plan->files);
  for (uint32_t i = 0; i < plan->file_count; ++i)
    if (files[i].lines * BLACKOUT_LINE > largest) largest = files[i].lines * BLACKOUT_LINE;
  const auto* mappings = reinterpret_cast<const blackout_plan_mapping*>(base + plan->mappings);
  for (uint32_t i = 0; i < plan->mapping_count; ++i)
    if (mappings[i].offset + mappings[i].size > largest) largest = mappings[i].offset + mappings[i].size;
  struct rlimit limit{};
  if (syscall(SYS_getrlimit, RLIMIT_FSIZE, &limit) != 0) return;
  uint64_t most = largest + BLACKOUT_MAX_GROWTH;
  if (limit.rlim_cur <= most) return;
  limit.rlim_cur = most;
  syscall(SYS_setrlimit, RLIMIT_FSIZE, &limit);
}

// In the new process: everything is set up, and the program begins.
void beginRun(int socket) {
  syscall(SYS_close, socket);
  closeOutputs();
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  // The worker may have gone before that.
  if (syscall(SYS_getppid) != long(worker->process)) syscall(SYS_exit_group, 1);
  syscall(SYS_setpgid, 0, 0);  // a signal to its group is not for the worker
  // A file is opened by each run: a descriptor's position would be shared.
  if (options.input != nullptr) {
    int in = int(syscall(SYS_openat, AT_FDCWD, options.input, O_RDONLY));
    if (in < 0) endRun(BLACKOUT_ENDED_BROKEN, "its standard input can't be opened", nullptr);
    moveTo(in, 0);
  }
  options.trace = worker->traced != 0 ? tracePath : nullptr;
  self.tid = uint32_t(syscall(SYS_gettid));
}

int removeEntry(const char* path, const struct stat*, int type, FTW*) {
  syscall(SYS_unlinkat, AT_FDCWD, path, type == FTW_DP || type == FTW_D ? AT_REMOVEDIR : 0);
  return 0;
}

// Serves runs until the tool goes. Returns in each run.
void beWorker(int socket) {
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  prctl(PR_SET_CHILD_SUBREAPER, 1);
  mapControl();
  worker->process = uint32_t(syscall(SYS_getpid));
  mapSeen();
  snprintf(tracePath, sizeof tracePath, "%s/trace", workerFolder);
  snprintf(shadowPath, sizeof shadowPath, "%s/pools", workerFolder);
  options.shadow = shadowPath;
  char table[4200];
  snprintf(table, sizeof table, "%s/table", workerFolder);
  attachTable(table);
  role = Role::Restart;
  beginThread();
  watchSignals();
  setRunEnvironment();
  lookUpCommon();
  makeOutputs();
  takeFaults();
  boundFiles();
  char own[4200];
  snprintf(own, sizeof own, "%s/run", workerFolder);
  for (;;) {
    unsigned char b;
    if (readByte(socket, b) != 1) syscall(SYS_exit_group, 0);
    worker->steps = worker->query_count = worker->output_size = worker->fault_address = 0;
    worker->ended = worker->used = worker->owns = worker->frame_count = worker->instrumented = 0;
    worker->listening = worker->asks = 0;
    worker->waiting_count = worker->names_made = 0;
    memset(worker->history, 0,
           worker->history_size < BLACKOUT_MAX_HISTORY ? worker->history_size : BLACKOUT_MAX_HISTORY);
    worker->history_size = worker->history_threads = 0;
    worker->drive = {};
    worker->text[0] = worker->notes[0] = worker->unseen[0] = '\0';
    worker->end_kind = 0;
    worker->exec_began = worker->exec_time = 0;
    beginTurns();
    pid_t run = BLACKOUT_REAL(fork)();
    if (run == 0) return beginRun(socket);
    if (run < 0) {
      worker->ended = BLACKOUT_ENDED_BROKEN;
      snprintf(worker->text, sizeof worker->text, "no process can be made: %s", strerror(errno));
    } else if (!waitForRun(run, socket)) {
      syscall(SYS_exit_group, 0);
    }
    keepRest();
    applyLearned(false);
    if (worker->owns != 0 || options.drive != nullptr)
      BLACKOUT_REAL_VERSION(nftw, "GLIBC_2.3.3")(own, removeEntry, 16, FTW_DEPTH | FTW_PHYS);
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
  shareLearned();
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
  if (uint64_t began = __atomic_exchange_n(&worker->exec_began, 0, __ATOMIC_RELAXED); began != 0)
    __atomic_fetch_add(&worker->exec_time, realNanoseconds() - began, __ATOMIC_RELAXED);
  snprintf(tracePath, sizeof tracePath, "%s/../plan", workerFolder);
  mapPlan(tracePath);
  mapSeen();
  snprintf(tracePath, sizeof tracePath, "%s/trace", workerFolder);
  char table[4200];
  snprintf(table, sizeof table, "%s/run/table", workerFolder);
  struct stat st;
  bool isClient = options.client != 0;
  bool owns = !isClient && syscall(SYS_newfstatat, AT_FDCWD, table, &st, 0) == 0;
  if (owns || isClient) privatePools = true;
  if (isClient) {
    worker->owns = 1;  // there are files of the run's own, or may be soon
    worker->step_limit = UINT64_MAX;
  }
  // Otherwise it was started past us (a sanitizer starts its symbolizer so): it has the image, as every run has.
  if (!owns) snprintf(table, sizeof table, "%s/table", workerFolder);
  snprintf(shadowPath, sizeof shadowPath, owns ? "%s/run/pools" : "%s/pools", workerFolder);
  options.shadow = shadowPath;
  options.trace = worker->traced != 0 && owns ? tracePath : nullptr;
  if (options.trace == nullptr) {
    attachTable(table);
    role = isClient ? Role::Client : Role::Restart;
  }
  beginThread();
  watchSignals();
}

}  // namespace blackout::rt
