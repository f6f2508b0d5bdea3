// The length of an instruction without its meaning, some ten times as fast as the decoder: most functions have bytes
// that look like a fence, and few have one. What it doesn't know for certain it leaves to the decoder.
#pragma once

#include <stdint.h>

namespace blackout::rt {

struct Shape {
  uint8_t length;  // 0: not known here, or no instruction
  bool ordering;   // its opcode is one of those that may order or flush: fences, flushes, lock prefixes, xchg
};

// Reads no byte at `end` or behind it.
Shape shapeOf(const uint8_t* p, const uint8_t* end);

}  // namespace blackout::rt
