// See pinned.h. What can't be pinned from here: the instructions rdtsc, rdrand and rdseed, the times of files, and
// timers that send signals (alarm, setitimer, timer_create), which follow the real clock and are noted as a use of
// time.

#include "runtime/pinned.h"

#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/resource.h>
#include <sys/select.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/timerfd.h>
#include <sys/times.h>
#include <unistd.h>

#include "runtime/outside.h"
#include "runtime/real.h"

namespace blackout::rt {

namespace {

constexpr uint64_t kSecond = 1000000000;
// One look at the clock. A loop that waits a second by looking only ends after 100,000 looks.
constexpr uint64_t kStep = 10000;
// The world's time is far in the future: after a crash it is later than anything that the recorded run wrote down, and
// it fits into 32 bits (2037-01-01). The time since the machine started is small again.
constexpr uint64_t kWorld = 2114380800 * kSecond;
constexpr uint64_t kBoot = 100 * kSecond;
// A recording's is before that of its restarts.
constexpr uint64_t kYear = 366 * 86400 * kSecond;

uint64_t elapsed = 0;      // nanoseconds of the run's clock
uint64_t randomIndex = 0;  // words of the stream so far

void advance(uint64_t nanoseconds) { __atomic_fetch_add(&elapsed, nanoseconds, __ATOMIC_RELAXED); }

void countStep() {
  if (isRestart()) step(nullptr);
}

uint64_t look() {
  countStep();
  return __atomic_add_fetch(&elapsed, kStep, __ATOMIC_RELAXED);
}

uint64_t world() { return isRestart() ? kWorld : kWorld - kYear; }

uint64_t originOf(clockid_t clock) {
  switch (clock) {
    case CLOCK_REALTIME:
    case CLOCK_REALTIME_COARSE:
    case CLOCK_TAI:
      return world();
    case CLOCK_MONOTONIC:
    case CLOCK_MONOTONIC_RAW:
    case CLOCK_MONOTONIC_COARSE:
    case CLOCK_BOOTTIME:
      return kBoot;
    default:
      return 0;  // time that a processor spent
  }
}

bool known(clockid_t clock) {
  struct timespec ignored;
  return (clock >= 0 && clock <= CLOCK_BOOTTIME) || syscall(SYS_clock_getres, clock, &ignored) == 0;
}

timespec specOf(uint64_t nanoseconds) { return {time_t(nanoseconds / kSecond), long(nanoseconds % kSecond)}; }
uint64_t nanosecondsOf(const timespec& t) {
  return t.tv_sec < 0 ? 0 : uint64_t(t.tv_sec) * kSecond + uint64_t(t.tv_nsec);
}
timeval valueOf(uint64_t nanoseconds) {
  return {time_t(nanoseconds / kSecond), suseconds_t(nanoseconds % kSecond / 1000)};
}

bool othersLive() {
  if (!isRestart()) return true;
  return (worker->used & (BLACKOUT_USED_THREADS | BLACKOUT_USED_PROCESSES)) != 0 || options.drive != nullptr ||
         isClient();
}

// Whoever sleeps for ever is told sooner by the count than by the clock: a sleep counts as so many steps.
constexpr uint64_t kStepsOfSleep = 16;

void sleepFor(uint64_t nanoseconds) {
  if (isRestart()) worker->steps += kStepsOfSleep - 1;
  countStep();
  if (controlled) {
    // Whoever waits for the same moment is woken first: nobody is ready then but by time.
    waitTurn(&elapsed, Retry::No, elapsed + nanoseconds);
    return;
  }
  advance(nanoseconds);
  if (!othersLive()) return;
  // Whoever is waited for gets a moment.
  timespec moment = specOf(nanoseconds < kSecond / 1000 ? nanoseconds : kSecond / 1000);
  syscall(SYS_nanosleep, &moment, nullptr);
}

// True: the real clock or the real chance is to be used.
bool passes(uint32_t bit) {
  if (pinned()) return false;
  used(bit);
  return true;
}

bool valid(const timespec* t) { return t->tv_sec >= 0 && t->tv_nsec >= 0 && t->tv_nsec < long(kSecond); }

// A wait for descriptors ended with `r`: nothing happened for that long.
int waited(int r, uint64_t nanoseconds) {
  if (r == 0) advance(nanoseconds);
  return r;
}

uint64_t word(uint64_t index) {  // splitmix64
  uint64_t z = 0x626c61636b6f7574ull + index * 0x9e3779b97f4a7c15ull;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ull;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebull;
  return z ^ (z >> 31);
}

uint32_t randomNumber() {
  uint32_t n;
  randomBytes(&n, sizeof n);
  return n;
}

}  // namespace

static void passElapsed(uint64_t moment) {
  if (moment > elapsed) elapsed = moment;
}
uint64_t pinnedElapsed() { return elapsed; }
void setPinnedElapsed(uint64_t nanoseconds) { elapsed = nanoseconds; }

void randomBytes(void* to, size_t size) {
  auto* p = static_cast<uint8_t*>(to);
  while (size > 0) {
    uint64_t w = word(__atomic_fetch_add(&randomIndex, 1, __ATOMIC_RELAXED));
    size_t n = size < sizeof w ? size : sizeof w;
    memcpy(p, &w, n);
    p += n;
    size -= n;
  }
}

int openRandom(const char* path, int flags) {
  if (!isRestart() || path == nullptr || (flags & O_ACCMODE) != O_RDONLY) return -1;
  if (strcmp(path, "/dev/urandom") != 0 && strcmp(path, "/dev/random") != 0) return -1;
  if (passes(BLACKOUT_USED_RANDOM)) return -1;
  // So much at once, because libc reads from it unseen; nobody seeds himself with more.
  static uint8_t bytes[65536];
  int fd = int(syscall(SYS_memfd_create, "random", (flags & O_CLOEXEC) != 0 ? MFD_CLOEXEC : 0u));
  if (fd < 0) return -1;
  randomBytes(bytes, sizeof bytes);
  syscall(SYS_pwrite64, fd, bytes, sizeof bytes, 0L);
  return fd;
}

const TurnClock* pinnedClock() {
  static const TurnClock clock = {pinnedElapsed, passElapsed};
  return pinned() ? &clock : nullptr;
}

bool isMoment(const timespec* moment) { return moment != nullptr && valid(moment); }

uint64_t momentOf(clockid_t clock, const timespec* moment) {
  uint64_t then = nanosecondsOf(*moment);
  if (pinned()) {
    if (clock == -1) clock = then >= kWorld - kYear ? CLOCK_REALTIME : CLOCK_MONOTONIC;
    uint64_t origin = originOf(clock);
    return then > origin ? then - origin : 0;
  }
  // The world's time is far from that since the machine started.
  constexpr uint64_t kLongUp = 20 * kYear;
  if (clock == -1) clock = then > kLongUp ? CLOCK_REALTIME : CLOCK_MONOTONIC;
  timespec now, steady;
  syscall(SYS_clock_gettime, clock, &now);
  syscall(SYS_clock_gettime, CLOCK_MONOTONIC, &steady);
  uint64_t at = nanosecondsOf(now);
  return nanosecondsOf(steady) + (then > at ? then - at : 0);
}

uint64_t momentIn(const timespec* time) {
  if (pinned()) return elapsed + nanosecondsOf(*time);
  timespec steady;
  syscall(SYS_clock_gettime, CLOCK_MONOTONIC, &steady);
  return nanosecondsOf(steady) + nanosecondsOf(*time);
}

const timespec* realMoment(clockid_t clock, const timespec* moment, timespec& room) {
  if (passes(BLACKOUT_USED_TIME) || !valid(moment)) return moment;
  if (clock == -1) clock = moment->tv_sec >= time_t((kWorld - kYear) / kSecond) ? CLOCK_REALTIME : CLOCK_MONOTONIC;
  countStep();
  room = {0, 0};
  uint64_t now = originOf(clock) + elapsed;
  uint64_t then = nanosecondsOf(*moment);
  if (othersLive() && then > now) {
    syscall(SYS_clock_gettime, clock, &room);
    room = specOf(nanosecondsOf(room) + (then - now));
  }
  return &room;
}

void passMoment(clockid_t clock, const timespec* moment) {
  if (!pinned()) return;
  if (clock == -1) clock = moment->tv_sec >= time_t((kWorld - kYear) / kSecond) ? CLOCK_REALTIME : CLOCK_MONOTONIC;
  uint64_t then = nanosecondsOf(*moment);
  uint64_t now = originOf(clock) + elapsed;
  if (then > now) advance(then - now);
}

}  // namespace blackout::rt

using namespace blackout::rt;

// A sanitizer's allocator asks for the time: looking a name up there would allocate again. So these are looked up in a
// quiet moment, and are system calls before it.
#define BLACKOUT_KNOWN(name) reinterpret_cast<decltype(&::name)>(realFunction<#name>)
__attribute__((constructor(102))) static void lookUpClocks() {
  lookUp<"clock_gettime">(), lookUp<"gettimeofday">(), lookUp<"time">(), lookUp<"getrandom">();
}

BLACKOUT_EXPORT int clock_gettime(clockid_t clock, struct timespec* t) noexcept {
  if (passes(BLACKOUT_USED_TIME) || !known(clock)) {
    auto* real = BLACKOUT_KNOWN(clock_gettime);
    return real == nullptr ? int(syscall(SYS_clock_gettime, clock, t)) : real(clock, t);
  }
  *t = specOf(originOf(clock) + look());
  return 0;
}
BLACKOUT_EXPORT int gettimeofday(struct timeval* __restrict t, void* __restrict zone) noexcept {
  if (passes(BLACKOUT_USED_TIME)) {
    auto* real = BLACKOUT_KNOWN(gettimeofday);
    return real == nullptr ? int(syscall(SYS_gettimeofday, t, zone)) : real(t, zone);
  }
  *t = valueOf(world() + look());
  if (zone != nullptr) memset(zone, 0, sizeof(struct timezone));
  return 0;
}
BLACKOUT_EXPORT time_t time(time_t* t) noexcept {
  if (passes(BLACKOUT_USED_TIME)) {
    auto* real = BLACKOUT_KNOWN(time);
    return real == nullptr ? syscall(SYS_time, t) : real(t);
  }
  auto now = time_t((world() + look()) / kSecond);
  if (t != nullptr) *t = now;
  return now;
}
BLACKOUT_EXPORT int timespec_get(struct timespec* t, int base) noexcept {
  if (passes(BLACKOUT_USED_TIME) || base != TIME_UTC) return BLACKOUT_REAL(timespec_get)(t, base);
  *t = specOf(world() + look());
  return base;
}
BLACKOUT_EXPORT clock_t clock() noexcept {
  if (passes(BLACKOUT_USED_TIME)) return BLACKOUT_REAL(clock)();
  return clock_t(look() / (kSecond / CLOCKS_PER_SEC));
}
BLACKOUT_EXPORT clock_t times(struct tms* t) noexcept {
  if (passes(BLACKOUT_USED_TIME)) return clock_t(callForProgram(SYS_times, reinterpret_cast<long>(t)));
  uint64_t now = look();
  constexpr uint64_t kTick = kSecond / 100;
  if (t != nullptr) *t = {clock_t(now / kTick), 0, 0, 0};
  return clock_t((kBoot + now) / kTick);
}
BLACKOUT_EXPORT int getrusage(__rusage_who_t who, struct rusage* usage) noexcept {
  if (passes(BLACKOUT_USED_TIME)) return int(callForProgram(SYS_getrusage, who, reinterpret_cast<long>(usage)));
  struct rusage real;
  if (syscall(SYS_getrusage, who, &real) != 0) return -1;
  *usage = {};
  if (who != RUSAGE_CHILDREN) usage->ru_utime = valueOf(look());
  return 0;
}

// Under control, with real time: others go on meanwhile.
static bool sleptInTurn(uint64_t nanoseconds) {
  if (!controlled || pinned()) return false;
  timespec time = specOf(nanoseconds);
  waitTurn(&time, Retry::No, momentIn(&time));
  return true;
}
BLACKOUT_EXPORT int nanosleep(const struct timespec* wanted, struct timespec* left) {
  if (controlled && valid(wanted) && sleptInTurn(nanosecondsOf(*wanted))) return 0;
  if (passes(BLACKOUT_USED_TIME) || !valid(wanted)) return BLACKOUT_REAL(nanosleep)(wanted, left);
  sleepFor(nanosecondsOf(*wanted));
  return 0;
}
BLACKOUT_EXPORT int clock_nanosleep(clockid_t clock, int flags, const struct timespec* wanted, struct timespec* left) {
  if (controlled && !pinned() && valid(wanted) && known(clock)) {
    if ((flags & TIMER_ABSTIME) != 0)
      waitTurn(wanted, Retry::No, momentOf(clock, wanted));
    else
      sleptInTurn(nanosecondsOf(*wanted));
    return 0;
  }
  if (passes(BLACKOUT_USED_TIME) || !valid(wanted) || !known(clock))
    return BLACKOUT_REAL(clock_nanosleep)(clock, flags, wanted, left);
  uint64_t then = nanosecondsOf(*wanted);
  uint64_t now = (flags & TIMER_ABSTIME) != 0 ? originOf(clock) + elapsed : 0;
  sleepFor(then > now ? then - now : 0);
  return 0;
}
BLACKOUT_EXPORT int usleep(useconds_t microseconds) {
  if (sleptInTurn(uint64_t{microseconds} * 1000)) return 0;
  if (passes(BLACKOUT_USED_TIME)) return BLACKOUT_REAL(usleep)(microseconds);
  sleepFor(uint64_t{microseconds} * 1000);
  return 0;
}
BLACKOUT_EXPORT unsigned sleep(unsigned seconds) {
  if (sleptInTurn(seconds * kSecond)) return 0;
  if (passes(BLACKOUT_USED_TIME)) return BLACKOUT_REAL(sleep)(seconds);
  sleepFor(seconds * kSecond);
  return 0;
}

// Waiting for descriptors is real, because somebody may really write to them; waiting for none is sleeping.
BLACKOUT_EXPORT int poll(struct pollfd* fds, nfds_t count, int timeout) {
  if (__builtin_expect(controlled, 0) && count != 0 && (timeout < 0 || (timeout != 0 && turnClock == nullptr))) {
    timespec time = specOf(uint64_t(timeout) * 1000000);
    if (!waitOutside(fds, count, timeout < 0 ? kNever : momentIn(&time))) timeout = 0;
  }
  if (timeout <= 0 || passes(BLACKOUT_USED_TIME)) return BLACKOUT_REAL(poll)(fds, count, timeout);
  uint64_t wait = uint64_t(timeout) * 1000000;
  if (count > 0) return waited(BLACKOUT_REAL(poll)(fds, count, timeout), wait);
  sleepFor(wait);
  return 0;
}
BLACKOUT_EXPORT int ppoll(struct pollfd* fds, nfds_t count, const struct timespec* timeout, const sigset_t* mask) {
  if (__builtin_expect(controlled, 0) && timeout == nullptr) waitOutside(fds, count);
  if (timeout == nullptr || !valid(timeout) || passes(BLACKOUT_USED_TIME))
    return BLACKOUT_REAL(ppoll)(fds, count, timeout, mask);
  uint64_t wait = nanosecondsOf(*timeout);
  if (count > 0) return waited(BLACKOUT_REAL(ppoll)(fds, count, timeout, mask), wait);
  sleepFor(wait);
  return 0;
}
// Before the call: whether the moment has come that it waits for.
static bool selectWaits(int count, fd_set* reads, fd_set* writes, fd_set* errors, const timespec* time) {
  if (time != nullptr && (!valid(time) || nanosecondsOf(*time) == 0 || turnClock != nullptr)) return true;
  return waitOutside(count, reads, writes, errors, time == nullptr ? kNever : momentIn(time));
}
BLACKOUT_EXPORT int select(int count, fd_set* reads, fd_set* writes, fd_set* errors, struct timeval* timeout) {
  if (__builtin_expect(controlled, 0)) {
    timespec time{};
    if (timeout != nullptr) time = {timeout->tv_sec, timeout->tv_usec * 1000};
    if (!selectWaits(count, reads, writes, errors, timeout == nullptr ? nullptr : &time)) *timeout = {0, 0};
  }
  if (timeout == nullptr || timeout->tv_sec < 0 || timeout->tv_usec < 0 || passes(BLACKOUT_USED_TIME))
    return BLACKOUT_REAL(select)(count, reads, writes, errors, timeout);
  uint64_t wait = uint64_t(timeout->tv_sec) * kSecond + uint64_t(timeout->tv_usec) * 1000;
  bool none = count == 0 || (reads == nullptr && writes == nullptr && errors == nullptr);
  if (!none) return waited(BLACKOUT_REAL(select)(count, reads, writes, errors, timeout), wait);
  sleepFor(wait);
  *timeout = {0, 0};
  return 0;
}
BLACKOUT_EXPORT int pselect(int count, fd_set* reads, fd_set* writes, fd_set* errors, const struct timespec* timeout,
                            const sigset_t* mask) {
  constexpr timespec kAtOnce = {0, 0};
  if (__builtin_expect(controlled, 0) && !selectWaits(count, reads, writes, errors, timeout)) timeout = &kAtOnce;
  if (timeout == nullptr || !valid(timeout) || passes(BLACKOUT_USED_TIME))
    return BLACKOUT_REAL(pselect)(count, reads, writes, errors, timeout, mask);
  uint64_t wait = nanosecondsOf(*timeout);
  bool none = count == 0 || (reads == nullptr && writes == nullptr && errors == nullptr);
  if (!none) return waited(BLACKOUT_REAL(pselect)(count, reads, writes, errors, timeout, mask), wait);
  sleepFor(wait);
  return 0;
}
BLACKOUT_EXPORT int epoll_wait(int fd, struct epoll_event* events, int count, int timeout) {
  if (__builtin_expect(controlled, 0) && (timeout < 0 || (timeout != 0 && turnClock == nullptr))) {
    pollfd any{fd, POLLIN, 0};
    timespec time = specOf(uint64_t(timeout) * 1000000);
    if (!waitOutside(&any, 1, timeout < 0 ? kNever : momentIn(&time))) timeout = 0;
  }
  int r = BLACKOUT_REAL(epoll_wait)(fd, events, count, timeout);
  if (timeout > 0 && isRestart() && !passes(BLACKOUT_USED_TIME)) waited(r, uint64_t(timeout) * 1000000);
  return r;
}

// Signals by the real clock.
BLACKOUT_EXPORT unsigned alarm(unsigned seconds) noexcept {
  if (seconds != 0) used(BLACKOUT_USED_TIME | BLACKOUT_USED_TIMERS);
  return unsigned(syscall(SYS_alarm, seconds));
}
BLACKOUT_EXPORT int setitimer(__itimer_which_t which, const struct itimerval* value, struct itimerval* old) noexcept {
  used(BLACKOUT_USED_TIME | BLACKOUT_USED_TIMERS);
  return int(callForProgram(SYS_setitimer, which, reinterpret_cast<long>(value), reinterpret_cast<long>(old)));
}
BLACKOUT_EXPORT int timer_create(clockid_t clock, struct sigevent* event, timer_t* timer) noexcept {
  used(BLACKOUT_USED_TIME | BLACKOUT_USED_TIMERS);
  return BLACKOUT_REAL_VERSION(timer_create, "GLIBC_2.34")(clock, event, timer);
}
BLACKOUT_EXPORT int timerfd_create(__clockid_t clock, int flags) noexcept {
  used(BLACKOUT_USED_TIME);
  return int(syscall(SYS_timerfd_create, clock, flags));
}

BLACKOUT_EXPORT int sched_getcpu() noexcept { return pinned() ? 0 : BLACKOUT_REAL(sched_getcpu)(); }
BLACKOUT_EXPORT int getcpu(unsigned* cpu, unsigned* node) noexcept {
  if (!pinned()) return int(callForProgram(SYS_getcpu, reinterpret_cast<long>(cpu), reinterpret_cast<long>(node)));
  if (cpu != nullptr) *cpu = 0;
  if (node != nullptr) *node = 0;
  return 0;
}

BLACKOUT_EXPORT ssize_t getrandom(void* to, size_t size, unsigned flags) {
  if (passes(BLACKOUT_USED_RANDOM)) {
    auto* real = BLACKOUT_KNOWN(getrandom);
    return real == nullptr ? syscall(SYS_getrandom, to, size, flags) : real(to, size, flags);
  }
  randomBytes(to, size);
  return ssize_t(size);
}
BLACKOUT_EXPORT int getentropy(void* to, size_t size) {
  if (size > 256 || passes(BLACKOUT_USED_RANDOM)) return BLACKOUT_REAL(getentropy)(to, size);
  randomBytes(to, size);
  return 0;
}
BLACKOUT_EXPORT uint32_t arc4random() noexcept {
  if (passes(BLACKOUT_USED_RANDOM)) return BLACKOUT_REAL(arc4random)();
  return randomNumber();
}
BLACKOUT_EXPORT void arc4random_buf(void* to, size_t size) noexcept {
  if (passes(BLACKOUT_USED_RANDOM)) return BLACKOUT_REAL(arc4random_buf)(to, size);
  randomBytes(to, size);
}
BLACKOUT_EXPORT uint32_t arc4random_uniform(uint32_t bound) noexcept {
  if (passes(BLACKOUT_USED_RANDOM)) return BLACKOUT_REAL(arc4random_uniform)(bound);
  return bound < 2 ? 0 : randomNumber() % bound;
}
// std::random_device::_M_getval(), which may read the processor's own source.
BLACKOUT_EXPORT unsigned _ZNSt13random_device9_M_getvalEv(void* device) {
  if (passes(BLACKOUT_USED_RANDOM)) {
    using Get = unsigned (*)(void*);
    static Get real = nullptr;
    if (real == nullptr) real = reinterpret_cast<Get>(dlsym(RTLD_NEXT, "_ZNSt13random_device9_M_getvalEv"));
    return real(device);
  }
  return randomNumber();
}
