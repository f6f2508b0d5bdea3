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

// Room for the stubs of a file's code is kept free from when it is loaded on: they are made as accesses are met, which
// depends on what other runs have met before, and what the program maps must lie where it lies in every run. Files that
// are near one another share it. Not in a signal handler.
void keepStubMemory(uintptr_t begin, uintptr_t end);

// `size` writable bytes of what is kept (whole pages), for the fences of a file that is searched later than it was
// loaded, all of them within 2 GB of all of [begin, end). 0: there are none. Not in a signal handler.
uintptr_t takeKeptMemory(uintptr_t begin, uintptr_t end, size_t size);

// `size` bytes, written and executed, at an address whose distance from `from` has these bytes; 0: there are none.
// `owner` is what ownerAt() says of them. One caller at a time; async-signal-safe.
uintptr_t takeStubMemory(uintptr_t from, GivenBytes given, size_t size, uint16_t owner);
void giveStubMemory(uintptr_t at, size_t size);

// The owner of the stub that holds this address; 0: it is in none. Async-signal-safe, for any thread.
uint16_t ownerAt(uintptr_t pc);

}  // namespace blackout::rt
