#include "pass/lanes.h"

#include "llvm/Transforms/Utils/BasicBlockUtils.h"

using namespace llvm;

namespace blackout {

void instrumentLanes(Hooks& hooks, IntrinsicInst& i, const LaneAccess& lanes, GlobalVariable* site, Value* watched) {
  auto argument = [&](int n) { return i.getArgOperand(static_cast<unsigned>(n)); };
  Type* element = lanes.type->getElementType();
  const DataLayout& dl = i.getModule()->getDataLayout();
  Value* size = ConstantInt::get(hooks.i64, dl.getTypeStoreSize(element));
  bool word = hooks.asWord(element) != nullptr && !lanes.nonTemporal;

  Instruction *then = nullptr, *otherwise = nullptr;
  SplitBlockAndInsertIfThenElse(watched, i.getIterator(), &then, &otherwise, hooks.unlikely);
  BasicBlock* tail = i.getParent();
  i.moveBefore(otherwise);
  Value* result = nullptr;  // of a load, lane by lane
  if (lanes.load) result = lanes.otherwise >= 0 ? argument(lanes.otherwise) : Constant::getNullValue(lanes.type);
  for (unsigned lane = 0; lane < lanes.type->getNumElements(); ++lane) {
    IRBuilder<> b(then);
    b.SetCurrentDebugLocation(i.getDebugLoc());
    Value* on = b.CreateExtractElement(argument(lanes.mask), lane);
    // AVX's masks are vectors whose sign bits count.
    if (on->getType()->isFloatingPointTy()) on = b.CreateBitCast(on, b.getIntNTy(on->getType()->getScalarSizeInBits()));
    if (!on->getType()->isIntegerTy(1)) on = b.CreateICmpSLT(on, Constant::getNullValue(on->getType()));
    Value* pointer = lanes.everyLaneHasPointer ? b.CreateExtractElement(lanes.pointerOf(i), lane)
                                               : b.CreateConstGEP1_64(element, lanes.pointerOf(i), lane);
    BasicBlock* before = then->getParent();
    IRBuilder<> l(SplitBlockAndInsertIfThen(on, then->getIterator(), false));
    l.SetCurrentDebugLocation(i.getDebugLoc());
    Value* place = word ? pointer : hooks.enter(l, pointer, size, site);
    if (lanes.load) {
      Value* read = word ? hooks.loadWord(l, pointer, element, site) : l.CreateAlignedLoad(element, place, Align(1));
      Value* with = l.CreateInsertElement(result, read, lane);
      auto* phi = PHINode::Create(lanes.type, 2, "", then->getParent()->begin());
      phi->addIncoming(with, l.GetInsertBlock());
      phi->addIncoming(result, before);
      result = phi;
    } else {
      Value* value = l.CreateExtractElement(argument(lanes.data), lane);
      if (word)
        hooks.storeWord(l, pointer, value, site);
      else
        l.CreateAlignedStore(value, place, Align(1));
    }
    if (!word) hooks.leave(l, pointer, size, site);
  }
  if (!lanes.load) return;
  PHINode* phi = PHINode::Create(i.getType(), 2, "", tail->begin());
  i.replaceAllUsesWith(phi);
  phi->addIncoming(result, then->getParent());
  phi->addIncoming(&i, i.getParent());
  phi->setDebugLoc(i.getDebugLoc());
}

}  // namespace blackout
