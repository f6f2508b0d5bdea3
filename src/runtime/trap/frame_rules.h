// The rules of a frame: how the caller's registers follow from those at one address of a function. They come from a
// small program in .eh_frame (DWARF 5, 6.4.2), and may themselves be expressions (2.5). Damage ends in "false".
#pragma once

#include <stdint.h>

#include "runtime/trap/frame_entry.h"

namespace blackout::rt {

// The registers that a frame is computed from; of all others nothing is known.
enum FrameRegister : int8_t { kSp, kRbp, kRbx, kR12, kR13, kR14, kR15, kPc, kR10, kFrameRegisters, kLostRegister = -1 };

constexpr uintptr_t Frame::* kFrameFields[kFrameRegisters] = {
    &Frame::sp, &Frame::rbp, &Frame::rbx, &Frame::r12, &Frame::r13, &Frame::r14, &Frame::r15, &Frame::pc, &Frame::r10};

struct Rule {
  enum Kind : uint8_t {
    Same,          // as in the callee; the stack pointer is the CFA
    Undefined,     // there is none: of pc, the outermost frame
    At,            // in memory at CFA + offset
    Is,            // CFA + offset itself
    Register,      // in another register
    AtExpression,  // in memory at the expression's value
    IsExpression,  // the expression's value itself
  };
  Kind kind;
  FrameRegister other;  // Register
  uint32_t size;        // of the expression
  union {
    int64_t offset;
    const uint8_t* expression;
  };
};

struct FrameRules {
  // The canonical frame address: the stack pointer before the call. `Register`: the register plus cfaOffset.
  Rule cfa;
  int64_t cfaOffset;
  Rule registers[kFrameRegisters];
};

// The memory that may be read.
struct StackBounds {
  uintptr_t low;
  uintptr_t top;

  bool read(uintptr_t address, void* value, uint64_t size) const {
    if (address < low || address >= top || top - address < size) return false;
    __builtin_memcpy(value, reinterpret_cast<const void*>(address), size);
    return true;
  }
};

// The rules at this address of the entry's function.
bool rulesAt(const FrameEntry& entry, uintptr_t pc, FrameRules& rules);

// The caller's frame. False: the rules want something that isn't there.
bool applyRules(const FrameRules& rules, const Frame& callee, const StackBounds& stack, Frame& caller);

}  // namespace blackout::rt
