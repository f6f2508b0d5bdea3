// What is kept of a decoded instruction, and how the parts of this subject share it: analysing it once
// (instruction_analysis.cpp), copying it with another memory operand (instruction_copy.cpp), and at each fault saying
// what it touches (instruction_access.cpp) and executing the copy (instruction_execute.cpp).
#pragma once

#include <stdint.h>

#include "runtime/trap/instruction.h"
#include "runtime/trap/zydis.h"

namespace blackout::rt {

// General registers by the processor's numbers: rax, rcx, rdx, rbx, rsp, rbp, rsi, rdi, r8 to r15.
enum : uint8_t { kRax = 0, kRcx = 1, kRdx = 2, kRbx = 3, kRsp = 4, kRbp = 5, kRsi = 6, kRdi = 7, kNoRegister = 0xff };

// How its copy is executed.
enum class Way : uint8_t {
  None,      // not at all: Unsupported
  ModRm,     // its ModRM operand is [scratch]
  Vsib,      // the base of its ModRM operand is scratch; the indices stay
  String,    // rsi and rdi are set to the places
  Implicit,  // the register that holds its address by definition is set to the place: maskmovdqu, clzero
  Direct64,  // movdir64b: ModRm, and the register with the destination is set to the place
  Push,      // the rest has no copy: a few instructions that have its accesses, and the rest by hand
  Pop,
  Call,
  Jump,
  Translate,  // xlat
  Plain,      // as it is: fences
};

// Where an operand is. The parts are added up; registers may be missing.
struct Address {
  int64_t displacement = 0;  // with the instruction's own address if it is relative to that
  uint8_t base = kNoRegister;
  uint8_t index = kNoRegister;
  uint8_t scale = 0;
  uint8_t segment = 0;  // 0: none; 1: fs; 2: gs
  bool narrow = false;  // 32 bits of it count
};

struct MemoryOperand {
  Address address;
  uint32_t size = 0;
  bool read = false;
  bool written = false;
};

// How an operand's size or address follows from more than its encoding.
enum class Extent : uint8_t {
  Fixed,
  BitString,  // bt and its kind: a register says which word
  Vector,     // an element per index
  Masked,     // elements side by side, of which those count whose mask is set
  Packed,     // as many elements as have their mask set
  StateSave,  // xsave: what the components in edx:eax take
  StateSaveCompact,
  Line,   // the cache line around the address
  Table,  // xlat: al is added
};

struct Instruction {
  uintptr_t pc = 0;
  uint8_t bytes[15] = {};
  uint8_t length = 0;
  bool forgotten = false;  // its file was unloaded; atomic accesses only
  uint8_t kind = 0;
  Way way = Way::None;
  Extent extent = Extent::Fixed;
  uint8_t operandCount = 0;
  MemoryOperand operands[kMaxOperands];

  bool flags = false;        // reads or writes flags
  bool partial = false;      // writes a part of its operand that a mask decides
  bool compares = false;     // cmpxchg and its kind: zf says whether it stored
  bool repeated = false;     // rep
  bool endsByFlag = false;   // repeated, and zf may end it:
  bool endsAtEqual = false;  // when it is set (repne), or when it is clear (repe)
  bool x87 = false;          // leaves its own address in the x87 state

  uint8_t scratch = kNoRegister;     // holds the address in the copy
  uint8_t substitute = kNoRegister;  // stands for rsp in the copy
  uint8_t special = kNoRegister;     // BitString: the register with the offset; Implicit, Direct64: with the address

  // Vector, Masked, Packed: elements, where their indices and masks are.
  uint8_t elements = 0;
  uint8_t elementSize = 0;
  uint8_t indexSize = 0;
  uint8_t indexRegister = 0;
  uint8_t maskRegister = 0;
  bool maskIsVector = false;  // sign bits of a vector register, else a mask register

  uint64_t restored = 0;  // components of the vector state that the copy reads; 0: none
  uint64_t saved = 0;     // that it changes

  const void* code = nullptr;
  uint8_t copySize = 0;       // of ModRm: the copy's bytes, without the return behind it
  mutable bool told = false;  // others know of it (learned.h)
  uint32_t faults = 0;        // that were handled; atomic accesses only
};

// Fills in all but pc, bytes, length and code.
void analyse(const ZydisDecodedInstruction& decoded, const ZydisDecodedOperand* operands, Instruction& out);

// Writes the copy to `slot`, with a return behind it. Sets the way to None if it can't be had.
constexpr size_t kSlotSize = 32;
void copyInto(uint8_t* slot, const ZydisDecodedInstruction& decoded, Instruction& out);

// Is this address in a slot?
bool inSlots(uintptr_t pc);

uint64_t registerOf(const ucontext_t& context, uint8_t number);
void setRegister(ucontext_t& context, uint8_t number, uint64_t value);

// Where the operand is without what the instruction itself adds (indices in a vector, bit offsets): what the scratch
// register of a copy would have to hold.
uintptr_t baseAddressOf(const Address& address, const ucontext_t& context);

// Of a gather or scatter. The processor may be interrupted between elements, and clears the mask of each when it has
// had it; so it is allowed to execute them in parts, and does if they don't lie within 64 bytes.
struct Elements {
  uint32_t set;  // elements whose mask is set
  uint32_t now;  // the first of these, as many as lie within 64 bytes
  int64_t low;   // of those: the lowest byte, from the base address
  uint32_t size;
  uint64_t bytes;  // that they have of the bytes from there
};
Elements elementsOf(const Instruction& i, const ucontext_t& context);

}  // namespace blackout::rt
