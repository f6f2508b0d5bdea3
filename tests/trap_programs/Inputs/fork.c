// Children that write the pool: one that is forked, and this program again, by vfork, posix_spawn and exec. Each MODE
// is the word that the process writes.
#define _GNU_SOURCE
#include <spawn.h>
#include <sys/wait.h>

#include "Inputs/pool.h"

extern char** environ;

static int await(pid_t child) {
  int status;
  return child > 0 && waitpid(child, &status, 0) == child && status == 0;
}

__attribute__((noinline)) static void put(volatile uint64_t* p, uint64_t n) {
  p[n] = n * 0x11;
  __asm__ volatile("clflush %0\n sfence" : : "m"(p[n]) : "memory");
}

int main(int argc, char** argv) {
  volatile uint64_t* p = (volatile uint64_t*)mapPool(argv[1], 4096);
  if (argc > 2) {
    put(p, strtoul(argv[2], NULL, 10));
    return 0;
  }
  put(p, 1);
  pid_t child = fork();
  if (child == 0) {
    put(p, 2);
    _exit(p[1] == 0x11 ? 0 : 3);
  }
  if (!await(child) || p[2] != 0x22) return 4;
  char* arguments[] = {argv[0], argv[1], "3", NULL};
  child = vfork();
  if (child == 0) {
    execv(argv[0], arguments);
    _exit(5);
  }
  if (!await(child) || p[3] != 0x33) return 6;
  arguments[2] = "4";
  if (posix_spawn(&child, argv[0], NULL, NULL, arguments, environ) != 0 || !await(child) || p[4] != 0x44) return 7;
  put(p, 5);
  arguments[2] = "6";
  execv(argv[0], arguments);
  return 8;
}
