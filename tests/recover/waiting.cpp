// A restart that waits for what can't come any more is a finding with its place, told by what the kernel says of its
// threads; one that waits for something, or until some time has passed, is not.
// RUN: %cxx -O1 -g -pthread -I%include %s -o %t && rm -rf %t.img %t.dir && mkdir %t.dir && cd %t.dir
// RUN: not %blackout check --detect=none --pm %t.img -- %t %t.img mutex > %t.out 2>&1; FileCheck %s --check-prefix=MUTEX < %t.out
// MUTEX: hangs: nobody is left to wake it, and it waits for a lock or a condition in lockIt (waiting.cpp:[[# LOCK:]])
// MUTEX: fails here: {{.*}}waiting.cpp:[[# LOCK]]:{{[0-9]+}} in lockIt
// MUTEX-NOT: a lock in persistent memory
// MUTEX: SUMMARY: blackout: 1 shown
// Of several threads that wait for each other all are told.
// RUN: not %blackout check --detect=none --format json --pm %t.img -- %t %t.img both > %t.json 2>%t.err; not %blackout check --detect=none --pm %t.img -- %t %t.img both > %t.out 2>&1
// RUN: FileCheck %s --check-prefix=BOTH < %t.out && grep -c '"thread-waits"' %t.json | grep -qx 3
// BOTH: hangs: nobody is left to wake any of its threads, and one waits for a lock or a condition in takeBoth (waiting.cpp:[[# BOTH:]])
// BOTH: evidence:  Thread 1 waits for a thread{{.*}} in goWrong (waiting.cpp:{{[0-9]+}}), called from main (waiting.cpp:{{[0-9]+}}).
// BOTH: evidence:  Thread 2 waits for a lock or a condition in takeBoth (waiting.cpp:[[# BOTH]]), called from first (waiting.cpp:{{[0-9]+}}).
// BOTH: evidence:  Thread 3 waits for a lock or a condition in takeBoth (waiting.cpp:[[# BOTH]]), called from second (waiting.cpp:{{[0-9]+}}).
// RUN: for m in futex condition join signal pipe full pair child stopped poll select epoll event; do \
// RUN:   %blackout check --detect=none --pm %t.img -- %t %t.img $m > %t.out 2>&1; code=$?; \
// RUN:   { test $code = 1 && grep -q 'nobody is left to wake' %t.out && grep -q 'fails here: .*waiting.cpp' %t.out; } || { echo $m $code; cat %t.out; exit 1; }; done
// Nobody can know what these wait for, so they are neither findings nor clean.
// RUN: for m in outside alarm; do %blackout check --detect=none --run-timeout 1 --pm %t.img -- %t %t.img $m > %t.out 2>&1; code=$?; \
// RUN:   { test $code = 3 && ! grep -q 'shown:' %t.out; } || { echo $m $code; cat %t.out; exit 1; }; done
// These go on.
// RUN: for m in slow handed timed woken; do %blackout check --detect=none --pm %t.img -- %t %t.img $m > %t.out 2>&1 || { echo $m; cat %t.out; exit 1; }; done
#include <blackout/blackout.h>
#include <emmintrin.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/futex.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/select.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

struct Pool {
  alignas(64) volatile uint64_t data;
  alignas(64) volatile uint64_t done;
};

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER, other = PTHREAD_MUTEX_INITIALIZER;
static volatile int locked;
static pthread_cond_t condition = PTHREAD_COND_INITIALIZER;

static void* waits(void*) {
  pthread_mutex_lock(&mutex);
  pthread_cond_wait(&condition, &mutex);
  return nullptr;
}
static void* holds(void*) {
  pthread_mutex_lock(&mutex);
  return nullptr;
}
static void* wakes(void*) {
  struct timespec t{0, 400000000};
  syscall(SYS_nanosleep, &t, nullptr);
  pthread_mutex_unlock(&other);
  return nullptr;
}

static pthread_barrier_t bothHold;
__attribute__((noinline)) static void takeBoth(pthread_mutex_t& one, pthread_mutex_t& two) {
  pthread_mutex_lock(&one);
  pthread_barrier_wait(&bothHold);
  pthread_mutex_lock(&two);
  locked = locked + 1;
}
static void* first(void*) {
  takeBoth(mutex, other);
  locked = locked + 1;
  return nullptr;
}
static void* second(void*) {
  takeBoth(other, mutex);
  locked = locked + 1;
  return nullptr;
}

__attribute__((noinline)) static void lockIt() {
  pthread_mutex_lock(&mutex);
  locked = locked + 1;
}

__attribute__((noinline)) static void goWrong(const char* mode) {
  auto is = [&](const char* m) { return strcmp(mode, m) == 0; };
  int ends[2] = {-1, -1};
  char byte = 0;
  pthread_t thread;
  if (is("mutex")) {
    lockIt();
    lockIt();
  } else if (is("both")) {
    pthread_t ones[2];
    pthread_barrier_init(&bothHold, nullptr, 2);
    pthread_create(&ones[0], nullptr, first, nullptr);
    pthread_create(&ones[1], nullptr, second, nullptr);
    for (pthread_t t : ones) pthread_join(t, nullptr);
    locked = locked + 1;
  } else if (is("futex")) {
    static int word;
    syscall(SYS_futex, &word, FUTEX_WAIT_PRIVATE, 0, nullptr, nullptr, 0);
    locked = locked + 1;
  } else if (is("condition")) {
    waits(nullptr);
  } else if (is("join")) {
    pthread_create(&thread, nullptr, waits, nullptr);
    pthread_join(thread, nullptr);
  } else if (is("signal")) {
    pause();
  } else if (is("pipe")) {
    if (pipe(ends) == 0 && read(ends[0], &byte, 1) == 1) puts("read");
  } else if (is("full")) {
    if (pipe(ends) == 0)
      while (write(ends[1], mode, 4) > 0) {
      }
  } else if (is("pair")) {
    if (socketpair(AF_UNIX, SOCK_STREAM, 0, ends) == 0 && read(ends[0], &byte, 1) == 1) puts("read");
  } else if (is("child")) {
    if (fork() == 0) waits(nullptr);
    wait(nullptr);
  } else if (is("stopped")) {
    raise(SIGSTOP);
  } else if (is("poll") || is("select") || is("epoll")) {
    if (pipe(ends) != 0) return;
    struct pollfd polled{ends[0], POLLIN, 0};
    if (is("poll")) poll(&polled, 1, -1);
    fd_set set;
    FD_ZERO(&set);
    FD_SET(ends[0], &set);
    if (is("select")) select(ends[0] + 1, &set, nullptr, nullptr, nullptr);
    int epoll = epoll_create1(0);
    struct epoll_event event{EPOLLIN, {}};
    epoll_ctl(epoll, EPOLL_CTL_ADD, ends[0], &event);
    epoll_wait(epoll, &event, 1, -1);
  } else if (is("event")) {
    uint64_t count;
    if (read(eventfd(0, 0), &count, sizeof count) > 0) puts("read");
  } else if (is("outside")) {
    mkfifo("fifo", 0600);
    int fd = open("fifo", O_RDWR);
    if (read(fd, &byte, 1) == 1) puts("read");
  } else if (is("alarm")) {
    signal(SIGALRM, [](int) {});
    alarm(30);
    pause();
  } else if (is("slow")) {
    struct timespec t{0, 700000000};
    syscall(SYS_nanosleep, &t, nullptr);
  } else if (is("handed")) {
    if (pipe(ends) != 0) return;
    if (fork() == 0) {
      struct timespec t{0, 500000000};
      syscall(SYS_nanosleep, &t, nullptr);
      _exit(write(ends[1], "x", 1) == 1 ? 0 : 1);
    }
    if (read(ends[0], &byte, 1) == 1) wait(nullptr);
  } else if (is("timed")) {
    struct timespec t{0, 500000000};
    int word = 0;
    syscall(SYS_futex, &word, FUTEX_WAIT_PRIVATE, 0, &t, nullptr, 0);
  } else if (is("woken")) {
    pthread_mutex_lock(&other);
    pthread_create(&thread, nullptr, wakes, nullptr);
    pthread_mutex_lock(&other);
    pthread_join(thread, nullptr);
  }
}

int main(int, char** argv) {
  int fd = open(argv[1], O_RDWR | O_CREAT, 0600);
  if (ftruncate(fd, 4096) != 0) return 9;
  auto* p = static_cast<Pool*>(mmap(nullptr, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0));
  if (!blackout_recovering()) {
    p->data = 1;
    p->done = 1;
    _mm_clflush(const_cast<uint64_t*>(&p->data));
    _mm_clflush(const_cast<uint64_t*>(&p->done));
    return 0;
  }
  if (p->done == 1 && p->data == 0) goWrong(argv[2]);
  return locked < 0;
}
