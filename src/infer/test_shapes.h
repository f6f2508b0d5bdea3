// What an operation makes of the values that it gets: the stages of value_sets.h, up to the shape of a test.
#pragma once

#include "infer/function_facts.h"
#include "llvm/Analysis/LoopInfo.h"
#include "llvm/IR/InstrTypes.h"
#include "llvm/IR/Instructions.h"

namespace blackout {

// A number that a loop counts up or down, or a pointer that it moves on, with constants added and casts around it.
bool isCounter(const llvm::Value* v, const llvm::LoopInfo& loops);

// The stage that an operand's origins have in the result of a binary operation.
Stage afterOperation(const llvm::BinaryOperator& operation, unsigned operand, Stage before);

// The origins of both sides after a comparison.
SetNo compared(const llvm::CmpInst& compare, SetNo left, SetNo right, ValueSets& sets, const ReadTable& reads,
               const FieldTable& fields, const llvm::LoopInfo& loops);

// The origins of what a branch or switch decides by.
SetNo decided(SetNo condition, bool isSwitch, ValueSets& sets, const ReadTable& reads);

}  // namespace blackout
