#include "pass/hooks.h"

#include <cstddef>

#include "llvm/IR/Instructions.h"
#include "llvm/IR/MDBuilder.h"
#include "llvm/Transforms/Utils/BasicBlockUtils.h"

using namespace llvm;

namespace blackout {

Hooks::Hooks(Module& m, GlobalVariable* record)
    : voidTy(Type::getVoidTy(m.getContext())),
      i32(Type::getInt32Ty(m.getContext())),
      i64(Type::getInt64Ty(m.getContext())),
      ptr(PointerType::getUnqual(m.getContext())),
      unlikely(MDBuilder(m.getContext()).createBranchWeights(1, 100000)),
      m_(m),
      record_(record) {}

CallInst* Hooks::call(IRBuilder<>& b, StringRef name, Type* result, ArrayRef<Value*> args, Registers registers) {
  SmallVector<Type*, 6> types;
  for (Value* a : args) types.push_back(a->getType());
  FunctionCallee hook = m_.getOrInsertFunction(name, FunctionType::get(result, types, false));
  auto* function = cast<Function>(hook.getCallee());
  function->setDoesNotThrow();
  CallInst* made = b.CreateCall(hook, args);
  made->setDoesNotThrow();
  // The psABI leaves the upper bits of narrow integers to the caller.
  for (unsigned n = 0; n < args.size(); ++n)
    if (types[n]->isIntegerTy() && types[n]->getIntegerBitWidth() < 32) {
      made->addParamAttr(n, Attribute::ZExt);
      function->addParamAttr(n, Attribute::ZExt);
    }
  if (registers == Registers::Kept) {
    function->setCallingConv(CallingConv::PreserveMost);
    // Bound at start-up: the resolver of a lazy PLT entry does not keep r10.
    function->addFnAttr(Attribute::NonLazyBind);
    made->setCallingConv(CallingConv::PreserveMost);
  }
  return made;
}

IntegerType* Hooks::asWord(Type* type) const {
  const DataLayout& dl = m_.getDataLayout();
  std::uint64_t bytes = dl.getTypeStoreSize(type);
  if (bytes != 1 && bytes != 2 && bytes != 4 && bytes != 8) return nullptr;
  bool odd = dl.getTypeSizeInBits(type) != bytes * 8;
  if (odd && !type->isIntegerTy()) return nullptr;
  if (!type->isIntegerTy() && !type->isPointerTy() && !type->isFloatingPointTy() && !type->isVectorTy()) return nullptr;
  if (auto* v = dyn_cast<VectorType>(type); v != nullptr && v->getElementType()->isPointerTy()) return nullptr;
  return IntegerType::get(m_.getContext(), static_cast<unsigned>(bytes * 8));
}

void Hooks::storeWord(IRBuilder<>& b, Value* pointer, Value* value, GlobalVariable* site) {
  IntegerType* word = asWord(value->getType());
  if (value->getType()->isPointerTy())
    value = b.CreatePtrToInt(value, word);
  else if (value->getType()->isIntegerTy())
    value = b.CreateZExt(value, word);
  else
    value = b.CreateBitCast(value, word);
  call(b, ("__blackout_store" + Twine(word->getBitWidth() / 8)).str(), voidTy, {pointer, value, site});
}

Value* Hooks::loadWord(IRBuilder<>& b, Value* pointer, Type* type, GlobalVariable* site) {
  IntegerType* word = asWord(type);
  Value* read = call(b, ("__blackout_load" + Twine(word->getBitWidth() / 8)).str(), word, {pointer, site});
  if (type->isPointerTy()) return b.CreateIntToPtr(read, type);
  if (type->isIntegerTy()) return b.CreateTrunc(read, type);
  return b.CreateBitCast(read, type);
}

Value* Hooks::enter(IRBuilder<>& b, Value* pointer, Value* size, GlobalVariable* site) {
  return call(b, "__blackout_enter", ptr, {pointer, size, site});
}

Value* Hooks::enterIf(Value* inPm, Instruction& before, const DebugLoc& loc, Value* pointer, Value* size,
                      GlobalVariable* site) {
  return placeIf(inPm, before, loc, pointer, [&](IRBuilder<>& b) { return enter(b, pointer, size, site); });
}

Value* Hooks::flushPlaceIf(Value* inPm, Instruction& before, const DebugLoc& loc, Value* pointer) {
  return placeIf(inPm, before, loc, pointer,
                 [&](IRBuilder<>& b) { return call(b, "__blackout_flush_place", ptr, {pointer}); });
}

Value* Hooks::placeIf(Value* condition, Instruction& before, const DebugLoc& loc, Value* pointer,
                      function_ref<Value*(IRBuilder<>&)> given) {
  BasicBlock* outside = before.getParent();
  BasicBlock* inside = nullptr;
  Value* place = nullptr;
  insertIf(condition, before, loc, [&](IRBuilder<>& b) {
    place = given(b);
    inside = b.GetInsertBlock();
  });
  PHINode* phi = PHINode::Create(ptr, 2, "", before.getParent()->begin());
  phi->addIncoming(place, inside);
  phi->addIncoming(pointer, outside);
  phi->setDebugLoc(loc);
  return phi;
}

void Hooks::leave(IRBuilder<>& b, Value* pointer, Value* size, GlobalVariable* site, Value* stored) {
  call(b, "__blackout_leave", voidTy, {pointer, size, site, stored == nullptr ? b.getInt32(1) : stored});
}

void Hooks::insertIf(Value* condition, Instruction& before, const DebugLoc& loc,
                     function_ref<void(IRBuilder<>&)> body) {
  Instruction* then = SplitBlockAndInsertIfThen(condition, before.getIterator(), false, unlikely);
  IRBuilder<> b(then);
  b.SetCurrentDebugLocation(loc);
  body(b);
}

void Hooks::bracket(Instruction& i, unsigned operand, Value* size, GlobalVariable* site, Value* inPm) {
  Value* pointer = i.getOperand(operand);
  i.setOperand(operand, enterIf(inPm, i, i.getDebugLoc(), pointer, size, site));
  insertIf(inPm, *i.getNextNode(), i.getDebugLoc(), [&](IRBuilder<>& b) { leave(b, pointer, size, site); });
}

void Hooks::bracketLocked(Instruction& i, unsigned operand, std::uint64_t size, GlobalVariable* site, Value* inPm) {
  Instruction* after = i.getNextNode();
  Value* pointer = i.getOperand(operand);
  if (inPm != nullptr) {
    Constant* bytes = ConstantInt::get(i64, size);
    i.setOperand(operand, enterIf(inPm, i, i.getDebugLoc(), pointer, bytes, site));
    insertIf(inPm, *after, i.getDebugLoc(), [&](IRBuilder<>& b) {
      Value* stored = nullptr;
      if (isa<AtomicCmpXchgInst>(i)) stored = b.CreateZExt(b.CreateExtractValue(&i, 1), i32);
      if (isa<CallInst>(i) && i.getType()->isIntegerTy(1)) stored = b.CreateZExt(&i, i32);
      leave(b, pointer, bytes, site, stored);
    });
  }
  insertRmwFence(*after, i.getDebugLoc(), pointer, site, inPm);
}

void Hooks::insertRmwFence(Instruction& before, const DebugLoc& loc, Value* pointer, GlobalVariable* site,
                           Value* inPm) {
  IRBuilder<> b(&before);
  b.SetCurrentDebugLocation({});
  Value* wanted = isRecording(b);
  if (inPm != nullptr) wanted = b.CreateAnd(wanted, b.CreateNot(inPm));
  insertIf(wanted, before, loc, [&](IRBuilder<>& t) {
    Value* address = pointer == nullptr ? ConstantPointerNull::get(ptr) : pointer;
    call(t, "__blackout_rmw_fence", voidTy, {address, site});
  });
}

void Hooks::insertSwitch(Instruction& before, const DebugLoc& loc, Value* pointer) {
  IRBuilder<> b(&before);
  b.SetCurrentDebugLocation({});
  insertIf(isSet(b, offsetof(blackout_module, switches)), before, loc, [&](IRBuilder<>& t) {
    if (pointer == nullptr)
      call(t, "__blackout_yield", voidTy, {});
    else
      call(t, "__blackout_switch", voidTy, {pointer});
  });
}

Value* Hooks::isRecording(IRBuilder<>& b) { return isSet(b, offsetof(blackout_module, recording)); }

Value* Hooks::isSet(IRBuilder<>& b, std::size_t field) {
  Value* at = b.CreateConstInBoundsGEP1_64(i32, record_, field / 4);
  LoadInst* load = b.CreateLoad(i32, at);
  load->setMetadata(LLVMContext::MD_nosanitize, MDNode::get(m_.getContext(), {}));
  return b.CreateICmpNE(load, b.getInt32(0));
}

Instruction* insertionPointAfter(Instruction& i) {
  auto* invoke = dyn_cast<InvokeInst>(&i);
  if (invoke == nullptr) return i.getNextNode();
  BasicBlock* normal = invoke->getNormalDest();
  if (normal->getSinglePredecessor() == nullptr) normal = SplitEdge(invoke->getParent(), normal);
  return &*normal->getFirstInsertionPt();
}

}  // namespace blackout
