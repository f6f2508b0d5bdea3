#include "infer/straighten.h"

#include <set>
#include <vector>

#include "llvm/Analysis/ConstantFolding.h"
#include "llvm/Analysis/LoopInfo.h"
#include "llvm/IR/CFG.h"
#include "llvm/IR/Constants.h"
#include "llvm/IR/Dominators.h"
#include "llvm/IR/Instructions.h"
#include "llvm/Transforms/Utils/BasicBlockUtils.h"
#include "llvm/Transforms/Utils/Local.h"
#include "llvm/Transforms/Utils/PromoteMemToReg.h"

using namespace llvm;

namespace blackout {

namespace {

// A block that does nothing but choose its successor by a number that differs with the way to it: by a switch, or, if
// there are only two, by a comparison.
struct Chooser {
  PHINode* number = nullptr;  // null: it is no such block
  CmpInst* compare = nullptr;

  BasicBlock* wayOf(ConstantInt* value) const {
    Instruction* end = number->getParent()->getTerminator();
    if (compare == nullptr) return cast<SwitchInst>(end)->findCaseValue(value)->getCaseSuccessor();
    bool equal = value->getValue() == cast<ConstantInt>(compare->getOperand(1))->getValue();
    return end->getSuccessor(equal == (compare->getPredicate() == CmpInst::ICMP_EQ) ? 0 : 1);
  }
};

Chooser chooserIn(BasicBlock& b) {
  Chooser chooser;
  Value* number = nullptr;
  Instruction* first = b.getFirstNonPHIOrDbg();
  if (auto* choice = dyn_cast<SwitchInst>(b.getTerminator())) {
    if (first == choice) number = choice->getCondition();
  } else if (auto* branch = dyn_cast<BranchInst>(b.getTerminator()); branch != nullptr && branch->isConditional()) {
    auto* compare = dyn_cast<ICmpInst>(branch->getCondition());
    if (compare != nullptr && first == compare && compare->getNextNonDebugInstruction() == branch &&
        compare->hasOneUse() && compare->isEquality() && isa<ConstantInt>(compare->getOperand(1))) {
      number = compare->getOperand(0);
      chooser.compare = compare;
    }
  }
  auto* phi = dyn_cast_or_null<PHINode>(number);
  if (phi == nullptr || phi->getParent() != &b) return {};
  chooser.number = phi;
  return chooser;
}

// Values in phis go through variables while edges move, so that every use finds its value again afterwards.
// False: there was nothing to do.
bool untangle(BasicBlock& b, std::vector<AllocaInst*>& variables) {
  Chooser chooser = chooserIn(b);
  PHINode* phi = chooser.number;
  if (phi == nullptr) return false;
  struct Way {
    BasicBlock* from;
    BasicBlock* to;
  };
  std::vector<Way> ways;
  std::set<BasicBlock*> seen;
  for (unsigned k = 0; k < phi->getNumIncomingValues(); ++k) {
    BasicBlock* from = phi->getIncomingBlock(k);
    auto* number = dyn_cast<ConstantInt>(phi->getIncomingValue(k));
    if (number == nullptr || !isa<BranchInst, SwitchInst>(from->getTerminator()) || !seen.insert(from).second) continue;
    BasicBlock* to = chooser.wayOf(number);
    if (to != &b) ways.push_back({from, to});
  }
  if (ways.empty()) return false;
  auto keep = [&](AllocaInst* variable) {
    if (variable != nullptr) variables.push_back(variable);
  };
  std::vector<PHINode*> phis;
  for (PHINode& p : b.phis()) phis.push_back(&p);
  std::set<BasicBlock*> after(succ_begin(&b), succ_end(&b));
  for (BasicBlock* s : successors(&b))
    if (after.erase(s) > 0)
      for (PHINode& p : s->phis()) phis.push_back(&p);
  // A value that comes into being on its very edge can't be stored before it.
  for (const PHINode* p : phis)
    for (unsigned k = 0; k < p->getNumIncomingValues(); ++k)
      if (p->getIncomingValue(k) == p->getIncomingBlock(k)->getTerminator()) return false;
  for (PHINode* p : phis)
    if (p->getParent() == &b && p->isUsedOutsideOfBlock(&b)) keep(DemoteRegToStack(*p));
  for (PHINode* p : phis) keep(DemotePHIToStack(p));
  for (const Way& way : ways) {
    ValueToValueMapTy map;
    BasicBlock* copy = BasicBlock::Create(b.getContext(), b.getName() + ".way", b.getParent(), &b);
    for (Instruction& i : b) {
      if (i.isTerminator()) break;
      Instruction* own = i.clone();
      own->insertInto(copy, copy->end());
      map[&i] = own;
      RemapInstruction(own, map, RF_NoModuleLevelChanges | RF_IgnoreMissingLocals);
    }
    BranchInst* end = BranchInst::Create(way.to, copy);
    end->setDebugLoc(b.getTerminator()->getDebugLoc());
    way.from->getTerminator()->replaceSuccessorWith(&b, copy);
  }
  return true;
}

// The constant that comparisons and casts of constants are. Nothing else is looked at: addresses stay as they are.
Constant* constantOf(Value* v, const DataLayout& dl, int depth) {
  if (auto* c = dyn_cast<Constant>(v)) return c;
  auto* i = dyn_cast<Instruction>(v);
  if (i == nullptr || depth > 8 || !isa<CastInst, CmpInst, BinaryOperator>(i)) return nullptr;
  std::vector<Constant*> operands;
  for (Value* operand : i->operands()) {
    Constant* c = constantOf(operand, dl, depth + 1);
    if (c == nullptr) return nullptr;
    operands.push_back(c);
  }
  if (auto* compare = dyn_cast<CmpInst>(i))
    return ConstantFoldCompareInstOperands(compare->getPredicate(), operands[0], operands[1], dl);
  return ConstantFoldInstOperands(i, operands, dl);
}

void foldConstantBranches(Function& f) {
  const DataLayout& dl = f.getParent()->getDataLayout();
  bool folded = false;
  for (BasicBlock& b : f) {
    Instruction* end = b.getTerminator();
    auto* branch = dyn_cast<BranchInst>(end);
    auto* choice = dyn_cast<SwitchInst>(end);
    if (choice == nullptr && (branch == nullptr || !branch->isConditional())) continue;
    Value* condition = choice != nullptr ? choice->getCondition() : branch->getCondition();
    auto* constant = dyn_cast_or_null<ConstantInt>(constantOf(condition, dl, 0));
    if (constant == nullptr) continue;
    end->replaceUsesOfWith(condition, constant);
    folded |= ConstantFoldTerminator(&b);
  }
  if (folded) EliminateUnreachableBlocks(f);
}

// A loop without an end gets one behind each turn, so that the rest of the turn is what comes after its tests; LLVM's
// post-dominators would choose some block in the middle.
void endEndlessLoops(Function& f) {
  DominatorTree dominators(f);
  LoopInfo loops(dominators);
  BasicBlock* end = nullptr;
  for (Loop* loop : loops.getLoopsInPreorder()) {
    SmallVector<BasicBlock*, 4> exits, latches;
    loop->getExitBlocks(exits);
    if (!exits.empty()) continue;
    BasicBlock* header = loop->getHeader();
    loop->getLoopLatches(latches);
    for (BasicBlock* latch : latches) {
      if (count(successors(latch), header) != 1) continue;
      if (end == nullptr) {
        end = BasicBlock::Create(f.getContext(), "never", &f);
        new UnreachableInst(f.getContext(), end);
      }
      BasicBlock* turn = BasicBlock::Create(f.getContext(), "turn", &f, latch->getNextNode());
      auto* unknown = new FreezeInst(PoisonValue::get(Type::getInt1Ty(f.getContext())), "", turn);
      BranchInst::Create(header, end, unknown, turn);
      latch->getTerminator()->replaceSuccessorWith(header, turn);
      header->replacePhiUsesWith(latch, turn);
    }
  }
}

}  // namespace

void straighten(Module& m) {
  for (Function& f : m) {
    if (f.isDeclaration()) continue;
    foldConstantBranches(f);
    std::vector<AllocaInst*> variables;
    // A way may lead into the next block of this kind; there are no more rounds than scopes.
    for (int round = 0; round < 64; ++round) {
      std::vector<BasicBlock*> blocks;
      for (BasicBlock& b : f) blocks.push_back(&b);
      bool changed = false;
      for (BasicBlock* b : blocks) changed |= untangle(*b, variables);
      if (!changed) break;
      // Blocks without a way to them would keep their edges alive.
      EliminateUnreachableBlocks(f);
      DominatorTree dominators(f);
      std::vector<AllocaInst*> promotable;
      for (AllocaInst* v : variables)
        if (isAllocaPromotable(v)) promotable.push_back(v);
      PromoteMemToReg(promotable, dominators);
      bool all = promotable.size() == variables.size();
      variables.clear();
      // A way that came through one block only has its number there.
      foldConstantBranches(f);
      if (!all) break;
    }
    endEndlessLoops(f);
  }
}

}  // namespace blackout
