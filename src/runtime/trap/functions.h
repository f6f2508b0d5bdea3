// The functions of a loaded file: those of its unwind tables, and exported ones that have no entry there (written in
// assembly, mostly).
#pragma once

#include <link.h>
#include <stdint.h>

#include "runtime/trap/eh_frame.h"
#include "runtime/trap/mapped_array.h"

namespace blackout::rt {

// In the order of addresses; none overlap. False, here and below: no memory.
bool functionsOf(const dl_phdr_info& info, const FrameTable& table, MappedArray<FunctionRange>& functions);

// Addresses that the file exports: functions, and other places where code may be entered.
bool exportedPlaces(const dl_phdr_info& info, MappedArray<uintptr_t>& places);

// The function that the file exports by this name, whatever its version; 0: none. Calls nothing: a sanitizer asks
// before its own functions work.
uintptr_t exportedFunction(const link_map& file, const char* name);

// The code of a sanitizer's runtime that is linked into the file, from its first exported function to its last: the
// linker keeps an archive's objects together. Empty if there is none.
FunctionRange sanitizerCode(const dl_phdr_info& info);

// The one that contains pc; null: none.
const FunctionRange* functionAt(MappedArray<FunctionRange>& functions, uintptr_t pc);

}  // namespace blackout::rt
