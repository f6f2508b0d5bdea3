#include "infer/selects.h"

#include <vector>

#include "llvm/IR/CFG.h"
#include "llvm/IR/Constants.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/ValueHandle.h"
#include "llvm/Transforms/Utils/BasicBlockUtils.h"

using namespace llvm;

namespace blackout {

namespace {

constexpr unsigned kMost = 16;  // instructions in an arm

// Whether it may be computed on either way: it does nothing else, and can't fail.
bool onlyComputes(const Instruction& i) {
  if (const auto* o = dyn_cast<BinaryOperator>(&i)) {
    switch (o->getOpcode()) {
      case Instruction::UDiv:
      case Instruction::SDiv:
      case Instruction::URem:
      case Instruction::SRem:
        return false;
      default:
        return i.getType()->isIntegerTy();
    }
  }
  return isa<ZExtInst, SExtInst, TruncInst, ICmpInst, FreezeInst>(i) ||
         (isa<SelectInst>(i) && i.getType()->isIntegerTy());
}

// A block between a test and where its ways meet again, that does nothing but compute.
bool isArm(BasicBlock& b, const BasicBlock& head, const BasicBlock& end) {
  if (&b == &head || b.getSinglePredecessor() != &head || b.getSingleSuccessor() != &end || b.hasAddressTaken())
    return false;
  unsigned count = 0;
  for (Instruction& i : b) {
    if (isa<DbgInfoIntrinsic>(i)) continue;
    if (i.isTerminator()) return isa<BranchInst>(i);
    if (!onlyComputes(i) || ++count > kMost) return false;
  }
  return false;
}

// The ways of a test meet in this block: either through an arm, or one of them straight.
bool chooseIn(BasicBlock& end) {
  if (end.phis().empty() || !end.hasNPredecessors(2)) return false;
  auto p = pred_begin(&end);
  BasicBlock *one = *p++, *other = *p;
  if (one == other) return false;
  BasicBlock* head = one->getSinglePredecessor() != nullptr && one->getSinglePredecessor() == other ? other
                     : other->getSinglePredecessor() == one                                         ? one
                                                            : one->getSinglePredecessor();
  if (head == nullptr || head == &end) return false;
  auto* branch = dyn_cast<BranchInst>(head->getTerminator());
  if (branch == nullptr || !branch->isConditional() || branch->getSuccessor(0) == branch->getSuccessor(1)) return false;
  for (BasicBlock* way : {one, other})
    if (way != head && !isArm(*way, *head, end)) return false;
  for (PHINode& phi : end.phis())
    if (!phi.getType()->isIntegerTy()) return false;
  auto from = [&](unsigned successor) {
    BasicBlock* next = branch->getSuccessor(successor);
    return next == &end ? head : next;
  };
  BasicBlock *yes = from(0), *no = from(1);
  for (BasicBlock* arm : {one, other}) {
    if (arm == head) continue;
    while (!arm->front().isTerminator()) {
      Instruction& i = arm->front();
      if (isa<DbgInfoIntrinsic>(i)) {
        i.eraseFromParent();
        continue;
      }
      i.dropPoisonGeneratingFlags();
      i.moveBefore(branch);
    }
  }
  while (auto* phi = dyn_cast<PHINode>(&end.front())) {
    Value* chosen = SelectInst::Create(branch->getCondition(), phi->getIncomingValueForBlock(yes),
                                       phi->getIncomingValueForBlock(no), "", branch);
    phi->replaceAllUsesWith(chosen);
    phi->eraseFromParent();
  }
  BranchInst::Create(&end, branch)->setDebugLoc(branch->getDebugLoc());
  branch->eraseFromParent();
  for (BasicBlock* arm : {one, other})
    if (arm != head) DeleteDeadBlock(arm);
  return true;
}

}  // namespace

void chooseWithoutBranches(Function& f) {
  for (bool changed = true; changed;) {
    changed = false;
    // Arms go while the list is gone through.
    std::vector<WeakTrackingVH> blocks;
    for (BasicBlock& b : f) blocks.emplace_back(&b);
    for (const WeakTrackingVH& b : blocks)
      if (b.pointsToAliveValue()) changed |= chooseIn(*cast<BasicBlock>(b));
  }
}

}  // namespace blackout
