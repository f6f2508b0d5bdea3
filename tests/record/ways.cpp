// Every way to make a thread or a process: all of them take part in the order of the trace, and none works on
// the user's pool.
//
// RUN: %cxx -O2 -pthread %s -o %t && rm -f %t.img && head -c 8192 /dev/zero > %t.img && sha256sum %t.img > %t.sum
// RUN: for way in thrd timer Fork execl execle execlp system cancel; do %blackout record --pm %t.img -o %t.trace -- %t %t.img $way || exit 1; %blackout trace %t.trace | grep "= 0x2a" > /dev/null || exit 1; done
// RUN: sha256sum -c %t.sum
#include <pthread.h>
#include <signal.h>
#include <sys/wait.h>
#include <threads.h>
#include <time.h>

#include <string>

#include "Inputs/pool.h"

extern "C" pid_t _Fork(void) noexcept;
static volatile uint64_t* pool;
static volatile int done;

static void stores(int from) {
  for (uint64_t i = 0; i < 20000; ++i) pool[from + i % 8] = i;
}
static int inThread(void*) {
  stores(8);
  pool[100] = 42;
  return 0;
}
static void inTimer(sigval) {
  inThread(nullptr);
  done = 1;
}
static void* blocked(void*) {
  pool[100] = 42;
  int pipes[2];
  char byte;
  if (pipe(pipes) == 0 && read(pipes[0], &byte, 1) == 1) abort();
  return nullptr;
}

int main(int, char** argv) {
  pool = static_cast<volatile uint64_t*>(mapPool(argv[1], 8192));
  std::string way = argv[2];
  if (way == "child") {
    pool[100] = 42;
    return 0;
  }
  char* none[] = {nullptr};
  if (way == "thrd") {
    thrd_t t;
    if (thrd_create(&t, inThread, nullptr) != thrd_success) return 1;
    stores(0);
    thrd_join(t, nullptr);
  } else if (way == "timer") {
    sigevent event{};
    event.sigev_notify = SIGEV_THREAD;
    event.sigev_notify_function = inTimer;
    timer_t timer;
    if (timer_create(CLOCK_MONOTONIC, &event, &timer) != 0) return 2;
    itimerspec soon{{0, 0}, {0, 1000000}};
    timer_settime(timer, 0, &soon, nullptr);
    while (!done) stores(0);
  } else if (way == "Fork") {
    if (pid_t child = _Fork()) {
      stores(0);
      waitpid(child, nullptr, 0);
    } else {
      inThread(nullptr);
      _exit(0);
    }
  } else if (way == "execl") {
    clearenv();
    execl(argv[0], argv[0], argv[1], "child", nullptr);
    return 3;
  } else if (way == "execle") {
    execle(argv[0], argv[0], argv[1], "child", nullptr, none);
    return 4;
  } else if (way == "execlp") {
    execlp(argv[0], argv[0], argv[1], "child", nullptr);
    return 5;
  } else if (way == "system") {
    clearenv();
    return system((std::string(argv[0]) + " " + argv[1] + " child").c_str());
  } else if (way == "cancel") {
    pthread_t t;
    pthread_create(&t, nullptr, blocked, nullptr);
    usleep(10000);
    pthread_cancel(t);
    pthread_join(t, nullptr);
  }
  return 0;
}
