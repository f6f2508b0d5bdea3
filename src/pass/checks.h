// Where the question "may this pointer be PM?" is asked: once per pointer and stretch of code, not
// once per access. Accesses through in-bounds offsets of one pointer stay in one object, and an object
// is in PM or not, so they share the answer; a loop asks before it starts. A call may map or register
// PM, so no answer is carried across one.
#pragma once

#include <vector>

#include "llvm/ADT/DenseMap.h"
#include "llvm/Analysis/LoopInfo.h"
#include "llvm/IR/Dominators.h"
#include "llvm/IR/Instruction.h"
#include "llvm/IR/Module.h"

namespace blackout {

enum class Window { Stores, Loads };

class Checks {
 public:
  Checks(llvm::Function& f, llvm::GlobalVariable* module);

  // An i1 that dominates `access`: is the pointer inside the window? Call it for all accesses, in
  // program order, before the function is changed otherwise.
  llvm::Value* inWindow(llvm::Value* pointer, Window window, llvm::Instruction* access);

 private:
  llvm::Value* emit(llvm::Value* base, Window window, llvm::Instruction* before);
  bool mayChangeWindow(const llvm::Loop* loop);

  llvm::GlobalVariable* module_;
  llvm::DominatorTree dominators_;
  llvm::LoopInfo loops_;
  llvm::DenseMap<const llvm::Loop*, bool> loopChanges_;
  // Answers by pointer, window and block; those of a preheader stand at its end.
  using Key = std::pair<std::pair<llvm::Value*, int>, llvm::BasicBlock*>;
  llvm::DenseMap<Key, llvm::Value*> hoisted_;
  llvm::DenseMap<std::pair<llvm::Value*, int>, llvm::Value*> inBlock_;
  llvm::BasicBlock* block_ = nullptr;
  llvm::Instruction* scanned_ = nullptr;  // calls up to here have been seen
};

// A call that could map or register memory.
bool mayMapMemory(const llvm::Instruction& i);

}  // namespace blackout
