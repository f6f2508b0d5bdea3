#include "pass/instrument.h"

#include <optional>
#include <vector>

#include "llvm/ADT/StringSwitch.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InlineAsm.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/IntrinsicsX86.h"
#include "llvm/IR/MDBuilder.h"
#include "llvm/Transforms/Utils/BasicBlockUtils.h"
#include "llvm/Transforms/Utils/ModuleUtils.h"
#include "pass/assembly.h"
#include "pass/checks.h"
#include "pass/sites.h"

using namespace llvm;

namespace blackout {

namespace {

struct LibcFunction {
  const char* hook;
  blackout_site_kind kind;
};

std::optional<LibcFunction> libcFunction(StringRef name) {
#define BLACKOUT_LIBC(function, hook, Kind) \
  if (name == function) return LibcFunction{hook, BLACKOUT_SITE_##Kind};
#include "pass/libc_functions.def"
#undef BLACKOUT_LIBC
  return std::nullopt;
}

// The flush or fence that an intrinsic is.
std::optional<blackout_site_kind> persistIntrinsic(Intrinsic::ID id) {
  switch (id) {
    case Intrinsic::x86_sse2_clflush: return BLACKOUT_SITE_Clflush;
    case Intrinsic::x86_clflushopt: return BLACKOUT_SITE_Clflushopt;
    case Intrinsic::x86_clwb: return BLACKOUT_SITE_Clwb;
    case Intrinsic::x86_sse_sfence: return BLACKOUT_SITE_Sfence;
    case Intrinsic::x86_sse2_mfence: return BLACKOUT_SITE_Mfence;
    case Intrinsic::x86_sse2_lfence: return BLACKOUT_SITE_Lfence;
    default: return std::nullopt;
  }
}

bool isFlush(blackout_site_kind k) { return classOf(k) == SiteClass::Flush; }
bool isFence(blackout_site_kind k) { return classOf(k) == SiteClass::Fence; }

// A store that x86 makes with xchg: a locked instruction.
bool isLockedStore(const StoreInst& s) { return s.getOrdering() == AtomicOrdering::SequentiallyConsistent; }

class Instrumenter {
 public:
  Instrumenter(Module& m, const Originals& originals, InstrumentOptions options)
      : m_(m), dl_(m.getDataLayout()), options_(options), sites_(m, originals) {
    LLVMContext& c = m.getContext();
    voidTy_ = Type::getVoidTy(c);
    ptr_ = PointerType::getUnqual(c);
    i32_ = Type::getInt32Ty(c);
    i64_ = Type::getInt64Ty(c);
    unlikely_ = MDBuilder(c).createBranchWeights(1, 100000);
  }

  bool run() {
    std::vector<Function*> functions;
    for (Function& f : m_) {
      if (f.isDeclaration() || f.hasAvailableExternallyLinkage() || f.hasFnAttribute(Attribute::Naked) ||
          f.hasFnAttribute(Attribute::DisableSanitizerInstrumentation))
        continue;
      functions.push_back(&f);
      notePresent(f);
    }
    makeModuleRecord();
    for (Function* f : functions) instrument(*f);
    makeConstructor();
    return true;
  }

 private:
  // ---- what is instrumented ----

  void notePresent(Function& f) {
    for (Instruction& i : instructions(f)) {
      if (isa<LoadInst>(i)) sites_.present(i, SiteClass::Read);
      if (isa<StoreInst>(i) || isa<MemIntrinsic>(i)) sites_.present(i, SiteClass::Write);
      if (isa<AtomicRMWInst>(i) || isa<AtomicCmpXchgInst>(i)) sites_.present(i, SiteClass::Atomic);
    }
  }

  // Work on one instruction; the answers of the checks are made before the function is cut up. Operands
  // are read when the work is done: a load among them has a phi in its place by then.
  using Plan = std::vector<std::function<void()>>;

  void instrument(Function& f) {
    // Hooks do what these attributes exclude.
    for (Attribute::AttrKind a : {Attribute::Memory, Attribute::NoSync, Attribute::NoFree, Attribute::Speculatable})
      f.removeFnAttr(a);
    Checks checks(f, module_);
    Plan work;
    // Program order within each block; insertion of checks doesn't disturb the list.
    std::vector<Instruction*> list;
    for (BasicBlock& b : f)
      for (Instruction& i : b) list.push_back(&i);
    for (Instruction* i : list) plan(*i, checks, work);
    for (auto& w : work) w();
  }

  void plan(Instruction& i, Checks& checks, Plan& work) {
    if (auto* load = dyn_cast<LoadInst>(&i)) return planLoad(*load, checks, work);
    if (auto* store = dyn_cast<StoreInst>(&i)) return planStore(*store, checks, work);
    if (auto* rmw = dyn_cast<AtomicRMWInst>(&i))
      return planLocked(i, rmw->getPointerOperand(), rmw->getValOperand()->getType(), BLACKOUT_SITE_Rmw, checks, work);
    if (auto* cas = dyn_cast<AtomicCmpXchgInst>(&i))
      return planLocked(i, cas->getPointerOperand(), cas->getNewValOperand()->getType(), BLACKOUT_SITE_CmpXchg, checks,
                        work);
    if (auto* fence = dyn_cast<FenceInst>(&i)) {
      // Weaker fences and those of one thread are no instructions on x86.
      if (fence->getOrdering() == AtomicOrdering::SequentiallyConsistent && fence->getSyncScopeID() == SyncScope::System)
        work.push_back([this, &i] { insertFence(i, BLACKOUT_SITE_Mfence); });
      return;
    }
    if (auto* branch = dyn_cast<BranchInst>(&i); branch != nullptr && branch->isConditional() && options_.branches) {
      work.push_back([this, branch] {
        IRBuilder<> b(branch);
        call(b, "__blackout_branch", voidTy_,
             {b.CreateZExt(branch->getCondition(), i32_), row(*branch, BLACKOUT_SITE_Branch, 0)}, false);
      });
      return;
    }
    if (auto* intrinsic = dyn_cast<IntrinsicInst>(&i)) return planIntrinsic(*intrinsic, checks, work);
    if (auto* callInst = dyn_cast<CallInst>(&i)) {
      if (isa<InlineAsm>(callInst->getCalledOperand())) return planAssembly(*callInst, checks, work);
      return planCall(*callInst, work);
    }
  }

  void planLoad(LoadInst& load, Checks& checks, Plan& work) {
    Value* pointer = load.getPointerOperand();
    if (!options_.loads || cannotBePm(pointer)) return;
    Value* inPm = checks.inWindow(pointer, Window::Loads, &load);
    std::uint64_t size = dl_.getTypeStoreSize(load.getType());
    work.push_back([this, &load, inPm, size] {
      Value* pointer = load.getPointerOperand();
      GlobalVariable* site = row(load, BLACKOUT_SITE_Load, size, load.isAtomic(), pointer);
      if (IntegerType* word = asWord(load.getType())) {
        Instruction *then = nullptr, *otherwise = nullptr;
        SplitBlockAndInsertIfThenElse(inPm, load.getIterator(), &then, &otherwise, unlikely_);
        IRBuilder<> b(then);
        b.SetCurrentDebugLocation(load.getDebugLoc());
        Value* read = call(b, ("__blackout_load" + Twine(size)).str(), word, {pointer, site});
        read = fromWord(b, read, load.getType());
        BasicBlock* tail = load.getParent();
        load.moveBefore(otherwise);
        PHINode* phi = PHINode::Create(load.getType(), 2, "", tail->begin());
        load.replaceAllUsesWith(phi);
        phi->addIncoming(read, then->getParent());
        phi->addIncoming(&load, load.getParent());
        phi->setDebugLoc(load.getDebugLoc());
      } else {
        bracket(load, pointer, size, site, inPm);
      }
    });
  }

  void planStore(StoreInst& store, Checks& checks, Plan& work) {
    Value* pointer = store.getPointerOperand();
    Type* type = store.getValueOperand()->getType();
    std::uint64_t size = dl_.getTypeStoreSize(type);
    if (isLockedStore(store)) return planLocked(store, pointer, type, BLACKOUT_SITE_Rmw, checks, work);
    if (cannotBePm(pointer)) return;
    Value* inPm = checks.inWindow(pointer, Window::Stores, &store);
    bool nonTemporal = store.hasMetadata(LLVMContext::MD_nontemporal);
    work.push_back([this, &store, type, size, inPm, nonTemporal] {
      Value* pointer = store.getPointerOperand();
      GlobalVariable* site =
          row(store, nonTemporal ? BLACKOUT_SITE_StoreNt : BLACKOUT_SITE_Store, size, store.isAtomic(), pointer);
      if (IntegerType* word = asWord(type); word != nullptr && !nonTemporal) {
        Instruction *then = nullptr, *otherwise = nullptr;
        SplitBlockAndInsertIfThenElse(inPm, store.getIterator(), &then, &otherwise, unlikely_);
        IRBuilder<> b(then);
        b.SetCurrentDebugLocation(store.getDebugLoc());
        callStore(b, pointer, toWord(b, store.getValueOperand(), word), site);
        store.moveBefore(otherwise);
      } else {
        bracket(store, pointer, size, site, inPm);
      }
    });
  }

  // A locked instruction: a fence on any memory, an access if it is PM.
  void planLocked(Instruction& i, Value* pointer, Type* type, blackout_site_kind kind, Checks& checks, Plan& work) {
    std::uint64_t size = dl_.getTypeStoreSize(type);
    Value* inPm = cannotBePm(pointer) ? nullptr : checks.inWindow(pointer, Window::Stores, &i);
    work.push_back([this, &i, size, kind, inPm] {
      Value* pointer = const_cast<Value*>(getLoadStorePointerOperand(&i));
      if (auto* rmw = dyn_cast<AtomicRMWInst>(&i)) pointer = rmw->getPointerOperand();
      if (auto* cas = dyn_cast<AtomicCmpXchgInst>(&i)) pointer = cas->getPointerOperand();
      GlobalVariable* site = row(i, kind, size, true, pointer);
      bracketLocked(i, pointer, size, site, inPm);
    });
  }

  void planIntrinsic(IntrinsicInst& i, Checks& checks, Plan& work) {
    if (auto kind = persistIntrinsic(i.getIntrinsicID())) {
      work.push_back([this, &i, kind] {
        if (isFence(*kind)) return insertFence(i, *kind);
        insertFlush(i, *kind, i.getArgOperand(0));
      });
      return;
    }
    if (auto* memory = dyn_cast<MemIntrinsic>(&i)) return planMemory(*memory, checks, work);
    switch (i.getIntrinsicID()) {
      case Intrinsic::x86_directstore32:
      case Intrinsic::x86_directstore64:
      case Intrinsic::x86_movdir64b: {
        Value* pointer = i.getArgOperand(0);
        if (cannotBePm(pointer)) return;
        std::uint64_t size = i.getIntrinsicID() == Intrinsic::x86_movdir64b
                                 ? 64
                                 : dl_.getTypeStoreSize(i.getArgOperand(1)->getType()).getFixedValue();
        Value* inPm = checks.inWindow(pointer, Window::Stores, &i);
        work.push_back([this, &i, size, inPm] {
          Value* pointer = i.getArgOperand(0);
          bracket(i, pointer, size, row(i, BLACKOUT_SITE_StoreNt, size, false, pointer), inPm);
        });
        return;
      }
      case Intrinsic::masked_store:
        return planLanes(i, checks, work);
      case Intrinsic::masked_scatter:
        return planLanes(i, checks, work);
      case Intrinsic::masked_load: {
        Value* pointer = i.getArgOperand(0);
        if (!options_.loads || cannotBePm(pointer)) return;
        std::uint64_t size = dl_.getTypeStoreSize(i.getType());
        Value* inPm = checks.inWindow(pointer, Window::Loads, &i);
        work.push_back([this, &i, size, inPm] {
          Value* pointer = i.getArgOperand(0);
          bracket(i, pointer, size, row(i, BLACKOUT_SITE_Load, size, false, pointer), inPm);
        });
        return;
      }
      default:
        return;
    }
  }

  // memcpy, memmove and memset as intrinsics: the hook if either side is watched.
  void planMemory(MemIntrinsic& i, Checks& checks, Plan& work) {
    Value* to = i.getRawDest();
    Value* from = isa<MemTransferInst>(i) ? cast<MemTransferInst>(i).getRawSource() : nullptr;
    Value* writes = cannotBePm(to) ? nullptr : checks.inWindow(to, Window::Stores, &i);
    Value* reads = from == nullptr || !options_.loads || cannotBePm(from) ? nullptr
                                                                          : checks.inWindow(from, Window::Loads, &i);
    if (writes == nullptr && reads == nullptr) return;
    work.push_back([this, &i, writes, reads] {
      Value* to = i.getRawDest();
      Value* from = isa<MemTransferInst>(i) ? cast<MemTransferInst>(i).getRawSource() : nullptr;
      auto* length = dyn_cast<ConstantInt>(i.getLength());
      std::uint64_t size = length == nullptr ? 0 : length->getZExtValue();
      GlobalVariable* site = row(i, from != nullptr ? BLACKOUT_SITE_Copy : BLACKOUT_SITE_Fill, size, false, to);
      Value* watched = writes == nullptr ? reads : writes;
      if (writes != nullptr && reads != nullptr) watched = IRBuilder<>(&i).CreateOr(writes, reads);
      Instruction *then = nullptr, *otherwise = nullptr;
      SplitBlockAndInsertIfThenElse(watched, i.getIterator(), &then, &otherwise, unlikely_);
      IRBuilder<> b(then);
      b.SetCurrentDebugLocation(i.getDebugLoc());
      Value* n = b.CreateZExtOrTrunc(i.getLength(), i64_);
      if (auto* set = dyn_cast<MemSetInst>(&i)) {
        call(b, "__blackout_memset", ptr_, {site, to, b.CreateZExt(set->getValue(), i32_), n}, false);
      } else {
        bool move = i.getIntrinsicID() == Intrinsic::memmove;
        call(b, move ? "__blackout_memmove" : "__blackout_memcpy", ptr_, {site, to, from, n}, false);
      }
      i.moveBefore(otherwise);
    });
  }

  // A masked store or scatter: lane by lane if it may be PM.
  void planLanes(IntrinsicInst& i, Checks& checks, Plan& work) {
    Value* target = i.getArgOperand(1);
    bool scatter = i.getIntrinsicID() == Intrinsic::masked_scatter;
    auto* type = dyn_cast<FixedVectorType>(i.getArgOperand(0)->getType());
    if (type == nullptr || (!scatter && cannotBePm(target))) return;
    Value* inPm = scatter ? nullptr : checks.inWindow(target, Window::Stores, &i);
    work.push_back([this, &i, scatter, type, inPm] {
      Value* target = i.getArgOperand(1);
      std::uint64_t size = dl_.getTypeStoreSize(type->getElementType());
      GlobalVariable* site = row(i, BLACKOUT_SITE_Store, size, false, nullptr);
      Value* watched = inPm;
      if (watched == nullptr) watched = isRecording(IRBuilder<>(&i));
      Instruction *then = nullptr, *otherwise = nullptr;
      SplitBlockAndInsertIfThenElse(watched, i.getIterator(), &then, &otherwise, unlikely_);
      IRBuilder<> b(then);
      b.SetCurrentDebugLocation(i.getDebugLoc());
      for (unsigned lane = 0; lane < type->getNumElements(); ++lane) {
        Value* on = b.CreateExtractElement(i.getArgOperand(3), lane);
        Value* element = b.CreateExtractElement(i.getArgOperand(0), lane);
        Value* pointer = scatter ? b.CreateExtractElement(target, lane)
                                 : b.CreateConstInBoundsGEP1_64(type->getElementType(), target, lane);
        Instruction* lanePoint = SplitBlockAndInsertIfThen(on, b.GetInsertPoint(), false);
        IRBuilder<> l(lanePoint);
        l.SetCurrentDebugLocation(i.getDebugLoc());
        if (IntegerType* word = asWord(type->getElementType())) {
          callStore(l, pointer, toWord(l, element, word), site);
        } else {
          call(l, "__blackout_enter", voidTy_, {pointer, l.getInt64(size), site});
          l.CreateStore(element, pointer);
          call(l, "__blackout_leave", voidTy_, {pointer, l.getInt64(size), site, l.getInt32(1)});
        }
        b.SetInsertPoint(then);
        b.SetCurrentDebugLocation(i.getDebugLoc());
      }
      i.moveBefore(otherwise);
    });
  }

  void planAssembly(CallInst& assembly, Checks& checks, Plan& work) {
    AsmMeaning meaning = readAssembly(assembly);
    if (meaning.clientRequest) {
      work.push_back([this, &assembly] {
        // Operands of the request: the argument block in rax, the default answer in rdx.
        IRBuilder<> b(&assembly);
        GlobalVariable* site = row(assembly, BLACKOUT_SITE_Request, 0);
        Value* args = assembly.getArgOperand(0);
        if (!args->getType()->isPointerTy()) args = b.CreateIntToPtr(args, ptr_);
        Value* unanswered = b.CreateZExtOrTrunc(assembly.getArgOperand(1), i64_);
        Value* answer = call(b, "__blackout_request", i64_, {unanswered, args, site}, false);
        if (!assembly.getType()->isVoidTy()) assembly.replaceAllUsesWith(b.CreateZExtOrTrunc(answer, assembly.getType()));
        assembly.eraseFromParent();
      });
      return;
    }
    if (meaning.effects.empty()) return;
    // The accesses of one string are bracketed together; their events follow in its order.
    struct Step {
      AsmEffect effect;
      Value* inPm;
    };
    std::vector<Step> steps;
    for (const AsmEffect& e : meaning.effects) {
      Value* inPm = nullptr;
      bool access = !isFlush(e.kind) && !isFence(e.kind) && e.argument >= 0;
      if (access) {
        Value* pointer = assembly.getArgOperand(static_cast<unsigned>(e.argument));
        if (pointer->getType()->isPointerTy() && !cannotBePm(pointer))
          inPm = checks.inWindow(pointer, Window::Stores, &assembly);
      }
      steps.push_back({e, inPm});
    }
    work.push_back([this, &assembly, steps] {
      struct Done {
        AsmEffect effect;
        Value* inPm;
        Value* pointer;
        GlobalVariable* site;
      };
      std::vector<Done> done;
      for (const Step& s : steps) {
        IRBuilder<> b(&assembly);
        Value* pointer = nullptr;
        if (s.effect.argument >= 0) {
          pointer = assembly.getArgOperand(static_cast<unsigned>(s.effect.argument));
          if (!pointer->getType()->isPointerTy()) pointer = b.CreateIntToPtr(pointer, ptr_);
          if (s.effect.offset != 0)
            pointer = b.CreateGEP(b.getInt8Ty(), pointer, b.getInt64(static_cast<std::uint64_t>(s.effect.offset)));
        }
        GlobalVariable* site = row(assembly, s.effect.kind, s.effect.size, false, pointer);
        if (s.inPm != nullptr) insertIf(s.inPm, assembly, [&](IRBuilder<>& t) {
          call(t, "__blackout_enter", voidTy_, {pointer, t.getInt64(s.effect.size), site});
        });
        done.push_back({s.effect, s.inPm, pointer, site});
      }
      Instruction* after = assembly.getNextNode();
      for (const Done& d : done) {
        if (isFlush(d.effect.kind) || isFence(d.effect.kind)) {
          IRBuilder<> b(after);
          b.SetCurrentDebugLocation(assembly.getDebugLoc());
          if (isFlush(d.effect.kind)) call(b, "__blackout_flush", voidTy_, {d.pointer, d.site});
          else call(b, "__blackout_fence", voidTy_, {d.site});
          continue;
        }
        bool locked = d.effect.kind == BLACKOUT_SITE_Rmw;
        if (d.inPm != nullptr) {
          insertIf(d.inPm, *after, [&](IRBuilder<>& t) {
            call(t, "__blackout_leave", voidTy_, {d.pointer, t.getInt64(d.effect.size), d.site, t.getInt32(1)});
          });
        }
        if (locked) insertRmwFence(*after, d.pointer, d.site, d.inPm);
      }
    });
  }

  void planCall(CallInst& c, Plan& work) {
    Function* callee = c.getCalledFunction();
    StringRef name = callee == nullptr ? StringRef() : callee->getName();
    if (name.starts_with("__blackout_")) return;
    if (callee != nullptr && callee->isDeclaration()) {
      if (auto libc = libcFunction(name)) {
        bool read = classOf(libc->kind) == SiteClass::Read;
        if (!read || options_.loads) work.push_back([this, &c, libc] { redirect(c, *libc); });
        return;
      }
    }
    if (options_.locks) planLock(c, name, work);
    if (options_.allocations) planAllocation(c, name, work);
    if (options_.calls)
      work.push_back([this, &c] {
        IRBuilder<> b(&c);
        call(b, "__blackout_call", voidTy_, {c.getCalledOperand(), row(c, BLACKOUT_SITE_Call, 0)}, false);
      });
  }

  void planLock(CallInst& c, StringRef name, Plan& work) {
    bool lock = StringSwitch<bool>(name)
                    .Cases("pthread_mutex_lock", "pthread_spin_lock", "pthread_rwlock_rdlock", "pthread_rwlock_wrlock", true)
                    .Cases("mtx_lock", "sem_wait", true)
                    .Default(false);
    bool unlock = StringSwitch<bool>(name)
                      .Cases("pthread_mutex_unlock", "pthread_spin_unlock", "pthread_rwlock_unlock", true)
                      .Cases("mtx_unlock", "sem_post", true)
                      .Default(false);
    if ((!lock && !unlock) || c.arg_size() == 0) return;
    work.push_back([this, &c, lock] {
      IRBuilder<> b(lock ? c.getNextNode() : &c);
      b.SetCurrentDebugLocation(c.getDebugLoc());
      call(b, lock ? "__blackout_lock" : "__blackout_unlock", voidTy_,
           {c.getArgOperand(0), row(c, lock ? BLACKOUT_SITE_Lock : BLACKOUT_SITE_Unlock, 0)}, false);
    });
  }

  void planAllocation(CallInst& c, StringRef name, Plan& work) {
    int sizeArgument = StringSwitch<int>(name)
                           .Cases("malloc", "valloc", "_Znwm", "_Znam", 0)
                           .Cases("_ZnwmSt11align_val_t", "_ZnamSt11align_val_t", "_ZnwmRKSt9nothrow_t", "_ZnamRKSt9nothrow_t", 0)
                           .Cases("aligned_alloc", "memalign", "realloc", 1)
                           .Case("calloc", 2)
                           .Default(-1);
    bool release = StringSwitch<bool>(name)
                       .Cases("free", "_ZdlPv", "_ZdaPv", "_ZdlPvm", "_ZdaPvm", true)
                       .Cases("_ZdlPvSt11align_val_t", "_ZdaPvSt11align_val_t", "_ZdlPvmSt11align_val_t", true)
                       .Default(false);
    if (sizeArgument >= 0 && c.getType()->isPointerTy()) {
      work.push_back([this, &c, sizeArgument] {
        IRBuilder<> b(c.getNextNode());
        b.SetCurrentDebugLocation(c.getDebugLoc());
        Value* size = sizeArgument == 2 ? b.CreateMul(c.getArgOperand(0), c.getArgOperand(1))
                                        : c.getArgOperand(static_cast<unsigned>(sizeArgument));
        call(b, "__blackout_alloc", voidTy_, {&c, size, row(c, BLACKOUT_SITE_Alloc, 0)}, false);
      });
    } else if (release && c.arg_size() > 0) {
      work.push_back([this, &c] {
        IRBuilder<> b(&c);
        call(b, "__blackout_free", voidTy_, {c.getArgOperand(0), row(c, BLACKOUT_SITE_Free, 0)}, false);
      });
    }
  }

  // ---- the insertion ----

  // The integer of 1, 2, 4 or 8 bytes that holds a value of the type in memory; null if none does.
  IntegerType* asWord(Type* type) {
    std::uint64_t bytes = dl_.getTypeStoreSize(type);
    if (bytes != 1 && bytes != 2 && bytes != 4 && bytes != 8) return nullptr;
    bool odd = dl_.getTypeSizeInBits(type) != bytes * 8;
    if (odd && !type->isIntegerTy()) return nullptr;
    if (!type->isIntegerTy() && !type->isPointerTy() && !type->isFloatingPointTy() && !type->isVectorTy()) return nullptr;
    if (auto* v = dyn_cast<VectorType>(type); v != nullptr && v->getElementType()->isPointerTy()) return nullptr;
    return IntegerType::get(m_.getContext(), static_cast<unsigned>(bytes * 8));
  }
  Value* toWord(IRBuilder<>& b, Value* v, IntegerType* word) {
    if (v->getType()->isPointerTy()) return b.CreatePtrToInt(v, word);
    if (v->getType()->isIntegerTy()) return b.CreateZExt(v, word);
    return b.CreateBitCast(v, word);
  }
  Value* fromWord(IRBuilder<>& b, Value* v, Type* type) {
    if (type->isPointerTy()) return b.CreateIntToPtr(v, type);
    if (type->isIntegerTy()) return b.CreateTrunc(v, type);
    return b.CreateBitCast(v, type);
  }

  GlobalVariable* row(Instruction& i, blackout_site_kind kind, std::uint64_t size, bool atomic = false,
                      Value* pointer = nullptr) {
    return sites_.row(i, kind, size, atomic, pointer);
  }

  CallInst* call(IRBuilder<>& b, StringRef name, Type* result, ArrayRef<Value*> args, bool keepsRegisters = true) {
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
    if (keepsRegisters) {
      function->setCallingConv(CallingConv::PreserveMost);
      // Bound at start-up: the resolver of a lazy PLT entry does not keep r10.
      function->addFnAttr(Attribute::NonLazyBind);
      made->setCallingConv(CallingConv::PreserveMost);
    }
    return made;
  }

  void callStore(IRBuilder<>& b, Value* pointer, Value* word, GlobalVariable* site) {
    unsigned bytes = word->getType()->getIntegerBitWidth() / 8;
    call(b, ("__blackout_store" + Twine(bytes)).str(), voidTy_, {pointer, word, site});
  }

  template <class Body>
  void insertIf(Value* condition, Instruction& before, Body body) {
    Instruction* then = SplitBlockAndInsertIfThen(condition, before.getIterator(), false, unlikely_);
    IRBuilder<> b(then);
    b.SetCurrentDebugLocation(before.getDebugLoc());
    body(b);
  }

  void bracket(Instruction& i, Value* pointer, std::uint64_t size, GlobalVariable* site, Value* inPm) {
    insertIf(inPm, i, [&](IRBuilder<>& b) { call(b, "__blackout_enter", voidTy_, {pointer, b.getInt64(size), site}); });
    Instruction* after = i.getNextNode();
    insertIf(inPm, *after, [&](IRBuilder<>& b) {
      b.SetCurrentDebugLocation(i.getDebugLoc());
      call(b, "__blackout_leave", voidTy_, {pointer, b.getInt64(size), site, b.getInt32(1)});
    });
  }

  void bracketLocked(Instruction& i, Value* pointer, std::uint64_t size, GlobalVariable* site, Value* inPm) {
    Instruction* after = i.getNextNode();
    if (inPm != nullptr) {
      insertIf(inPm, i, [&](IRBuilder<>& b) { call(b, "__blackout_enter", voidTy_, {pointer, b.getInt64(size), site}); });
      insertIf(inPm, *after, [&](IRBuilder<>& b) {
        b.SetCurrentDebugLocation(i.getDebugLoc());
        Value* stored = b.getInt32(1);
        if (isa<AtomicCmpXchgInst>(i)) stored = b.CreateZExt(b.CreateExtractValue(&i, 1), i32_);
        call(b, "__blackout_leave", voidTy_, {pointer, b.getInt64(size), site, stored});
      });
    }
    insertRmwFence(*after, pointer, site, inPm);
  }

  // The fence of a locked instruction on other memory than PM.
  void insertRmwFence(Instruction& before, Value* pointer, GlobalVariable* site, Value* inPm) {
    IRBuilder<> b(&before);
    Value* wanted = isRecording(b);
    if (inPm != nullptr) wanted = b.CreateAnd(wanted, b.CreateNot(inPm));
    insertIf(wanted, before, [&](IRBuilder<>& t) {
      Value* address = pointer == nullptr ? ConstantPointerNull::get(ptr_) : pointer;
      call(t, "__blackout_rmw_fence", voidTy_, {address, site});
    });
  }

  Value* isRecording(IRBuilder<>&& b) { return isRecording(b); }
  Value* isRecording(IRBuilder<>& b) {
    Value* at = b.CreateConstInBoundsGEP1_64(i32_, module_, offsetof(blackout_module, recording) / 4);
    LoadInst* load = b.CreateLoad(i32_, at);
    load->setMetadata(LLVMContext::MD_nosanitize, MDNode::get(m_.getContext(), {}));
    return b.CreateICmpNE(load, b.getInt32(0));
  }

  void insertFlush(Instruction& i, blackout_site_kind kind, Value* pointer) {
    IRBuilder<> b(i.getNextNode());
    b.SetCurrentDebugLocation(i.getDebugLoc());
    call(b, "__blackout_flush", voidTy_, {pointer, row(i, kind, 0, false, pointer)});
  }
  void insertFence(Instruction& i, blackout_site_kind kind) {
    IRBuilder<> b(i.getNextNode());
    b.SetCurrentDebugLocation(i.getDebugLoc());
    call(b, "__blackout_fence", voidTy_, {row(i, kind, 0)});
  }

  void redirect(CallInst& c, const LibcFunction& libc) {
    IRBuilder<> b(&c);
    SmallVector<Value*, 8> args{row(c, libc.kind, 0)};
    SmallVector<Type*, 8> types{ptr_};
    FunctionType* old = c.getFunctionType();
    types.append(old->param_begin(), old->param_end());
    args.append(c.arg_begin(), c.arg_end());
    FunctionCallee hook =
        m_.getOrInsertFunction(libc.hook, FunctionType::get(old->getReturnType(), types, old->isVarArg()));
    CallInst* made = b.CreateCall(hook, args);
    made->setDebugLoc(c.getDebugLoc());
    made->takeName(&c);
    c.replaceAllUsesWith(made);
    c.eraseFromParent();
  }

  // ---- what the program file carries ----

  void makeModuleRecord() {
    LLVMContext& c = m_.getContext();
    auto* type = StructType::get(c, {i64_, i64_, i64_, i64_, i32_, i32_});
    Constant* zero = ConstantInt::get(i64_, 0);
    Constant* init = ConstantStruct::get(
        type, {zero, zero, zero, zero, ConstantInt::get(i32_, 0), ConstantInt::get(i32_, BLACKOUT_CONTRACT_VERSION)});
    assert(dl_.getTypeAllocSize(type) == sizeof(blackout_module));
    // One copy per program file: hidden, so that the checks reach it without a GOT.
    module_ = new GlobalVariable(m_, type, false, GlobalValue::LinkOnceODRLinkage, init, "__blackout_module_record");
    module_->setVisibility(GlobalValue::HiddenVisibility);
    module_->setComdat(m_.getOrInsertComdat("__blackout_module_record"));
    module_->setAlignment(Align(64));
  }

  Constant* sectionEdge(StringRef name) {
    auto* edge = new GlobalVariable(m_, Type::getInt8Ty(m_.getContext()), false, GlobalValue::ExternalWeakLinkage,
                                    nullptr, name);
    edge->setVisibility(GlobalValue::HiddenVisibility);
    return edge;
  }

  void makeConstructor() {
    Constant* begin = sectionEdge("__start_" BLACKOUT_SITE_SECTION);
    Constant* end = sectionEdge("__stop_" BLACKOUT_SITE_SECTION);
    auto make = [&](StringRef name, StringRef hook, ArrayRef<Value*> args, auto append) {
      auto* f = Function::Create(FunctionType::get(voidTy_, false), GlobalValue::LinkOnceODRLinkage, name, m_);
      f->setVisibility(GlobalValue::HiddenVisibility);
      f->setComdat(m_.getOrInsertComdat(name));
      f->addFnAttr(Attribute::DisableSanitizerInstrumentation);
      f->addFnAttr(Attribute::NoUnwind);
      IRBuilder<> b(BasicBlock::Create(m_.getContext(), "", f));
      call(b, hook, voidTy_, args, false);
      b.CreateRetVoid();
      append(m_, f, 1, f);
    };
    make("__blackout_module_begin", "__blackout_register_module", {module_, begin, end}, appendToGlobalCtors);
    make("__blackout_module_end", "__blackout_unregister_module", {module_}, appendToGlobalDtors);
  }

  Module& m_;
  const DataLayout& dl_;
  InstrumentOptions options_;
  SiteWriter sites_;
  GlobalVariable* module_ = nullptr;
  Type *voidTy_, *i32_, *i64_;
  PointerType* ptr_;
  MDNode* unlikely_;
};

}  // namespace

PreservedAnalyses Instrument::run(Module& m, ModuleAnalysisManager&) {
  Instrumenter(m, *originals, options).run();
  return PreservedAnalyses::none();
}

}  // namespace blackout
