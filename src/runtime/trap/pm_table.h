// Which stretches of 2 MiB of the address space hold protected PM, as the stubs of patched accesses ask: one byte each,
// wherever the program wants its pools to be. What shares a stretch with PM is told from it behind the stub.
#pragma once

#include <stdint.h>

namespace blackout::rt {

constexpr uint8_t kStretchBits = 21;

// One byte for each stretch of an address of 53 bits, so that no address leads out of it; null: not made yet. It is
// read as far as addresses go, and takes memory where PM is.
extern uint8_t* pmTable;

// False: no room.
bool preparePmTable();
// [begin, end) is PM from now on. Once it was, nothing makes it other memory again: that would only be faster.
void notePm(uintptr_t begin, uintptr_t end);

}  // namespace blackout::rt
