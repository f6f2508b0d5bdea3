// REQUIRES: full
// clang-format off
// What can't be followed ends control, and the result is inconclusive if a schedule was asked for: a spin on ordinary memory in plain code. The
// program itself still comes to its end. A spin that says so (pause), and a thread that waits for a pipe, for room in one, for somebody who
// connects or for a child, give their turn away.
//
// RUN: %plain-cxx -std=c++20 -O1 -pthread %s -o %t
// RUN: rm -f %t.img; %blackout check --schedule random,1 --pm %t.img -- %t %t.img spin > %t.out 2>&1 || [ $? = 3 ]
// RUN: FileCheck %s < %t.out
// CHECK: Control over the program's threads was lost
// CHECK: inconclusive
// RUN: rm -f %t.img; %blackout check --schedule system --fail-on shown --pm %t.img -- %t %t.img spin > %t.out 2>&1 || [ $? = 3 ]
// RUN: not grep -q "Control over" %t.out
// RUN: for way in pause pipe poll select fgets getline scanf unlocked full accept connect child; do for n in 1 2; do rm -f %t.img; %blackout record --schedule random,1,4 --pm %t.img -o %t.trace -- %t %t.img $way > %t.out 2>&1 || { cat %t.out; exit 1; }; %blackout trace %t.trace | grep -v "thread-begin\| fork " > %t.text$n; done; cmp %t.text1 %t.text2 || exit 1; %blackout check --no-explore --from-trace %t.trace > %t.out 2>&1; not grep "Control over\|exit code" %t.out || exit 1; done
// clang-format on
#include <fcntl.h>
#include <immintrin.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/select.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include <thread>

#include "../record/Inputs/pool.h"

static void store(volatile char* pool) {
  for (int i = 0; i < 1000; ++i) pool[64] = char(i);
}

// More than a pipe holds is written before anybody reads.
static int full(char* pool, const int* ends) {
  static char much[1 << 18], got[1 << 18];
  for (size_t i = 0; i < sizeof much; ++i) much[i] = char(i * 7);
  std::thread writes([=] {
    if (write(ends[1], much, sizeof much) != sizeof much) exit(1);
    pool[0] = 1;
  });
  std::thread other([=] { store(pool); });
  other.join();
  for (size_t n = 0; n < sizeof got;) {
    ssize_t more = read(ends[0], got + n, sizeof got - n);
    if (more <= 0) exit(1);
    n += size_t(more);
  }
  writes.join();
  pool[0] = 2;
  return memcmp(much, got, sizeof got) == 0 ? 0 : 1;
}

static int accepts(char* pool) {
  int listens = socket(AF_UNIX, SOCK_STREAM, 0);
  sockaddr_un name{};
  name.sun_family = AF_UNIX;
  snprintf(name.sun_path + 1, sizeof name.sun_path - 1, "lost_control.%d", int(getpid()));
  auto* address = reinterpret_cast<sockaddr*>(&name);
  if (bind(listens, address, sizeof name) != 0 || listen(listens, 1) != 0) return 1;
  std::thread waits([=] {
    char byte = 0;
    int one = accept(listens, nullptr, nullptr);
    if (one < 0 || recv(one, &byte, 1, 0) != 1 || byte != 'x') exit(1);
    pool[0] = 1;
  });
  std::thread other([=] { store(pool); });
  other.join();
  int connects = socket(AF_UNIX, SOCK_STREAM, 0);
  if (connect(connects, address, sizeof name) != 0 || send(connects, "x", 1, 0) != 1) return 1;
  waits.join();
  pool[0] = 2;
  return 0;
}

// The second one has to wait until somebody accepts the first.
static int connects(char* pool) {
  int listens = socket(AF_UNIX, SOCK_STREAM, 0);
  sockaddr_un name{};
  name.sun_family = AF_UNIX;
  snprintf(name.sun_path + 1, sizeof name.sun_path - 1, "lost_control.%d", int(getpid()));
  auto* address = reinterpret_cast<sockaddr*>(&name);
  if (bind(listens, address, sizeof name) != 0 || listen(listens, 0) != 0) return 1;
  std::thread waits([=] {
    for (int i = 0; i < 2; ++i) {
      int one = socket(AF_UNIX, SOCK_STREAM, 0);
      if (connect(one, address, sizeof name) != 0 || (fcntl(one, F_GETFL) & O_NONBLOCK) != 0) exit(1);
    }
    pool[0] = 1;
  });
  std::thread other([=] { store(pool); });
  other.join();
  for (int i = 0; i < 2; ++i)
    if (accept(listens, nullptr, nullptr) < 0) return 1;
  waits.join();
  pool[0] = 2;
  return 0;
}

// The child ends when the parent closes a pipe, which comes after its wait has begun.
static int child(char* pool) {
  int ends[2];
  if (pipe(ends) != 0) return 1;
  pid_t made = fork();
  if (made == 0) {
    char byte;
    close(ends[1]);
    _exit(read(ends[0], &byte, 1) == 0 ? 7 : 1);
  }
  std::thread waits([=] {
    int status = 0;
    if (waitpid(made, &status, 0) != made || !WIFEXITED(status) || WEXITSTATUS(status) != 7) exit(1);
    pool[0] = 1;
  });
  std::thread other([=] { store(pool); });
  other.join();
  close(ends[1]);
  waits.join();
  pool[0] = 2;
  return 0;
}

int main(int, char** argv) {
  auto* pool = static_cast<char*>(mapPool(argv[1], 4096));
  if (pool[0] == 2) return 0;
  static volatile bool go = false;
  int ends[2];
  if (pipe(ends) != 0) return 1;
  bool spins = strcmp(argv[2], "spin") == 0, pauses = strcmp(argv[2], "pause") == 0;
  bool polls = strcmp(argv[2], "poll") == 0, selects = strcmp(argv[2], "select") == 0;
  bool scans = strcmp(argv[2], "scanf") == 0, unlocked = strcmp(argv[2], "unlocked") == 0;
  bool gets = strcmp(argv[2], "fgets") == 0, lines = strcmp(argv[2], "getline") == 0;
  if (strcmp(argv[2], "full") == 0) return full(pool, ends);
  if (strcmp(argv[2], "accept") == 0) return accepts(pool);
  if (strcmp(argv[2], "connect") == 0) return connects(pool);
  if (strcmp(argv[2], "child") == 0) return child(pool);
  std::thread waits([=] {
    char byte = 0;
    pollfd one{ends[0], POLLIN, 0};
    if (polls && poll(&one, 1, -1) != 1) exit(1);
    fd_set set;
    FD_ZERO(&set);
    FD_SET(ends[0], &set);
    if (selects && select(ends[0] + 1, &set, nullptr, nullptr, nullptr) != 1) exit(1);
    if (spins)
      while (!go) {
      }
    else if (pauses)
      while (!go) _mm_pause();
    else if (gets || lines) {
      FILE* file = fdopen(ends[0], "r");
      char text[16] = {}, *line = nullptr;
      size_t size = 0;
      if (gets ? fgets(text, sizeof text, file) == nullptr : getline(&line, &size, file) < 0) exit(1);
      if (strcmp(gets ? text : line, "x\n") != 0 || fgetc(file) != EOF) exit(1);
    } else if (scans) {
      FILE* file = fdopen(ends[0], "r");
      int n = 0;
      // What it looked at and did not take is still there.
      if (fscanf(file, "%d", &n) != 1 || n != 42 || fgetc(file) != 'x' || fscanf(file, "%d", &n) != EOF) exit(1);
    } else if (unlocked) {
      FILE* file = fdopen(ends[0], "r");
      char text[2];
      if (getc_unlocked(file) != '4' || fread_unlocked(text, 1, 2, file) != 2 || memcmp(text, "2x", 2) != 0) exit(1);
      if (getc_unlocked(file) != '\n' || getc_unlocked(file) != EOF) exit(1);
    } else if (read(ends[0], &byte, 1) != 1)
      exit(1);
    pool[0] = 1;
  });
  std::thread other([=] { store(pool); });
  other.join();
  go = true;
  if (scans || unlocked) {
    if (write(ends[1], "42x\n", 4) != 4) return 1;
  } else if (write(ends[1], "x\n", 2) != 2) {
    return 1;
  }
  close(ends[1]);
  waits.join();
  pool[0] = 2;
}
