// A thread of a run in the worker's hand (ptrace): it stands still, its registers can be read, and it can be made to
// tell its place or to go on by one instruction. The run never outlives it.
#pragma once

#include <stddef.h>
#include <stdint.h>
#include <sys/resource.h>
#include <sys/user.h>

#include "runtime/blocked.h"

namespace blackout::rt {

// Vector registers and the like, as the kernel keeps them.
struct VectorRegisters {
  size_t size;
  alignas(64) uint8_t bytes[16384];
  bool operator==(const VectorRegisters& other) const;
};

class HeldThread {
 public:
  explicit HeldThread(ThreadId id);
  ~HeldThread();
  HeldThread(const HeldThread&) = delete;
  HeldThread& operator=(const HeldThread&) = delete;

  // False: it can't be held (the system forbids it), or it is gone.
  bool held() const { return held_; }
  const ThreadId& id() const { return id_; }
  bool registers(user_regs_struct& to) const;
  bool registers(VectorRegisters& to) const;
  // Goes on by one instruction; false: something else happened, or it steps for the program or the runtime itself.
  bool step();
  // Lets it keep its stack as the end of the run (worker->frames). It stands still from then on, until endTold().
  void tellPlace();

 private:
  bool waitForStop(int& status, bool patient);
  bool blocksTrap() const;
  bool pushesFlags() const;
  bool clearPushedStep() const;
  void clearStep() const;

  ThreadId id_;
  bool held_ = false;
  bool stepped_ = false;
  int signal_ = 0;  // that came instead of a step, or before the first
};

// Kills the processes of threads that were asked for their places.
void endTold(const ThreadId* threads, size_t count);

// In the run: keeps the stack of these registers as the place where it ended, and stops. Called by tellPlace().
void keepPlaceAndStop(void* context);
// The top of a stack that is there in every process of the run for that.
char* placeStackTop();

// How a thread ended that did so while it was to be held: the kernel has told it then, and tells it once.
bool endedWhileHeld(pid_t thread, int& status, struct rusage& usage);

}  // namespace blackout::rt
