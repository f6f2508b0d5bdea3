// vfork: without Blackout it is libc's, in compiled programs too: what the child stores is seen by its parent. In a run
// the child has memory of its own, and the parent goes on when it has ended.
// RUN: rm -rf %t.dir && mkdir %t.dir && cd %t.dir && %cc -O1 -g %s -o compiled && ./compiled pool alone && rm pool
// RUN: %blackout record --pm pool -o trace -- ./compiled pool recorded && %blackout trace trace --kind stores,end | FileCheck %s
// CHECK: store 1:0x0 8 bytes = 0x1
// CHECK: store 1:0x8 8 bytes = 0x2
// CHECK: end exit code 0
#define _DEFAULT_SOURCE
#include <fcntl.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

int main(int argc, char** argv) {
  int fd = open(argv[1], O_RDWR | O_CREAT, 0600);
  if (ftruncate(fd, 4096) != 0) return 9;
  volatile uint64_t* p = mmap(0, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  volatile int seen = 0;
  pid_t child = vfork();
  if (child == 0) {
    seen = 1;
    p[0] = 1;
    _exit(0);
  }
  // It has ended by now, waited for or not.
  if (p[0] != 1) return 1;
  p[1] = 2;
  if (!strcmp(argv[2], "alone") && seen != 1) return 2;
  int status;
  return waitpid(child, &status, 0) == child && status == 0 ? 0 : 3;
}
