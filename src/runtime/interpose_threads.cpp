// Threads and processes. Children record into the same trace, whatever way they are made.

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/futex.h>
#include <pthread.h>
#include <signal.h>
#include <spawn.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <ucontext.h>
#include <unistd.h>

#include "runtime/buffers.h"
#include "runtime/executable.h"
#include "runtime/options.h"
#include "runtime/pinned.h"
#include "runtime/pool_locks.h"
#include "runtime/pools.h"
#include "runtime/process_numbers.h"
#include "runtime/real.h"
#include "runtime/recorder.h"
#include "runtime/recovery.h"
#include "runtime/regions.h"
#include "runtime/schedule.h"
#include "runtime/trap/signals.h"
#include "runtime/trap/syscalls.h"
#include "runtime/unfollowed.h"

using namespace blackout::rt;

namespace {

pthread_key_t endKey;
pthread_once_t endOnce = PTHREAD_ONCE_INIT;

// That this process made and that have not ended.
uint32_t madeThreads;

// The key's value says how often its destructor has come, and whether pthread_create made the thread. Under control the
// turn is given away at the last call that libc makes, so that what other keys destroy is still the thread's own.
struct Ends {
  uint16_t calls : 15;
  uint16_t made : 1;
};
thread_local __attribute__((tls_model("initial-exec"))) Ends ends{};

robust_list_head* robustLocks() {
  robust_list_head* head = nullptr;
  size_t size = 0;
  bool has = syscall(SYS_get_robust_list, 0, &head, &size) == 0 && head != nullptr && head->list.next != &head->list;
  return has ? head : nullptr;
}
// Robust locks that the thread still has are the kernel's to mark, and to wake who waits for them. It can't mark one on
// a protected page, nor one that comes after it: so all of them are marked here, as it would have done it.
void leaveRobustLocks() {
  robust_list_head* head = inRun() ? robustLocks() : nullptr;
  if (head == nullptr) return;
  constexpr int kMost = 2048;  // the kernel goes no further
  constexpr uintptr_t kPriorities = 1;
  auto tid = uint32_t(syscall(SYS_gettid));
  auto* entry = head->list.next;
  for (int i = 0; i < kMost && entry != &head->list; ++i) {
    bool priorities = (reinterpret_cast<uintptr_t>(entry) & kPriorities) != 0;
    entry = reinterpret_cast<robust_list*>(reinterpret_cast<uintptr_t>(entry) & ~kPriorities);
    auto* word = reinterpret_cast<uint32_t*>(reinterpret_cast<char*>(entry) + head->futex_offset);
    entry = entry->next;
    uint32_t value = __atomic_load_n(word, __ATOMIC_RELAXED);
    while ((value & FUTEX_TID_MASK) == tid) {
      uint32_t left = (value & FUTEX_WAITERS) | FUTEX_OWNER_DIED;
      if (!__atomic_compare_exchange_n(word, &value, left, false, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST)) continue;
      if (!priorities && (value & FUTEX_WAITERS) != 0)
        callForProgram(SYS_futex, reinterpret_cast<long>(word), FUTEX_WAKE, 1);
      break;
    }
  }
  head->list.next = &head->list;
}

void threadEnds(void*) {
  if ((self.turns != 0 || robustLocks() != nullptr) && ++ends.calls < PTHREAD_DESTRUCTOR_ITERATIONS) {
    pthread_setspecific(endKey, &ends);
    return;
  }
  emptyInTurn();
  leaveRobustLocks();
  if (ends.made != 0) __atomic_sub_fetch(&madeThreads, 1, __ATOMIC_RELAXED);
  if (inRun() && self.number != 0) {
    Scope scope;
    if (!scope.nested) append(BLACKOUT_EV_ThreadEnd, 0, 0, 0, 0);
  }
  endTurns();
}
// Only who began it could wait for a process's locks: those of the first one stay as it left them.
bool forkedHere = false;
__attribute__((destructor)) void processEnds() {
  endBuffers();
  if (forkedHere) leaveRobustLocks();
}
void makeEndKey() { pthread_key_create(&endKey, threadEnds); }

struct Start {
  void* (*routine)(void*);
  void* argument;
  size_t stackSize;
  uint32_t turns;  // its number under control; 0: it is not
};

void* startThread(void* p) {
  Start start = *static_cast<Start*>(p);
  free(p);
  // Frames above this one belong to libc.
  self.stackTop = reinterpret_cast<uintptr_t>(__builtin_frame_address(0)) + 16;
  self.stackLow = self.stackTop - start.stackSize;
  self.tid = uint32_t(syscall(SYS_gettid));
  self.process = processNumber;
  ends.made = 1;
  pthread_setspecific(endKey, &ends);
  if (start.turns != 0) beginTurns(start.turns);
  return start.routine(start.argument);
}

// Another process is about to be made, or this one to be replaced.
void sharing() {
  if (!inRun()) return;
  emptyAllBuffers();
  if (isRestart()) {
    // Another process has ended it, and its worker is about to end the others: what they make until then would only
    // fill the machine.
    if (__atomic_load_n(&worker->ended, __ATOMIC_ACQUIRE) == BLACKOUT_ENDED_BOUND) syscall(SYS_exit_group, 0);
    // Private mappings would part; files of the run's own are shared.
    makePrivatePools();
    used(BLACKOUT_USED_PROCESSES);
    if (!isClient()) shareObserved();
    shareNumbers();
    __atomic_store_n(&worker->exec_began, realNanoseconds(), __ATOMIC_RELAXED);
  } else {
    shareNumbers();
  }
  setShared();
}

// However libc forks (fork, forkpty, daemon), it runs these.
void beforeFork() { sharing(); }
void inChild() {
  forkedHere = true;
  madeThreads = 0;
  forgetThreads();
  if (inRun()) attachChild();
  forgetLocks();
  if (isRestart()) {
    // A server may go on in its child; the worker ends what is left.
    if (options.drive == nullptr) prctl(PR_SET_PDEATHSIG, SIGKILL);
    firstOfRun = false;
    if (!isClient()) joinObserved();
  }
  numberChild();
}
__attribute__((constructor(103))) void watchForks() { pthread_atfork(beforeFork, nullptr, inChild); }

pid_t forked(pid_t child) {
  if (!inRun() || child <= 0) return child;
  int saved = errno;
  Scope scope;
  if (!scope.nested) append(BLACKOUT_EV_Fork, 0, 0, 0, uint64_t(child));
  errno = saved;
  return pinnedNumber(child);
}

// A child's environment must lead to the runtime and the trace: without them it would work on the user's pool.
struct Environment {
  explicit Environment(char* const* given) : result(given) {
    if (!inRun()) return;
    bool preload = false, words = false;
    int n = 0;
    for (; given != nullptr && given[n] != nullptr; ++n) {
      preload |= strncmp(given[n], "LD_PRELOAD=", 11) == 0 && strstr(given[n], "libblackout.so") != nullptr;
      words |= strncmp(given[n], "BLACKOUT_OPTIONS=", 17) == 0;
    }
    if (preload && words) return;
    auto* list = static_cast<char**>(malloc(size_t(n + 3) * sizeof(char*)));
    if (list == nullptr) stop("no memory for a child's environment", nullptr, 3);
    owned = list;
    int m = 0;
    for (int i = 0; i < n; ++i) {
      if (!preload && strncmp(given[i], "LD_PRELOAD=", 11) == 0) continue;
      if (!words && strncmp(given[i], "BLACKOUT_OPTIONS=", 17) == 0) continue;
      list[m++] = given[i];
    }
    if (!preload) list[m++] = ours(0, "LD_PRELOAD=");
    if (!words) list[m++] = ours(1, "BLACKOUT_OPTIONS=");
    list[m] = nullptr;
    result = list;
  }
  // What this process was started with. One after the other, because every page that is touched here is one more to
  // copy in every restart.
  static char* ours(int i, const char* key) {
    static char text[40000];
    static char* kept[2];
    static size_t used = 0;
    if (kept[i] != nullptr) return kept[i];
    char name[32];
    snprintf(name, sizeof name, "%s", key);
    name[strlen(name) - 1] = '\0';
    const char* value = getenv(name);
    kept[i] = text + used;
    int size = snprintf(kept[i], sizeof text - used, "%s%s", key, value == nullptr ? "" : value);
    used += size_t(size) + 1 < sizeof text / 2 ? size_t(size) + 1 : sizeof text / 2;
    return kept[i];
  }
  ~Environment() { free(owned); }
  Environment(const Environment&) = delete;
  Environment& operator=(const Environment&) = delete;
  // For libc's functions that take the process's own environment.
  static void restore() {
    if (!inRun()) return;
    const char* preload = getenv("LD_PRELOAD");
    if (preload == nullptr || strstr(preload, "libblackout.so") == nullptr) putenv(ours(0, "LD_PRELOAD="));
    if (getenv("BLACKOUT_OPTIONS") == nullptr) putenv(ours(1, "BLACKOUT_OPTIONS="));
  }
  char* const* result;
  char** owned = nullptr;
};

// Words in PM, which the kernel would not be able to read there: they are passed from memory beside it.
class Words {
 public:
  explicit Words(char* const* given) : result(given) {
    if (!inRun() || given == nullptr) return;
    size_t n = 0;
    bool pm = mayBePm(given, sizeof *given);
    for (; given[n] != nullptr; ++n) pm |= mayBePm(given[n], 1);
    if (!pm) return;
    copies_ = static_cast<char**>(malloc((n + 1) * sizeof(char*)));
    if (copies_ == nullptr) stop("no memory for a program's arguments", nullptr, 3);
    for (size_t i = 0; i < n; ++i) copies_[i] = mayBePm(given[i], 1) ? strdup(given[i]) : given[i];
    copies_[n] = nullptr;
    result = copies_;
  }
  // The words themselves stay: another program is there by now, or somebody is about to end.
  ~Words() { free(copies_); }
  Words(const Words&) = delete;
  Words& operator=(const Words&) = delete;
  char* const* result;

 private:
  char** copies_ = nullptr;
};

__attribute__((constructor(102))) void keepEnvironment() {
  Environment::ours(0, "LD_PRELOAD=");
  Environment::ours(1, "BLACKOUT_OPTIONS=");
}

void execEvent(const char* file, bool search) {
  if (!inRun()) return;
  noteExecutable(file, search);
  sharing();
  keepLocksOverExec();
  Scope scope;
  if (!scope.nested) append(BLACKOUT_EV_Exec, 0, 0, 0, 0);
}

}  // namespace

// A thread whose stack is in PM would die at its first push, before it has another stack for the fault: it gets a stack
// of libc's, as large. `other` is to be destroyed if this is true.
static bool takeOtherStack(const pthread_attr_t* attributes, pthread_attr_t& other) {
  void* begin = nullptr;
  size_t size = 0;
  if (attributes == nullptr || pthread_attr_getstack(attributes, &begin, &size) != 0 || !mayBePm(begin, size))
    return false;
  unfollowed("a thread has its stack in PM, and was given another: what it would store there is not seen");
  pthread_attr_init(&other);
  pthread_attr_setstacksize(&other, size);
  int value = 0;
  sched_param parameters{};
  if (pthread_attr_getdetachstate(attributes, &value) == 0) pthread_attr_setdetachstate(&other, value);
  if (pthread_attr_getinheritsched(attributes, &value) == 0) pthread_attr_setinheritsched(&other, value);
  if (pthread_attr_getschedpolicy(attributes, &value) == 0) pthread_attr_setschedpolicy(&other, value);
  if (pthread_attr_getschedparam(attributes, &parameters) == 0) pthread_attr_setschedparam(&other, &parameters);
  return true;
}

BLACKOUT_EXPORT int pthread_create(pthread_t* thread, const pthread_attr_t* attributes, void* (*routine)(void*),
                                   void* argument) {
  auto real = BLACKOUT_REAL_VERSION(pthread_create, "GLIBC_2.34");
  if (!inRun()) return real(thread, attributes, routine, argument);
  pthread_once(&endOnce, makeEndKey);
  auto* start = static_cast<Start*>(malloc(sizeof(Start)));
  if (start == nullptr) return EAGAIN;
  if (__atomic_add_fetch(&madeThreads, 1, __ATOMIC_RELAXED) > BLACKOUT_MAX_TASKS && isRestart())
    endRun(BLACKOUT_ENDED_BOUND, "it has 1024 threads and processes", BLACKOUT_FRAME());
  *start = {routine, argument, size_t{8} << 20, 0};
  if (attributes != nullptr) pthread_attr_getstacksize(attributes, &start->stackSize);
  if (takesControl()) {
    if (self.turns == 0) pthread_setspecific(endKey, &ends);
    turnClock = pinnedClock();
    start->turns = addThread();
  }
  uint32_t turns = start->turns;
  if (turns == 0) used(BLACKOUT_USED_THREADS);
  setShared();
  {
    Scope scope;
    if (!scope.nested) append(BLACKOUT_EV_ThreadCreate, 0, 0, 0, turns);
  }
  pthread_attr_t other;
  bool moved = takeOtherStack(attributes, other);
  int r = real(thread, moved ? &other : attributes, startThread, start);
  if (moved) pthread_attr_destroy(&other);
  if (r == 0) {
    if (turns != 0) {
      setHandle(turns, *thread);
      switchPoint(thread);
    }
    return 0;
  }
  free(start);
  if (turns != 0) dropThread(turns);
  __atomic_sub_fetch(&madeThreads, 1, __ATOMIC_RELAXED);
  return r;
}

// Under control: until the thread has given its last turn away. What libc waits for then comes by itself.
static bool awaitEnd(pthread_t thread, uint64_t moment) {
  uint32_t number = controlled ? threadOf(thread) : 0;
  if (number == 0) return true;
  switchPoint(&thread);
  while (controlled && !hasEnded(number))
    if (!waitTurn(endOf(number), Retry::Yes, moment)) return false;
  if (recordsEvents() && hasEnded(number)) {
    Scope scope;
    if (!scope.nested) append(BLACKOUT_EV_ThreadJoin, 0, 0, 0, number);
  }
  return true;
}
BLACKOUT_EXPORT int pthread_join(pthread_t thread, void** result) {
  awaitEnd(thread, kNever);
  return BLACKOUT_REAL_VERSION(pthread_join, "GLIBC_2.34")(thread, result);
}
BLACKOUT_EXPORT int pthread_timedjoin_np(pthread_t thread, void** result, const timespec* t) {
  if (!awaitEnd(thread, momentOf(CLOCK_REALTIME, t))) return ETIMEDOUT;
  return BLACKOUT_REAL_VERSION(pthread_timedjoin_np, "GLIBC_2.34")(thread, result, t);
}
BLACKOUT_EXPORT int pthread_clockjoin_np(pthread_t thread, void** result, clockid_t clock, const timespec* t) {
  if (!awaitEnd(thread, momentOf(clock, t))) return ETIMEDOUT;
  return BLACKOUT_REAL_VERSION(pthread_clockjoin_np, "GLIBC_2.34")(thread, result, clock, t);
}
BLACKOUT_EXPORT int pthread_tryjoin_np(pthread_t thread, void** result) {
  int r = BLACKOUT_REAL_VERSION(pthread_tryjoin_np, "GLIBC_2.34")(thread, result);
  if (r == EBUSY) yieldTurn();
  return r;
}
// Whoever waits under control is in no call of libc's that would notice.
BLACKOUT_EXPORT int pthread_cancel(pthread_t thread) {
  int r = BLACKOUT_REAL_VERSION(pthread_cancel, "GLIBC_2.34")(thread);
  if (r == 0 && controlled) wakeThread(threadOf(thread));
  return r;
}
BLACKOUT_EXPORT __attribute__((noreturn)) void _exit(int status) {
  processEnds();
  BLACKOUT_REAL(_exit)(status);
  __builtin_unreachable();
}
BLACKOUT_EXPORT __attribute__((noreturn)) void _Exit(int status) noexcept { _exit(status); }
BLACKOUT_EXPORT int sched_yield() noexcept {
  if (!controlled) return int(syscall(SYS_sched_yield));
  yieldTurn();
  return 0;
}

// Threads that the program switches between by itself, on one of the system's.
BLACKOUT_EXPORT int swapcontext(ucontext_t* from, const ucontext_t* to) noexcept {
  if (options.pin == kPinRecording && isRecording())
    unfollowed("it switches between threads of its own (swapcontext), which is no step of a schedule");
  return BLACKOUT_REAL(swapcontext)(from, to);
}

// A jump out of a store that faulted: its event will not be finished.
static void abandonEvent() {
  self.adding = false;
  if (!inRun() || !self.busy) return;
  self.depth = 0;
  self.appending = false;
  lost(1);
  problem(BLACKOUT_PROBLEM_SIGNAL);
  Scope::leave();
}
#define BLACKOUT_JUMP(name)                                                                         \
  BLACKOUT_EXPORT __attribute__((noreturn)) void name(struct __jmp_buf_tag* buffer, int value) {    \
    abandonEvent();                                                                                 \
    leaveHandlers(buffer->__mask_was_saved != 0);                                                   \
    reinterpret_cast<void (*)(struct __jmp_buf_tag*, int)>(dlsym(RTLD_NEXT, #name))(buffer, value); \
    __builtin_unreachable();                                                                        \
  }
BLACKOUT_JUMP(longjmp)
BLACKOUT_JUMP(_longjmp)
BLACKOUT_JUMP(siglongjmp)
BLACKOUT_JUMP(__longjmp_chk)

BLACKOUT_EXPORT pid_t fork() { return forked(BLACKOUT_REAL(fork)()); }
// This one runs no handlers.
BLACKOUT_EXPORT pid_t _Fork() {
  beforeFork();
  pid_t child = BLACKOUT_REAL(_Fork)();
  if (child == 0) inChild();
  return forked(child);
}
// A process or thread that begins in a function of its own.
BLACKOUT_EXPORT int clone(int (*body)(void*), void* stack, int flags, void* argument, ...) noexcept {
  va_list list;
  va_start(list, argument);
  auto* parentNumber = va_arg(list, pid_t*);
  auto* threadMemory = va_arg(list, void*);
  auto* childNumber = va_arg(list, pid_t*);
  va_end(list);
  auto* real = BLACKOUT_REAL(clone);
  if (!inRun()) return real(body, stack, flags, argument, parentNumber, threadMemory, childNumber);
  if (((flags & CLONE_PARENT_SETTID) != 0 && mayBePm(parentNumber, sizeof *parentNumber)) ||
      ((flags & (CLONE_CHILD_SETTID | CLONE_CHILD_CLEARTID)) != 0 && mayBePm(childNumber, sizeof *childNumber)))
    unfollowed("it has the kernel store the number of a process or thread to PM (clone), which is not seen");
  if ((flags & CLONE_VM) != 0) {
    // What it does on the memory of both can't be told from what its parent does.
    unfollowedTask();
    if ((flags & CLONE_THREAD) == 0) sharing();
    return real(body, stack, flags, argument, parentNumber, threadMemory, childNumber);
  }
  struct Begin {
    int (*body)(void*);
    void* argument;
  } begin{body, argument};
  auto inside = [](void* p) {
    Begin copy = *static_cast<Begin*>(p);
    inChild();
    return copy.body(copy.argument);
  };
  beforeFork();
  return forked(real(inside, stack, flags, &begin, parentNumber, threadMemory, childNumber));
}
// A child of vfork runs on its parent's memory: its events could not be told apart. In a run it has memory of its own,
// and its parent waits until it executes something or ends: until nobody has the other end of a pipe any more.
static pid_t forkAndWait() {
  constexpr int kHigh = 690;
  int ends[2];
  if (syscall(SYS_pipe2, ends, O_CLOEXEC) != 0) return fork();
  for (int& end : ends) {
    long high = syscall(SYS_fcntl, end, F_DUPFD_CLOEXEC, kHigh);
    if (high < 0) continue;
    syscall(SYS_close, end);
    end = int(high);
  }
  pid_t child = fork();
  int saved = errno;
  syscall(SYS_close, ends[child == 0 ? 0 : 1]);
  if (child != 0) {
    char byte;
    while (syscall(SYS_read, ends[0], &byte, 1) < 0 && errno == EINTR) {
    }
    syscall(SYS_close, ends[0]);
  }
  errno = saved;
  return child;
}
BLACKOUT_EXPORT pid_t vfork() noexcept {
  // Nothing of ours may be on the stack that the two share.
  if (!inRun()) [[clang::musttail]]
    return BLACKOUT_REAL(vfork)();
  return forkAndWait();
}

BLACKOUT_EXPORT int execve(const char* path, char* const* arguments, char* const* environment) {
  execEvent(path, false);
  Words words(arguments), given(environment);
  Environment e(given.result);
  return BLACKOUT_REAL(execve)(path, words.result, e.result);
}
BLACKOUT_EXPORT int execvpe(const char* file, char* const* arguments, char* const* environment) {
  execEvent(file, true);
  Words words(arguments), given(environment);
  Environment e(given.result);
  return BLACKOUT_REAL(execvpe)(file, words.result, e.result);
}
BLACKOUT_EXPORT int execv(const char* path, char* const* arguments) { return execve(path, arguments, environ); }
// The list forms: glibc would go past execve above.
#define BLACKOUT_EXECL(name, call, hasEnvironment)                                     \
  BLACKOUT_EXPORT int name(const char* path, const char* first, ...) {                 \
    va_list list;                                                                      \
    va_start(list, first);                                                             \
    size_t n = 1;                                                                      \
    while (va_arg(list, char*) != nullptr) ++n;                                        \
    va_end(list);                                                                      \
    auto** arguments = static_cast<char**>(__builtin_alloca((n + 1) * sizeof(char*))); \
    va_start(list, first);                                                             \
    arguments[0] = const_cast<char*>(first);                                           \
    for (size_t i = 1; i <= n; ++i) arguments[i] = va_arg(list, char*);                \
    char* const* environment = hasEnvironment ? va_arg(list, char* const*) : environ;  \
    va_end(list);                                                                      \
    return call(path, arguments, environment);                                         \
  }
BLACKOUT_EXECL(execl, execve, false)
BLACKOUT_EXECL(execle, execve, true)
BLACKOUT_EXECL(execlp, execvpe, false)
BLACKOUT_EXPORT int execvp(const char* file, char* const* arguments) { return execvpe(file, arguments, environ); }
BLACKOUT_EXPORT int fexecve(int fd, char* const* arguments, char* const* environment) {
  char path[64];
  snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
  execEvent(path, false);
  Words words(arguments), given(environment);
  Environment e(given.result);
  return BLACKOUT_REAL(fexecve)(fd, words.result, e.result);
}
// Between fork and exec libc opens it, where nothing of ours is. Not the user's own, in any case.
BLACKOUT_EXPORT int posix_spawn_file_actions_addopen(posix_spawn_file_actions_t* actions, int fd, const char* path,
                                                     int flags, mode_t mode) noexcept {
  char copy[PATH_MAX];
  if (redirect(AT_FDCWD, path, copy)) {
    unfollowed("a child is started with a pool as one of its descriptors (posix_spawn), which is not seen");
    if (isRestart()) makePrivatePools();
    if (redirect(AT_FDCWD, path, copy)) path = copy;
  }
  return BLACKOUT_REAL(posix_spawn_file_actions_addopen)(actions, fd, path, flags, mode);
}
BLACKOUT_EXPORT int posix_spawn(pid_t* pid, const char* path, const posix_spawn_file_actions_t* actions,
                                const posix_spawnattr_t* attributes, char* const* arguments, char* const* environment) {
  noteExecutable(path, false);
  sharing();
  Words words(arguments), given(environment);
  Environment e(given.result);
  pid_t made = 0;
  int r = BLACKOUT_REAL_VERSION(posix_spawn, "GLIBC_2.15")(&made, path, actions, attributes, words.result, e.result);
  if (r == 0 && pid != nullptr) *pid = pinnedNumber(made);
  return r;
}
BLACKOUT_EXPORT int posix_spawnp(pid_t* pid, const char* file, const posix_spawn_file_actions_t* actions,
                                 const posix_spawnattr_t* attributes, char* const* arguments,
                                 char* const* environment) {
  noteExecutable(file, true);
  sharing();
  Words words(arguments), given(environment);
  Environment e(given.result);
  pid_t made = 0;
  int r = BLACKOUT_REAL_VERSION(posix_spawnp, "GLIBC_2.15")(&made, file, actions, attributes, words.result, e.result);
  if (r == 0 && pid != nullptr) *pid = pinnedNumber(made);
  return r;
}
BLACKOUT_EXPORT int system(const char* command) {
  sharing();
  Environment::restore();
  char* const list[] = {const_cast<char*>(command), nullptr};
  Words words(list);
  return BLACKOUT_REAL(system)(words.result[0]);
}
BLACKOUT_EXPORT FILE* popen(const char* command, const char* mode) {
  sharing();
  Environment::restore();
  char* const list[] = {const_cast<char*>(command), nullptr};
  Words words(list);
  return BLACKOUT_REAL(popen)(words.result[0], mode);
}
