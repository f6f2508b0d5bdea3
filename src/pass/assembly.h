// What a string of inline assembly does that matters for persistence: AT&T statements are split,
// their mnemonic and memory operand recognised, and everything else ignored. Covers the encodings
// found in the wild (clwb as ".byte 0x66; xsaveopt", clflushopt as ".byte 0x66; clflush", lock prefixes,
// movnt*, Valgrind's client request).
#pragma once

#include <cstdint>
#include <vector>

#include "events/contract.h"
#include "llvm/IR/InstrTypes.h"

namespace blackout {

struct AsmEffect {
  blackout_site_kind kind;
  // The pointer: an argument of the call plus a constant; -1: the effect has no address.
  int argument = -1;
  std::int64_t offset = 0;
  std::uint64_t size = 0;   // of a store
  bool indirect = false;    // an "*m" operand: the argument is the address
};

struct AsmMeaning {
  std::vector<AsmEffect> effects;  // in the order of the statements
  bool clientRequest = false;
  bool unresolved = false;  // a flush or store whose address can't be told
};

AsmMeaning readAssembly(const llvm::CallBase& call);

}  // namespace blackout
