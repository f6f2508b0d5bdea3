// The struct and field that an access touches, "Bucket.valid": from its TBAA tag, or from the
// element type of its address computation, with names from debug info. It says nothing rather
// than guess.
#pragma once

#include <string>

#include "llvm/ADT/StringMap.h"
#include "llvm/IR/DebugInfoMetadata.h"
#include "llvm/IR/Instruction.h"
#include "llvm/IR/Module.h"

namespace blackout {

class Fields {
 public:
  explicit Fields(const llvm::Module& m);
  // Of the access `i` through `pointer`; empty if unknown.
  std::string nameOf(const llvm::Instruction& i, const llvm::Value* pointer) const;

 private:
  std::string memberAt(const llvm::DICompositeType& type, std::uint64_t byteOffset) const;
  const llvm::Module& module_;
  // By identifier (mangled name) and by plain name; null for a name that two types share.
  llvm::StringMap<const llvm::DICompositeType*> types_;
};

}  // namespace blackout
