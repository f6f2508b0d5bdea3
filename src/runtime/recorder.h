// Appending to the trace. One lock orders everything that is recorded, and an access is made
// while it is held: so trace order is memory order, for all threads of all processes of the program.
// A process with one thread doesn't take it. Nothing here allocates; a signal handler that comes in the
// middle of an event is told so (Scope::nested) and makes its access unrecorded, which is counted.
#pragma once

#include <stddef.h>
#include <stdint.h>
#include <sys/single_threaded.h>

#include "events/contract.h"
#include "events/trace_format.h"
#include "runtime/role.h"
#include "runtime/trap/eh_frame.h"

namespace blackout::rt {

struct Stack;

struct ThreadState {
  bool busy = false;       // inside a Scope
  bool inStub = false;     // the event of a patched access: right behind `busy`, both are cleared at once
  bool deferred = false;   // a signal waits for the end of that
  bool appending = false;  // inside a bracket: its event is being written
  bool active = false;     // PM events since the last fence
  bool adding = false;     // inside a function of libpmemobj that adds to a transaction (libpmemobj.cpp)
  bool switching = false;  // the turn is being given away (schedule.cpp)
  uint16_t number = 0;     // 0: none yet
  int depth = 0;           // open brackets (enter without leave)
  uint32_t tid = 0;
  uintptr_t stackLow = 0;  // frames are walked inside [low, top) only
  uintptr_t stackTop = 0;
  uint32_t process = 0;    // whose number this state belongs to: changes with fork
  uint32_t turns = 0;      // its number under control (schedule.h), 0: none
  uint64_t stores = 0;     // to PM that it recorded, in pieces
  uint64_t steps = 0;      // that it made under control
  uint32_t inHistory = 0;  // in a restart: its number in the history of operations, 0: none yet
  uint32_t trusted = 0;    // in a restart: open regions of blackout_skip_detection_begin
  // In a trap: the calls that led to the instruction, which every walk then gives.
  const Stack* trapped = nullptr;
  uint64_t blocked = 0;  // signals that the program believes to be blocked and that traps need (interpose_signals.cpp)
};
extern constinit thread_local __attribute__((tls_model("initial-exec"))) ThreadState self;

extern blackout_trace_header* header;  // null: not in a run
extern uint32_t processNumber;

// Opens the trace that the options name and begins to record, in this role.
void attach(Role as);
// The table of files alone, in memory of our own: nothing is appended. For restarts that are not traced.
void attachTable(const char* path);
// This is the process's first thread, and this its stack.
void beginThread();
// In the child of a fork.
void attachChild();
// From now on several threads or processes write.
void setShared();

// Whether the thread is gone, or a zombie that nobody has waited for.
bool isDead(uint32_t tid);

void lockTrace();
bool tryLockTrace();
void unlockTrace();

// Takes the lock, and what waits in the thread's store buffer takes effect (buffers.h): before any event but those that
// say otherwise.
void lockTraceInOrder();
extern void (*emptyBufferFirst)();  // null: nothing waits anywhere

// What becomes of the store buffer of a thread that takes the right to append.
enum class Buffered : uint8_t { Leaves, Stays };

// The right to append; access PM only inside. Inside a bracket the thread has it already.
class Scope {
 public:
  explicit Scope(Buffered buffered = Buffered::Leaves)
      : nested(self.busy && (self.depth == 0 || self.appending)), outer_(!self.busy) {
    if (outer_) enter(buffered);
  }
  ~Scope() {
    if (outer_) leave();
  }
  Scope(const Scope&) = delete;
  Scope& operator=(const Scope&) = delete;
  // True in a signal handler that interrupted an event: nothing can be recorded.
  const bool nested;
  // Whoever calls leave() ends it instead.
  void keep() { outer_ = false; }

  static void enter(Buffered buffered = Buffered::Leaves) {
    self.busy = true;
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
    if (__builtin_expect(header->shared != 0 || __libc_single_threaded == 0, 0))
      buffered == Buffered::Leaves ? lockTraceInOrder() : lockTrace();
  }
  // The same, unless that would take long: then false.
  static bool tryEnter() {
    self.busy = true;
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
    if (__builtin_expect((header->shared == 0 && __libc_single_threaded != 0) || tryLockTrace(), 1)) return true;
    self.busy = false;
    return false;
  }
  static void leave() {
    if (__builtin_expect(header->lock != 0, 0) && header->lock == self.tid) unlockTrace();
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
    self.busy = false;
  }

 private:
  bool outer_;
};

// All of these want an open Scope that isn't nested.
void append(uint8_t kind, uint8_t len, uint32_t where, uint64_t addr, uint64_t value);
// The same for another thread, whose number in the trace this is.
void appendAs(uint16_t thread, uint8_t kind, uint8_t len, uint32_t where, uint64_t addr, uint64_t value);
// The thread's own number in the trace, which it gets here if it has none.
uint16_t threadNumber();
// A part of a wide store that more of it follows: pieces that end where 8-byte units do.
void appendRun(uint8_t kind, uint32_t where, uint64_t addr, const uint8_t* bytes, size_t size);
// The two halves of a 16-byte store: a reader sees both or none.
void appendJoined(uint8_t kind, uint32_t where, uint64_t addr, const uint64_t values[2]);
void appendBlob(uint8_t kind, uint8_t len, uint64_t addr, const void* payload, size_t size, uint32_t where = 0);
void appendBlob2(uint8_t kind, uint8_t len, uint64_t addr, const void* a, size_t na, const void* b, size_t nb,
                 uint32_t where = 0);
// The same of a few words, without libc.
void appendWords(uint8_t kind, uint64_t addr, const uint64_t* words, size_t count, uint32_t where = 0);
// A blob in two steps: where its `size` bytes are to be written, null if there is no room; then they are all there.
uint8_t* beginBlob(uint8_t kind, uint8_t len, uint64_t addr, size_t size, uint32_t where);
void commitBlob(size_t size);
void problem(uint32_t bit);
// Whether so many events can be appended by nothing but stores.
bool hasRoom(uint64_t events);
void lost(uint64_t events);

// The calls that led here: return addresses above the instrumented function whose hook runs.
constexpr int kMaxFrames = 64;
struct Stack {
  uint64_t hash;
  int count;
  uint64_t frames[kMaxFrames];
};
void walkStack(Stack& stack, const void* hookFrame);
// The same for a function of the runtime that is called by its name: its caller is the first.
void walkCallers(Stack& stack, const void* frame);
// The same where that caller may be a library without frame pointers, which costs more.
void walkCallersInAnyCode(Stack& stack, const void* frame);
// And for the instruction that a trap interrupted.
void walkFrom(Stack& stack, const Frame& from, Trail* trail = nullptr);
// The same where the instruction stands for a call: it is the first.
void walkFromCall(Stack& stack, const Frame& from);
// Leaves the first ones out.
void dropCallers(Stack& stack, int count);
// The number of (site, stack), written to the trace when it is new.
uint32_t whereOf(blackout_site* site, const Stack& stack);

// A program file was unloaded: its sites' addresses mean nothing any more.
void forgetSites();
// How often that was.
uint16_t sitesGeneration();

// Sites of what libc does for the program: made by the runtime itself.
blackout_site* librarySite(const char* function);

}  // namespace blackout::rt

#define BLACKOUT_FRAME() __builtin_frame_address(0)
