// The linked program in numbers: its functions, the calls between them, and what every instruction does to memory, with
// the field keys of that memory. An access through an argument that has no keys of its own has those that the callers
// of the function pass, through several levels.
#pragma once

#include <cstdint>
#include <map>
#include <unordered_map>
#include <vector>

#include "infer/field_table.h"
#include "ir/accesses.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/IR/Module.h"

namespace blackout {

// Accesses that are one place of the program for a trace (infer/access_id.h). Of several ways into which it was inlined
// the first in order stands for all.
class AccessSites {
 public:
  AccessSite of(const llvm::Instruction& i, SiteClass cls);
  const Source& source(AccessSite no) const { return sources_[no]; }
  std::uint64_t accessId(AccessSite no) const { return ids_[no]; }

 private:
  llvm::DenseMap<std::pair<const void*, unsigned>, AccessSite> byLocation_;
  std::unordered_map<std::uint64_t, AccessSite> byId_;
  IdVector<AccessSite, Source> sources_;
  IdVector<AccessSite, std::uint64_t> ids_;
};

struct CodeAccess {
  AccessSite site = 0;
  bool swaps = false;                            // compare and swap
  bool texts = false;                            // compares or scans memory: its result is made of many bytes
  bool writesLocal = false, readsLocal = false;  // memory of the function itself
  const llvm::Value* written = nullptr;          // pointers; null where it doesn't write, read, flush
  const llvm::Value* read = nullptr;
  const llvm::Value* read2 = nullptr;  // the second text of a comparison
  const llvm::Value* flushed = nullptr;
  Keys writtenKeys, readKeys, flushedKeys;
};

struct CodeCall {
  const llvm::CallBase* call = nullptr;
  FunctionNo caller = 0, callee = 0;
};

// The variable on the stack that a pointer leads into, and where; the offset is -1 if it varies.
struct LocalPlace {
  const llvm::Value* variable = nullptr;  // null: none. An alloca, or an argument by value
  std::int64_t offset = -1;
};
LocalPlace localPlace(const llvm::Value* pointer, const llvm::DataLayout& dl);

// What a pointer is computed from, through casts, arithmetic, phis and selects: arguments, loads, results of calls,
// variables. Few, or none if it would be many.
std::vector<const llvm::Value*> rootsOf(const llvm::Value* pointer);

class ProgramCode {
 public:
  explicit ProgramCode(const llvm::Module& m);

  const llvm::Module& module;
  FieldTable fields;
  AccessSites sites;
  IdVector<FunctionNo, const llvm::Function*> functions;
  std::vector<CodeCall> calls;  // of those, in order of the code

  FunctionNo numberOf(const llvm::Function* f) const;
  const CodeAccess* accessOf(const llvm::Instruction& i) const;
  const std::vector<CodeAccess>& accesses() const { return accesses_; }
  const std::vector<std::uint32_t>& callsOf(FunctionNo callee) const { return callers_[callee]; }
  // Arguments of all functions in one numbering.
  std::uint32_t argumentNo(const llvm::Argument& a) const;
  std::uint32_t argumentCount() const { return argumentCount_; }
  std::uint32_t firstArgument(FunctionNo f) const { return firstArgument_[f]; }
  std::size_t indirectCalls() const;
  // Fields that are set to the very constant that they are tested for, as a magic number is.
  Keys marks() const;

 private:
  void addAccess(const llvm::Instruction& i);
  void bindArguments();
  void addKeysOfArguments();
  Keys passed(const llvm::Value* pointer) const;

  llvm::DenseMap<const llvm::Function*, FunctionNo> numbers_;
  llvm::DenseMap<const llvm::Instruction*, std::uint32_t> accessNo_;
  std::vector<CodeAccess> accesses_;
  IdVector<FunctionNo, std::vector<std::uint32_t>> callers_;
  IdVector<FunctionNo, std::uint32_t> firstArgument_;
  std::uint32_t argumentCount_ = 0;
  std::vector<Keys> argumentKeys_;  // what callers pass: the keys of what the argument points to
};

// The function that a call leads to, if it is known and has a body.
const llvm::Function* calleeOf(const llvm::CallBase& call);

}  // namespace blackout
