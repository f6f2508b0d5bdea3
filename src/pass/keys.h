// The field keys of the accesses of a prepared module: an address is followed back to what the markers say (markers.h).
#pragma once

#include <map>
#include <vector>

#include "llvm/IR/Instructions.h"
#include "llvm/IR/Module.h"
#include "pass/fields.h"

namespace blackout {

// A pointer of an instruction through which memory is read, written or flushed.
struct Touched {
  const llvm::Value* pointer = nullptr;
  std::int64_t offset = 0;
  std::uint64_t size = 0;  // 0: unknown
};

// What an access touches: `field` is written or flushed, or read if nothing is; `source` is read beside it.
struct Operands {
  std::vector<Touched> field, source;
};
Operands operandsOf(const llvm::Instruction& i, const llvm::DataLayout& dl);

class Keys {
 public:
  Keys(const Fields& fields, const llvm::DataLayout& dl) : fields_(fields), dl_(dl) {}

  // In order; none if it can't be told, or if there are more than four.
  std::vector<Field> of(const Touched& touched);
  std::vector<Field> of(const std::vector<Touched>& touched);

  // Of an array inside an object, by its address: "Table.slots[]" also where its elements are structs.
  std::vector<Field> ofArray(const llvm::Value* address);

  // Of what a pointer that is loaded from memory leads to, if it is the member of a struct and leads to scalars.
  const std::vector<Field>& behind(const llvm::LoadInst& pointer);

 private:
  const Fields& fields_;
  const llvm::DataLayout& dl_;
  std::map<const llvm::LoadInst*, std::vector<Field>> behind_;
};

}  // namespace blackout
