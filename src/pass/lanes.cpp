#include "pass/lanes.h"

#include "llvm/IR/IntrinsicsX86.h"
#include "llvm/Transforms/Utils/BasicBlockUtils.h"

using namespace llvm;

namespace blackout {

std::optional<LaneAccess> laneAccess(const IntrinsicInst& i) {
  LaneAccess a{};
  auto store = [&](int data, int pointer, int mask) {
    a.data = data, a.pointer = pointer, a.mask = mask;
    a.type = dyn_cast<FixedVectorType>(i.getArgOperand(static_cast<unsigned>(data))->getType());
  };
  auto load = [&](int pointer, int mask, int otherwise) {
    a.load = true;
    a.pointer = pointer, a.mask = mask, a.otherwise = otherwise;
    a.type = dyn_cast<FixedVectorType>(i.getType());
  };
  switch (i.getIntrinsicID()) {
    case Intrinsic::masked_store:
      store(0, 1, 3);
      break;
    case Intrinsic::masked_scatter:
      store(0, 1, 3);
      a.everyLaneHasPointer = true;
      break;
    case Intrinsic::masked_load:
      load(0, 2, 3);
      break;
    case Intrinsic::masked_gather:
      load(0, 2, 3);
      a.everyLaneHasPointer = true;
      break;
    case Intrinsic::x86_avx_maskstore_ps:
    case Intrinsic::x86_avx_maskstore_pd:
    case Intrinsic::x86_avx_maskstore_ps_256:
    case Intrinsic::x86_avx_maskstore_pd_256:
    case Intrinsic::x86_avx2_maskstore_d:
    case Intrinsic::x86_avx2_maskstore_q:
    case Intrinsic::x86_avx2_maskstore_d_256:
    case Intrinsic::x86_avx2_maskstore_q_256:
      store(2, 0, 1);
      break;
    case Intrinsic::x86_avx_maskload_ps:
    case Intrinsic::x86_avx_maskload_pd:
    case Intrinsic::x86_avx_maskload_ps_256:
    case Intrinsic::x86_avx_maskload_pd_256:
    case Intrinsic::x86_avx2_maskload_d:
    case Intrinsic::x86_avx2_maskload_q:
    case Intrinsic::x86_avx2_maskload_d_256:
    case Intrinsic::x86_avx2_maskload_q_256:
      load(0, 1, -1);
      break;
    case Intrinsic::x86_sse2_maskmov_dqu:
      store(0, 2, 1);
      a.nonTemporal = true;
      break;
    default:
      return std::nullopt;
  }
  if (a.type == nullptr) return std::nullopt;
  return a;
}

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
    if (!word) hooks.enter(l, pointer, size, site);
    if (lanes.load) {
      Value* read = word ? hooks.loadWord(l, pointer, element, site) : l.CreateAlignedLoad(element, pointer, Align(1));
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
        l.CreateAlignedStore(value, pointer, Align(1));
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
