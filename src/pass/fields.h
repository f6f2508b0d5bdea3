// The struct and field that an access touches, "Bucket.valid": from its TBAA tag, or from the
// element type of its address computation, with names from debug info. It says nothing rather
// than guess: not for unions and bit fields, nor for an access that touches more than one field.
#pragma once

#include <string>
#include <vector>

#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/IR/DebugInfoMetadata.h"
#include "llvm/IR/DerivedTypes.h"
#include "llvm/IR/Instruction.h"
#include "llvm/IR/Module.h"
#include "llvm/IR/Operator.h"
#include "pass/originals.h"

namespace blackout {

class Fields {
 public:
  explicit Fields(const llvm::Module& m);
  // Of the access `i` of `size` bytes (0: unknown) through `pointer`; empty if unknown.
  std::string nameOf(const llvm::Instruction& i, const llvm::Value* pointer, std::uint64_t size) const;
  std::string nameOf(const TbaaMember& member, std::uint64_t size) const;

 private:
  using Types = llvm::StringMap<const llvm::DICompositeType*>;  // null for a name that two types share
  const llvm::DICompositeType* byTbaaName(llvm::StringRef name) const;
  const llvm::DICompositeType* byTbaa(const llvm::Instruction& i, std::uint64_t& offset) const;
  const llvm::DICompositeType* byAddress(const llvm::Value* pointer, std::uint64_t& offset) const;
  const llvm::DICompositeType* byIrType(const llvm::StructType& type, const llvm::Value* pointer) const;
  const llvm::DICompositeType* byVariable(const llvm::Value* pointer) const;
  std::string memberAt(const llvm::DICompositeType& type, std::uint64_t offset, std::uint64_t size) const;
  std::string nameOf(const llvm::DICompositeType& type) const;

  const llvm::Module& module_;
  Types types_;    // by identifier (mangled name), and by name with its scopes
  Types irNames_;  // by name with its scopes but without template arguments, as IR names its types
  std::vector<const llvm::DICompositeType*> anonymous_;
  llvm::DenseMap<const llvm::DICompositeType*, std::string> typedefs_;  // "T" of typedef struct {...} T
};

}  // namespace blackout
