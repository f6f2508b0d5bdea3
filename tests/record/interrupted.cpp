// Events that are cut short: a handler in the middle of a locked instruction, a jump out of a store that faults,
// a child that dies in one while its parent waits for nothing. The trace stays readable, nobody hangs, and what was lost is
// said (exit code 3).
//
// RUN: %cxx -O2 -pthread %s -o %t
// RUN: for what in bracket jump jump-threads zombie; do rm -f %t.img; timeout 60 %blackout record --pm %t.img -o %t.trace -- %t %t.img $what; test $? -eq 0 -o $? -eq 3 || exit 1; %blackout trace %t.trace | grep "= 0x2a" > /dev/null || exit 1; done
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <sys/time.h>
#include <sys/wait.h>

#include <string>

#include "Inputs/pool.h"

static volatile uint64_t* pool;
static sigjmp_buf back;

static void tick(int) { pool[64] = pool[64] + 1; }
static void jump(int) { siglongjmp(back, 1); }
static void* idle(void*) {
  pool[200] = 1;
  return nullptr;
}

int main(int, char** argv) {
  pool = static_cast<volatile uint64_t*>(mapPool(argv[1], 8192));
  std::string what = argv[2];
  void* second = const_cast<uint64_t*>(pool) + 512;
  if (what == "bracket") {
    signal(SIGALRM, tick);
    itimerval often{{0, 50}, {0, 50}};
    setitimer(ITIMER_REAL, &often, nullptr);
    for (int i = 0; i < 300000; ++i) __atomic_fetch_add(const_cast<uint64_t*>(pool), 1, __ATOMIC_SEQ_CST);
    itimerval off{};
    setitimer(ITIMER_REAL, &off, nullptr);
  } else if (what == "zombie") {
    pid_t child = fork();
    if (child == 0) {
      mprotect(second, 4096, PROT_READ);
      pool[512] = 1;  // dies here, inside the event
      _exit(0);
    }
    siginfo_t dead;
    waitid(P_PID, child, &dead, WEXITED | WNOWAIT);
    pool[1] = 1;
    waitpid(child, nullptr, 0);
  } else {
    pthread_t t;
    if (what == "jump-threads") pthread_create(&t, nullptr, idle, nullptr);
    signal(SIGSEGV, jump);
    mprotect(second, 4096, PROT_READ);
    if (sigsetjmp(back, 1) == 0) pool[512] = 1;
    mprotect(second, 4096, PROT_READ | PROT_WRITE);
    if (what == "jump-threads") pthread_join(t, nullptr);
  }
  pool[100] = 42;
  return 0;
}
