// The table of instruction forms that instruction_forms.py writes, and how to execute one natively with all registers
// given.
#pragma once

#include <stddef.h>
#include <stdint.h>

// The memory that forms are pointed at. Below 2 GiB, for addresses of 32 bits.
constexpr uintptr_t kBuffer = 0x20000000;
constexpr size_t kBufferSize = 4 * 4096;

// What must be prepared, in the script's order.
enum class Setup : uint8_t {
  Plain,
  String,
  BitString,
  Divide,
  Compare,
  Indices,
  Jump,
  Table,
  SaveState,
  LoadState,
  Mxcsr,
  X87Control,
  Call,
  Direct64,
};

constexpr uint8_t kNone = 255;

struct Form {
  const char* text;
  const uint8_t* code;
  const uint8_t* end;
  int32_t displacement;
  uint32_t leaf;
  uint8_t base;  // registers by the processor's numbers, or kNone
  uint8_t index;
  uint8_t scale;
  uint8_t align;
  Setup setup;
  uint8_t special;  // the register with the bit offset, or with the destination
  uint8_t subleaf;
  uint8_t cpuidRegister;
  uint8_t cpuidBit;
  uint8_t vector;  // the register with the indices
  uint8_t indexSize;
  uint8_t stack;     // it uses the stack
  uint8_t repeated;  // it has a rep prefix
  uint8_t unused;
  uint16_t undefined;  // flags that it leaves undefined
};

extern "C" const Form forms[];
extern "C" const uint64_t formCount;

bool supported(const Form& f);

// All that an instruction can read or change besides memory.
struct alignas(64) State {
  uint8_t vectors[4096];  // an XSAVE area in standard format
  uint64_t registers[16];
  uint64_t flags;
};

// The components in a State.
uint64_t stateComponents();

// Jumps to the code with this state; the code jumps to form_exit, and the state is what it left. One thread at a time.
void execute(State& state, const void* code);
