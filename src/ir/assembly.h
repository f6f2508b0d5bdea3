// What a string of inline assembly does that matters for persistence: its statements are split,
// mnemonic and memory operand recognised, and everything else ignored. Covers the encodings
// found in the wild (clwb as ".byte 0x66; xsaveopt", clflushopt as ".byte 0x66; clflush", lock prefixes,
// movnt*, rep movs and stos, Valgrind's client request) in AT&T and Intel syntax.
#pragma once

#include <cstdint>
#include <vector>

#include "events/contract.h"
#include "llvm/IR/InstrTypes.h"

namespace blackout {

struct AsmEffect {
  blackout_site_kind kind;
  // The address: an argument of the call, plus a constant, plus an argument times a scale. -1: none.
  int argument = -1;
  std::int64_t offset = 0;
  int index = -1;
  std::int64_t scale = 1;
  std::uint64_t size = 0;  // bytes accessed
  int count = -1;          // rep: the argument that multiplies the size
};

struct AsmMeaning {
  std::vector<AsmEffect> effects;  // in the order of the statements
  bool clientRequest = false;
  bool unresolved = false;  // a flush or store whose address can't be told
  // It may flush or fence, and what can't be told: a store would fault and be followed, these do not.
  bool unseen = false;
};

AsmMeaning readAssembly(const llvm::CallBase& call);

}  // namespace blackout
