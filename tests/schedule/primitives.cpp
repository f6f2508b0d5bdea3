// clang-format off
// Every call that synchronises threads, checked against its specification by the program itself, misuse included, under
// schedules of every kind: none of them may change what a call means, and control is never lost.
//
// RUN: %cxx -std=c++20 -O1 -pthread %s -o %t
// RUN: for s in random,1 random,2,4 random,3,1 turns,1 turns,7 priorities,4,3,500 priorities,5,5,500 list; do rm -f %t.img; %blackout record --schedule $s --pm %t.img -o %t.trace -- %t %t.img > %t.out 2>&1 || { echo "$s"; cat %t.out; exit 1; }; done
// RUN: %blackout check --no-explore --fail-on shown --pm %t.img -- %t %t.img 2>&1 | FileCheck %s
// CHECK-NOT: Control over the program's threads was lost
// CHECK: SUMMARY
//
// The same by traps.
// RUN: %plain-cxx -std=c++20 -O1 -pthread %s -o %t.plain
// RUN: rm -f %t.img; %blackout record --pm %t.img -o %t.trace -- %t.plain %t.img
// clang-format on
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <threads.h>
#include <time.h>
#include <unistd.h>

#include <atomic>
#include <condition_variable>
#include <future>
#include <latch>
#include <mutex>
#include <shared_mutex>
#include <thread>
#include <vector>

#include "../record/Inputs/pool.h"

static void must(bool condition, int line) {
  if (condition) return;
  fprintf(stderr, "line %d\n", line);
  _exit(1);
}
#define MUST(condition) must(condition, __LINE__)

static char* pool;

template <class Body>
static void inThreads(int n, Body body) {
  std::vector<std::thread> threads;
  for (int i = 0; i < n; ++i) threads.emplace_back([=] { body(i); });
  for (auto& t : threads) t.join();
}

static timespec in(long milliseconds) {
  timespec t;
  clock_gettime(CLOCK_REALTIME, &t);
  t.tv_nsec += milliseconds * 1000000;
  t.tv_sec += t.tv_nsec / 1000000000;
  t.tv_nsec %= 1000000000;
  return t;
}

static void mutexes() {
  static pthread_mutex_t plain = PTHREAD_MUTEX_INITIALIZER;
  static volatile int inside = 0, total = 0;
  inThreads(4, [](int) {
    for (int i = 0; i < 10; ++i) {
      pthread_mutex_lock(&plain);
      MUST(inside == 0);
      inside = 1;
      total = total + 1;
      pool[0] = char(total);
      inside = 0;
      pthread_mutex_unlock(&plain);
    }
  });
  MUST(total == 40);

  pthread_mutexattr_t a;
  pthread_mutexattr_init(&a);
  pthread_mutexattr_settype(&a, PTHREAD_MUTEX_ERRORCHECK);
  pthread_mutex_t checked;
  pthread_mutex_init(&checked, &a);
  inThreads(2, [&](int) {
    MUST(pthread_mutex_lock(&checked) == 0);
    MUST(pthread_mutex_lock(&checked) == EDEADLK);
    MUST(pthread_mutex_unlock(&checked) == 0);
  });
  pthread_mutexattr_settype(&a, PTHREAD_MUTEX_RECURSIVE);
  pthread_mutex_t recursive;
  pthread_mutex_init(&recursive, &a);
  inThreads(3, [&](int) {
    MUST(pthread_mutex_lock(&recursive) == 0);
    MUST(pthread_mutex_lock(&recursive) == 0);
    MUST(pthread_mutex_unlock(&recursive) == 0);
    MUST(pthread_mutex_unlock(&recursive) == 0);
  });
  pthread_mutexattr_settype(&a, PTHREAD_MUTEX_NORMAL);
  pthread_mutexattr_setrobust(&a, PTHREAD_MUTEX_ROBUST);
  pthread_mutex_t robust;
  pthread_mutex_init(&robust, &a);
  std::thread keeper([&] { pthread_mutex_lock(&robust); });  // and ends with it
  keeper.join();
  inThreads(2, [&](int) {
    int r = pthread_mutex_lock(&robust);
    MUST(r == 0 || r == EOWNERDEAD);
    if (r == EOWNERDEAD) pthread_mutex_consistent(&robust);
    pthread_mutex_unlock(&robust);
  });
  // Somebody else has it: trying and waiting for a moment end.
  pthread_mutex_lock(&plain);
  inThreads(2, [](int) {
    MUST(pthread_mutex_trylock(&plain) == EBUSY);
    timespec t = in(5);
    MUST(pthread_mutex_timedlock(&plain, &t) == ETIMEDOUT);
  });
  pthread_mutex_unlock(&plain);
}

static void readersAndWriters() {
  pthread_rwlock_t lock = PTHREAD_RWLOCK_INITIALIZER;
  std::atomic<int> readers{0}, writers{0};
  inThreads(4, [&](int n) {
    for (int i = 0; i < 5; ++i) {
      if ((n + i) % 3 == 0) {
        MUST(pthread_rwlock_wrlock(&lock) == 0);
        MUST(pthread_rwlock_wrlock(&lock) == EDEADLK);
        MUST(readers == 0 && ++writers == 1);
        sched_yield();
        --writers;
      } else {
        MUST(pthread_rwlock_rdlock(&lock) == 0);
        ++readers;
        MUST(writers == 0);
        sched_yield();
        --readers;
      }
      MUST(pthread_rwlock_unlock(&lock) == 0);
    }
  });
  std::shared_mutex shared;
  inThreads(3, [&](int n) {
    if (n == 0)
      std::unique_lock l(shared);
    else
      std::shared_lock l(shared);
  });
  pthread_rwlock_wrlock(&lock);
  inThreads(2, [&](int) {
    MUST(pthread_rwlock_tryrdlock(&lock) == EBUSY && pthread_rwlock_trywrlock(&lock) == EBUSY);
    timespec t = in(5);
    MUST(pthread_rwlock_timedrdlock(&lock, &t) == ETIMEDOUT);
  });
  pthread_rwlock_unlock(&lock);
}

static void conditions() {
  std::mutex m;
  std::condition_variable c;
  int stage = 0;
  inThreads(5, [&](int n) {
    std::unique_lock l(m);
    c.wait(l, [&] { return stage == n; });
    ++stage;
    pool[8] = char(stage);
    c.notify_all();
  });
  MUST(stage == 5);
  inThreads(2, [&](int) {
    std::unique_lock l(m);
    MUST(!c.wait_for(l, std::chrono::milliseconds(5), [] { return false; }));
  });
  // Each signal wakes one of those that wait.
  int woken = 0, waiting = 0;
  std::thread signaller([&] {
    for (int i = 0; i < 3; ++i) {
      std::unique_lock l(m);
      while (waiting == 0) {
        l.unlock();
        sched_yield();
        l.lock();
      }
      --waiting;
      ++woken;
      c.notify_one();
    }
  });
  inThreads(3, [&](int) {
    std::unique_lock l(m);
    ++waiting;
    c.wait(l, [&] { return woken > 0; });
    --woken;
  });
  signaller.join();
}

static void theRest() {
  sem_t s;
  sem_init(&s, 0, 2);
  std::atomic<int> inside{0};
  inThreads(5, [&](int) {
    MUST(sem_wait(&s) == 0);
    MUST(++inside <= 2);
    sched_yield();
    --inside;
    sem_post(&s);
  });
  sem_wait(&s), sem_wait(&s);
  inThreads(2, [&](int) {
    MUST(sem_trywait(&s) == -1 && errno == EAGAIN);
    timespec t = in(5);
    MUST(sem_timedwait(&s, &t) == -1 && errno == ETIMEDOUT);
  });

  pthread_barrier_t b;
  pthread_barrier_init(&b, nullptr, 4);
  std::atomic<int> serial{0}, arrived{0};
  inThreads(4, [&](int) {
    for (int round = 1; round <= 3; ++round) {
      ++arrived;
      if (pthread_barrier_wait(&b) == PTHREAD_BARRIER_SERIAL_THREAD) ++serial;
      MUST(arrived >= 4 * round);
      pthread_barrier_wait(&b);
    }
  });
  MUST(serial == 3);
  pthread_barrier_destroy(&b);

  pthread_spinlock_t spin;
  pthread_spin_init(&spin, 0);
  int plain = 0;
  inThreads(4, [&](int) {
    pthread_spin_lock(&spin);
    int now = plain;
    pool[16] = char(now);
    plain = now + 1;
    pthread_spin_unlock(&spin);
  });
  MUST(plain == 4);

  std::once_flag once;
  static int calls = 0, made = 0;
  inThreads(4, [&](int) {
    std::call_once(once, [] {
      sched_yield();
      ++calls;
    });
    MUST(calls == 1);
    static int value = [] {
      sched_yield();
      return ++made;
    }();
    MUST(value == 1 && made == 1);
  });

  std::atomic<int> word{0};
  inThreads(3, [&](int n) {
    if (n == 0) {
      word = 1;
      word.notify_all();
    } else {
      word.wait(0);
      MUST(word == 1);
    }
  });
  std::latch latch(3);
  inThreads(3, [&](int) { latch.arrive_and_wait(); });
  auto future = std::async(std::launch::async, [] { return 7; });
  MUST(future.get() == 7);
  // A spin without anything that says so.
  std::atomic<bool> go{false};
  std::thread spinner([&] {
    while (!go.load()) {
    }
  });
  go = true;
  spinner.join();
}

static thread_local struct Local {
  ~Local() {
    if (counter != nullptr) ++*counter;
  }
  std::atomic<int>* counter = nullptr;
} local;

static void threadsThemselves() {
  std::atomic<int> destroyed{0};
  inThreads(3, [&](int) {
    local.counter = &destroyed;
    try {
      throw 1;
    } catch (int) {
      pool[24] = 1;
    }
  });
  MUST(destroyed == 3);
  static pthread_key_t key;
  static std::atomic<int> keys{0};
  pthread_key_create(&key, [](void*) { ++keys; });
  inThreads(3, [&](int) { pthread_setspecific(key, &key); });
  MUST(keys == 3);
  pthread_t t;
  pthread_create(&t, nullptr, [](void*) -> void* { pthread_exit(pool); }, nullptr);
  void* result = nullptr;
  MUST(pthread_join(t, &result) == 0 && result == pool);
  // One that waits can be cancelled.
  static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
  static pthread_cond_t c = PTHREAD_COND_INITIALIZER;
  pthread_create(
      &t, nullptr,
      [](void*) -> void* {
        pthread_mutex_lock(&m);
        pthread_cleanup_push([](void*) { pthread_mutex_unlock(&m); }, nullptr);
        for (;;) pthread_cond_wait(&c, &m);
        pthread_cleanup_pop(0);
        return nullptr;
      },
      nullptr);
  sched_yield();
  pthread_cancel(t);
  MUST(pthread_join(t, &result) == 0 && result == PTHREAD_CANCELED);
  pthread_mutex_lock(&m);
  pthread_mutex_unlock(&m);
  // A thread sleeps, and others get on.
  std::atomic<bool> slept{false};
  std::thread sleeper([&] {
    usleep(2000);
    slept = true;
  });
  while (!slept) usleep(500);
  sleeper.join();
  pthread_t detached;
  static std::atomic<bool> done{false};
  pthread_create(&detached, nullptr, [](void*) -> void* { return done = true, nullptr; }, nullptr);
  pthread_detach(detached);
  while (!done) sched_yield();
}

static void c11() {
  static mtx_t m;
  static cnd_t c;
  static once_flag once = ONCE_FLAG_INIT;
  static int stage = 0, calls = 0;
  mtx_init(&m, mtx_plain);
  cnd_init(&c);
  thrd_t threads[3];
  for (intptr_t n = 0; n < 3; ++n)
    MUST(thrd_create(
             &threads[n],
             [](void* p) {
               call_once(&once, [] { ++calls; });
               mtx_lock(&m);
               while (stage != int(reinterpret_cast<intptr_t>(p))) cnd_wait(&c, &m);
               pool[32] = char(++stage);
               cnd_broadcast(&c);
               mtx_unlock(&m);
               thrd_yield();
               return stage > 0 ? 7 : 0;
             },
             reinterpret_cast<void*>(2 - n)) == thrd_success);
  for (thrd_t& t : threads) {
    int result = 0;
    MUST(thrd_join(t, &result) == thrd_success && result == 7);
  }
  MUST(stage == 3 && calls == 1);
}

int main(int, char** argv) {
  pool = static_cast<char*>(mapPool(argv[1], 4096));
  mutexes();
  readersAndWriters();
  conditions();
  theRest();
  threadsThemselves();
  c11();
  return 0;
}
