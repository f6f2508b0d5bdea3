// A child that outlives the recorded program and sleeps does not keep the check waiting: a note says so, and if it has a
// pool mapped, what it would have done was not seen. One that works on is waited for.
// RUN: rm -rf %t.dir && mkdir %t.dir && cd %t.dir && %cc -O1 -g %s -o program
// RUN: %blackout check --detect=none --pm pool -- ./program pool sleeps > %t.out 2>&1; test $? = 3; FileCheck %s --check-prefix=MAPPED < %t.out; rm -f pool
// MAPPED: left a process behind (program) that has a pool mapped
// RUN: %blackout check --detect=none --pm pool -- ./program pool executes > %t.out 2>&1; test $? = 0; FileCheck %s --check-prefix=OTHER < %t.out; rm -f pool
// OTHER: left a process asleep (sleep), which was not waited for and was killed
// RUN: %blackout check --detect=none --pm pool -- ./program pool works > %t.out 2>&1; test $? = 0; FileCheck %s --check-prefix=WORKS < %t.out
// WORKS-NOT: left a process
#include <emmintrin.h>
#include <fcntl.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

int main(int argc, char** argv) {
  int fd = open(argv[1], O_RDWR | O_CREAT, 0600);
  if (ftruncate(fd, 4096) != 0) return 9;
  volatile uint64_t* p = mmap(0, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  if (p[0] != 0) return 0;  // a restart
  if (fork() == 0) {
    setsid();
    if (!strcmp(argv[2], "sleeps")) sleep(3600);
    if (!strcmp(argv[2], "executes")) execlp("sleep", "sleep", "3600", (char*)0);
    for (int i = 0; i < 30; ++i) usleep(100000);
    return 0;
  }
  p[0] = 1;
  _mm_clflush((void*)p);
  _mm_sfence();
  return 0;
}
