// An instruction of the program that touches PM, as the trap front end sees it: which bytes it reads and writes, and
// how to have its effect with those bytes somewhere else. It is not emulated by hand: the processor executes a copy of
// it, with the program's registers and with its memory operand replaced, so every form has exactly its own effect.
// Nothing here allocates or locks; all of it may be called in a signal handler.
#pragma once

#include <stddef.h>
#include <stdint.h>
#include <ucontext.h>

#include "events/contract.h"

namespace blackout::rt {

struct Instruction;  // decoded once, kept for good

// The instruction at this address, from a cache; null if it is none, or if there is no room for more of them. The bytes
// must be the program's own: where a patch lies over them the caller passes the original ones (15 readable bytes).
const Instruction* instructionAt(uintptr_t pc, const uint8_t* bytes = nullptr);
// After code was unmapped: what was decoded there counts no more.
void forgetInstructions(uintptr_t begin, uintptr_t end);

uint8_t lengthOf(const Instruction& i);
// One more fault was handled: how many there are now.
uint32_t countFault(const Instruction& i);
// BLACKOUT_SITE_Load, Store, StoreNt, Rmw, CmpXchg, Clflush, Clflushopt, Clwb, Sfence, Mfence, Lfence, Copy (movs),
// Fill (stos), MemoryRead (lods, scas, cmps). An xchg with memory and every lock prefix is Rmw or CmpXchg; an unlocked
// read-modify-write is Store. What else touches memory (push, call) is what it does to its first operand; 0: it touches
// none.
blackout_site_kind kindOf(const Instruction& i);

// What it does to memory.
struct Operand {
  uintptr_t address;  // lowest byte
  uint32_t size;      // of one iteration
  bool read;
  bool written;
  // Of one of at most 64 bytes: which of them a mask or a gather's indices leave. All ones otherwise, and where that
  // isn't known.
  uint64_t bytes = ~uint64_t{0};
};
// Two for movs and movdir64b (the destination first), cmps (rsi first), and push, pop and call of memory (the stack
// second). A flush has its cache line, neither read nor written; a prefetch or a nop has none. A masked operand
// begins and ends with elements whose mask is set, as far as that is known; its others may not even be mapped. Gathers
// and scatters have the hull of the elements whose mask is set, or of the first of them if all don't lie within 64
// bytes: then execute() does these, clears their masks, and leaves the instruction pointer for the rest.
constexpr int kMaxOperands = 2;

struct Access {
  int count;  // of operands; 0: it touches no memory
  Operand operands[kMaxOperands];
  // A repeated string instruction: iterations that are left; 1 for all others.
  uint64_t iterations;
  bool downwards;  // it repeats with the direction flag set
};
Access accessOf(const Instruction& i, const ucontext_t& context);

enum class Executed {
  Done,         // registers, flags, vector state and the instruction pointer are the program's next ones
  Unsupported,  // it can't be executed elsewhere; nothing was changed. The caller single-steps it
  Faulted,      // an operand that was left in place is not mapped or not permitted; nothing was changed but memory that
                // earlier iterations wrote (then the registers say how far it came)
};

struct Stored {
  // Of the written operand, for instructions that write a part of it (masks, compressed stores) and operands of at most
  // 64 bytes: which bytes were stored. All ones otherwise.
  uint64_t mask;
  bool any;  // false: a compare-and-swap that failed, or a mask of zeros
};

// Executes it with operand n's memory at places[n] (which may be the operand's own address). `iterations`: so many of a
// repeated one, at most what is left; the instruction pointer moves on only when it is finished.
Executed execute(const Instruction& i, ucontext_t& context, const uintptr_t places[kMaxOperands], uint64_t iterations,
                 Stored& stored);

// A fault inside execute(): the handler (of SIGSEGV and SIGBUS; also of SIGFPE, for div and unmasked exceptions) passes
// its context and returns at once if this is true. Its signal must not be blocked during execute().
bool executionFaulted(ucontext_t& context);

// Before the first of these. Not in a signal handler. False: no decoder, or no memory for code.
bool prepareInstructions();

}  // namespace blackout::rt
