// Processes by libc's clone(). One with memory of its own is a fork, and is followed; one that works on the memory of
// its parent can't be told from it, which is said, and it can be waited for: no restart waits for ever.
// Time in which others have the processors is not a restart's, but time in which it waits for a disk is: it has plenty.
// RUN: rm -rf %t.dir && mkdir %t.dir && cd %t.dir && %cc -O1 -g %s -o compiled && %plain-cc -O1 -g %s -o plain
// RUN: for p in compiled plain; do %blackout check --detect=none --run-timeout 60 --pm pool -- ./$p pool own right > %t.out 2>&1 || { echo $p; cat %t.out; exit 1; }; rm -f pool; \
// RUN:   %blackout check --detect=none --run-timeout 60 --pm pool -- ./$p pool own wrong > %t.out 2>&1; code=$?; rm -f pool; \
// RUN:   { test $code = 1 && grep -q '1 shown' %t.out; } || { echo $p $code; cat %t.out; exit 1; }; done
// RUN: for p in compiled plain; do for how in shared any raw; do %blackout check --detect=none --run-timeout 60 --pm pool -- ./$p pool $how right > %t.out 2>&1; code=$?; rm -f pool; \
// RUN:   { test $code = 3 && grep -q 'threads or processes without libc (clone)' %t.out && ! grep -q 'shown:' %t.out; } || { echo $p $how $code; cat %t.out; exit 1; }; done; done
#define _GNU_SOURCE
#include <emmintrin.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

static volatile uint64_t* p;
// Looks at what the crash left: 1 if it is torn.
static int look(void* unused) {
  (void)unused;
  return p[8] == 1 && p[0] == 0;
}

int main(int argc, char** argv) {
  int fd = open(argv[1], O_RDWR | O_CREAT, 0600);
  if (ftruncate(fd, 4096) != 0) return 9;
  p = mmap(0, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  static char stack[65536] __attribute__((aligned(64)));
  int flags = SIGCHLD | (strcmp(argv[2], "own") == 0 ? 0 : CLONE_VM);
  pid_t child = strcmp(argv[2], "raw") == 0 ? (pid_t)syscall(SYS_clone, CLONE_FS | SIGCHLD, 0, 0, 0, 0)
                                            : clone(look, stack + sizeof stack, flags, NULL);
  if (child == 0) _exit(look(NULL));
  int status = 0;
  pid_t ended = waitpid(strcmp(argv[2], "any") == 0 ? -1 : child, &status, 0);
  if (child < 0 || ended != child) abort();
  if (status != 0) abort();
  p[0] = 1;
  if (strcmp(argv[3], "right") == 0) {
    _mm_clflush((void*)p);
    _mm_sfence();
  }
  p[8] = 1;
  _mm_clflush((void*)p);
  _mm_clflush((void*)(p + 8));
  _mm_sfence();
  return 0;
}
