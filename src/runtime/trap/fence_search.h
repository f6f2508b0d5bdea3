// The search for instructions that order or flush PM without touching it. Bytes that look like one are many; one is
// taken for an instruction only where a proof says so: its whole function decodes from its first byte to its last,
// and every branch of the function that stays inside lands on an instruction so found. A look-alike that no proved
// function covers is counted. lfence orders nothing that persists: it is no such instruction.
#pragma once

#include <link.h>
#include <stdint.h>

#include "events/contract.h"
#include "runtime/trap/mapped_array.h"
#include "runtime/trap/patch.h"

namespace blackout::rt {

struct FenceSearch {
  // Of an instrumented file, its site table: functions that refer to it call hooks at their fences, and are left alone.
  uintptr_t sitesBegin = 0;
  uintptr_t sitesEnd = 0;
  MappedArray<Fence> found;  // in the order of addresses
  uint32_t unproved = 0;
  bool requests = false;  // client requests of pmemcheck among them
};

// How many of them order or flush something.
uint32_t ordering(MappedArray<Fence>& fences);

// False: no memory.
bool searchFences(const dl_phdr_info& info, FenceSearch& search);

}  // namespace blackout::rt
