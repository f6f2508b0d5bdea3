#include "pass/expand.h"

#include "events/access_wrapper.h"
#include "llvm/ADT/SCCIterator.h"
#include "llvm/Analysis/CallGraph.h"
#include "llvm/Analysis/InlineCost.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/PassManager.h"
#include "llvm/Passes/PassBuilder.h"
#include "llvm/Transforms/IPO/GlobalDCE.h"
#include "llvm/Transforms/Scalar/SROA.h"
#include "llvm/Transforms/Utils/Cloning.h"
#include "pass/markers.h"

using namespace llvm;

namespace blackout {

namespace {

// In instructions, after promotion of local variables. Small functions are what field accessors and flush functions
// are; beyond that the analysis follows calls by itself.
constexpr std::size_t kSmall = 60;
constexpr std::size_t kCalledOnce = 300;
constexpr std::size_t kLargest = 10000;

std::size_t sizeOf(const Function& f) {
  std::size_t n = 0;
  for (const Instruction& i : instructions(f)) n += !isMarker(i) && !isa<AllocaInst>(i);
  return n;
}

class Expander {
 public:
  explicit Expander(Module& m) : m_(m) {
    PassBuilder builder;
    builder.registerModuleAnalyses(modules_);
    builder.registerCGSCCAnalyses(sccs_);
    builder.registerFunctionAnalyses(functions_);
    builder.registerLoopAnalyses(loops_);
    builder.crossRegisterProxies(loops_, functions_, sccs_, modules_);
  }

  void run() {
    // Callees first, in the order that the call graph had at the beginning.
    std::vector<std::vector<Function*>> order;
    {
      CallGraph graph(m_);
      for (auto scc = scc_begin(&graph); !scc.isAtEnd(); ++scc) {
        order.emplace_back();
        for (CallGraphNode* n : *scc)
          if (Function* f = n->getFunction(); f != nullptr && !f->isDeclaration()) order.back().push_back(f);
      }
    }
    for (const std::vector<Function*>& scc : order) {
      for (Function* f : scc) promote(*f);
      for (Function* f : scc) {
        if (inlineInto(*f, scc)) promote(*f);
        sizes_[f] = sizeOf(*f);
      }
    }
    GlobalDCEPass().run(m_, modules_);
  }

 private:
  void promote(Function& f) {
    do {
      functions_.invalidate(f, PreservedAnalyses::none());
      SROAPass(SROAOptions::PreserveCFG).run(f, functions_);
    } while (removeMarkersOfLocals(f));
    functions_.clear(f, f.getName());
  }

  bool inlineInto(Function& f, const std::vector<Function*>& scc) {
    if (f.hasFnAttribute(Attribute::Naked)) return false;
    std::vector<CallBase*> calls;
    for (Instruction& i : instructions(f))
      if (auto* call = dyn_cast<CallBase>(&i)) calls.push_back(call);
    std::size_t size = sizeOf(f);
    bool any = false;
    for (CallBase* call : calls) {
      Function* callee = call->getCalledFunction();
      if (callee == nullptr || is_contained(scc, callee) || !wanted(*callee, *call, size)) continue;
      InlineFunctionInfo info;
      std::size_t grows = sizes_[callee];
      if (!InlineFunction(*call, info, false, nullptr, false).isSuccess()) continue;
      size += grows;
      any = true;
    }
    return any;
  }

  bool wanted(Function& callee, const CallBase& call, std::size_t callerSize) {
    if (callee.isDeclaration() || callee.isInterposable() || callee.isVarArg() || callee.isPresplitCoroutine() ||
        callee.hasFnAttribute(Attribute::Naked))
      return false;
    if (call.isMustTailCall() || call.isNoInline()) return false;
    // What is inlined would have no place, or a place in a function that isn't there.
    if (callee.getSubprogram() != nullptr && (!call.getDebugLoc() || call.getFunction()->getSubprogram() == nullptr))
      return false;
    if (call.getFunction()->hasPersonalityFn() && callee.hasPersonalityFn() &&
        call.getFunction()->getPersonalityFn()->stripPointerCasts() != callee.getPersonalityFn()->stripPointerCasts())
      return false;
    if (viable_.try_emplace(&callee, false).second) viable_[&callee] = isInlineViable(callee).isSuccess();
    if (!viable_[&callee]) return false;
    std::size_t size = sizes_[&callee];
    if (callee.hasFnAttribute(Attribute::AlwaysInline) || isAccessWrapper(std::string_view(callee.getName())))
      return true;
    if (callerSize + size > kLargest) return false;
    return size <= kSmall || (callee.hasLocalLinkage() && callee.hasOneUse() && size <= kCalledOnce);
  }

  Module& m_;
  LoopAnalysisManager loops_;
  FunctionAnalysisManager functions_;
  CGSCCAnalysisManager sccs_;
  ModuleAnalysisManager modules_;
  DenseMap<const Function*, std::size_t> sizes_;
  DenseMap<const Function*, bool> viable_;
};

}  // namespace

void expand(Module& m) { Expander(m).run(); }

}  // namespace blackout
