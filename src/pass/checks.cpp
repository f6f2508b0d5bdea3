#include "pass/checks.h"

#include "llvm/IR/Constants.h"
#include "llvm/IR/GlobalVariable.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InlineAsm.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/Operator.h"

using namespace llvm;

namespace blackout {

bool mayMapMemory(const Instruction& i) {
  const auto* call = dyn_cast<CallBase>(&i);
  if (call == nullptr || isa<IntrinsicInst>(call)) return false;
  // A client request may register memory (ir/assembly.cpp knows all of its text); other assembly can't.
  if (const auto* assembly = dyn_cast<InlineAsm>(call->getCalledOperand()))
    return StringRef(assembly->getAsmString()).contains("xchgq %rbx,%rbx");
  return !call->onlyReadsMemory();
}

Checks::Checks(Function& f, GlobalVariable* module) : module_(module), dominators_(f), loops_(dominators_) {}

bool Checks::mayChangeWindow(const Loop* loop) {
  auto [it, fresh] = loopChanges_.try_emplace(loop, false);
  if (fresh) {
    bool changes = false;
    for (const BasicBlock* b : loop->blocks())
      for (const Instruction& i : *b) changes |= mayMapMemory(i);
    it->second = changes;
  }
  return it->second;
}

// The pointer that decides: through offsets that stay inside one object.
static Value* decidingPointer(Value* pointer) {
  Value* p = pointer;
  while (auto* gep = dyn_cast<GEPOperator>(p)) {
    if (!gep->isInBounds()) break;
    p = gep->getPointerOperand();
  }
  return isa<Constant>(p) && !isa<GlobalVariable>(p) ? pointer : p;
}

Value* Checks::emit(Value* base, Window window, Instruction* before) {
  IRBuilder<> b(before);
  b.SetCurrentDebugLocation({});
  Type* i64 = b.getInt64Ty();
  // The fields of blackout_module: stores.base, stores.size, loads.base, loads.size.
  unsigned field = window == Window::Stores ? 0 : 2;
  auto read = [&](unsigned index) {
    Value* at = b.CreateConstInBoundsGEP1_64(i64, module_, index);
    LoadInst* load = b.CreateLoad(i64, at);
    load->setMetadata(LLVMContext::MD_nosanitize, MDNode::get(b.getContext(), {}));
    return load;
  };
  // At most, not less than, the size: the pointer that decides may stand at the end of an object that is
  // accessed below it (*--end). A hook that is called for nothing does no harm.
  Value* distance = b.CreateSub(b.CreatePtrToInt(base, i64), read(field));
  return b.CreateICmpULE(distance, read(field + 1), "blackout.pm");
}

Value* Checks::inWindow(Value* pointer, Window window, Instruction* access) {
  Value* base = decidingPointer(pointer);
  int w = static_cast<int>(window);

  // Out of every loop in which neither the pointer nor the window can change.
  BasicBlock* target = nullptr;
  for (Loop* loop = loops_.getLoopFor(access->getParent()); loop != nullptr; loop = loop->getParentLoop()) {
    BasicBlock* preheader = loop->getLoopPreheader();
    if (preheader == nullptr || !loop->isLoopInvariant(base) || mayChangeWindow(loop)) break;
    target = preheader;
  }
  if (target != nullptr) {
    Value*& known = hoisted_[{{base, w}, target}];
    if (known == nullptr) known = emit(base, window, target->getTerminator());
    return known;
  }

  if (access->getParent() != block_) {
    block_ = access->getParent();
    scanned_ = nullptr;
    inBlock_.clear();
  }
  // Forget the answers at every call between the last access and this one.
  Instruction* at = scanned_ == nullptr ? &block_->front() : scanned_;
  for (; at != access; at = at->getNextNode())
    if (mayMapMemory(*at)) inBlock_.clear();
  scanned_ = access;
  Value*& known = inBlock_[{base, w}];
  if (known == nullptr) known = emit(base, window, access);
  return known;
}

}  // namespace blackout
