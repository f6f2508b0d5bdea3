// Restarts that fork or execute their work: all of their processes are one restart, with one account of what was seen.
// REQUIRES: full
//
// RUN: rm -rf %t.dir && mkdir %t.dir && cd %t.dir
// RUN: %cc -O1 -g -Wall -Wextra -Werror %s -o compiled
// RUN: gcc -O1 -g -Wall -Wextra -Wno-comment -Werror %s -o plain
// RUN: gcc -O1 -static %s -o static
// RUN: printf '#!/bin/sh\n./plain "$1" read\n' > script && chmod +x script
//
// Both versions, behind whatever starts the program. The wrong one must be shown, with its place.
// RUN: for by in "env A=1 ./plain" "env -i ./compiled" "nice ./plain" "timeout 9 ./compiled" "stdbuf -o0 ./plain"; do \
// RUN:   %blackout check --pm pool --recover "$by pool read" -- ./plain pool write > out 2>&1; \
// RUN:   test $? -eq 1 || { echo "$by"; cat out; exit 1; }; \
// RUN:   grep -q 'shown: flush missing' out && grep -q 'wrappers.c:[0-9]*.* in write_record' out || { cat out; exit 1; }; \
// RUN:   %blackout check --pm pool --recover "$by pool read" -- ./plain pool write-right > out 2>&1; \
// RUN:   test $? -eq 0 || { echo "$by, right"; cat out; exit 1; }; done
//
// A shell, which forks or replaces itself; a checker that is a script; a child of the program's own.
// RUN: for by in "sh -c './plain pool read'" "sh -c './compiled pool read; exit \$?'" "./plain pool fork" \
// RUN:     "./compiled pool fork" "./compiled pool spawn" "./plain pool spawn" "./plain pool system"; do \
// RUN:   %blackout check --pm pool --recover "$by" -- ./plain pool write > out 2>&1; \
// RUN:   test $? -eq 1 || { echo "$by"; cat out; exit 1; }; \
// RUN:   %blackout check --pm pool --recover "$by" -- ./plain pool write-right > out 2>&1; \
// RUN:   test $? -eq 0 || { echo "$by, right"; cat out; exit 1; }; done
// What that costs is said, and not where nothing is executed.
// RUN: %blackout check --pm pool --recover "sh -c './plain pool read'" -- ./plain pool write-right 2>&1 | grep -q 'note: Restarts execute other programs: of the [0-9]* ms that one took, [0-9]* ms went by until they were loaded'
// RUN: not sh -c '%blackout check --pm pool --recover "./plain pool fork" -- ./plain pool write-right 2>&1 | grep "execute other programs"'
// RUN: not %blackout check --pm pool --checker ./script -- ./plain pool write 2>&1 | FileCheck %s --check-prefix=SHOWN
// RUN: %blackout check --pm pool --checker ./script -- ./plain pool write-right 2>&1 | FileCheck %s --check-prefix=CLEAN
// SHOWN: shown: flush missing
// CLEAN: SUMMARY: blackout: no findings
//
// The runtime can't be loaded into a static program: nothing is said of what it does.
// RUN: %blackout check --pm pool --recover "env A=1 ./static pool nothing" -- ./plain pool write-right > out 2>&1; test $? -eq 3
// RUN: FileCheck %s --check-prefix=STATIC < out
// STATIC: inconclusive: A restart does what is not followed: it executes {{.*}}static, a program linked statically, whose accesses to PM are not seen
// RUN: %blackout check --no-explore --pm pool -- ./plain pool write-right ./static > out 2>&1; test $? -eq 3
// RUN: FileCheck %s --check-prefix=RECORDED < out
// RECORDED: it executes {{.*}}static, a program linked statically
//
// Two processes that work on the pool at once: one order of them was seen.
// RUN: %blackout check --pm pool --recover "./plain pool both" -- ./plain pool write-right > out 2>&1; test $? -eq 3
// RUN: FileCheck %s --check-prefix=BOTH < out
// BOTH: inconclusive: Processes of a restart work on the pool at the same time;
#include <fcntl.h>
#include <immintrin.h>
#include <signal.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

struct pool {
  long valid;
  char apart[56];
  char text[64];
};
static struct pool* p;

static void persist(const void* at) {
  _mm_clflush(at);
  _mm_sfence();
}

static void write_record(int right) {
  strcpy(p->text, "hello");
  if (right) persist(p->text);
  p->valid = 1;
  persist(&p->valid);
}

static int broken(void) { return p->valid && strcmp(p->text, "hello") != 0; }

static int codeOf(int status) { return WIFEXITED(status) ? WEXITSTATUS(status) : 99; }

int main(int argc, char** argv) {
  extern char** environ;
  const char* mode = argv[2];
  if (strcmp(mode, "nothing") == 0) return 0;
  if (strcmp(mode, "spawn") == 0) {
    pid_t child;
    int status = 0;
    char* arguments[] = {argv[0], argv[1], "read", 0};
    if (posix_spawn(&child, argv[0], 0, 0, arguments, environ) != 0) return 98;
    waitpid(child, &status, 0);
    return codeOf(status);
  }
  if (strcmp(mode, "system") == 0) return codeOf(system("./plain pool read"));

  int fd = open(argv[1], O_RDWR | O_CREAT, 0600);
  if (fd < 0 || ftruncate(fd, 4096) != 0) return 97;
  p = mmap(0, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  if (p == MAP_FAILED) return 96;
  if (strcmp(mode, "read") == 0) return broken();
  if (strcmp(mode, "fork") == 0) {
    int status = 0;
    long before = p->valid;
    pid_t child = fork();
    if (child == 0) _exit(broken());
    waitpid(child, &status, 0);
    return before != p->valid ? 95 : codeOf(status);
  }
  if (strcmp(mode, "both") == 0) {
    int ends[2], status = 0;
    char c;
    if (pipe(ends) != 0) return 94;
    pid_t child = fork();
    if (child == 0) {
      long valid = p->valid;
      (void)!write(ends[1], "x", 1);
      pause();
      _exit(valid == 7);
    }
    (void)!read(ends[0], &c, 1);
    int r = broken();
    kill(child, 9);
    waitpid(child, &status, 0);
    return r;
  }
  write_record(strcmp(mode, "write") != 0);
  if (argc > 3) return execl(argv[3], argv[3], argv[1], "nothing", (char*)0);
  return 0;
}
