// The program's vector state, as the kernel leaves it in the signal frame: an XSAVE area in standard format, or on a
// processor without XSAVE an FXSAVE area.
#pragma once

#include <stdint.h>
#include <ucontext.h>

namespace blackout::rt {

// Components by their bits (SDM volume 1, chapter 13).
enum : uint64_t {
  kStateX87 = 1,
  kStateSse = 2,
  kStateAvx = 4,
  kStateMasks = 0x20,
  kStateZmmHigh = 0x40,
  kStateZmm16 = 0x80,
  kStateVectors = kStateSse | kStateAvx | kStateMasks | kStateZmmHigh | kStateZmm16,
};

// Asks the processor where the components lie. Not in a signal handler.
void prepareVectorState();

// The components that the frame has room for. `xsave` is false for an FXSAVE area.
uint64_t componentsOf(const ucontext_t& context, bool& xsave);

// Registers as the frame has them.
void readVector(const ucontext_t& context, uint8_t number, uint8_t bytes[64]);
uint64_t readMask(const ucontext_t& context, uint8_t number);

void writeMask(ucontext_t& context, uint8_t number, uint64_t mask);
// The lower 32 bytes of one of the first 16; what is above them stays.
void writeVector(ucontext_t& context, uint8_t number, const uint8_t bytes[32]);

// Bytes that an XSAVE of these components takes.
uint32_t saveSizeOf(uint64_t components, bool compact);

}  // namespace blackout::rt
