#include "pass/canonical.h"

#include "llvm/ADT/DenseSet.h"
#include "llvm/IR/CFG.h"
#include "llvm/IR/Constants.h"
#include "llvm/IR/DebugInfo.h"
#include "llvm/IR/DebugInfoMetadata.h"
#include "llvm/IR/DebugProgramInstruction.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/Transforms/Utils/BasicBlockUtils.h"

using namespace llvm;

namespace blackout {

namespace {

void dropAttributes(Function& f) {
  for (Attribute::AttrKind a : {Attribute::OptimizeNone, Attribute::NoInline, Attribute::InlineHint,
                                Attribute::OptimizeForSize, Attribute::MinSize, Attribute::Cold, Attribute::Hot})
    f.removeFnAttr(a);
  // Sanitizers come later in the pipeline, and not into this copy.
  for (Attribute::AttrKind a : {Attribute::SanitizeAddress, Attribute::SanitizeThread, Attribute::SanitizeMemory,
                                Attribute::SanitizeHWAddress, Attribute::SanitizeMemTag})
    f.removeFnAttr(a);
}

// Hints to the optimiser, and hints that are values: llvm.expect's is its first argument.
bool removeHint(Instruction& i) {
  auto* hint = dyn_cast<IntrinsicInst>(&i);
  if (hint == nullptr) return false;
  switch (hint->getIntrinsicID()) {
    case Intrinsic::expect:
    case Intrinsic::expect_with_probability:
      hint->replaceAllUsesWith(hint->getArgOperand(0));
      break;
    case Intrinsic::lifetime_start:
    case Intrinsic::lifetime_end:
    case Intrinsic::assume:
    case Intrinsic::experimental_noalias_scope_decl:
    case Intrinsic::invariant_end:
      break;
    case Intrinsic::invariant_start:
      if (!hint->use_empty()) return false;
      break;
    default:
      return false;
  }
  hint->eraseFromParent();
  return true;
}

// An optimising front end says of each assignment which variable it is to (dbg.assign); others declare where the
// variable stands, which is all that is needed here.
void declareVariables(Function& f) {
  SmallVector<DbgVariableRecord*, 16> assigns;
  for (Instruction& i : instructions(f))
    for (DbgVariableRecord& r : filterDbgVars(i.getDbgRecordRange()))
      if (r.isDbgAssign()) assigns.push_back(&r);
  SmallDenseSet<std::pair<Value*, DILocalVariable*>, 16> declared;
  for (DbgVariableRecord* r : assigns) {
    auto* storage = dyn_cast_or_null<AllocaInst>(r->getAddress());
    bool whole = r->getExpression()->getNumElements() == 0 && r->getAddressExpression()->getNumElements() == 0;
    if (storage != nullptr && whole && declared.insert({storage, r->getVariable()}).second)
      r->getParent()->insertDbgRecordBefore(
          DbgVariableRecord::createDVRDeclare(storage, r->getVariable(), r->getExpression(), r->getDebugLoc()),
          const_cast<Instruction*>(r->getInstruction())->getIterator());
  }
  for (DbgVariableRecord* r : assigns) r->eraseFromParent();
}

// Where a scope ends, an optimising front end ends the lifetimes of its variables. All ways out of the scope meet
// there, with a number in a variable of the front end's that says where each goes on. Without the lifetimes nothing is
// done there, and each goes on by itself, as in code that has none.
class ScopeEnds {
 public:
  explicit ScopeEnds(Function& f) : f_(f) {}

  void run() {
    for (bool changed = true; changed;) {
      changed = false;
      for (BasicBlock& b : f_) changed |= passBy(b);
    }
    EliminateUnreachableBlocks(f_);
  }

 private:
  // The variable if the block does nothing but choose by it.
  AllocaInst* chooses(const BasicBlock& b) {
    const auto* choice = dyn_cast<SwitchInst>(b.getTerminator());
    if (choice == nullptr || b.isEntryBlock() || b.sizeWithoutDebug() != 2) return nullptr;
    return chosenBy(*choice);
  }

  AllocaInst* chosenBy(const SwitchInst& choice) {
    const auto* load = dyn_cast<LoadInst>(choice.getCondition());
    if (load == nullptr || load->getParent() != choice.getParent()) return nullptr;
    auto* slot = dyn_cast<AllocaInst>(const_cast<Value*>(load->getPointerOperand()));
    if (slot == nullptr || !slot->getAllocatedType()->isIntegerTy(32) || !findDVRDeclares(slot).empty()) return nullptr;
    for (const User* u : slot->users()) {
      const auto* store = dyn_cast<StoreInst>(u);
      if (!(isa<LoadInst>(u) || (store != nullptr && store->getPointerOperand() == slot))) return nullptr;
    }
    return slot;
  }

  // Where the block's choice leads for a number; null if that has to be told apart from elsewhere.
  static BasicBlock* destination(BasicBlock& b, ConstantInt* number) {
    BasicBlock* to = cast<SwitchInst>(b.getTerminator())->findCaseValue(number)->getCaseSuccessor();
    return to->phis().empty() ? to : nullptr;
  }

  bool passBy(BasicBlock& b) {
    auto* jump = dyn_cast<BranchInst>(b.getTerminator());
    if (jump != nullptr && jump->isUnconditional()) {
      BasicBlock* end = jump->getSuccessor(0);
      AllocaInst* slot = chooses(*end);
      if (slot == nullptr || end == &b) return false;
      for (Instruction& i : reverse(b)) {
        auto* store = dyn_cast<StoreInst>(&i);
        if (store == nullptr || store->getPointerOperand() != slot) continue;
        auto* number = dyn_cast<ConstantInt>(store->getValueOperand());
        BasicBlock* to = number == nullptr ? nullptr : destination(*end, number);
        if (to == nullptr || to == end) return false;
        jump->setSuccessor(0, to);
        return true;
      }
      return false;
    }
    // After a destructor there is a choice of its own: both become one.
    auto* first = dyn_cast<SwitchInst>(b.getTerminator());
    if (first == nullptr) return false;
    BasicBlock* end = first->getDefaultDest();
    AllocaInst* slot = chooses(*end);
    if (slot == nullptr || end == &b || chosenBy(*first) != slot) return false;
    auto* second = cast<SwitchInst>(end->getTerminator());
    for (BasicBlock* to : successors(end))
      if (!to->phis().empty() || to == end) return false;
    for (auto& one : second->cases())
      if (first->findCaseValue(one.getCaseValue()) == first->case_default())
        first->addCase(one.getCaseValue(), one.getCaseSuccessor());
    first->setDefaultDest(second->getDefaultDest());
    return true;
  }

  Function& f_;
};

bool isDestructor(const Function& f) { return f.getName().ends_with("D2Ev") || f.getName().ends_with("D1Ev"); }

// The base's destructor if a destructor does nothing but call it: an optimising front end calls that one instead.
Function* onlyCalls(const Function& f) {
  if (f.isDeclaration() || f.size() != 1 || f.arg_size() != 1 || !isDestructor(f)) return nullptr;
  const Value* self = nullptr;
  Function* base = nullptr;
  for (const Instruction& i : f.getEntryBlock()) {
    if (isa<AllocaInst, ReturnInst, DbgInfoIntrinsic>(i)) continue;
    if (const auto* store = dyn_cast<StoreInst>(&i); store != nullptr && store->getValueOperand() == f.getArg(0))
      continue;
    if (isa<LoadInst>(i) && self == nullptr) {
      self = &i;
      continue;
    }
    const auto* call = dyn_cast<CallInst>(&i);
    if (call == nullptr || base != nullptr || call->arg_size() != 1 || call->getArgOperand(0) != self) return nullptr;
    base = call->getCalledFunction();
    if (base == nullptr || !isDestructor(*base)) return nullptr;
  }
  return base;
}

// Calls by another name for a function: what an optimising front end leaves of constructors and destructors that are
// the same.
void callDirectly(Module& m) {
  auto redirect = [](Value& from, Function& to) {
    from.replaceUsesWithIf(&to, [&](Use& u) {
      auto* call = dyn_cast<CallBase>(u.getUser());
      return call != nullptr && call->isCallee(&u) && call->getFunctionType() == to.getFunctionType() &&
             call->getFunction() != &to;
    });
  };
  for (GlobalAlias& a : m.aliases())
    if (auto* f = dyn_cast_or_null<Function>(a.getAliaseeObject()); f != nullptr && !a.isInterposable())
      redirect(a, *f);
  for (Function& f : m)
    if (Function* base = onlyCalls(f)) {
      if (f.isDiscardableIfUnused())
        f.replaceAllUsesWith(base);  // in tables of virtual functions, too
      else
        redirect(f, *base);
    }
}

void dropFlag(Module& m, StringRef name) {
  NamedMDNode* flags = m.getModuleFlagsMetadata();
  if (flags == nullptr) return;
  SmallVector<MDNode*, 16> kept;
  for (MDNode* flag : flags->operands())
    if (const auto* key = dyn_cast_or_null<MDString>(flag->getOperand(1)); key == nullptr || key->getString() != name)
      kept.push_back(flag);
  flags->clearOperands();
  for (MDNode* flag : kept) flags->addOperand(flag);
}

}  // namespace

void makeCanonical(Module& m) {
  m.setIsNewDbgInfoFormat(true);
  dropFlag(m, "debug-info-assignment-tracking");
  for (Function& f : m) {
    dropAttributes(f);
    // Bodies that only an optimising front end emits, and the debug information of declarations.
    if (f.hasAvailableExternallyLinkage()) {
      f.deleteBody();
      f.setComdat(nullptr);
    }
    if (f.isDeclaration()) {
      f.setSubprogram(nullptr);
      continue;
    }
    declareVariables(f);
    for (Instruction& i : make_early_inc_range(instructions(f))) {
      if (removeHint(i)) continue;
      i.dropUnknownNonDebugMetadata({LLVMContext::MD_nontemporal});
    }
    ScopeEnds(f).run();
  }
  callDirectly(m);
  for (GlobalVariable& g : m.globals())
    if (g.hasAvailableExternallyLinkage()) {
      g.setInitializer(nullptr);
      g.setComdat(nullptr);
      g.setLinkage(GlobalValue::ExternalLinkage);
    }
}

}  // namespace blackout
