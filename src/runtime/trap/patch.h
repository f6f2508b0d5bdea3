// An instruction that orders or flushes PM without touching it: as the search finds it, as it was before it was
// replaced, and what is done at it.
#pragma once

#include <stdint.h>
#include <ucontext.h>

namespace blackout::rt {

struct AccessFrame;
struct Instruction;

constexpr uint8_t kJumpLength = 5;
// The client request of Valgrind: four rol of rdi, which leave it as it was, and xchg rbx, rbx.
constexpr uint8_t kRequestLength = 19;

// A pause: it orders nothing, but under control (schedule.h) a thread that spins gives its turn away there.
constexpr uint8_t kPauseKind = 0xfe;

struct Fence {
  uintptr_t pc;
  uint8_t length;
  uint8_t kind;  // as in Patch
  // Bytes of whole instructions from pc on that can be executed elsewhere together, because nothing enters them but at
  // pc: five or more if there is room for a jump, else `length`.
  uint8_t room;
  // It writes all arithmetic flags and reads none: a test before it may change them.
  bool writesFlags;
};

struct Patch {
  uintptr_t pc;          // of the original instruction
  uint8_t original[19];  // its bytes; a request has five instructions
  uint8_t length;
  uint8_t kind;  // blackout_site_kind: Sfence, Mfence, Clflush, Clflushopt, Clwb, Rmw, CmpXchg, Request; or kPauseKind
  mutable const Instruction* instruction = nullptr;  // once somebody has asked what it is
};

// What the front end does at one. Called on the program's stack or in a signal handler, with the program's
// registers in `context`. For jumps only the general registers, flags and instruction pointer are filled in; vector
// registers and errno are afterwards as the program left them, and changes of general registers other than rsp are the
// program's. For a locked instruction, a fence or a flush the original is executed afterwards, by the caller of this
// function; for a request the result is what the program finds in rdx. For a locked instruction it is called only if
// the thread has something to order (ThreadState::active).
using PatchAction = void (*)(const Patch& patch, ucontext_t& context);

// The same at a jump, asked first: whether it has done all of it, with the program's vector registers in place, none of
// which it may touch. Not asked for locked instructions. Null: there is none.
using QuickAction = bool (*)(const Patch& patch, AccessFrame& frame);
extern constinit QuickAction quickAction;

}  // namespace blackout::rt
