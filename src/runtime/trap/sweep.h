// The instructions of one function, one behind the other from its first byte to its last, and what the search for
// fences wants to know of each. Before that, cheaper questions of bytes: whether there can be a fence at all.
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "runtime/trap/eh_frame.h"
#include "runtime/trap/mapped_array.h"
#include "runtime/trap/patch.h"
#include "runtime/trap/zydis.h"

namespace blackout::rt {

inline const uint8_t* bytesAt(uintptr_t p) { return reinterpret_cast<const uint8_t*>(p); }

// Whether a client request is here.
bool isRequest(uintptr_t pc, uintptr_t end);

struct Decoded {
  ZydisDecodedInstruction instruction;
  ZydisDecodedOperand operands[ZYDIS_MAX_OPERAND_COUNT];

  bool at(uintptr_t pc, uintptr_t end) {
    return decode(reinterpret_cast<const void*>(pc), end - pc, instruction, operands);
  }
  bool relative() const { return instruction.raw.imm[0].is_relative; }
  uintptr_t target(uintptr_t pc) const { return pc + instruction.length + uintptr_t(instruction.raw.imm[0].value.s); }
  bool touchesMemory() const {
    for (int i = 0; i < instruction.operand_count; ++i)
      if (operands[i].type == ZYDIS_OPERAND_TYPE_MEMORY) return true;
    return false;
  }
  // Relative to the instruction itself. With 32-bit addresses (which nobody writes) it can't be moved.
  bool relativeTo(ZydisRegister pointer) const {
    for (int i = 0; i < instruction.operand_count; ++i)
      if (operands[i].type == ZYDIS_OPERAND_TYPE_MEMORY && operands[i].mem.base == pointer) return true;
    return false;
  }
};

// The kind of Fence; 0: none of them.
uint8_t fenceKind(const Decoded& d);

// It has the same effect at another address, if operands that are relative to it are adjusted.
bool movable(const Decoded& d);

// Cheap, and true of every one of them: the byte at p is its opcode or its lock prefix.
bool looksLikeFence(const uint8_t* p, const uint8_t* end);

// False: none of the function's instructions is one, if it has instructions only.
bool mayHaveFences(const FunctionRange& f);

// One bit for each byte of a range.
class Bits {
 public:
  bool reset(uintptr_t begin, uintptr_t end) {
    begin_ = begin;
    return words_.zeros((end - begin) / 64 + 1);
  }
  void set(uintptr_t p) { words_[(p - begin_) / 64] |= uint64_t(1) << ((p - begin_) % 64); }
  bool get(uintptr_t p) { return (words_[(p - begin_) / 64] >> ((p - begin_) % 64) & 1) != 0; }
  bool within(Bits& other) {
    for (size_t i = 0; i < words_.size(); ++i)
      if ((words_[i] & ~other.words_[i]) != 0) return false;
    return true;
  }

 private:
  uintptr_t begin_ = 0;
  MappedArray<uint64_t> words_;
};

// A function from its first byte to its last: its instructions, where its branches lead, and the fences among them.
struct Sweep {
  Bits starts;                     // of instructions
  Bits targets;                    // of branches inside
  MappedArray<uintptr_t> outside;  // of jumps that leave it
  MappedArray<Fence> fences;
  bool jumpsAnywhere = false;

  // True: it is proved. False also without memory.
  bool over(const FunctionRange& f);
};

}  // namespace blackout::rt
