#include "pass/lanes.h"

#include "llvm/Transforms/Utils/BasicBlockUtils.h"

using namespace llvm;

namespace blackout {

namespace {

// One bit per lane.
Value* maskBits(IRBuilder<>& b, Value* mask) {
  auto* type = cast<FixedVectorType>(mask->getType());
  // AVX's masks are vectors whose sign bits count.
  if (type->getElementType()->isFloatingPointTy()) {
    type = FixedVectorType::get(b.getIntNTy(type->getScalarSizeInBits()), type->getNumElements());
    mask = b.CreateBitCast(mask, type);
  }
  if (!type->getElementType()->isIntegerTy(1)) mask = b.CreateICmpSLT(mask, Constant::getNullValue(type));
  return b.CreateBitCast(mask, b.getIntNTy(type->getNumElements()));
}

// The lanes are stored by one hook, which is handed them in memory.
void storeLanes(Hooks& hooks, IRBuilder<>& b, IntrinsicInst& i, const LaneAccess& lanes, GlobalVariable* site,
                Value* bits) {
  unsigned count = lanes.type->getNumElements();
  IRBuilder<> entry(&*i.getFunction()->getEntryBlock().getFirstInsertionPt());
  Value* pointers = lanes.pointerOf(i);
  if (!lanes.everyLaneHasPointer) {
    SmallVector<Constant*, 16> numbers;
    for (unsigned lane = 0; lane < count; ++lane) numbers.push_back(b.getInt64(lane));
    pointers = b.CreateGEP(lanes.type->getElementType(), pointers, ConstantVector::get(numbers));
  }
  Value* data = i.getArgOperand(static_cast<unsigned>(lanes.data));
  Value* memory[2];
  unsigned n = 0;
  for (Value* v : {pointers, data}) {
    memory[n] = entry.CreateAlloca(v->getType());
    b.CreateStore(v, memory[n++]);
  }
  const DataLayout& dl = i.getModule()->getDataLayout();
  hooks.call(b, "__blackout_store_lanes", hooks.voidTy,
             {memory[0], memory[1], b.CreateZExt(bits, hooks.i64),
              b.getInt64(dl.getTypeStoreSize(lanes.type->getElementType())), site});
}

}  // namespace

void instrumentLanes(Hooks& hooks, IntrinsicInst& i, const LaneAccess& lanes, GlobalVariable* site, Value* watched) {
  auto argument = [&](int n) { return i.getArgOperand(static_cast<unsigned>(n)); };
  Type* element = lanes.type->getElementType();
  const DataLayout& dl = i.getModule()->getDataLayout();
  Value* size = ConstantInt::get(hooks.i64, dl.getTypeStoreSize(element));
  bool word = hooks.asWord(element) != nullptr;

  Instruction *then = nullptr, *otherwise = nullptr;
  SplitBlockAndInsertIfThenElse(watched, i.getIterator(), &then, &otherwise, hooks.unlikely);
  BasicBlock* tail = i.getParent();
  i.moveBefore(otherwise);
  IRBuilder<> first(then);
  first.SetCurrentDebugLocation(i.getDebugLoc());
  Value* bits = maskBits(first, argument(lanes.mask));
  if (!lanes.load) return storeLanes(hooks, first, i, lanes, site, bits);
  // Lane by lane.
  Value* result = lanes.otherwise >= 0 ? argument(lanes.otherwise) : Constant::getNullValue(lanes.type);
  for (unsigned lane = 0; lane < lanes.type->getNumElements(); ++lane) {
    IRBuilder<> b(then);
    b.SetCurrentDebugLocation(i.getDebugLoc());
    Value* on = b.CreateTrunc(b.CreateLShr(bits, lane), b.getInt1Ty());
    Value* pointer = lanes.everyLaneHasPointer ? b.CreateExtractElement(lanes.pointerOf(i), lane)
                                               : b.CreateConstGEP1_64(element, lanes.pointerOf(i), lane);
    BasicBlock* before = then->getParent();
    IRBuilder<> l(SplitBlockAndInsertIfThen(on, then->getIterator(), false));
    l.SetCurrentDebugLocation(i.getDebugLoc());
    Value* read = nullptr;
    if (word) {
      read = hooks.loadWord(l, pointer, element, site);
    } else {
      read = l.CreateAlignedLoad(element, hooks.enter(l, pointer, size, site), Align(1));
      hooks.leave(l, pointer, size, site);
    }
    Value* with = l.CreateInsertElement(result, read, lane);
    auto* phi = PHINode::Create(lanes.type, 2, "", then->getParent()->begin());
    phi->addIncoming(with, l.GetInsertBlock());
    phi->addIncoming(result, before);
    result = phi;
  }
  PHINode* phi = PHINode::Create(i.getType(), 2, "", tail->begin());
  i.replaceAllUsesWith(phi);
  phi->addIncoming(result, then->getParent());
  phi->addIncoming(&i, i.getParent());
  phi->setDebugLoc(i.getDebugLoc());
}

}  // namespace blackout
