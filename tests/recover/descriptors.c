// A restart has no pipe of who started it: whoever reads from one would wait for as long as a child of the restart lives.
// Nor has a program that it executes a socket of the worker.
//
// RUN: %cc -O1 -g -I%include %s -o %t && rm -f %t.img
// RUN: %blackout check --detect=none --pm %t.img -- %t %t.img 2>&1 | FileCheck %s
// RUN: rm -f %t.img && %blackout check --detect=none --jobs 1 --pm %t.img -- %t %t.img execute 2>&1 | FileCheck %s
// CHECK: restarts: {{ *[2-9]}} of
// CHECK: SUMMARY: blackout: no findings;
#include <blackout/blackout.h>
#include <emmintrin.h>
#include <fcntl.h>
#include <stdint.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

// Besides those that it prints to.
static uint64_t pipes(void) {
  uint64_t found = 0;
  struct stat st;
  for (int fd = 3; fd < 1024; ++fd) found += fstat(fd, &st) == 0 && S_ISFIFO(st.st_mode);
  return found;
}

// Of a program that is executed.
static uint64_t sockets(const char* program) {
  pid_t child = fork();
  if (child == 0) {
    execl(program, program, NULL);
    _exit(255);
  }
  int status;
  return waitpid(child, &status, 0) == child && WIFEXITED(status) ? (uint64_t)WEXITSTATUS(status) : 255;
}

int main(int argc, char** argv) {
  if (argc == 1) {
    int found = 0;
    struct stat st;
    for (int fd = 3; fd < 1024; ++fd) found += fstat(fd, &st) == 0 && S_ISSOCK(st.st_mode);
    return found;
  }
  uint64_t found = argc > 2 ? sockets(argv[0]) : pipes();
  int fd = open(argv[1], O_RDWR | O_CREAT, 0600);
  if (ftruncate(fd, 4096) != 0) return 9;
  volatile uint64_t* p = mmap(0, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  if (blackout_recovering()) {
    uint64_t recorded = p[0];
    blackout_expect(recorded == 0 || found + 1 <= recorded, "it has as many pipes, or sockets, as the recorded run");
    return 0;
  }
  p[0] = found + 1;
  _mm_clflush((const void*)p);
  _mm_sfence();
  return 0;
}
