// What the analysis keeps of a function: on what its branches, its reads' addresses, the arguments of its calls and
// its result depend. Sets are in the function's own terms: arguments and followed memory are resolved later
// (resolve.h).
#pragma once

#include <cstdint>
#include <vector>

#include "infer/control_dependence.h"
#include "infer/program_code.h"
#include "infer/value_sets.h"

namespace blackout {

// A read of a persistent field: an access of the program and one of its keys.
struct FieldRead {
  AccessSite site = 0;
  KeyNo key = 0;
  bool swaps = false;
  auto operator<=>(const FieldRead&) const = default;
};

class ReadTable {
 public:
  ReadNo of(AccessSite site, KeyNo key, bool swaps);
  const FieldRead& at(ReadNo no) const { return reads_[no]; }
  ReadNo endId() const { return reads_.endId(); }

 private:
  std::unordered_map<std::uint64_t, ReadNo> numbers_;
  IdVector<ReadNo, FieldRead> reads_;
};

// Memory whose contents are followed: a global variable, or the field of all volatile structs of a type.
struct FollowedMemory {
  const llvm::GlobalVariable* variable = nullptr;
  KeyNo key = 0;  // if there is no variable
};

// The branches that decide over an access or a call, if they are not those of its block: an assertion in a function
// that was inlined decides over the rest of that function, but not over what its callers do afterwards.
struct Deciding {
  bool own = false;
  std::vector<BlockNo> blocks;
};

struct ReadFact {
  Deciding deciding;
  std::vector<ReadNo> reads;     // one per key
  std::vector<KeyNo> volatiles;  // keys of volatile structs
  SetNo address = 0;
  SpotNo spot = kAnySpot;
  SetNo asserted = 0;  // by assertions in functions that were inlined before it: they speak for the same object only
  SetNo left = 0;      // the conditions at which the loop ended that found what is read
  SetNo choice = 0;    // the condition of the select that uses the value, if
                       // nothing else does
};

struct CallFact {
  Deciding deciding;
  FunctionNo callee = 0;
  std::vector<SetNo> arguments;
  std::vector<SpotNo> spots;  // what they point to; kNoSpot for numbers
};

struct BlockFact {
  std::vector<BlockNo> deciding;  // over its branch
  SetNo condition = 0;            // of its branch
  std::vector<SetNo> terms;       // of it: what each side of each comparison may be,
                                  // without what chose between them
  BlockNo group = 0;              // the first block of the chain of branches that is one
                                  // condition (a && b || c)
  std::vector<ReadFact> reads;
  std::vector<CallFact> calls;
  Keys writes;  // persistent fields
};

// What a function leaves in memory to which a caller's argument points.
struct OutFact {
  unsigned argument = 0;
  std::int64_t offset = -1;
  SetNo value = 0;
};

struct FunctionFacts {
  IdVector<BlockNo, BlockFact> blocks;
  SetNo returned = 0;
  std::vector<OutFact> outs;
};

}  // namespace blackout
