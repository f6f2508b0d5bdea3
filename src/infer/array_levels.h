// Arrays in an address: "table->level[l].bucket[b]" goes through two, each with the index into it and the place of
// the object that has it. An array is a member of an object, or what a pointer that is a member of one leads to.
#pragma once

#include <cstdint>
#include <vector>

#include "infer/field_table.h"
#include "llvm/IR/DataLayout.h"
#include "llvm/IR/Instructions.h"

namespace blackout {

// An address in the code: what a use holds, which stays right when values are replaced, and bytes beyond it.
struct UsedAddress {
  const llvm::Use* pointer = nullptr;
  std::int64_t offset = 0;
};

struct ArrayLevel {
  Keys containers;  // "Node.children[]"
  // The index is their sum, each a number of elements, and the constant.
  std::vector<const llvm::Use*> indices;
  std::int64_t constant = 0;
  std::uint64_t elementSize = 0;
  std::uint64_t elements = 0;  // 0: not known
  // Where the object has the array, or the pointer to it.
  UsedAddress anchor;
  bool behindPointer = false;
  // A pointer that moves on by itself: the index is how far it is from the beginning. Then there are no indices.
  const llvm::Use* moving = nullptr;
  const llvm::Value* beginning = nullptr;
};

// Innermost first. Where an address comes on several ways, each of them that goes through an array is one of `ways`.
std::vector<ArrayLevel> arrayLevels(const llvm::Use& pointer, FieldTable& fields, const llvm::DataLayout& dl,
                                    std::vector<const llvm::Use*>* ways = nullptr);

}  // namespace blackout
