// The decoder. The runtime links nothing but libc: Zydis is loaded when a program is trapped, with names of its own
// (RTLD_LOCAL, RTLD_DEEPBIND), so that a program which uses another version never meets ours.
#pragma once

#include <Zydis/Zydis.h>
#include <stddef.h>
#include <stdint.h>

namespace blackout::rt {

// Not in a signal handler. False: it isn't installed.
bool loadZydis();

// Async-signal-safe. False: these bytes are no instruction.
bool decode(const void* code, size_t size, ZydisDecodedInstruction& instruction,
            ZydisDecodedOperand operands[ZYDIS_MAX_OPERAND_COUNT]);

}  // namespace blackout::rt
