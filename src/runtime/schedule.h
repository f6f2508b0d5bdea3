// Threads under control. They stay threads of the system, with stacks, thread-local memory and debuggers as they are,
// but one of them at a time has the turn and all others wait for theirs: so which of them goes on at which step is data
// (the option "schedule"), and the same choice gives the same run. A step is an access to PM, an access of compiled
// code that is atomic or volatile, or a call that synchronises. What such calls mean is libc's affair: a thread tries
// without waiting, and here it waits for whoever could make its next try succeed.
//
// Nobody but the thread that has the turn touches what is here. Where that thread is kept from its next step by
// something that is not followed (a spin on ordinary memory in plain code, a call that waits for the outside), control
// ends and all of them run as the system likes: lostControl() says so.
#pragma once

#include <pthread.h>
#include <stdint.h>

namespace blackout::rt {

// Several threads are there, and under control.
extern bool controlled;

// A step: another thread may get the turn, and the caller goes on when it has it again. `site`: any address that is the
// same whenever the same code comes here. `sees`: what it does can tell what others have stored by then.
void switchAt(const void* site, bool sees = true);
// The same before an access that only looks, or leaves all as it is where it comes to nothing: at `at`, which holds the
// same as long as nobody else did something. What is in PM is not looked at here: stores to it are steps themselves.
enum class Look : uint8_t { AtMemory, AtPm };
void switchToLook(const void* site, const void* at, Look look);
// It did come to something.
void gotOnHere();
inline void switchPoint(const void* site) {
  if (__builtin_expect(controlled, 0)) switchAt(site);
}
// The same, and somebody else is preferred: the caller can do nothing before another thread has done something.
void yieldTurn();

// Before something that lets what waits in the thread's store buffer take effect: others may go on first, which is no
// preemption, because a processor would not wait for it. Then that takes effect.
void emptyInTurn();

// Reads the option; before any thread is made.
void readSchedule();
bool takesControl();

// A thread is made: by its maker, before the system makes it. 0: there are too many.
uint32_t addThread();
// It was not made after all.
void dropThread(uint32_t thread);
void setHandle(uint32_t thread, pthread_t handle);
// In the new thread: waits for its first turn.
void beginTurns(uint32_t thread);
// In a thread that ends: the last that it does under control.
void endTurns();
// In the child of a fork, which has one thread.
void forgetThreads();

// What a thread waits for: the address of a lock, a condition, a thread's place in the table.
constexpr uint64_t kNever = ~uint64_t{0};
enum class Retry : uint8_t { No, Yes };  // Yes: being woken for nothing does no harm, the caller tries again
// Waits until somebody wakes it. False: `moment` has come (of turnClock).
bool waitTurn(const void* on, Retry retry, uint64_t moment = kNever);
// Makes the first `count` that wait for it ready, in the order in which they came.
unsigned wakeWaiting(const void* on, unsigned count);
// The same for one thread, whatever it waits for.
void wakeThread(uint32_t thread);
// Somebody else's thread: what waits for its end, and whether that has come. 0: it is not under control.
uint32_t threadOf(pthread_t handle);
const void* endOf(uint32_t thread);
bool hasEnded(uint32_t thread);

// The program's clock, if it is the run's own (pinned.h): what waits for a moment then waits no real time. Null: real
// time, in nanoseconds of CLOCK_MONOTONIC.
struct TurnClock {
  uint64_t (*now)();
  void (*passTo)(uint64_t moment);
};
extern const TurnClock* turnClock;

// Makes those ready that wait for the outside and that something has come for (outside.h); null: nobody does.
extern void (*lookOutside)();

// Whether another thread than the one with the turn could go on without it: what that one stores could still wait in
// its processor's store buffer meanwhile. Whoever waits for it is told by something that empties the buffer.
bool anotherCouldGoOn();
inline bool othersCanGoOn() { return controlled && anotherCouldGoOn(); }

// Why control was lost, for a sentence; null: it was not.
const char* lostControl();
// Whether that was because all threads wait for ever: whoever can't be woken for nothing waits on by its own call.
bool waitForEver();

}  // namespace blackout::rt
