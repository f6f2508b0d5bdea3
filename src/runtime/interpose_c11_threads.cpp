// C11's threads. In libc they are POSIX's under other names, but its functions call each other past ours: so each is
// made of ours here, while threads are under control or may come to be.

#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <stdint.h>
#include <stdlib.h>
#include <threads.h>
#include <time.h>

#include "runtime/real.h"
#include "runtime/role.h"
#include "runtime/schedule.h"

using namespace blackout::rt;

namespace {

int asC11(int error) {
  switch (error) {
    case 0:
      return thrd_success;
    case EBUSY:
      return thrd_busy;
    case ETIMEDOUT:
      return thrd_timedout;
    case ENOMEM:
    case EAGAIN:
      return thrd_nomem;
    default:
      return thrd_error;
  }
}

pthread_mutex_t* of(mtx_t* m) { return reinterpret_cast<pthread_mutex_t*>(m); }
pthread_cond_t* of(cnd_t* c) { return reinterpret_cast<pthread_cond_t*>(c); }

struct Start {
  thrd_start_t routine;
  void* argument;
};
void* begin(void* p) {
  Start start = *static_cast<Start*>(p);
  free(p);
  return reinterpret_cast<void*>(intptr_t(start.routine(start.argument)));
}

}  // namespace

static_assert(sizeof(mtx_t) == sizeof(pthread_mutex_t) && sizeof(cnd_t) == sizeof(pthread_cond_t));

BLACKOUT_EXPORT int thrd_create(thrd_t* thread, thrd_start_t routine, void* argument) {
  if (!inRun()) return BLACKOUT_REAL_VERSION(thrd_create, "GLIBC_2.34")(thread, routine, argument);
  auto* start = static_cast<Start*>(malloc(sizeof(Start)));
  if (start == nullptr) return thrd_nomem;
  *start = {routine, argument};
  int r = pthread_create(thread, nullptr, begin, start);
  if (r != 0) free(start);
  return asC11(r);
}
BLACKOUT_EXPORT int thrd_join(thrd_t thread, int* result) {
  if (!inRun()) return BLACKOUT_REAL_VERSION(thrd_join, "GLIBC_2.34")(thread, result);
  void* value = nullptr;
  int r = pthread_join(thread, &value);
  if (r == 0 && result != nullptr) *result = int(reinterpret_cast<intptr_t>(value));
  return asC11(r);
}
BLACKOUT_EXPORT __attribute__((noreturn)) void thrd_exit(int result) {
  pthread_exit(reinterpret_cast<void*>(intptr_t(result)));
}
BLACKOUT_EXPORT void thrd_yield() { sched_yield(); }
BLACKOUT_EXPORT int thrd_sleep(const struct timespec* time, struct timespec* left) {
  if (!inRun()) return BLACKOUT_REAL_VERSION(thrd_sleep, "GLIBC_2.34")(time, left);
  int r = nanosleep(time, left);
  return r == 0 ? 0 : errno == EINTR ? -1 : -2;
}
BLACKOUT_EXPORT int mtx_lock(mtx_t* m) { return asC11(pthread_mutex_lock(of(m))); }
BLACKOUT_EXPORT int mtx_trylock(mtx_t* m) { return asC11(pthread_mutex_trylock(of(m))); }
BLACKOUT_EXPORT int mtx_timedlock(mtx_t* __restrict m, const struct timespec* __restrict t) {
  return asC11(pthread_mutex_timedlock(of(m), t));
}
BLACKOUT_EXPORT int mtx_unlock(mtx_t* m) { return asC11(pthread_mutex_unlock(of(m))); }
BLACKOUT_EXPORT int cnd_wait(cnd_t* c, mtx_t* m) { return asC11(pthread_cond_wait(of(c), of(m))); }
BLACKOUT_EXPORT int cnd_timedwait(cnd_t* __restrict c, mtx_t* __restrict m, const struct timespec* __restrict t) {
  return asC11(pthread_cond_timedwait(of(c), of(m), t));
}
BLACKOUT_EXPORT int cnd_signal(cnd_t* c) { return asC11(pthread_cond_signal(of(c))); }
BLACKOUT_EXPORT int cnd_broadcast(cnd_t* c) { return asC11(pthread_cond_broadcast(of(c))); }
BLACKOUT_EXPORT void call_once(once_flag* flag, void (*routine)()) {
  pthread_once(reinterpret_cast<pthread_once_t*>(flag), routine);
}
