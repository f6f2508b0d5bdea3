#include "pass/calls.h"

#include <optional>

#include "llvm/ADT/StringSwitch.h"
#include "llvm/IR/Instructions.h"

using namespace llvm;

namespace blackout {

namespace {

// Nothing but the return may follow it.
bool mustTail(const CallBase& c) { return isa<CallInst>(c) && cast<CallInst>(c).isMustTailCall(); }

}  // namespace

void Calls::plan(CallBase& c, Plan& work) {
  if (isa<CallBrInst>(c)) return;
  Function* callee = c.getCalledFunction();
  StringRef name = callee == nullptr ? StringRef() : callee->getName();
  if (name.starts_with("__blackout_")) return;
  if (auto libc = libcFunction(c)) {
    bool read = classOf(libc->kind) == SiteClass::Read;
    if (!read || options_.loads) work.push_back([this, &c, libc] { redirect(c, libc->hook, libc->kind); });
    return;
  }
  if (options_.locks) planLock(c, name, work);
  if (options_.allocations) planAllocation(c, name, work);
  if (options_.calls)
    work.push_back([this, &c] {
      IRBuilder<> b(&c);
      hooks_.call(b, "__blackout_call", hooks_.voidTy,
                  {c.getCalledOperand(), sites_.row(c, BLACKOUT_SITE_Call, 0, false)}, Hooks::Registers::AsInC);
    });
}

void Calls::redirect(CallBase& c, StringRef hook, blackout_site_kind kind) {
  IRBuilder<> b(&c);
  SmallVector<Value*, 8> args{sites_.row(c, kind, 0, false)};
  SmallVector<Type*, 8> types{hooks_.ptr};
  FunctionType* old = c.getFunctionType();
  types.append(old->param_begin(), old->param_end());
  args.append(c.arg_begin(), c.arg_end());
  FunctionCallee to =
      c.getModule()->getOrInsertFunction(hook, FunctionType::get(old->getReturnType(), types, old->isVarArg()));
  CallBase* made = nullptr;
  if (auto* invoke = dyn_cast<InvokeInst>(&c))
    made = b.CreateInvoke(to, invoke->getNormalDest(), invoke->getUnwindDest(), args);
  else
    made = b.CreateCall(to, args);
  made->setDebugLoc(c.getDebugLoc());
  made->takeName(&c);
  c.replaceAllUsesWith(made);
  c.eraseFromParent();
}

void Calls::planLock(CallBase& c, StringRef name, Plan& work) {
  bool lock =
      StringSwitch<bool>(name)
          .Cases("pthread_mutex_lock", "pthread_spin_lock", "pthread_rwlock_rdlock", "pthread_rwlock_wrlock", true)
          .Cases("mtx_lock", "sem_wait", true)
          .Default(false);
  // These take the lock if they return 0.
  bool tries = StringSwitch<bool>(name)
                   .Cases("pthread_mutex_trylock", "pthread_mutex_timedlock", "pthread_spin_trylock", true)
                   .Cases("pthread_rwlock_tryrdlock", "pthread_rwlock_trywrlock", true)
                   .Cases("mtx_trylock", "sem_trywait", "sem_timedwait", true)
                   .Default(false);
  bool unlock = StringSwitch<bool>(name)
                    .Cases("pthread_mutex_unlock", "pthread_spin_unlock", "pthread_rwlock_unlock", true)
                    .Cases("mtx_unlock", "sem_post", true)
                    .Default(false);
  if ((!lock && !unlock && !tries) || c.arg_size() == 0 || (tries && !c.getType()->isIntegerTy())) return;
  work.push_back([this, &c, unlock, tries] {
    GlobalVariable* site = sites_.row(c, unlock ? BLACKOUT_SITE_Unlock : BLACKOUT_SITE_Lock, 0, false);
    auto event = [&](IRBuilder<>& b) {
      hooks_.call(b, unlock ? "__blackout_unlock" : "__blackout_lock", hooks_.voidTy, {c.getArgOperand(0), site},
                  Hooks::Registers::AsInC);
    };
    // A musttail call can have nothing after it: make it an ordinary one.
    if (!unlock && mustTail(c)) cast<CallInst>(c).setTailCallKind(CallInst::TCK_None);
    IRBuilder<> b(unlock ? &c : insertionPointAfter(c));
    b.SetCurrentDebugLocation(c.getDebugLoc());
    if (!tries) return event(b);
    Value* taken = b.CreateICmpEQ(&c, Constant::getNullValue(c.getType()));
    hooks_.insertIf(taken, *b.GetInsertPoint(), c.getDebugLoc(), event);
  });
}

void Calls::planAllocation(CallBase& c, StringRef name, Plan& work) {
  // The number of the argument that is the size; 10: the product of the first two.
  int sizeArgument =
      StringSwitch<int>(name)
          .Cases("malloc", "valloc", "_Znwm", "_Znam", 0)
          .Cases("_ZnwmSt11align_val_t", "_ZnamSt11align_val_t", "_ZnwmRKSt9nothrow_t", "_ZnamRKSt9nothrow_t", 0)
          .Cases("_ZnwmSt11align_val_tRKSt9nothrow_t", "_ZnamSt11align_val_tRKSt9nothrow_t", 0)
          .Cases("aligned_alloc", "memalign", "realloc", 1)
          .Case("calloc", 10)
          .Default(-1);
  bool release = StringSwitch<bool>(name)
                     .Cases("free", "_ZdlPv", "_ZdaPv", "_ZdlPvm", "_ZdaPvm", true)
                     .Cases("_ZdlPvSt11align_val_t", "_ZdaPvSt11align_val_t", "_ZdlPvmSt11align_val_t", true)
                     .Cases("_ZdaPvmSt11align_val_t", "_ZdlPvRKSt9nothrow_t", "_ZdaPvRKSt9nothrow_t", true)
                     .Default(false);
  if (sizeArgument >= 0 && c.getType()->isPointerTy()) {
    work.push_back([this, &c, sizeArgument] {
      if (mustTail(c)) cast<CallInst>(c).setTailCallKind(CallInst::TCK_None);
      IRBuilder<> b(insertionPointAfter(c));
      b.SetCurrentDebugLocation(c.getDebugLoc());
      Value* size = sizeArgument == 10 ? b.CreateMul(c.getArgOperand(0), c.getArgOperand(1))
                                       : c.getArgOperand(static_cast<unsigned>(sizeArgument));
      hooks_.call(b, "__blackout_alloc", hooks_.voidTy, {&c, size, sites_.row(c, BLACKOUT_SITE_Alloc, 0, false)},
                  Hooks::Registers::AsInC);
    });
  } else if (release && c.arg_size() > 0) {
    work.push_back([this, &c] {
      IRBuilder<> b(&c);
      hooks_.call(b, "__blackout_free", hooks_.voidTy,
                  {c.getArgOperand(0), sites_.row(c, BLACKOUT_SITE_Free, 0, false)}, Hooks::Registers::AsInC);
    });
  }
}

}  // namespace blackout
