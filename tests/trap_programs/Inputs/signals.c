// A program with handlers of its own for the signals that traps use. Each MODE prints what happened; natively and under
// Blackout it must be the same.
#define _GNU_SOURCE
#include <errno.h>
#include <setjmp.h>
#include <signal.h>
#include <sys/time.h>
#include <ucontext.h>

#include "Inputs/pool.h"

static volatile uint64_t* p;
static sigjmp_buf back;
static char ownStack[65536];
static int wantsOwn;

static void say(const char* text) { fputs(text, stdout), fputc('\n', stdout); }

static void jump(int signal, siginfo_t* info, void* context) {
  char here;
  // Who did not ask for it may get it.
  int onOwn = wantsOwn && &here >= ownStack && &here < ownStack + sizeof ownStack;
  // The handler touches PM, too.
  p[8] = p[8] + 1;
  printf("signal %d code %d address %p own stack %d context %d\n", signal, info->si_code, info->si_addr, onOwn,
         context != NULL && ((ucontext_t*)context)->uc_mcontext.gregs[REG_RIP] != 0);
  siglongjmp(back, 1);
}
static void plainJump(int signal) {
  printf("plain handler %d\n", signal);
  siglongjmp(back, 1);
}
static volatile int traps;
static void count(int signal) { traps += signal == SIGTRAP; }

static void install(int signal, int flags) {
  struct sigaction action = {.sa_sigaction = jump, .sa_flags = SA_SIGINFO | flags};
  struct sigaction before, now;
  wantsOwn = (flags & SA_ONSTACK) != 0;
  sigaction(signal, &action, &before);
  sigaction(signal, NULL, &now);
  printf("before %s, now ours %d, flags %x\n", before.sa_handler == SIG_DFL ? "default" : "other",
         now.sa_sigaction == jump, now.sa_flags & ~0x04000000);
}

__attribute__((noinline)) static void bad(volatile int* at) {
  if (sigsetjmp(back, 1) == 0) {
    *at = 1;
    say("not reached");
  }
}

static volatile int ticks;
static void tick(int signal) {
  p[256 + ticks % 64] = (uint64_t)signal;
  ++ticks;
}

int main(int argc, char** argv) {
  setvbuf(stdout, NULL, _IONBF, 0);
  p = (volatile uint64_t*)mapPool(argv[1], 4096);
  const char* mode = argc > 2 ? argv[2] : "";
  if (strcmp(mode, "ticks") == 0) {
    signal(SIGALRM, tick);
    struct itimerval often = {{0, 700}, {0, 700}}, off = {{0, 0}, {0, 0}};
    setitimer(ITIMER_REAL, &often, NULL);
    uint64_t n = 0;
    while (ticks < 100) p[n++ % 64] = n;
    setitimer(ITIMER_REAL, &off, NULL);
    printf("stores %d\n", (int)(n + ticks));
    return 0;
  }
  // A null pointer, again and again: the mask is put back.
  install(SIGSEGV, 0);
  for (int i = 0; i < 3; ++i) bad(NULL);
  p[0] = 1;
  // On a stack of its own.
  stack_t stack = {.ss_sp = ownStack, .ss_size = sizeof ownStack};
  sigaltstack(&stack, NULL);
  install(SIGSEGV, SA_ONSTACK);
  bad((volatile int*)16);
  p[1] = 2;
  // Memory of its own that it may not write.
  bad((volatile int*)mmap((void*)0x20000000, 4096, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
  // Only once.
  install(SIGSEGV, (int)SA_RESETHAND);
  bad((volatile int*)32);
  struct sigaction now;
  sigaction(SIGSEGV, NULL, &now);
  printf("after once %s\n", now.sa_handler == SIG_DFL ? "default" : "other");
  // The old interface.
  printf("signal gave %s\n", signal(SIGSEGV, plainJump) == SIG_DFL ? "default" : "other");
  bad((volatile int*)40);
  printf("signal gave %s\n", signal(SIGSEGV, SIG_DFL) == plainJump ? "ours" : "other");
  // Blocked signals: the mask is the program's, and PM can be touched all the same.
  sigset_t set, old;
  sigemptyset(&set);
  sigaddset(&set, SIGSEGV), sigaddset(&set, SIGTRAP), sigaddset(&set, SIGUSR1);
  sigprocmask(SIG_BLOCK, &set, &old);
  printf("before %d %d %d\n", sigismember(&old, SIGSEGV), sigismember(&old, SIGTRAP), sigismember(&old, SIGUSR1));
  p[2] = 3;
  __asm__ volatile("sfence" : : : "memory");
  sigprocmask(SIG_SETMASK, NULL, &set);
  printf("inside %d %d %d\n", sigismember(&set, SIGSEGV), sigismember(&set, SIGTRAP), sigismember(&set, SIGUSR1));
  sigprocmask(SIG_SETMASK, &old, &set);
  printf("inside %d %d %d\n", sigismember(&set, SIGSEGV), sigismember(&set, SIGTRAP), sigismember(&set, SIGUSR1));
  sigprocmask(SIG_SETMASK, NULL, &set);
  printf("after %d %d %d\n", sigismember(&set, SIGSEGV), sigismember(&set, SIGTRAP), sigismember(&set, SIGUSR1));
  // A breakpoint of its own, and a signal that is sent.
  signal(SIGTRAP, count);
  __asm__ volatile("int3");
  raise(SIGTRAP);
  printf("traps %d\n", traps);
  // Beyond the end of the file.
  int fd = open("/dev/shm", O_TMPFILE | O_RDWR, 0600);
  if (ftruncate(fd, 4096) != 0) return 5;
  volatile int* beyond = (volatile int*)mmap((void*)0x10000000, 8192, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  install(SIGBUS, 0);
  bad(beyond + 1024);
  p[3] = 4;
  if (strcmp(mode, "dies") == 0) {
    signal(SIGSEGV, SIG_DFL);
    *(volatile int*)NULL = 1;
  }
  printf("handlers ran %d times on PM\n", (int)p[8]);
  return 0;
}
