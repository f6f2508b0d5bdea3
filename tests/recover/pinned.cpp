// Time, process numbers and random numbers are the same in every restart; sleeping costs nothing; with --no-pin they
// are the real ones.
//
// RUN: %cxx -O1 %s -o %t && head -c 4096 /dev/zero > %t.img
// RUN: %blackout check --jobs 2 --findings %t.found --pm %t.img -- %t %t.img pinned 2>&1 | FileCheck %s
// RUN: %blackout check --jobs 2 --findings %t.found --no-pin --pm %t.img -- %t %t.img real 2>&1 | FileCheck %s
// CHECK: restarts: {{ *[2-9]}} of
// CHECK: SUMMARY: blackout: no findings;{{.*}},tso=off{{$}}
#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <sys/random.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>

#include <chrono>
#include <condition_variable>
#include <fstream>
#include <mutex>
#include <random>
#include <thread>

#include "Inputs/restart.h"

static double now() {
  timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return double(t.tv_sec) + double(t.tv_nsec) / 1e9;
}

static void checkTime() {
  EXPECT(time(nullptr) == 2114380800);
  timeval tv;
  gettimeofday(&tv, nullptr);
  EXPECT(tv.tv_sec == 2114380800 && tv.tv_usec == 20);  // the second look
  EXPECT(now() == 100.00003);
  double before = now();
  sleep(3600);
  usleep(500000);
  timespec week{7 * 86400, 0};
  nanosleep(&week, nullptr);
  poll(nullptr, 0, 60000);
  std::this_thread::sleep_for(std::chrono::hours(10));
  double slept = now() - before;
  EXPECT(slept > 7 * 86400 + 3600 + 60 + 36000 && slept < 7 * 86400 + 3600 + 62 + 36000);
  // Nobody could end this wait, so it is over at once, at its deadline.
  std::mutex m;
  std::condition_variable c;
  std::unique_lock<std::mutex> lock(m);
  auto deadline = std::chrono::steady_clock::now() + std::chrono::hours(1);
  EXPECT(c.wait_until(lock, deadline) == std::cv_status::timeout);
  EXPECT(std::chrono::steady_clock::now() >= deadline);
  EXPECT(c.wait_for(lock, std::chrono::hours(1)) == std::cv_status::timeout);
  // A loop that only looks ends too.
  time_t second = time(nullptr);
  while (time(nullptr) == second) {
  }
  EXPECT(clock() >= 0);
}

static void checkNumbers() {
  EXPECT(getpid() == 1000 && getppid() == 999 && gettid() == 1000);
  EXPECT(syscall(SYS_gettid) == 1000);
  EXPECT(kill(getpid(), 0) == 0);
  EXPECT(kill(12345, 0) == -1 && errno == ESRCH);  // after a restart of the machine nobody has an old number
  for (int i = 1; i <= 3; ++i) {
    pid_t child = fork();
    if (child == 0) _exit(getpid() == 1000 + i && getppid() == 1000 ? 7 : 8);
    EXPECT(child == 1000 + i);
    int status;
    EXPECT(waitpid(child, &status, 0) == child && WEXITSTATUS(status) == 7);
  }
  pid_t child = fork();
  if (child == 0)
    for (;;) pause();
  EXPECT(kill(child, SIGKILL) == 0);
  int status;
  EXPECT(wait(&status) == child && WTERMSIG(status) == SIGKILL);
  // An executed program belongs to the run.
  EXPECT(system("test $$ != 0 && test $(date +%Y) = 2037") == 0);
}

// The stream is splitmix64, whoever asks: here its words by their number.
static uint64_t word(uint64_t n) {
  uint64_t z = 0x626c61636b6f7574 + n * 0x9e3779b97f4a7c15;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
  z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
  return z ^ (z >> 31);
}

static void checkChance() {
  uint64_t a = 0, b = 0, c = 0, d = 0;
  EXPECT(getrandom(&a, sizeof a, 0) == sizeof a && a == word(0));
  std::ifstream("/dev/urandom").read(reinterpret_cast<char*>(&b), sizeof b);  // takes 64 KiB at once
  EXPECT(b == word(1));
  EXPECT(syscall(SYS_getrandom, &c, sizeof c, 0) == sizeof c && c == word(8193));
  std::random_device device;
  EXPECT(device() == uint32_t(word(8194)));
  EXPECT(arc4random() == uint32_t(word(8195)));
  EXPECT(getentropy(&d, sizeof d) == 0 && d == word(8196));
}

int main(int, char** argv) {
  volatile uint64_t* pool = mapPool(argv[1]);
  if (blackout_recovering() && strcmp(argv[2], "pinned") == 0) {
    checkTime();
    checkNumbers();
    checkChance();
  } else if (blackout_recovering()) {
    EXPECT(time(nullptr) > 1700000000 && time(nullptr) < 2100000000);
    double before = now();
    usleep(2000);
    EXPECT(now() - before >= 0.002);
    EXPECT(getpid() == syscall(SYS_getpid) && getpid() != 1000);
  }
  twoStores(pool);
}
