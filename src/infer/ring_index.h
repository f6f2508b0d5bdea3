// Indices that go round: in "item[head % 8]" the position is head, and the index what is left of it. A ring has as many
// positions as its numbers go up to, and its array shows the last of them.
#pragma once

#include <cstdint>
#include <set>

#include "infer/program_code.h"
#include "llvm/IR/Value.h"

namespace blackout {

// What a number is the remainder of: by the size of the array (0: not known), or by a number that is no constant. Null:
// it is no remainder.
const llvm::Value* roundedFrom(const llvm::Value* number, std::uint64_t elements);

// The fields that a number is made of by sums, in a loop too.
void addendsOf(const llvm::Value* number, const ProgramCode& code, std::set<KeyNo>& fields);

}  // namespace blackout
