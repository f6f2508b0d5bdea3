// Locks, conditions and the like. A lock is a locked instruction, so it completes the pending flushes of its thread; it
// is recorded when it could (the thread touched PM since its last fence) or when all locks are wanted. Under control
// (schedule.h) a thread tries without waiting and gives its turn away while that fails: libc decides what a call means,
// the schedule who is next.

#include <errno.h>
#include <limits.h>
#include <linux/futex.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdint.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "runtime/buffers.h"
#include "runtime/options.h"
#include "runtime/pinned.h"
#include "runtime/real.h"
#include "runtime/recorder.h"
#include "runtime/regions.h"
#include "runtime/schedule.h"

using namespace blackout::rt;

namespace {

void lockEvent(uint8_t kind, const void* lock) {
  if (!inRun() || (!self.active && options.locks == 0)) return;
  Scope scope;
  if (scope.nested) return;
  append(kind, 0, 0, reinterpret_cast<uint64_t>(lock), 0);
}
int locked(int r, const void* lock) {
  int saved = errno;
  if (r == 0) lockEvent(BLACKOUT_EV_Lock, lock);
  errno = saved;
  return r;
}
void unlocks(const void* lock) {
  if (waitsInBuffer()) emptyInTurn();
  lockEvent(BLACKOUT_EV_Unlock, lock);
}

// Takes a lock under control. `tryIt` gives EBUSY while somebody else has it.
template <class Try, class Real>
int acquire(const void* lock, Try tryIt, Real real, uint64_t moment = kNever) {
  switchPoint(lock);
  while (controlled) {
    if (int r = tryIt(); r != EBUSY) return r;
    if (!waitTurn(lock, Retry::Yes, moment)) return ETIMEDOUT;
  }
  return real();
}
// It was given back: whoever waits for it may try.
int released(int r, const void* lock) {
  if (__builtin_expect(controlled, 0)) {
    if (r == 0) wakeWaiting(lock, UINT_MAX);
    switchPoint(lock);
  }
  return r;
}

// What trying can't tell from a lock that somebody else has: the caller has it, and libc says so.
bool refusesAgain(const pthread_mutex_t* m) {
  constexpr int kKindMask = 3;
  return !mayBePm(m, sizeof *m) && (m->__data.__kind & kKindMask) == PTHREAD_MUTEX_ERRORCHECK_NP &&
         m->__data.__owner == int(self.tid);
}
bool hasWriteLock(const pthread_rwlock_t* l) {
  return !mayBePm(l, sizeof *l) && l->__data.__cur_writer == int(self.tid);
}

}  // namespace

// Most locks order nothing, and cost their callers three instructions more. What a thread has to order doesn't change
// while it waits.
static inline bool ordersNothing() { return !self.active && options.locks == 0; }

static int lockMutex(pthread_mutex_t* m) {
  auto* real = BLACKOUT_REAL(pthread_mutex_lock);
  if (__builtin_expect(!controlled, 1)) return real(m);
  if (refusesAgain(m)) return real(m);
  return acquire(m, [&] { return BLACKOUT_REAL(pthread_mutex_trylock)(m); }, [&] { return real(m); });
}
static int lockMutexUntil(pthread_mutex_t* m, clockid_t clock, const timespec* t) {
  auto real = [&] {
    return waitUntil(clock, t, [&](auto* u) { return BLACKOUT_REAL(pthread_mutex_clocklock)(m, clock, u); });
  };
  if (!controlled || refusesAgain(m) || !isMoment(t)) return real();
  return acquire(m, [&] { return BLACKOUT_REAL(pthread_mutex_trylock)(m); }, real, momentOf(clock, t));
}
BLACKOUT_EXPORT int pthread_mutex_lock(pthread_mutex_t* m) {
  if (__builtin_expect(ordersNothing() && !controlled, 1)) return BLACKOUT_REAL(pthread_mutex_lock)(m);
  return locked(lockMutex(m), m);
}
BLACKOUT_EXPORT int pthread_mutex_trylock(pthread_mutex_t* m) {
  switchPoint(m);
  return locked(BLACKOUT_REAL(pthread_mutex_trylock)(m), m);
}
BLACKOUT_EXPORT int pthread_mutex_timedlock(pthread_mutex_t* m, const timespec* t) {
  return locked(lockMutexUntil(m, CLOCK_REALTIME, t), m);
}
BLACKOUT_EXPORT int pthread_mutex_clocklock(pthread_mutex_t* m, clockid_t clock, const timespec* t) {
  return locked(lockMutexUntil(m, clock, t), m);
}
BLACKOUT_EXPORT int pthread_mutex_unlock(pthread_mutex_t* m) {
  if (__builtin_expect(!ordersNothing(), 0)) unlocks(m);
  int r = BLACKOUT_REAL(pthread_mutex_unlock)(m);
  return __builtin_expect(controlled, 0) ? released(r, m) : r;
}

static int lockRead(pthread_rwlock_t* l, uint64_t moment, auto real) {
  if (!controlled || hasWriteLock(l)) return real();
  return acquire(l, [&] { return BLACKOUT_REAL(pthread_rwlock_tryrdlock)(l); }, real, moment);
}
static int lockWrite(pthread_rwlock_t* l, uint64_t moment, auto real) {
  if (!controlled || hasWriteLock(l)) return real();
  return acquire(l, [&] { return BLACKOUT_REAL(pthread_rwlock_trywrlock)(l); }, real, moment);
}
BLACKOUT_EXPORT int pthread_rwlock_rdlock(pthread_rwlock_t* l) {
  return locked(lockRead(l, kNever, [&] { return BLACKOUT_REAL(pthread_rwlock_rdlock)(l); }), l);
}
BLACKOUT_EXPORT int pthread_rwlock_wrlock(pthread_rwlock_t* l) {
  return locked(lockWrite(l, kNever, [&] { return BLACKOUT_REAL(pthread_rwlock_wrlock)(l); }), l);
}
BLACKOUT_EXPORT int pthread_rwlock_clockrdlock(pthread_rwlock_t* l, clockid_t clock, const timespec* t) {
  auto* real = BLACKOUT_REAL(pthread_rwlock_clockrdlock);
  auto wait = [&] { return waitUntil(clock, t, [&](auto* u) { return real(l, clock, u); }); };
  return locked(isMoment(t) ? lockRead(l, momentOf(clock, t), wait) : wait(), l);
}
BLACKOUT_EXPORT int pthread_rwlock_clockwrlock(pthread_rwlock_t* l, clockid_t clock, const timespec* t) {
  auto* real = BLACKOUT_REAL(pthread_rwlock_clockwrlock);
  auto wait = [&] { return waitUntil(clock, t, [&](auto* u) { return real(l, clock, u); }); };
  return locked(isMoment(t) ? lockWrite(l, momentOf(clock, t), wait) : wait(), l);
}
BLACKOUT_EXPORT int pthread_rwlock_timedrdlock(pthread_rwlock_t* l, const timespec* t) {
  return pthread_rwlock_clockrdlock(l, CLOCK_REALTIME, t);
}
BLACKOUT_EXPORT int pthread_rwlock_timedwrlock(pthread_rwlock_t* l, const timespec* t) {
  return pthread_rwlock_clockwrlock(l, CLOCK_REALTIME, t);
}
BLACKOUT_EXPORT int pthread_rwlock_tryrdlock(pthread_rwlock_t* l) {
  switchPoint(l);
  return locked(BLACKOUT_REAL(pthread_rwlock_tryrdlock)(l), l);
}
BLACKOUT_EXPORT int pthread_rwlock_trywrlock(pthread_rwlock_t* l) {
  switchPoint(l);
  return locked(BLACKOUT_REAL(pthread_rwlock_trywrlock)(l), l);
}
BLACKOUT_EXPORT int pthread_rwlock_unlock(pthread_rwlock_t* l) {
  unlocks(l);
  return released(BLACKOUT_REAL(pthread_rwlock_unlock)(l), l);
}

BLACKOUT_EXPORT int pthread_spin_lock(pthread_spinlock_t* l) {
  auto* lock = const_cast<int*>(l);
  return locked(acquire(
                    lock, [&] { return BLACKOUT_REAL(pthread_spin_trylock)(l); },
                    [&] { return BLACKOUT_REAL(pthread_spin_lock)(l); }),
                lock);
}
BLACKOUT_EXPORT int pthread_spin_trylock(pthread_spinlock_t* l) {
  switchPoint(const_cast<int*>(l));
  return locked(BLACKOUT_REAL(pthread_spin_trylock)(l), const_cast<int*>(l));
}
// A plain store on x86: it completes nothing.
BLACKOUT_EXPORT int pthread_spin_unlock(pthread_spinlock_t* l) noexcept {
  if (waitsInBuffer()) emptyInTurn();
  return released(BLACKOUT_REAL(pthread_spin_unlock)(l), const_cast<int*>(l));
}

// Under control the condition is only a name to wait for: `c` itself stays as libc made it, so that whoever waits or
// signals after control was lost finds it right. Being woken for nothing is the program's to expect.
static int waitForCondition(pthread_cond_t* c, pthread_mutex_t* m, uint64_t moment) {
  switchPoint(c);
  pthread_testcancel();
  if (int r = BLACKOUT_REAL(pthread_mutex_unlock)(m); r != 0) return r;
  wakeWaiting(m, UINT_MAX);
  bool told = waitTurn(c, Retry::No, moment);
  int r = lockMutex(m);
  if (r == 0 && waitForEver()) r = BLACKOUT_REAL_VERSION(pthread_cond_wait, "GLIBC_2.3.2")(c, m);
  pthread_testcancel();
  return r != 0 ? r : told ? 0 : ETIMEDOUT;
}
BLACKOUT_EXPORT int pthread_cond_wait(pthread_cond_t* c, pthread_mutex_t* m) {
  unlocks(m);
  if (__builtin_expect(controlled, 0)) return locked(waitForCondition(c, m, kNever), m);
  return locked(BLACKOUT_REAL_VERSION(pthread_cond_wait, "GLIBC_2.3.2")(c, m), m);
}
static int lockedAgain(int r, pthread_mutex_t* m) {
  if (r == 0 || r == ETIMEDOUT) locked(0, m);
  return r;
}
BLACKOUT_EXPORT int pthread_cond_timedwait(pthread_cond_t* c, pthread_mutex_t* m, const timespec* t) {
  unlocks(m);
  // Which clock it is, only the condition knows.
  if (controlled && isMoment(t)) return lockedAgain(waitForCondition(c, m, momentOf(-1, t)), m);
  auto* real = BLACKOUT_REAL_VERSION(pthread_cond_timedwait, "GLIBC_2.3.2");
  return lockedAgain(waitUntil(-1, t, [&](auto* u) { return real(c, m, u); }), m);
}
BLACKOUT_EXPORT int pthread_cond_clockwait(pthread_cond_t* c, pthread_mutex_t* m, clockid_t clock, const timespec* t) {
  unlocks(m);
  if (controlled && isMoment(t)) return lockedAgain(waitForCondition(c, m, momentOf(clock, t)), m);
  auto* real = BLACKOUT_REAL(pthread_cond_clockwait);
  return lockedAgain(waitUntil(clock, t, [&](auto* u) { return real(c, m, clock, u); }), m);
}
BLACKOUT_EXPORT int pthread_cond_signal(pthread_cond_t* c) noexcept {
  switchPoint(c);
  wakeWaiting(c, 1);
  return BLACKOUT_REAL_VERSION(pthread_cond_signal, "GLIBC_2.3.2")(c);
}
BLACKOUT_EXPORT int pthread_cond_broadcast(pthread_cond_t* c) noexcept {
  switchPoint(c);
  wakeWaiting(c, UINT_MAX);
  return BLACKOUT_REAL_VERSION(pthread_cond_broadcast, "GLIBC_2.3.2")(c);
}

// As a lock that is tried: 0, or EBUSY; another error as it is.
static int trySemaphore(sem_t* s) {
  if (BLACKOUT_REAL_VERSION(sem_trywait, "GLIBC_2.34")(s) == 0) return 0;
  return errno == EAGAIN ? EBUSY : errno;
}
static int asSemaphore(int error) {
  if (error == 0) return 0;
  errno = error;
  return -1;
}
static int waitForSemaphore(sem_t* s, uint64_t moment, auto real) {
  if (__builtin_expect(!controlled, 1)) return real();
  pthread_testcancel();
  int r = asSemaphore(acquire(s, [&] { return trySemaphore(s); }, [&] { return real() == 0 ? 0 : errno; }, moment));
  pthread_testcancel();
  return r;
}
BLACKOUT_EXPORT int sem_wait(sem_t* s) {
  return locked(waitForSemaphore(s, kNever, [&] { return BLACKOUT_REAL_VERSION(sem_wait, "GLIBC_2.34")(s); }), s);
}
BLACKOUT_EXPORT int sem_trywait(sem_t* s) noexcept {
  switchPoint(s);
  return locked(BLACKOUT_REAL_VERSION(sem_trywait, "GLIBC_2.34")(s), s);
}
BLACKOUT_EXPORT int sem_clockwait(sem_t* s, clockid_t clock, const timespec* t) {
  auto* real = BLACKOUT_REAL_VERSION(sem_clockwait, "GLIBC_2.34");
  auto wait = [&] { return waitUntil(clock, t, [&](auto* u) { return real(s, clock, u); }); };
  return locked(isMoment(t) ? waitForSemaphore(s, momentOf(clock, t), wait) : wait(), s);
}
BLACKOUT_EXPORT int sem_timedwait(sem_t* s, const timespec* t) { return sem_clockwait(s, CLOCK_REALTIME, t); }
BLACKOUT_EXPORT int sem_post(sem_t* s) noexcept {
  unlocks(s);
  return released(BLACKOUT_REAL_VERSION(sem_post, "GLIBC_2.34")(s), s);
}

// A barrier can't be tried. Where threads are under control, or were, it is counted here; how many it waits for is
// where libc keeps it.
namespace {

struct Barrier {
  const pthread_barrier_t* barrier = nullptr;
  uint32_t arrived = 0;
  uint32_t round = 0;
};
constexpr int kMostBarriers = 256;
Barrier barriers[kMostBarriers];

Barrier* barrierOf(const pthread_barrier_t* b) {
  for (Barrier& known : barriers)
    if (known.barrier == b) return &known;
  for (Barrier& known : barriers) {
    const pthread_barrier_t* none = nullptr;
    if (__atomic_compare_exchange_n(&known.barrier, &none, b, false, __ATOMIC_ACQ_REL, __ATOMIC_RELAXED)) return &known;
  }
  return nullptr;
}

// Since glibc 2.25: in, current_round, count, ...
uint32_t countOf(const pthread_barrier_t* b) { return reinterpret_cast<const uint32_t*>(b)[2]; }

int waitAtBarrier(pthread_barrier_t* b, Barrier& known) {
  switchPoint(b);
  uint32_t round = __atomic_load_n(&known.round, __ATOMIC_ACQUIRE);
  if (__atomic_add_fetch(&known.arrived, 1, __ATOMIC_ACQ_REL) == countOf(b)) {
    known.arrived = 0;
    __atomic_store_n(&known.round, round + 1, __ATOMIC_RELEASE);
    wakeWaiting(b, UINT_MAX);
    syscall(SYS_futex, &known.round, FUTEX_WAKE_PRIVATE, INT_MAX, nullptr, nullptr, 0);
    return PTHREAD_BARRIER_SERIAL_THREAD;
  }
  while (__atomic_load_n(&known.round, __ATOMIC_ACQUIRE) == round) {
    if (controlled)
      waitTurn(b, Retry::No);
    else
      syscall(SYS_futex, &known.round, FUTEX_WAIT_PRIVATE, round, nullptr, nullptr, 0);
  }
  return 0;
}

}  // namespace
BLACKOUT_EXPORT int pthread_barrier_wait(pthread_barrier_t* b) {
  unlocks(b);
  Barrier* known = (controlled || lostControl() != nullptr) && !mayBePm(b, sizeof *b) ? barrierOf(b) : nullptr;
  int r = known != nullptr ? waitAtBarrier(b, *known) : BLACKOUT_REAL(pthread_barrier_wait)(b);
  if (r == 0 || r == PTHREAD_BARRIER_SERIAL_THREAD) locked(0, b);
  return r;
}
BLACKOUT_EXPORT int pthread_barrier_destroy(pthread_barrier_t* b) noexcept {
  for (Barrier& known : barriers)
    if (known.barrier == b) known = {};
  return BLACKOUT_REAL_VERSION(pthread_barrier_destroy, "GLIBC_2.34")(b);
}

// Whoever finds that another thread is at it waits here: libc would wait in the kernel, with the turn in its hand.
BLACKOUT_EXPORT int pthread_once(pthread_once_t* control, void (*routine)()) {
  auto* real = BLACKOUT_REAL_VERSION(pthread_once, "GLIBC_2.34");
  if (__builtin_expect(!controlled, 1)) return real(control, routine);
  // Of libc's word: 1 while somebody is at it, 2 when it is done.
  constexpr int kStates = 3, kAtIt = 1;
  switchPoint(control);
  while (controlled && (__atomic_load_n(control, __ATOMIC_ACQUIRE) & kStates) == kAtIt) waitTurn(control, Retry::Yes);
  int r = real(control, routine);
  if (waitsInBuffer()) emptyBuffer();
  wakeWaiting(control, UINT_MAX);
  return r;
}
