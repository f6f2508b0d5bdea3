// Memory for the stubs of patched accesses. A jump of five bytes lies over several short instructions, and where such
// an instruction begins the jump must have a breakpoint's byte: whoever gets there, by a way that nobody knew of, is
// caught. So some bytes of the jump's distance are given, and the stub must lie where the distance has them.
#pragma once

#include <stddef.h>
#include <stdint.h>

namespace blackout::rt {

// Bytes of a distance of 32 bits that are given.
struct GivenBytes {
  uint32_t mask = 0;
  uint32_t value = 0;
};

constexpr size_t kStubUnit = 64;

// `size` bytes, written and executed, at an address whose distance from `from` has these bytes; 0: there are none.
// `owner` is what ownerAt() says of them. One caller at a time; async-signal-safe.
uintptr_t takeStubMemory(uintptr_t from, GivenBytes given, size_t size, uint16_t owner);
void giveStubMemory(uintptr_t at, size_t size);

// The owner of the stub that holds this address; 0: it is in none. Async-signal-safe, for any thread.
uint16_t ownerAt(uintptr_t pc);

}  // namespace blackout::rt
