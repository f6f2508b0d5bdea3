#include "pass/loops.h"

#include <cstddef>

#include "llvm/ADT/SetVector.h"
#include "llvm/Analysis/AssumptionCache.h"
#include "llvm/Analysis/CFG.h"
#include "llvm/Analysis/LoopInfo.h"
#include "llvm/Analysis/ScalarEvolution.h"
#include "llvm/Analysis/TargetLibraryInfo.h"
#include "llvm/IR/Dominators.h"

using namespace llvm;

namespace blackout {

namespace {

// A loop of at most so many turns needs no count of its own: what is around it has one.
constexpr unsigned kFewTurns = 1024;

using Edge = std::pair<const BasicBlock*, const BasicBlock*>;

// The blocks in which a turn begins. Every circle of blocks has an edge that leads back in a depth-first walk, those
// that are no loop in the sense of LoopInfo as well.
SetVector<BasicBlock*> turnsOf(Function& f) {
  SmallVector<Edge, 8> back;
  FindFunctionBackedges(f, back);
  SetVector<BasicBlock*> begins;
  if (back.empty()) return begins;
  DominatorTree dominators(f);
  LoopInfo loops(dominators);
  AssumptionCache assumptions(f);
  TargetLibraryInfoImpl known(Triple(f.getParent()->getTargetTriple()));
  TargetLibraryInfo library(known, &f);
  ScalarEvolution evolution(f, library, assumptions, dominators, loops);
  for (auto [from, to] : back) {
    Loop* loop = loops.getLoopFor(to);
    bool regular = loop != nullptr && loop->getHeader() == to && loop->contains(from);
    unsigned most = regular ? evolution.getSmallConstantMaxTripCount(loop) : 0;
    if (most == 0 || most > kFewTurns) begins.insert(const_cast<BasicBlock*>(to));
  }
  return begins;
}

// Where the loop is told to be, in a block that may have no line of its own.
DebugLoc placeOf(const BasicBlock& b) {
  for (const Instruction& i : b)
    if (const DebugLoc& loc = i.getDebugLoc(); loc && loc.getLine() != 0) return loc;
  for (const BasicBlock* before : predecessors(&b))
    if (const DebugLoc& loc = before->getTerminator()->getDebugLoc(); loc && loc.getLine() != 0) return loc;
  // A call needs a place in a function that has any.
  if (DISubprogram* s = b.getParent()->getSubprogram()) return DILocation::get(b.getContext(), s->getLine(), 0, s);
  return {};
}

}  // namespace

void countTurns(Function& f, Hooks& hooks, GlobalVariable* record) {
  for (BasicBlock* begin : turnsOf(f)) {
    auto at = begin->getFirstInsertionPt();
    if (at == begin->end()) continue;
    DebugLoc loc = placeOf(*begin);
    IRBuilder<> b(begin, at);
    b.SetCurrentDebugLocation({});
    MDNode* ours = MDNode::get(b.getContext(), {});
    auto read = [&](IRBuilder<>& r, Type* type, Value* from) {
      LoadInst* load = r.CreateLoad(type, from);
      load->setMetadata(LLVMContext::MD_nosanitize, ours);
      return load;
    };
    Value* counter = b.CreateConstInBoundsGEP1_64(hooks.i64, record, offsetof(blackout_module, turns) / 8);
    Value* wanted = b.CreateICmpNE(read(b, hooks.i64, counter), ConstantInt::get(hooks.i64, 0));
    // Elsewhere than in a restart this is all: a comparison with memory that nobody writes.
    hooks.insertIf(wanted, *at, loc, [&](IRBuilder<>& c) {
      // Below 0, which the processor's flags tell: the count is in no register then, and a loop that does nothing but
      // repeat itself has the same registers in each turn.
      Value* left = read(c, hooks.ptr, counter);
      Value* now = c.CreateSub(read(c, hooks.i64, left), ConstantInt::get(hooks.i64, 1));
      c.CreateStore(now, left)->setMetadata(LLVMContext::MD_nosanitize, ours);
      hooks.insertIf(c.CreateICmpSLT(now, ConstantInt::get(hooks.i64, 0)), *c.GetInsertPoint(), loc,
                     [&](IRBuilder<>& t) { hooks.call(t, "__blackout_turns_over", hooks.voidTy, {}); });
    });
  }
}

}  // namespace blackout
