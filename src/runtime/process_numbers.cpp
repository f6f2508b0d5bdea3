// See process_numbers.h. Not translated: si_pid of a SIGCHLD handler, l_pid of F_GETLK, SCM_CREDENTIALS.

#include "runtime/process_numbers.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "runtime/outside.h"
#include "runtime/pinned.h"
#include "runtime/real.h"

namespace blackout::rt {

namespace {

constexpr pid_t kFirst = 1000;
constexpr pid_t kFirstThread = 100000;
constexpr int kMaxProcesses = 8192;
constexpr uint32_t kGone = UINT32_MAX;

// Shared by all processes of the run, below its folder, so that executed programs find it too. Entry i has the number
// kFirst + i. Entries are only ever added, so nobody needs a lock: the parent and the child both enter the child,
// and the second one finds it.
struct Table {
  uint64_t elapsed;  // the clock of whoever last made a process
  uint32_t real[kMaxProcesses];
};
Table* table = nullptr;

bool hasRealNumbers = false;
pid_t mine = kFirst;
pid_t parent = kFirst - 1;
pid_t threads = 0;
constinit thread_local __attribute__((tls_model("initial-exec"))) pid_t thread = 0;

uint32_t selfReal() { return uint32_t(syscall(SYS_getpid)); }

bool mapTable(bool make) {
  if (!isRestart()) {
    // A recording with pinned numbers: the processes that it forks have it in common.
    void* p = reinterpret_cast<void*>(
        syscall(SYS_mmap, nullptr, sizeof(Table), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1L, 0L));
    if (p == MAP_FAILED) return false;
    table = static_cast<Table*>(p);
    return true;
  }
  char path[PATH_MAX];
  snprintf(path, sizeof path, "%s/run", workerFolder);
  if (make) {
    syscall(SYS_mkdir, path, 0700);
    worker->owns = 1;
  }
  // A client's processes are not the run's.
  snprintf(path, sizeof path, "%s/run/processes%s", workerFolder, options.client != 0 ? "-of-client" : "");
  int fd = int(syscall(SYS_openat, AT_FDCWD, path, O_RDWR | O_CLOEXEC | (make ? O_CREAT : 0), 0600));
  if (fd < 0) return false;
  void* p = MAP_FAILED;
  if (!make || syscall(SYS_ftruncate, fd, sizeof(Table)) == 0)
    p = reinterpret_cast<void*>(syscall(SYS_mmap, nullptr, sizeof(Table), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0L));
  syscall(SYS_close, fd);
  if (p == MAP_FAILED) return false;
  table = static_cast<Table*>(p);
  return true;
}

int enter(uint32_t real) {
  for (int i = 0; i < kMaxProcesses; ++i) {
    uint32_t found = __atomic_load_n(&table->real[i], __ATOMIC_ACQUIRE);
    if (found == 0 &&
        __atomic_compare_exchange_n(&table->real[i], &found, real, false, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE))
      return i;
    if (found == real) return i;
  }
  if (!isRestart()) stop("the program makes more than 8192 processes; record it with --schedule system", nullptr, 3);
  endRun(BLACKOUT_ENDED_BROKEN, "a restart with more than 8192 processes", nullptr);
}

bool isEntered(uint32_t real) {
  for (int i = 0; table != nullptr && i < kMaxProcesses && table->real[i] != 0; ++i)
    if (table->real[i] == real) return true;
  return false;
}
// Whether it is a child that was made without libc.
bool isRealChild(pid_t number) {
  siginfo_t info;
  return hasRealNumbers && !isEntered(uint32_t(number)) &&
         syscall(SYS_waitid, P_PID, number, &info, WNOHANG | WNOWAIT | WEXITED | __WALL, nullptr) == 0;
}

// It was waited for: the kernel may give its number to another one.
void forget(pid_t number) {
  int i = number - kFirst;
  if (table != nullptr && i >= 0 && i < kMaxProcesses) __atomic_store_n(&table->real[i], kGone, __ATOMIC_RELEASE);
}

// An executed program: which process of the run it is.
__attribute__((constructor(102))) void joinNumbers() {
  if (!pinned() || options.worker == nullptr || !mapTable(false)) return;
  mine = kFirst + enter(selfReal());
  parent = pinnedNumber(pid_t(syscall(SYS_getppid)));
  setPinnedElapsed(table->elapsed);
}

pid_t nobody(int error) {
  errno = error;
  return -1;
}

// Sends to every process of the run; the kernel's groups hold others too.
int signalAll(int signal, bool meToo) {
  int r = -1;
  for (int i = 0; table != nullptr && i < kMaxProcesses && table->real[i] != 0; ++i) {
    uint32_t real = table->real[i];
    if (real != kGone && real != selfReal() && syscall(SYS_kill, real, signal) == 0) r = 0;
  }
  if (meToo) return int(syscall(SYS_kill, selfReal(), signal));
  if (r != 0) errno = ESRCH;
  return r;
}

pid_t threadNumber() {
  if (thread == 0) {
    bool first = syscall(SYS_gettid) == long(selfReal());
    thread = first ? mine : kFirstThread + __atomic_fetch_add(&threads, 1, __ATOMIC_RELAXED);
  }
  return thread;
}

// The group or session of a process: one's own if it isn't one of the run's.
pid_t groupNumber(long real) {
  if (real <= 0 || !pinned()) return pid_t(real);
  for (int i = 0; table != nullptr && i < kMaxProcesses && table->real[i] != 0; ++i)
    if (table->real[i] == uint32_t(real)) return kFirst + i;
  return kFirst;
}

pid_t wait_(pid_t pid, int* status, int flags, struct rusage* usage) {
  pid_t real = pid > 0 ? realNumber(pid) : pid;
  if (pid < -1) real = realNumber(-pid) < 0 ? kFirst - 1 : -realNumber(-pid);
  if (pid > 0 && real < 0) return nobody(ECHILD);
  int ignored;
  if (status == nullptr) status = &ignored;
  waitForChild(real, flags);
  pid_t ended = BLACKOUT_REAL(wait4)(real, status, flags, usage);
  if (ended <= 0 || !pinned()) return ended;
  if (hasRealNumbers && !isEntered(uint32_t(ended))) return ended;
  pid_t number = pinnedNumber(ended);
  if (!WIFSTOPPED(*status) && !WIFCONTINUED(*status)) forget(number);
  return number;
}

}  // namespace

void shareNumbers() {
  if (!pinned()) return;
  if (table == nullptr) {
    constexpr const char* kNone = "no table for the numbers of its processes";
    if (!mapTable(true) && !isRestart()) stop(kNone, nullptr, 3);
    if (table == nullptr) endRun(BLACKOUT_ENDED_BROKEN, kNone, nullptr);
    enter(selfReal());
  }
  table->elapsed = pinnedElapsed();
}

void numberChild() {
  if (!pinned() || table == nullptr) return;
  parent = mine;
  mine = kFirst + enter(selfReal());
  thread = mine;
}

void expectRealNumbers() { hasRealNumbers = true; }

pid_t pinnedNumber(pid_t real) {
  if (real <= 0 || !pinned()) return real;
  if (uint32_t(real) == selfReal()) return mine;
  if (table == nullptr) return kFirst - 1;
  // Whoever started the run is not in the table.
  if (syscall(SYS_getppid) == real && mine == kFirst) return kFirst - 1;
  return kFirst + enter(uint32_t(real));
}

pid_t realNumber(pid_t number) {
  if (number <= 0 || !pinned()) return number;
  if (number == mine || number == thread) return number == mine ? pid_t(selfReal()) : pid_t(syscall(SYS_gettid));
  int i = number - kFirst;
  uint32_t real = table == nullptr || i < 0 || i >= kMaxProcesses ? 0 : table->real[i];
  if (real != 0 && real != kGone) return pid_t(real);
  return isRealChild(number) ? number : -1;
}

}  // namespace blackout::rt

using namespace blackout::rt;

BLACKOUT_EXPORT pid_t getpid() noexcept { return pinned() ? mine : pid_t(syscall(SYS_getpid)); }
BLACKOUT_EXPORT pid_t getppid() noexcept { return pinned() ? parent : pid_t(syscall(SYS_getppid)); }
BLACKOUT_EXPORT pid_t gettid() noexcept { return pinned() ? threadNumber() : pid_t(syscall(SYS_gettid)); }

BLACKOUT_EXPORT int kill(pid_t pid, int signal) noexcept {
  if (!pinned()) return int(syscall(SYS_kill, pid, signal));
  if (pid == 0 || pid == -1 || pid == -kFirst) return signalAll(signal, pid != -1);
  pid_t real = realNumber(pid < 0 ? -pid : pid);
  if (real < 0) return nobody(ESRCH);
  return int(syscall(SYS_kill, pid < 0 ? -real : real, signal));
}
BLACKOUT_EXPORT int killpg(pid_t group, int signal) noexcept { return kill(group > 1 ? -group : 0, signal); }
BLACKOUT_EXPORT int tgkill(pid_t pid, pid_t tid, int signal) {
  pid_t process = realNumber(pid);
  pid_t real = realNumber(tid);
  if (process < 0 || real < 0) return nobody(ESRCH);
  return int(syscall(SYS_tgkill, process, real, signal));
}

BLACKOUT_EXPORT pid_t waitpid(pid_t pid, int* status, int flags) { return wait_(pid, status, flags, nullptr); }
BLACKOUT_EXPORT pid_t wait(int* status) { return wait_(-1, status, 0, nullptr); }
BLACKOUT_EXPORT pid_t wait3(int* status, int flags, struct rusage* usage) noexcept {
  return wait_(-1, status, flags, usage);
}
BLACKOUT_EXPORT pid_t wait4(pid_t pid, int* status, int flags, struct rusage* usage) noexcept {
  return wait_(pid, status, flags, usage);
}
BLACKOUT_EXPORT int waitid(idtype_t type, id_t id, siginfo_t* info, int flags) {
  if (type == P_PID || type == P_ALL) waitForChild(type == P_ALL ? -1 : pid_t(id), flags);
  if (!pinned()) return BLACKOUT_REAL(waitid)(type, id, info, flags);
  if (type == P_PID) {
    pid_t real = realNumber(pid_t(id));
    if (real < 0) return nobody(ECHILD);
    id = id_t(real);
  }
  siginfo_t room{};
  if (info == nullptr) info = &room;
  int r = BLACKOUT_REAL(waitid)(type, id, info, flags);
  if (r != 0 || info->si_pid == 0) return r;
  info->si_pid = pinnedNumber(info->si_pid);
  bool ended = info->si_code == CLD_EXITED || info->si_code == CLD_KILLED || info->si_code == CLD_DUMPED;
  if (ended && (flags & WNOWAIT) == 0) forget(info->si_pid);
  return r;
}

BLACKOUT_EXPORT pid_t getpgrp() noexcept { return groupNumber(syscall(SYS_getpgid, 0)); }
BLACKOUT_EXPORT pid_t getpgid(pid_t pid) noexcept {
  pid_t real = realNumber(pid);
  return real < 0 ? nobody(ESRCH) : groupNumber(syscall(SYS_getpgid, real));
}
BLACKOUT_EXPORT int setpgid(pid_t pid, pid_t group) noexcept {
  pid_t real = realNumber(pid);
  pid_t realGroup = realNumber(group);
  if (real < 0 || realGroup < 0) return nobody(ESRCH);
  return int(syscall(SYS_setpgid, real, realGroup));
}
BLACKOUT_EXPORT pid_t getsid(pid_t pid) noexcept {
  pid_t real = realNumber(pid);
  return real < 0 ? nobody(ESRCH) : groupNumber(syscall(SYS_getsid, real));
}
BLACKOUT_EXPORT pid_t setsid() noexcept { return groupNumber(syscall(SYS_setsid)); }

BLACKOUT_EXPORT int pidfd_open(pid_t pid, unsigned flags) noexcept {
  pid_t real = realNumber(pid);
  return real < 0 ? nobody(ESRCH) : int(syscall(SYS_pidfd_open, real, flags));
}
BLACKOUT_EXPORT int sched_setaffinity(pid_t pid, size_t size, const cpu_set_t* set) noexcept {
  pid_t real = realNumber(pid);
  return real < 0 ? nobody(ESRCH) : BLACKOUT_REAL_VERSION(sched_setaffinity, "GLIBC_2.3.4")(real, size, set);
}
BLACKOUT_EXPORT int sched_getaffinity(pid_t pid, size_t size, cpu_set_t* set) noexcept {
  pid_t real = realNumber(pid);
  return real < 0 ? nobody(ESRCH) : BLACKOUT_REAL_VERSION(sched_getaffinity, "GLIBC_2.3.4")(real, size, set);
}
