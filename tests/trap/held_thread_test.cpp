// A thread that is held keeps the signal that was about to be delivered to it: traps of the runtime are such signals,
// and a program that lost one would go on in the middle of what the trap stands for.

#include "runtime/held_thread.h"

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>

namespace blackout::rt {

// Of the run's side, which is not asked here.
void keepPlaceAndStop(void*) { _exit(1); }
char* placeStackTop() { return nullptr; }

namespace {

struct Counts {
  std::atomic<unsigned> made;
  std::atomic<unsigned> handled;
  std::atomic<bool> enough;
};
Counts* counts = nullptr;

void* sharedPage() { return mmap(nullptr, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0); }

// Makes breakpoint after breakpoint: nearly every moment is one at which a signal is on its way.
[[noreturn]] void makeTraps() {
  struct sigaction action{};
  action.sa_handler = [](int) { ++counts->handled; };
  sigaction(SIGTRAP, &action, nullptr);
  while (!counts->enough) {
    ++counts->made;
    __asm__ volatile("int3");
  }
  _exit(0);
}

// A run that ends while it is about to be held: how it ended must not be lost, or it is taken for the end of another.
TEST(HeldThread, HowItEndedIsKeptIfItEndsMeanwhile) {
  int ended = 0;
  constexpr int kMost = 1000, kEnough = 3;
  for (int i = 0; i < kMost && ended < kEnough; ++i) {
    int begun[2];
    ASSERT_EQ(pipe(begun), 0);
    pid_t child = fork();
    if (child == 0) {
      char byte = 0;
      if (read(begun[0], &byte, 1) != 1) _exit(1);
      for (int n = 0; n < i % 200 * 20; ++n) __asm__ volatile("" ::: "memory");
      _exit(7);
    }
    ASSERT_EQ(write(begun[1], "", 1), 1);
    {
      HeldThread held({child, child});
    }
    int status = 0;
    struct rusage usage{};
    if (waitpid(child, &status, 0) != child) {
      ASSERT_TRUE(endedWhileHeld(child, status, usage));
      ++ended;
    }
    EXPECT_EQ(status, 7 << 8);
    close(begun[0]);
    close(begun[1]);
  }
  printf("%d ended while they were about to be held\n", ended);
}

TEST(HeldThread, KeepsTheSignalThatItWasStoppedBy) {
  counts = new (sharedPage()) Counts{};
  pid_t child = fork();
  if (child == 0) makeTraps();
  while (counts->made == 0) usleep(100);
  // How many stops are at a signal is the system's affair; that many of hundreds are is certain.
  constexpr int kHolds = 400;
  for (int i = 0; i < kHolds; ++i) {
    HeldThread held({child, child});
    ASSERT_TRUE(held.held()) << "may processes be traced here?";
  }
  counts->enough = true;
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
  EXPECT_EQ(counts->made, counts->handled);
  EXPECT_GT(counts->made, 1U);
}

}  // namespace
}  // namespace blackout::rt
