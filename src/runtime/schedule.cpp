#include "runtime/schedule.h"

#include <errno.h>
#include <linux/futex.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "events/trace_format.h"
#include "runtime/buffers.h"
#include "runtime/options.h"
#include "runtime/processes.h"
#include "runtime/recorder.h"
#include "runtime/recovery.h"
#include "runtime/regions.h"

namespace blackout::rt {

bool controlled = false;
const TurnClock* turnClock = nullptr;
void (*lookOutside)() = nullptr;

namespace {

enum class State : uint8_t { None, Ready, Waits, Ended };

struct Thread {
  uint32_t turn = 0;  // a futex: 1: it has the turn
  State state = State::None;
  Retry retry = Retry::No;
  bool timedOut = false;
  bool sees = false;           // what it does when it has the turn again can tell what took effect before
  const void* on = nullptr;    // what it waits for
  uint64_t moment = kNever;    // until when
  uint64_t since = 0;          // when it began to wait: who came first is woken first
  uint64_t order = 0;          // of schedules by priority: the highest goes on
  const void* site = nullptr;  // of its last step
  uint32_t again = 0;          // steps at that site, one after another
  uint32_t tid = 0;
  bool told = false;  // where it spins, since that was asked
  pthread_t handle{};
};

// A switch that a schedule asks for; or that the oldest of what waits in a thread's store buffer takes effect.
enum class When : uint8_t { Step, OwnStep, Stores };
struct Wanted {
  uint64_t at;      // a step of all threads; or of `thread`: a step of its own, how many stores to PM it has made
  uint32_t thread;  // 0: of all
  uint32_t to;
  When when;
  bool leaves;  // not a switch: what waits in the buffer of `to`
};

enum class Kind : uint8_t { None, List, Random, RoundRobin, Priority };

constexpr uint32_t kMostThreads = BLACKOUT_MAX_TASKS + 2;
constexpr uint32_t kMostWanted = 2048;
// Steps at one place after which a thread is taken for one that waits by asking; and steps at any places after which
// another thread gets the turn, whatever the schedule says.
constexpr uint32_t kSpins = 64;
constexpr uint64_t kLongestTurn = 100000;
constexpr uint64_t kSecond = 1000000000;

Thread threads[kMostThreads];  // from 1
uint32_t threadCount = 0;      // places that were ever used
uint32_t living = 0;
uint32_t current = 0;  // who has the turn; 0: nobody is ready
uint32_t dying = 0;    // the kernel's number of a thread that gave its last turn away
uint64_t steps = 0;
uint64_t turnBegan = 0;  // the step at which it got it
uint64_t waits = 0;
uint32_t idleRounds = 0;  // in which nobody got on
bool retried = false;     // everybody who could was woken for nothing, and nobody has got on since
uint64_t idle = 0;        // steps since anybody did something that another thread could notice
const char* lost_ = nullptr;
bool forEver = false;
uint32_t tableLock = 0;
uint32_t given = 0;  // who is to be woken when it is free again

Kind kind = Kind::None;
uint64_t chance = 0;    // state of the random numbers
uint64_t rate = 64;     // one switch in so many steps
bool buffered = false;  // threads have store buffers
uint64_t leaving = 0;   // one step in so many at which the oldest of each leaves; 0: none by chance
uint64_t quantum = 0;
uint64_t lowest = 0;            // of priorities: counts down
uint64_t changes[kMostWanted];  // of priorities: the steps at which they change
uint32_t changeCount = 0;
uint32_t changeNext = 0;
// In their order. The first of them ends what another kind of schedule decided until then.
Wanted wanted[kMostWanted];
uint32_t wantedCount = 0;
uint32_t wantedNext = 0;

uint64_t random() {  // splitmix64
  uint64_t z = chance += 0x9e3779b97f4a7c15ull;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ull;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebull;
  return z ^ (z >> 31);
}

long futex(uint32_t* word, int operation, uint32_t value, const timespec* most) {
  return syscall(SYS_futex, word, operation | FUTEX_PRIVATE_FLAG, value, most, nullptr, 0);
}

// Whoever has the turn changes the table; whoever ends control does so against the one that has it. Who is given the
// turn in it is woken after it: woken before, it would find the table taken and spin.
struct Table {
  Table() {
    while (__atomic_exchange_n(&tableLock, 1, __ATOMIC_ACQUIRE) != 0) __builtin_ia32_pause();
  }
  ~Table() {
    uint32_t to = given;
    given = 0;
    __atomic_store_n(&tableLock, 0, __ATOMIC_RELEASE);
    if (to != 0) futex(&threads[to].turn, FUTEX_WAKE, 1, nullptr);
  }
  Table(const Table&) = delete;
  Table& operator=(const Table&) = delete;
};

Thread& me() { return threads[self.turns]; }

// What a thread has seen at the places at which it goes on and on: a spin loop sees the same each time.
struct Seen {
  const void* site = nullptr;
  uint64_t value = 0;
};
constexpr uint32_t kSeen = 16;
thread_local __attribute__((tls_model("initial-exec"))) Seen seen[kSeen];
thread_local __attribute__((tls_model("initial-exec"))) uint64_t storesSeen = 0;

void gotOn() {
  if (__builtin_expect(idle == 0, 1)) return;
  idle = 0;
  for (uint32_t i = 1; i <= threadCount; ++i) threads[i].told = false;
}

// A step that may be one of a spin: the thread looks where it looked when it was there before, finds the same (in PM:
// nobody has stored to PM since), and has stored nothing to PM meanwhile.
void maybeIdle(const void* site, const void* at, Look look) {
  uint64_t value = 0;
  if (look == Look::AtMemory)
    memcpy(&value, reinterpret_cast<const void*>(reinterpret_cast<uintptr_t>(at) & ~uintptr_t{7}), 8);
  value ^= reinterpret_cast<uintptr_t>(at) * 0x9e3779b97f4a7c15ull;
  Seen& s = seen[(reinterpret_cast<uintptr_t>(site) * 0x9e3779b97f4a7c15ull) >> 60];
  bool same = s.site == site && s.value == value && storesSeen == self.stores;
  s = {site, value};
  storesSeen = self.stores;
  if (same)
    ++idle;
  else
    gotOn();
}

uint64_t now() {
  if (turnClock != nullptr) return turnClock->now();
  timespec t;
  syscall(SYS_clock_gettime, CLOCK_MONOTONIC, &t);
  return uint64_t(t.tv_sec) * kSecond + uint64_t(t.tv_nsec);
}

// What the thread with this number spent on processors, nanoseconds.
uint64_t computed(uint32_t tid) {
  timespec t;
  // As CPUCLOCK_PERTHREAD of the kernel has it.
  if (syscall(SYS_clock_gettime, long(int32_t(~tid << 3 | 6)), &t) != 0) return 0;
  return uint64_t(t.tv_sec) * kSecond + uint64_t(t.tv_nsec);
}

// All threads run as the system likes from here on. In a Table. `stuck`: none of them does, they wait for ever; each by
// its own call then, where the worker of a restart looks for it.
void endControl(const char* why, bool stuck = false) {
  lost_ = why;
  forEver = stuck;
  if (recordsEvents() && !stuck) problem(BLACKOUT_PROBLEM_SCHEDULE);
  if (isRestart() && !stuck) __atomic_fetch_or(&worker->used, BLACKOUT_USED_THREADS, __ATOMIC_RELAXED);
  endBuffers();
  __atomic_store_n(&controlled, false, __ATOMIC_RELEASE);
  for (uint32_t i = 1; i <= threadCount; ++i) {
    __atomic_store_n(&threads[i].turn, 1, __ATOMIC_RELEASE);
    futex(&threads[i].turn, FUTEX_WAKE, 1, nullptr);
  }
}

// A look, by a thread that could go on, at the one that has the turn: whether that ever comes to another step.
class Watch {
 public:
  void look() {
    uint32_t holder = __atomic_load_n(&current, __ATOMIC_RELAXED);
    uint64_t at = __atomic_load_n(&steps, __ATOMIC_RELAXED);
    if (holder == 0) return;
    uint64_t ran = computed(threads[holder].tid);
    if (holder != holder_ || at != steps_) {
      holder_ = holder;
      steps_ = at;
      ran_ = ran;
      still_ = 0;
      last_ = ran;
      return;
    }
    // It computes: only the time on a processor counts, so that a busy machine makes no difference.
    constexpr uint64_t kLongest = 2 * kSecond;
    if (ran - ran_ > kLongest) return end(holder, at, "a thread computes for seconds without a step while others wait");
    still_ = ran == last_ && !isRunnable(threads[holder].tid) ? still_ + 1 : 0;
    last_ = ran;
    // It sleeps: in a call that is none of those that are followed.
    constexpr int kLooks = 3;
    if (still_ >= kLooks) end(holder, at, "a thread waits in a call that is not followed while others could go on");
  }

 private:
  static void end(uint32_t holder, uint64_t at, const char* why) {
    Table table;
    if (controlled && current == holder && steps == at) endControl(why);
  }
  static bool isRunnable(uint32_t tid) {
    char path[64] = "/proc/self/task/";
    char digits[12];
    int n = 0;
    for (uint32_t rest = tid; rest != 0 || n == 0; rest /= 10) digits[n++] = char('0' + rest % 10);
    size_t at = strlen(path);
    while (n > 0) path[at++] = digits[--n];
    memcpy(path + at, "/stat", 6);
    char text[256];
    int fd = int(syscall(SYS_openat, -100, path, 0x80000));
    if (fd < 0) return true;
    long size = syscall(SYS_read, fd, text, sizeof text - 1);
    syscall(SYS_close, fd);
    if (size <= 0) return true;
    text[size] = '\0';
    const char* state = strrchr(text, ')');
    return state == nullptr || state[2] != 'S';
  }
  uint32_t holder_ = 0;
  uint64_t steps_ = 0;
  uint64_t ran_ = 0;
  uint64_t last_ = 0;
  int still_ = 0;
};

uint32_t wakeSomebody();
void giveTurn(uint32_t to);

// So many steps without anything new: all that could go on spin, as far as is seen. That is no proof, a loop may count
// or work between two locks on what is not followed; so recordings and restarts end without a verdict.
bool spinTooLong() {
  constexpr uint64_t kMost = 20'000'000;
  return __builtin_expect(idle > (isRestart() && worker->step_limit < kMost ? worker->step_limit : kMost), 0);
}

// Nobody could go on. A signal's handler may wake somebody, or another process give back a lock that both know: so
// those who may be woken for nothing try again now and then. In a recording that ends.
void tryAgainLater() {
  constexpr uint32_t kRounds = 20;
  if (auto* look = __atomic_load_n(&lookOutside, __ATOMIC_ACQUIRE); look != nullptr) return look();
  Table table;
  if (!controlled || current != 0) return;
  if (isRecording() && ++idleRounds > kRounds)
    stop(
        "all threads of the program wait for each other, and nobody is left who could wake one: a deadlock, or a "
        "wake-up that came before its wait. What it had stored until then is in the trace",
        nullptr, 3);
  retried = false;
  if (uint32_t to = wakeSomebody(); to != 0) giveTurn(to);
}

// Waits for the turn. Whoever is ready looks after the others meanwhile; whoever found that nobody is (`last`), too.
void awaitTurn(Thread& thread, bool last = false) {
  Watch watch;
  constexpr long kTick = 100000000, kShortTick = 5000000;
  long waited = 0;
  bool others = isRestart() && (worker->used & BLACKOUT_USED_PROCESSES) != 0;
  while (__atomic_load_n(&thread.turn, __ATOMIC_ACQUIRE) == 0) {
    bool outside = lookOutside != nullptr;
    bool looks = outside || (last && (isRecording() || others));
    // Whoever waits for a moment could go on then.
    bool ready = *const_cast<volatile State*>(&thread.state) == State::Ready || thread.moment != kNever;
    timespec tick = {0, outside ? kShortTick : kTick};
    if (futex(&thread.turn, FUTEX_WAIT, 0, looks || ready ? &tick : nullptr) == 0 || errno != ETIMEDOUT) continue;
    if (looks && __atomic_load_n(&current, __ATOMIC_RELAXED) == 0) tryAgainLater();
    waited += tick.tv_nsec;
    if (!ready || waited < kTick) continue;
    waited = 0;
    watch.look();
  }
  if (lost_ != nullptr) return;
  __atomic_store_n(&thread.turn, 0, __ATOMIC_RELAXED);
  // What libc does for a thread that is over (its memory goes back to the heap) is over too.
  if (dying != 0) {
    while (!isDead(dying)) syscall(SYS_sched_yield);
    dying = 0;
  }
}

// In a Table.
void giveTurn(uint32_t to) {
  current = to;
  turnBegan = steps;
  __atomic_store_n(&threads[to].turn, 1, __ATOMIC_RELEASE);
  given = to;
}

// How many could go on beside the one that asks.
uint32_t readyOthers() {
  uint32_t n = 0;
  for (uint32_t i = 1; i <= threadCount; ++i) n += i != self.turns && threads[i].state == State::Ready ? 1 : 0;
  return n;
}
uint32_t nthReadyOther(uint64_t n) {
  for (uint32_t i = 1; i <= threadCount; ++i)
    if (i != self.turns && threads[i].state == State::Ready && n-- == 0) return i;
  return 0;
}
uint32_t nextReady() {
  for (uint32_t k = 1; k <= threadCount; ++k) {
    uint32_t i = (self.turns - 1 + k) % threadCount + 1;
    if (threads[i].state == State::Ready) return i;
  }
  return 0;
}
uint32_t highest() {
  uint32_t best = 0;
  for (uint32_t i = 1; i <= threadCount; ++i)
    if (threads[i].state == State::Ready && (best == 0 || threads[i].order > threads[best].order)) best = i;
  return best;
}

// Whether the next wanted switch is to be made here. A thread that waits or yields makes no store meanwhile.
bool isDue(const Wanted& w, bool waits) {
  if (w.thread != 0 && w.thread != self.turns) return false;
  switch (w.when) {
    case When::Step:
      return steps >= w.at;
    case When::OwnStep:
      return self.steps >= w.at;
    case When::Stores:
      return !waits && self.stores >= w.at && w.to <= threadCount;
  }
  return false;
}
// What a switch event says of when: the steps of all threads, and above them those of this one.
uint64_t stepsNow() { return self.steps << 32 | (steps & UINT32_MAX); }

void oldestLeaves(uint32_t thread) {
  if (thread >= kMostBuffers || waitingIn[thread] == 0) return;
  Scope scope(Buffered::Stays);
  if (scope.nested) return;
  append(BLACKOUT_EV_Switch, BLACKOUT_SWITCH_LEAVES, 0, stepsNow(), uint64_t{self.turns} << 32 | thread);
  leaveOldest(thread);
}
// Of this step, before anything else: what takes effect of what waits in the threads' store buffers.
void leaveNow() {
  if (__builtin_expect(!buffering, 1)) return;
  for (; wantedNext < wantedCount && wanted[wantedNext].leaves && isDue(wanted[wantedNext], false); ++wantedNext) {
    kind = Kind::List;
    leaving = 0;
    oldestLeaves(wanted[wantedNext].to);
  }
  for (uint32_t i = 1; leaving != 0 && i <= threadCount; ++i)
    if (waitingIn[i] != 0 && random() % leaving == 0) oldestLeaves(i);
}

// Who goes on by the list of wanted switches; 0: it does not say.
uint32_t wantedNow(bool waits) {
  while (wantedNext < wantedCount && !wanted[wantedNext].leaves && isDue(wanted[wantedNext], waits)) {
    uint32_t to = wanted[wantedNext].to;
    // So many stores that it has made: all can see them.
    if (wanted[wantedNext].when == When::Stores) emptyBuffer();
    ++wantedNext;
    kind = Kind::List;
    leaving = 0;
    if (to == self.turns) continue;  // it came to that by itself
    return to <= threadCount && threads[to].state == State::Ready ? to : 0;
  }
  return 0;
}

// Who goes on when the caller can't, or is better left waiting.
uint32_t chooseOther() {
  uint32_t others = readyOthers();
  if (others == 0) return 0;
  if (uint32_t to = wantedNow(true); to != 0) return to;
  switch (kind) {
    case Kind::Random:
      return nthReadyOther(random() % others);
    case Kind::Priority: {
      uint32_t best = highest();
      return best == self.turns ? nextReady() : best;
    }
    default:
      return nextReady();
  }
}

// Who goes on where the caller could.
uint32_t chooseAt() {
  if (uint32_t to = wantedNow(false); to != 0) return to;
  switch (kind) {
    case Kind::Random:
      if (random() % rate != 0) return self.turns;
      return chooseOther();
    case Kind::RoundRobin:
      return steps - turnBegan >= quantum ? nextReady() : self.turns;
    case Kind::Priority:
      if (changeNext < changeCount && steps >= changes[changeNext]) {
        ++changeNext;
        me().order = --lowest;
      }
      return highest();
    case Kind::List:
    case Kind::None:
      break;
  }
  return self.turns;
}

enum Reason : uint8_t { kChosen = 0, kYields = 1, kBlocked = 2, kEnds = 3 };

// With its place where it waits; or where all spin, one event each, by which it gives the turn to itself.
void note(Reason reason, uint32_t to) {
  if (!recordsEvents()) return;
  // Where it waits is worth knowing if nobody ever wakes it.
  Stack stack;
  bool waits = reason == kBlocked || to == self.turns;
  if (waits) walkStack(stack, __builtin_frame_address(0));
  Scope scope(Buffered::Stays);
  if (scope.nested) return;
  uint32_t where = waits ? whereOf(librarySite("wait"), stack) : 0;
  append(BLACKOUT_EV_Switch, reason, where, stepsNow(), uint64_t{self.turns} << 32 | to);
}

// How much waits in the buffers of the first threads, four bits each: so many or more.
uint64_t waitingNow() {
  constexpr uint32_t kNamed = 16;
  uint64_t all = 0;
  for (uint32_t i = 1; i <= threadCount; ++i) {
    uint64_t most = leavingFrom(i) > 15 ? 15 : leavingFrom(i);
    // Of threads that have no place: as if more waited than can be said.
    if (i > kNamed && most != 0) return 15;
    all |= i > kNamed ? 0 : most << (4 * (i - 1));
  }
  return all;
}

// A step at which the schedule has a choice, for whoever tries them all. `free`: it costs nothing to go on with another
// one, though this one could.
void noteStep(bool goesOn, bool free = false) {
  if (options.steps == 0 || !recordsEvents() || readyOthers() == 0) return;
  uint64_t ready = 0;
  constexpr uint32_t kNamed = 32;
  for (uint32_t i = 1; i <= threadCount && i <= kNamed; ++i)
    if (threads[i].state == State::Ready && (goesOn || i != self.turns)) ready |= uint64_t{1} << (i - 1);
  Scope scope(Buffered::Stays);
  if (scope.nested) return;
  if (uint64_t waiting = buffering ? waitingNow() : 0; waiting != 0) {
    uint64_t seeing = 0;
    for (uint32_t i = 1; i <= threadCount && i <= kNamed; ++i) seeing |= uint64_t{threads[i].sees} << (i - 1);
    append(BLACKOUT_EV_Switch, BLACKOUT_SWITCH_BUFFERS, 0, seeing << 32 | (steps & UINT32_MAX), waiting);
  }
  append(BLACKOUT_EV_Switch, goesOn && !free ? BLACKOUT_SWITCH_STEP : BLACKOUT_SWITCH_WAITS, 0, stepsNow(),
         uint64_t{self.turns} << 32 | ready);
}

// Nobody is ready. Whoever waits for a moment gets it; then whoever may be woken for nothing is, once.
uint32_t wakeSomebody() {
  uint32_t first = 0;
  for (uint32_t i = 1; i <= threadCount; ++i)
    if (threads[i].state == State::Waits && threads[i].moment != kNever &&
        (first == 0 || threads[i].moment < threads[first].moment))
      first = i;
  if (first != 0) {
    Thread& t = threads[first];
    uint64_t at = now();
    if (turnClock != nullptr) {
      if (t.moment > at) turnClock->passTo(t.moment);
    } else {
      for (; at < t.moment && controlled; at = now()) {
        timespec rest = {time_t((t.moment - at) / kSecond), long((t.moment - at) % kSecond)};
        // A signal's handler may wake somebody else.
        if (syscall(SYS_nanosleep, &rest, nullptr) != 0 && readyOthers() != 0) return chooseOther();
      }
    }
    t.timedOut = true;
    t.state = State::Ready;
    return first;
  }
  if (retried) return 0;
  retried = true;
  for (uint32_t i = 1; i <= threadCount; ++i)
    if (threads[i].state == State::Waits && threads[i].retry == Retry::Yes) {
      threads[i].state = State::Ready;
      if (first == 0) first = i;
    }
  return first;
}

// A thread that waits, or is over, gives the turn away. True: it got it back at once.
bool passOn(Reason reason, bool last = false) {
  leaveNow();
  noteStep(false);
  uint32_t to = chooseOther();
  if (to == 0) to = wakeSomebody();
  if (to == 0 && isRestart() && (worker->used & BLACKOUT_USED_PROCESSES) == 0)
    endControl("all threads wait for each other", true);
  if (!controlled) return true;
  if (to == self.turns) return true;
  note(reason, to);
  if (last) controlled = false;
  if (to == 0)
    current = 0;  // all of them wait for ever, unless a signal's handler wakes one
  else
    giveTurn(to);
  return false;
}

uint64_t number(const char*& at) {
  char* end = nullptr;
  uint64_t n = strtoull(at, &end, 10);
  if (end == at) stop("BLACKOUT_OPTIONS: no number where one belongs in schedule:", at, 2);
  at = end;
  if (*at == ',') ++at;
  return n;
}

bool begins(const char*& at, const char* word) {
  size_t n = strlen(word);
  if (strncmp(at, word, n) != 0 || (at[n] != ',' && at[n] != '/' && at[n] != '\0')) return false;
  at += n;
  if (*at == ',') ++at;
  return true;
}

void readList(const char* at) {
  while (*at != '\0') {
    if (wantedCount == kMostWanted) stop("BLACKOUT_OPTIONS: too many switches in schedule", nullptr, 2);
    Wanted w{};
    w.at = number(at);
    if (*at == 's' || *at == 'n') {
      w.when = *at == 's' ? When::Stores : When::OwnStep;
      ++at;
      w.thread = uint32_t(w.at);
      w.at = number(at);
    }
    if (*at != '>' && *at != 'e') stop("BLACKOUT_OPTIONS: no '>' in a switch of schedule:", at, 2);
    w.leaves = *at == 'e';
    ++at;
    w.to = uint32_t(number(at));
    wanted[wantedCount++] = w;
  }
}

void readPriorities(const char*& at) {
  chance = number(at);
  uint64_t depth = number(at);
  uint64_t length = number(at);
  lowest = 1 << 20;
  for (uint64_t i = 1; i < depth && changeCount < kMostWanted; ++i) {
    // Ascending, by insertion.
    uint64_t step = 1 + random() % (length == 0 ? 1 : length);
    uint32_t k = changeCount++;
    for (; k > 0 && changes[k - 1] > step; --k) changes[k] = changes[k - 1];
    changes[k] = step;
  }
}

}  // namespace

// "/N" behind a schedule's numbers.
static void readBuffers(const char*& at) {
  if (*at != '/') return;
  ++at;
  buffered = true;
  leaving = number(at);
}

void readSchedule() {
  const char* at = options.schedule;
  if (at == nullptr || kind != Kind::None) return;
  if (begins(at, "random")) {
    kind = Kind::Random;
    chance = number(at);
    if (*at != '\0' && *at != '+' && *at != '/') rate = number(at);
    if (rate == 0) rate = 1;
  } else if (begins(at, "turns")) {
    kind = Kind::RoundRobin;
    quantum = number(at);
  } else if (begins(at, "priorities")) {
    kind = Kind::Priority;
    readPriorities(at);
  } else if (begins(at, "list")) {
    kind = Kind::List;
    readBuffers(at);
    return readList(at);
  } else {
    stop("BLACKOUT_OPTIONS: no such schedule:", at, 2);
  }
  readBuffers(at);
  if (*at == '+') readList(at + 1);
}

bool takesControl() { return kind != Kind::None && lost_ == nullptr; }

uint32_t addThread() {
  gotOn();
  Table table;
  if (threadCount == 0) {
    // The first of all, which makes the second.
    threads[++threadCount] = {};
    self.turns = current = 1;
    threads[1].state = State::Ready;
    threads[1].tid = self.tid != 0 ? self.tid : uint32_t(syscall(SYS_gettid));
    threads[1].handle = pthread_self();
    threads[1].order = (uint64_t{1} << 32) + random() % 1024;
    living = 1;
  }
  if (threadCount + 1 == kMostThreads) {
    if (controlled) endControl("there are more than 1024 threads");
    return 0;
  }
  Thread& t = threads[++threadCount];
  t = {};
  t.state = State::Ready;
  t.order = (uint64_t{1} << 32) + random() % 1024;
  ++living;
  return threadCount;
}

void dropThread(uint32_t thread) {
  Table table;
  threads[thread].state = State::Ended;
  --living;
}

void setHandle(uint32_t thread, pthread_t handle) {
  threads[thread].handle = handle;
  wantSwitches();
  controlled = lost_ == nullptr;
  if (controlled && buffered && isRecording()) startBuffers();
}

static void countStep() {
  ++steps;
  ++self.steps;
}

void beginTurns(uint32_t thread) {
  self.turns = thread;
  threads[thread].tid = self.tid;
  awaitTurn(threads[thread]);
  // A step: a schedule can hold it back before all that it does.
  switchPoint(&threads[thread]);
}

void endTurns() {
  if (self.turns == 0) return;
  gotOn();
  Table table;
  me().state = State::Ended;
  --living;
  if (!controlled) return;
  if (living == 1) endBuffers();
  for (uint32_t i = 1; i <= threadCount; ++i)
    if (threads[i].state == State::Waits && threads[i].on == &me()) threads[i].state = State::Ready;
  dying = me().tid;
  countStep();
  bool alone = living == 1;
  passOn(kEnds, alone);
}

void forgetThreads() {
  tableLock = 0;
  forgetBuffers();
  threadCount = living = current = dying = 0;
  controlled = false;
  self.turns = 0;
}

uint32_t threadOf(pthread_t handle) {
  for (uint32_t i = threadCount; i > 0; --i)
    if (threads[i].state != State::None && pthread_equal(threads[i].handle, handle) != 0) return i;
  return 0;
}
const void* endOf(uint32_t thread) { return &threads[thread]; }
bool hasEnded(uint32_t thread) { return threads[thread].state == State::Ended; }

// A signal's handler that runs in a thread without the turn, or in the middle of what is below, takes no part.
static bool mayTakePart() { return self.turns != 0 && self.turns == current && !self.switching && !self.busy; }

static void changeTurn(Reason reason, uint32_t to) {
  int saved = errno;
  self.switching = true;
  {
    Table table;
    if (controlled) {
      note(reason, to);
      giveTurn(to);
    }
  }
  awaitTurn(me());
  self.switching = false;
  errno = saved;
}

// A step whose thread could go on.
static void chooseHere(bool free, bool sees) {
  me().sees = sees;
  leaveNow();
  noteStep(true, free);
  if (uint32_t to = chooseAt(); to != self.turns && to != 0) changeTurn(kChosen, to);
}

// Too many steps without anything new: once each thread that could go on has said where it spins, that is the end.
static void endSpin() {
  Thread& t = me();
  if (!t.told) {
    t.told = true;
    note(kYields, self.turns);
  }
  for (uint32_t i = 1; i <= threadCount; ++i) {
    if (threads[i].state == State::Ready && !threads[i].told) return;
    // Time, or somebody outside, may end it.
    if (threads[i].state == State::Waits && threads[i].moment != kNever) return gotOn();
  }
  if (lookOutside != nullptr) return gotOn();
  if (isRestart()) {
    char text[200];
    snprintf(text, sizeof text,
             "all of its threads that could go on spin, or work between locks on what is not followed: for %llu steps "
             "none looked at anything new or did anything that another one could notice",
             static_cast<unsigned long long>(idle - 1));
    endRun(BLACKOUT_ENDED_BROKEN, text, __builtin_frame_address(0));
  }
  stop(
      "all threads of the program that could go on spin, and for millions of steps none of them has read anything new "
      "or "
      "done anything that another one could notice: a livelock, or a wait that is counted. What it had stored until "
      "then "
      "is in the trace",
      nullptr, 3);
}

static void stepAt(const void* site, bool sees) {
  countStep();
  retried = false;
  idleRounds = 0;
  Thread& t = me();
  t.again = site != nullptr && t.site == site ? t.again + 1 : 0;
  t.site = site;
  if (t.again >= kSpins || steps - turnBegan >= kLongestTurn) {
    t.again = 0;
    return yieldTurn();
  }
  chooseHere(false, sees);
}

void switchAt(const void* site, bool sees) {
  if (!mayTakePart()) return;
  gotOn();
  stepAt(site, sees);
}

void switchToLook(const void* site, const void* at, Look look) {
  if (!mayTakePart()) return;
  maybeIdle(site, at, look);
  stepAt(site, true);
}

void gotOnHere() {
  if (mayTakePart()) gotOn();
}

void emptyInTurn() {
  if (!waitsInBuffer()) return;
  if (mayTakePart()) {
    countStep();
    chooseHere(true, true);
  }
  emptyBuffer();
}

// Nobody else is ready: whoever waits for a moment that has come. In a restart, whose clock goes by its steps, it comes
// where the thread that asks only spins: nothing but time can end that. 0: nobody.
static uint32_t timedWaiter() {
  Table table;
  uint32_t first = 0;
  for (uint32_t i = 1; i <= threadCount; ++i)
    if (threads[i].state == State::Waits && threads[i].moment != kNever &&
        (first == 0 || threads[i].moment < threads[first].moment))
      first = i;
  if (first == 0) return 0;
  Thread& t = threads[first];
  if (t.moment > now()) {
    if (turnClock == nullptr || idle < kSpins) return 0;
    turnClock->passTo(t.moment);
  }
  t.timedOut = true;
  t.state = State::Ready;
  gotOn();
  return first;
}

void yieldTurn() {
  if (!controlled || !mayTakePart()) return;
  // Whoever waits for others has shown them what it did.
  emptyInTurn();
  if (!controlled) return;
  me().sees = false;
  countStep();
  // What plain code does between two pauses is not seen.
  if (plainCode)
    gotOn();
  else
    ++idle;
  if (spinTooLong()) endSpin();
  leaveNow();
  if (kind == Kind::Priority) me().order = --lowest;
  noteStep(false);
  uint32_t to = chooseOther();
  if (to == 0) to = timedWaiter();
  if (to != 0)
    changeTurn(kYields, to);
  else
    turnBegan = steps;
}

bool waitTurn(const void* on, Retry retry, uint64_t moment) {
  if (!mayTakePart()) {
    syscall(SYS_sched_yield);
    return true;
  }
  if (waitsInBuffer()) emptyBuffer();
  int saved = errno;
  self.switching = true;
  Thread& t = me();
  bool again = false;
  gotOn();
  {
    Table table;
    countStep();
    t.on = on;
    t.retry = retry;
    t.moment = moment;
    t.timedOut = false;
    t.since = ++waits;
    t.sees = false;
    t.state = State::Waits;
    again = passOn(kBlocked);
  }
  if (!again) awaitTurn(t, current == 0);
  t.state = State::Ready;
  t.on = nullptr;
  t.moment = kNever;
  self.switching = false;
  errno = saved;
  return !t.timedOut;
}

unsigned wakeWaiting(const void* on, unsigned count) {
  if (!controlled) return 0;
  if (waitsInBuffer()) emptyBuffer();
  Table table;
  unsigned woken = 0;
  while (woken < count) {
    Thread* first = nullptr;
    for (uint32_t i = 1; i <= threadCount; ++i)
      if (threads[i].state == State::Waits && threads[i].on == on &&
          (first == nullptr || threads[i].since < first->since))
        first = &threads[i];
    if (first == nullptr) break;
    first->state = State::Ready;
    ++woken;
  }
  if (woken != 0) {
    gotOn();
    retried = false;
    idleRounds = 0;
    // By a signal's handler, when everybody waited.
    if (current == 0) giveTurn(nextReady());
  }
  return woken;
}

void wakeThread(uint32_t thread) {
  if (thread == 0 || !controlled) return;
  if (waitsInBuffer()) emptyBuffer();
  Table table;
  if (threads[thread].state == State::Waits) threads[thread].state = State::Ready;
}

bool anotherCouldGoOn() {
  for (uint32_t i = 1; i <= threadCount; ++i)
    if (i != self.turns &&
        (threads[i].state == State::Ready || (threads[i].state == State::Waits && threads[i].moment != kNever)))
      return true;
  return false;
}

const char* lostControl() { return lost_; }
bool waitForEver() { return forEver; }

}  // namespace blackout::rt
