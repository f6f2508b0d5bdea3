#include "infer/bind_calls.h"

#include <vector>

#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/SCCIterator.h"
#include "llvm/ADT/SmallPtrSet.h"
#include "llvm/Analysis/CallGraph.h"
#include "llvm/Analysis/InlineCost.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/Operator.h"
#include "llvm/Transforms/Utils/Cloning.h"

using namespace llvm;

namespace blackout {

namespace {

constexpr std::size_t kLargest = 200;  // instructions of a function that is inlined
constexpr std::size_t kLargestCaller = 1500;
constexpr std::size_t kGrowth = 3;  // of the program as a whole

std::size_t sizeOf(const Function& f) { return f.getInstructionCount(); }

bool ofArgument(const Value* v, SmallPtrSetImpl<const Value*>& seen) {
  if (isa<Argument>(v)) return true;
  const auto* i = dyn_cast<Instruction>(v);
  if (i == nullptr || seen.size() > 32 || !seen.insert(i).second) return false;
  if (!isa<CastInst, BinaryOperator, PHINode, SelectInst, FreezeInst>(i)) return false;
  for (const Value* operand : i->operands())
    if (ofArgument(operand, seen)) return true;
  return false;
}

// Whether an array is reached by an argument: its index, or its beginning.
bool depends(const Function& f) {
  for (const Instruction& i : instructions(f)) {
    const auto* gep = dyn_cast<GetElementPtrInst>(&i);
    if (gep == nullptr || gep->hasAllConstantIndices()) continue;
    SmallPtrSet<const Value*, 16> seen;
    if (isa<Argument>(gep->getPointerOperand()->stripInBoundsConstantOffsets()) &&
        !gep->getSourceElementType()->isArrayTy())
      return true;
    for (const Value* index : gep->indices())
      if (ofArgument(index, seen)) return true;
  }
  return false;
}

bool mayInline(const Function& callee, const CallBase& call) {
  const Function& caller = *call.getFunction();
  if (callee.isDeclaration() || callee.isVarArg() || callee.isPresplitCoroutine() || &callee == &caller) return false;
  if (call.isMustTailCall() || callee.hasFnAttribute(Attribute::Naked) || caller.hasFnAttribute(Attribute::Naked))
    return false;
  if (callee.getSubprogram() != nullptr && (!call.getDebugLoc() || caller.getSubprogram() == nullptr)) return false;
  if (callee.hasPersonalityFn() && caller.hasPersonalityFn() &&
      callee.getPersonalityFn()->stripPointerCasts() != caller.getPersonalityFn()->stripPointerCasts())
    return false;
  return true;
}

}  // namespace

void bindCalls(Module& m) {
  std::vector<std::vector<Function*>> order;
  std::size_t all = 0;
  {
    CallGraph graph(m);
    for (auto scc = scc_begin(&graph); !scc.isAtEnd(); ++scc) {
      order.emplace_back();
      for (CallGraphNode* n : *scc)
        if (Function* f = n->getFunction(); f != nullptr && !f->isDeclaration()) {
          order.back().push_back(f);
          all += sizeOf(*f);
        }
    }
  }
  const std::size_t most = all * kGrowth;
  DenseMap<const Function*, bool> wanted;
  std::vector<Function*> inlined;
  for (const std::vector<Function*>& scc : order)
    for (Function* f : scc) {
      std::vector<CallBase*> calls;
      for (Instruction& i : instructions(*f))
        if (auto* call = dyn_cast<CallBase>(&i)) calls.push_back(call);
      std::size_t size = sizeOf(*f);
      for (CallBase* call : calls) {
        Function* callee = call->getCalledFunction();
        if (callee == nullptr || is_contained(scc, callee) || !mayInline(*callee, *call)) continue;
        auto known = wanted.find(callee);
        if (known == wanted.end() || !known->second) continue;
        std::size_t grows = sizeOf(*callee);
        if (size + grows > kLargestCaller || all + grows > most) continue;
        InlineFunctionInfo info;
        if (!InlineFunction(*call, info, false, nullptr, false).isSuccess()) continue;
        size += grows;
        all += grows;
        inlined.push_back(callee);
      }
      // A function that calls itself stays what it is.
      wanted[f] = scc.size() == 1 && sizeOf(*f) <= kLargest && depends(*f) && isInlineViable(*f).isSuccess();
    }
  // What all of its callers have is looked at there.
  for (Function* f : inlined)
    if (!f->isDeclaration() && f->use_empty()) f->deleteBody();
}

}  // namespace blackout
