// The calls of events/contract.h as instructions: what a hook's arguments look like, and the three
// shapes of an insertion (a branch that calls, a bracket around an instruction, a bracket around a
// locked one). Knows nothing about which instruction wants which.
#pragma once

#include "events/contract.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/IR/DataLayout.h"
#include "llvm/IR/GlobalVariable.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/Module.h"

namespace blackout {

class Hooks {
 public:
  // `record` is the module's blackout_module.
  Hooks(llvm::Module& m, llvm::GlobalVariable* record);

  llvm::Type* const voidTy;
  llvm::Type* const i32;
  llvm::Type* const i64;
  llvm::PointerType* const ptr;
  llvm::MDNode* const unlikely;

  enum class Registers { Kept, AsInC };
  llvm::CallInst* call(llvm::IRBuilder<>& b, llvm::StringRef name, llvm::Type* result,
                       llvm::ArrayRef<llvm::Value*> args, Registers registers = Registers::Kept);

  // The integer of 1, 2, 4 or 8 bytes that holds a value of the type in memory; null if none does.
  llvm::IntegerType* asWord(llvm::Type* type) const;
  void storeWord(llvm::IRBuilder<>& b, llvm::Value* pointer, llvm::Value* value, llvm::GlobalVariable* site);
  llvm::Value* loadWord(llvm::IRBuilder<>& b, llvm::Value* pointer, llvm::Type* type, llvm::GlobalVariable* site);

  // Gives the address to access instead.
  llvm::Value* enter(llvm::IRBuilder<>& b, llvm::Value* pointer, llvm::Value* size, llvm::GlobalVariable* site);
  void leave(llvm::IRBuilder<>& b, llvm::Value* pointer, llvm::Value* size, llvm::GlobalVariable* site,
             llvm::Value* stored = nullptr);

  // `body` runs before the instruction if the condition holds.
  void insertIf(llvm::Value* condition, llvm::Instruction& before, const llvm::DebugLoc& loc,
                llvm::function_ref<void(llvm::IRBuilder<>&)> body);
  // enter, if it is PM; the address to access.
  llvm::Value* enterIf(llvm::Value* inPm, llvm::Instruction& before, const llvm::DebugLoc& loc, llvm::Value* pointer,
                       llvm::Value* size, llvm::GlobalVariable* site);
  // The address to flush, if it may be PM.
  llvm::Value* flushPlaceIf(llvm::Value* inPm, llvm::Instruction& before, const llvm::DebugLoc& loc,
                            llvm::Value* pointer);
  // enter; i, through the operand that is its address; leave, if it is PM.
  void bracket(llvm::Instruction& i, unsigned operand, llvm::Value* size, llvm::GlobalVariable* site,
               llvm::Value* inPm);
  // The same for an atomicrmw, cmpxchg, locked store, or a call that makes one (a compare-and-swap returns whether
  // it stored); on other memory (inPm null: surely) it is a fence.
  void bracketLocked(llvm::Instruction& i, unsigned operand, std::uint64_t size, llvm::GlobalVariable* site,
                     llvm::Value* inPm);
  void insertRmwFence(llvm::Instruction& before, const llvm::DebugLoc& loc, llvm::Value* pointer,
                      llvm::GlobalVariable* site, llvm::Value* inPm);
  llvm::Value* isRecording(llvm::IRBuilder<>& b);
  // Where another thread may go on first, if threads are under control: before an access to the pointer; null: this one
  // waits for others.
  void insertSwitch(llvm::Instruction& before, const llvm::DebugLoc& loc, llvm::Value* pointer);

 private:
  // What `given` calls for, if the condition holds; else the pointer.
  llvm::Value* placeIf(llvm::Value* condition, llvm::Instruction& before, const llvm::DebugLoc& loc,
                       llvm::Value* pointer, llvm::function_ref<llvm::Value*(llvm::IRBuilder<>&)> given);
  llvm::Value* isSet(llvm::IRBuilder<>& b, std::size_t field);

  llvm::Module& m_;
  llvm::GlobalVariable* record_;
};

// Where something that follows the instruction is inserted: for an invoke, on its normal edge.
llvm::Instruction* insertionPointAfter(llvm::Instruction& i);

}  // namespace blackout
