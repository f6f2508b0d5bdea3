// A recording leaves the program's record locks alone: whoever opens and closes a file takes away all that its process has there.
// RUN: %cc -O1 -Wall -Wextra -Werror %s -o %t && head -c 8192 /dev/zero > %t.img
// RUN: %t %t.img
// RUN: %blackout record --pm %t.img -o %t.trace -- %t %t.img
// RUN: gcc -O1 %s -o %t.plain && %blackout record --pm %t.img -o %t.trace -- %t.plain %t.img
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

static const char* path;

static int locked(void) {
  pid_t child = fork();
  if (child == 0) {
    struct flock l = {.l_type = F_WRLCK, .l_whence = SEEK_SET};
    _exit(fcntl(open(path, O_RDWR), F_SETLK, &l) == 0);
  }
  int status = 1;
  waitpid(child, &status, 0);
  return status == 0;
}

int main(int argc, char** argv) {
  if (argc < 2) return 9;
  path = argv[1];
  int fd = open(path, O_RDWR);
  struct flock l = {.l_type = F_WRLCK, .l_whence = SEEK_SET};
  if (fcntl(fd, F_SETLK, &l) != 0 || !locked()) return 1;
  FILE* f = fdopen(fd, "r+");
  if (fwrite("text", 4, 1, f) != 1 || fflush(f) != 0 || !locked()) return 2;
  off_t from = 0;
  if (sendfile(fd, open(argv[0], O_RDONLY), &from, 64) != 64 || !locked()) return 3;
  char* p = mmap(0, 8192, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  p[4096] = 1;
  struct stat st;
  if (munmap(p, 8192) != 0 || stat(path, &st) != 0 || !locked()) return 4;
  return 0;
}
