#include "pass/instrument.h"

#include "ir/accesses.h"
#include "ir/assembly.h"
#include "llvm/ADT/SmallPtrSet.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/IR/DebugInfoMetadata.h"
#include "llvm/IR/GlobalIFunc.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InlineAsm.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/IntrinsicsX86.h"
#include "llvm/IR/ValueHandle.h"
#include "llvm/Support/raw_ostream.h"
#include "llvm/Transforms/Utils/BasicBlockUtils.h"
#include "pass/calls.h"
#include "pass/checks.h"
#include "pass/hooks.h"
#include "pass/lanes.h"
#include "pass/loops.h"
#include "pass/module_record.h"
#include "pass/sites.h"

using namespace llvm;

namespace blackout {

namespace {

// x86 has no non-temporal store for everything that can ask for one: bytes, words, scalars in
// vector registers, and at -O0 unaligned vectors are stored through the cache.
bool isNonTemporal(const StoreInst& s, const DataLayout& dl) {
  if (!s.hasMetadata(LLVMContext::MD_nontemporal)) return false;
  Type* type = s.getValueOperand()->getType();
  std::uint64_t size = dl.getTypeStoreSize(type);
  if (size % 4 != 0 || type->isFloatingPointTy()) return false;
  if (!type->isVectorTy()) return type->isIntegerTy() || type->isPointerTy();
  if (size < 16) return !type->getScalarType()->isFloatingPointTy();
  return !(size == 16 && s.getAlign() < Align(16) && s.getFunction()->hasOptNone());
}

// "pause" and its other spellings.
bool isPause(const CallBase& assembly) {
  StringRef text = cast<InlineAsm>(assembly.getCalledOperand())->getAsmString();
  SmallVector<StringRef, 4> words;
  SplitString(text, words, " \t\n;");
  if (words.size() == 1) return words[0] == "pause";
  return words.size() == 2 && words[0] == "rep" && words[1] == "nop";
}

class Instrumenter {
 public:
  Instrumenter(Module& m, const Unit& unit, InstrumentOptions options)
      : m_(m),
        dl_(m.getDataLayout()),
        options_(options),
        sites_(m, unit),
        record_(makeModuleRecord(m)),
        hooks_(m, record_),
        calls_(hooks_, sites_, options_) {}

  void run() {
    std::vector<Function*> functions;
    for (Function& f : m_) {
      // The last is also clang's word for an ifunc's resolver, which runs while the program file is being relocated:
      // its hooks would not be bound yet.
      if (f.isDeclaration() || f.hasAvailableExternallyLinkage() || f.hasFnAttribute(Attribute::Naked) ||
          f.hasFnAttribute(Attribute::DisableSanitizerInstrumentation))
        continue;
      functions.push_back(&f);
    }
    for (Function* f : functions) instrument(*f);
    makeConstructors(m_, hooks_, record_);
  }

 private:
  void instrument(Function& f) {
    // Hooks do what these attributes exclude.
    for (Attribute::AttrKind a : {Attribute::Memory, Attribute::NoSync, Attribute::NoFree, Attribute::Speculatable})
      f.removeFnAttr(a);
    sites_.enterFunction(f);
    Checks checks(f, record_);
    Plan work;
    // Program order within each block; insertion of checks doesn't disturb the list.
    std::vector<Instruction*> list;
    for (BasicBlock& b : f)
      for (Instruction& i : b) list.push_back(&i);
    for (Instruction* i : list) plan(*i, checks, work);
    for (auto& w : work) w();
    countTurns(f, hooks_, record_);
  }

  void plan(Instruction& i, Checks& checks, Plan& work) {
    if (auto* load = dyn_cast<LoadInst>(&i)) return planLoad(*load, checks, work);
    if (auto* store = dyn_cast<StoreInst>(&i)) return planStore(*store, checks, work);
    if (isa<AtomicRMWInst>(i)) return planLocked(i, BLACKOUT_SITE_Rmw, checks, work);
    if (isa<AtomicCmpXchgInst>(i)) return planLocked(i, BLACKOUT_SITE_CmpXchg, checks, work);
    if (auto* fence = dyn_cast<FenceInst>(&i)) {
      // Weaker fences and those of one thread are no instructions on x86.
      if (fence->getOrdering() == AtomicOrdering::SequentiallyConsistent &&
          fence->getSyncScopeID() == SyncScope::System)
        work.push_back([this, &i] { insertFence(i, BLACKOUT_SITE_Mfence); });
      return;
    }
    if (auto* branch = dyn_cast<BranchInst>(&i); branch != nullptr && branch->isConditional() && options_.branches) {
      work.push_back([this, branch] {
        IRBuilder<> b(branch);
        Value* taken = b.CreateZExt(branch->getCondition(), hooks_.i32);
        hooks_.call(b, "__blackout_branch", hooks_.voidTy, {taken, row(*branch, BLACKOUT_SITE_Branch, 0)},
                    Hooks::Registers::AsInC);
      });
      return;
    }
    if (auto* intrinsic = dyn_cast<IntrinsicInst>(&i)) return planIntrinsic(*intrinsic, checks, work);
    if (auto* call = dyn_cast<CallBase>(&i)) {
      if (isa<InlineAsm>(call->getCalledOperand())) return planAssembly(*call, checks, work);
      if (auto atomic = atomicCall(*call); atomic && isa<CallInst>(call))
        return planAtomicCall(cast<CallInst>(*call), *atomic, checks, work);
      return calls_.plan(*call, work);
    }
  }

  // What other threads may be waiting for, or see at once, whatever memory it is.
  void planSwitch(Instruction& i, Value* pointer, Plan& work) {
    if (pointer != nullptr && pointer->getType()->getPointerAddressSpace() != 0) return;
    // On a stack that nobody else knows there is nobody to switch to.
    if (pointer != nullptr && isa<AllocaInst>(pointer->stripInBoundsOffsets())) return;
    // The pointer may be a load that is replaced before this is done.
    work.push_back([this, &i, pointer = WeakTrackingVH(pointer)] { hooks_.insertSwitch(i, i.getDebugLoc(), pointer); });
  }

  void planLoad(LoadInst& load, Checks& checks, Plan& work) {
    if (load.isAtomic() || load.isVolatile()) planSwitch(load, load.getPointerOperand(), work);
    if (!options_.loads || cannotBePm(load.getPointerOperand())) return;
    Value* inPm = checks.inWindow(load.getPointerOperand(), Window::Loads, &load);
    work.push_back([this, &load, inPm] {
      Value* pointer = load.getPointerOperand();
      std::uint64_t size = dl_.getTypeStoreSize(load.getType());
      GlobalVariable* site = row(load, BLACKOUT_SITE_Load, size, load.isAtomic());
      if (hooks_.asWord(load.getType()) == nullptr)
        return hooks_.bracket(load, LoadInst::getPointerOperandIndex(), bytes(size), site, inPm);
      Instruction *then = nullptr, *otherwise = nullptr;
      SplitBlockAndInsertIfThenElse(inPm, load.getIterator(), &then, &otherwise, hooks_.unlikely);
      IRBuilder<> b(then);
      b.SetCurrentDebugLocation(load.getDebugLoc());
      Value* read = hooks_.loadWord(b, pointer, load.getType(), site);
      BasicBlock* tail = load.getParent();
      load.moveBefore(otherwise);
      PHINode* phi = PHINode::Create(load.getType(), 2, "", tail->begin());
      load.replaceAllUsesWith(phi);
      phi->addIncoming(read, then->getParent());
      phi->addIncoming(&load, load.getParent());
      phi->setDebugLoc(load.getDebugLoc());
    });
  }

  void planStore(StoreInst& store, Checks& checks, Plan& work) {
    if (isLockedStore(store)) return planLocked(store, BLACKOUT_SITE_Rmw, checks, work);
    if (store.isAtomic() || store.isVolatile()) planSwitch(store, store.getPointerOperand(), work);
    if (cannotBePm(store.getPointerOperand())) return;
    Value* inPm = checks.inWindow(store.getPointerOperand(), Window::Stores, &store);
    work.push_back([this, &store, inPm] {
      Value* pointer = store.getPointerOperand();
      std::uint64_t size = dl_.getTypeStoreSize(store.getValueOperand()->getType());
      bool nonTemporal = isNonTemporal(store, dl_);
      GlobalVariable* site =
          row(store, nonTemporal ? BLACKOUT_SITE_StoreNt : BLACKOUT_SITE_Store, size, store.isAtomic());
      if (nonTemporal || hooks_.asWord(store.getValueOperand()->getType()) == nullptr)
        return hooks_.bracket(store, StoreInst::getPointerOperandIndex(), bytes(size), site, inPm);
      Instruction *then = nullptr, *otherwise = nullptr;
      SplitBlockAndInsertIfThenElse(inPm, store.getIterator(), &then, &otherwise, hooks_.unlikely);
      IRBuilder<> b(then);
      b.SetCurrentDebugLocation(store.getDebugLoc());
      hooks_.storeWord(b, pointer, store.getValueOperand(), site);
      store.moveBefore(otherwise);
    });
  }

  // A locked instruction: a fence on any memory, an access if it is PM.
  void planLocked(Instruction& i, blackout_site_kind kind, Checks& checks, Plan& work) {
    unsigned operand = isa<AtomicRMWInst>(i)       ? AtomicRMWInst::getPointerOperandIndex()
                       : isa<AtomicCmpXchgInst>(i) ? AtomicCmpXchgInst::getPointerOperandIndex()
                                                   : StoreInst::getPointerOperandIndex();
    Value* pointer = i.getOperand(operand);
    Value* inPm = cannotBePm(pointer) ? nullptr : checks.inWindow(pointer, Window::Stores, &i);
    planSwitch(i, pointer, work);
    work.push_back([this, &i, kind, inPm, operand] {
      std::uint64_t size = accessesOf(i, dl_)[0].size;
      hooks_.bracketLocked(i, operand, size, row(i, kind, size, true), inPm);
    });
  }

  void planAtomicCall(CallInst& c, const AtomicCall& atomic, Checks& checks, Plan& work) {
    bool load = atomic.kind == BLACKOUT_SITE_Load;
    Value* pointer = c.getArgOperand(atomic.pointer);
    planSwitch(c, pointer, work);
    bool skipped = cannotBePm(pointer) || (load && !options_.loads);
    if (load && skipped) return;
    Value* inPm = skipped ? nullptr : checks.inWindow(pointer, load ? Window::Loads : Window::Stores, &c);
    c.setTailCallKind(CallInst::TCK_None);
    work.push_back([this, &c, atomic, inPm, load] {
      GlobalVariable* site = row(c, atomic.kind, atomic.size, true);
      if (load)
        hooks_.bracket(c, atomic.pointer, bytes(atomic.size), site, inPm);
      else
        hooks_.bracketLocked(c, atomic.pointer, atomic.size, site, inPm);
    });
  }

  void planIntrinsic(IntrinsicInst& i, Checks& checks, Plan& work) {
    if (auto kind = persistKind(i)) {
      bool fence = classOf(*kind) == SiteClass::Fence;
      Value* inPm =
          fence || cannotBePm(i.getArgOperand(0)) ? nullptr : checks.inWindow(i.getArgOperand(0), Window::Loads, &i);
      work.push_back([this, &i, kind, fence, inPm] {
        if (fence) return insertFence(i, *kind);
        Value* pointer = i.getArgOperand(0);
        insertFlush(i, *kind, pointer);
        if (inPm != nullptr) i.setArgOperand(0, hooks_.flushPlaceIf(inPm, i, i.getDebugLoc(), pointer));
      });
      return;
    }
    if (auto* memory = dyn_cast<MemIntrinsic>(&i)) return planMemory(*memory, checks, work);
    if (auto lanes = laneAccess(i)) return planLanes(i, *lanes, checks, work);
    switch (i.getIntrinsicID()) {
      case Intrinsic::x86_sse2_pause:
        return planSwitch(i, nullptr, work);
      case Intrinsic::x86_directstore32:
      case Intrinsic::x86_directstore64:
        return planBracket(i, 0, BLACKOUT_SITE_StoreNt, dl_.getTypeStoreSize(i.getArgOperand(1)->getType()), checks,
                           work);
      case Intrinsic::x86_movdir64b:
        return planBracket(i, 0, BLACKOUT_SITE_StoreNt, 64, checks, work);
      case Intrinsic::masked_compressstore:
        return planBracket(i, 1, BLACKOUT_SITE_Store, 0, checks, work);
      case Intrinsic::masked_expandload:
        return planBracket(i, 0, BLACKOUT_SITE_Load, 0, checks, work);
      default:
        return;
    }
  }

  // An intrinsic that accesses `size` bytes at one of its arguments; 0: as many lanes as its mask has.
  void planBracket(IntrinsicInst& i, unsigned argument, blackout_site_kind kind, std::uint64_t size, Checks& checks,
                   Plan& work) {
    bool load = kind == BLACKOUT_SITE_Load;
    if (cannotBePm(i.getArgOperand(argument)) || (load && !options_.loads)) return;
    Value* inPm = checks.inWindow(i.getArgOperand(argument), load ? Window::Loads : Window::Stores, &i);
    work.push_back([this, &i, argument, kind, size, inPm, load] {
      Value* length = bytes(size);
      if (size == 0) {
        IRBuilder<> b(&i);
        Value* mask = i.getArgOperand(load ? 1 : 2);
        Type* data = load ? i.getType() : i.getArgOperand(0)->getType();
        unsigned lanes = cast<FixedVectorType>(data)->getNumElements();
        Value* on = b.CreateUnaryIntrinsic(Intrinsic::ctpop, b.CreateBitCast(mask, b.getIntNTy(lanes)));
        length = b.CreateMul(b.CreateZExtOrTrunc(on, hooks_.i64), bytes(dl_.getTypeStoreSize(data->getScalarType())));
      }
      hooks_.bracket(i, argument, length, row(i, kind, size), inPm);
    });
  }

  void planLanes(IntrinsicInst& i, const LaneAccess& lanes, Checks& checks, Plan& work) {
    if (lanes.load && !options_.loads) return;
    if (!lanes.everyLaneHasPointer && cannotBePm(lanes.pointerOf(i))) return;
    Window window = lanes.load ? Window::Loads : Window::Stores;
    Value* inPm = lanes.everyLaneHasPointer ? nullptr : checks.inWindow(lanes.pointerOf(i), window, &i);
    work.push_back([this, &i, lanes, inPm] {
      std::uint64_t size = dl_.getTypeStoreSize(lanes.type->getElementType());
      blackout_site_kind kind = lanes.load          ? BLACKOUT_SITE_Load
                                : lanes.nonTemporal ? BLACKOUT_SITE_StoreNt
                                                    : BLACKOUT_SITE_Store;
      Value* watched = inPm;
      if (watched == nullptr) {
        IRBuilder<> b(&i);
        watched = hooks_.isRecording(b);
      }
      instrumentLanes(hooks_, i, lanes, row(i, kind, size), watched);
    });
  }

  // memcpy, memmove and memset as intrinsics: the hook if either side is watched.
  void planMemory(MemIntrinsic& i, Checks& checks, Plan& work) {
    auto sourceOf = [](MemIntrinsic& m) -> Value* {
      return isa<MemTransferInst>(m) ? cast<MemTransferInst>(m).getRawSource() : nullptr;
    };
    Value* to = i.getRawDest();
    Value* from = sourceOf(i);
    if (to->getType()->getPointerAddressSpace() != 0 ||
        (from != nullptr && from->getType()->getPointerAddressSpace() != 0))
      return;
    Value* writes = cannotBePm(to) ? nullptr : checks.inWindow(to, Window::Stores, &i);
    Value* reads =
        from == nullptr || !options_.loads || cannotBePm(from) ? nullptr : checks.inWindow(from, Window::Loads, &i);
    if (writes == nullptr && reads == nullptr) return;
    work.push_back([this, &i, sourceOf, writes, reads] {
      Value* source = sourceOf(i);
      auto* length = dyn_cast<ConstantInt>(i.getLength());
      std::uint64_t size = length == nullptr ? 0 : length->getZExtValue();
      GlobalVariable* site = row(i, source != nullptr ? BLACKOUT_SITE_Copy : BLACKOUT_SITE_Fill, size);
      Value* watched = writes == nullptr ? reads : writes;
      if (writes != nullptr && reads != nullptr) watched = IRBuilder<>(&i).CreateOr(writes, reads);
      Instruction *then = nullptr, *otherwise = nullptr;
      SplitBlockAndInsertIfThenElse(watched, i.getIterator(), &then, &otherwise, hooks_.unlikely);
      IRBuilder<> b(then);
      b.SetCurrentDebugLocation(i.getDebugLoc());
      Value* n = b.CreateZExtOrTrunc(i.getLength(), hooks_.i64);
      if (auto* set = dyn_cast<MemSetInst>(&i)) {
        hooks_.call(b, "__blackout_memset", hooks_.ptr,
                    {site, i.getRawDest(), b.CreateZExt(set->getValue(), hooks_.i32), n}, Hooks::Registers::AsInC);
      } else {
        bool move = i.getIntrinsicID() == Intrinsic::memmove;
        hooks_.call(b, move ? "__blackout_memmove" : "__blackout_memcpy", hooks_.ptr, {site, i.getRawDest(), source, n},
                    Hooks::Registers::AsInC);
      }
      i.moveBefore(otherwise);
    });
  }

  // ---- inline assembly ----

  void planAssembly(CallBase& assembly, Checks& checks, Plan& work) {
    if (isPause(assembly)) return planSwitch(assembly, nullptr, work);
    AsmMeaning meaning = readAssembly(assembly);
    if (meaning.clientRequest && isa<CallInst>(assembly)) {
      work.push_back([this, &assembly] { answerRequest(cast<CallInst>(assembly)); });
      return;
    }
    if (meaning.unresolved) warn(assembly);
    if (meaning.unseen && isa<CallInst>(assembly))
      work.push_back([this, &assembly] {
        IRBuilder<> b(assembly.getNextNode());
        b.SetCurrentDebugLocation(assembly.getDebugLoc());
        hooks_.call(b, "__blackout_unfollowed", hooks_.voidTy, {row(assembly, BLACKOUT_SITE_Call, 0)},
                    Hooks::Registers::AsInC);
      });
    // What follows an asm goto, or an asm that unwinds, has no one place.
    if (meaning.effects.empty() || !isa<CallInst>(assembly)) return;
    // The accesses of one string are bracketed together; their events follow in its order.
    std::vector<Step> steps;
    bool accesses = llvm::any_of(meaning.effects, [](const AsmEffect& e) {
      return classOf(e.kind) != SiteClass::Flush && classOf(e.kind) != SiteClass::Fence;
    });
    for (const AsmEffect& e : meaning.effects) {
      Step s{e, nullptr, nullptr, nullptr};
      IRBuilder<> b(&assembly);
      if (e.argument >= 0) s.pointer = addressOf(b, assembly, e);
      // What can't be made elsewhere faults, if it is PM, and so does a flush beside an access to the same operand.
      bool flush = classOf(e.kind) == SiteClass::Flush;
      if (!(flush && (accesses || !isMemoryOperand(assembly, e))) && s.pointer != nullptr && !cannotBePm(s.pointer))
        s.inPm = checks.inWindow(s.pointer, flush ? Window::Loads : Window::Stores, &assembly);
      if (e.argument >= 0) {
        s.size = b.getInt64(e.size);
        if (e.count >= 0)
          s.size = b.CreateMul(s.size,
                               b.CreateZExtOrTrunc(assembly.getArgOperand(static_cast<unsigned>(e.count)), hooks_.i64));
      }
      steps.push_back(s);
    }
    work.push_back([this, &assembly, steps] { bracketAssembly(assembly, steps); });
  }

  // The self-check of a recording would find the bytes, but not the place. Not a warning of the compiler's:
  // it would stop builds with -Werror.
  static void warn(const CallBase& assembly) {
    if (const DILocation* loc = assembly.getDebugLoc().get())
      errs() << loc->getFilename() << ':' << loc->getLine() << ':' << loc->getColumn() << ": ";
    errs() << "note: blackout: can't tell which memory this assembly writes or flushes; it is not recorded\n";
  }

  // One effect, with what was computed for it in front of the assembly. The pointer may be a load, which gets a
  // phi in its place.
  struct Step {
    AsmEffect effect;
    WeakTrackingVH pointer;
    Value* size;
    Value* inPm;
  };

  Value* addressOf(IRBuilder<>& b, CallBase& assembly, const AsmEffect& e) {
    Value* pointer = assembly.getArgOperand(static_cast<unsigned>(e.argument));
    if (!pointer->getType()->isPointerTy()) pointer = b.CreateIntToPtr(pointer, hooks_.ptr);
    if (e.index >= 0) {
      Value* index = assembly.getArgOperand(static_cast<unsigned>(e.index));
      index = index->getType()->isPointerTy() ? b.CreatePtrToInt(index, hooks_.i64)
                                              : b.CreateSExtOrTrunc(index, hooks_.i64);
      pointer =
          b.CreateGEP(b.getInt8Ty(), pointer, b.CreateMul(index, b.getInt64(static_cast<std::uint64_t>(e.scale))));
    }
    if (e.offset != 0) pointer = b.CreateGEP(b.getInt8Ty(), pointer, b.getInt64(static_cast<std::uint64_t>(e.offset)));
    return pointer;
  }

  void bracketAssembly(CallBase& assembly, const std::vector<Step>& steps) {
    DebugLoc loc = assembly.getDebugLoc();
    std::vector<GlobalVariable*> rows;
    std::vector<Value*> before;  // what a compare-and-swap found
    std::vector<Value*> places;  // where the access is made
    for (const Step& s : steps) {
      bool locked = classOf(s.effect.kind) == SiteClass::Atomic;
      bool repeated = s.effect.count >= 0;
      GlobalVariable* site = row(assembly, s.effect.kind, repeated ? 0 : s.effect.size, locked,
                                 repeated ? static_cast<std::uint32_t>(s.effect.size) : 0);
      rows.push_back(site);
      before.push_back(nullptr);
      places.push_back(nullptr);
      if (locked && s.pointer != nullptr) hooks_.insertSwitch(assembly, loc, s.pointer);
      if (s.inPm == nullptr) continue;
      if (classOf(s.effect.kind) == SiteClass::Flush) {
        places.back() = hooks_.flushPlaceIf(s.inPm, assembly, loc, s.pointer);
        continue;
      }
      places.back() = hooks_.enterIf(s.inPm, assembly, loc, s.pointer, s.size, site);
      if (s.effect.kind == BLACKOUT_SITE_CmpXchg) {
        Type* word = IntegerType::get(m_.getContext(), static_cast<unsigned>(s.effect.size * 8));
        Value* found = nullptr;
        BasicBlock *from = assembly.getParent(), *branch = nullptr;
        hooks_.insertIf(s.inPm, assembly, loc, [&](IRBuilder<>& t) {
          found = t.CreateAlignedLoad(word, places.back(), Align(1));
          branch = t.GetInsertBlock();
        });
        PHINode* phi = PHINode::Create(word, 2, "", assembly.getParent()->begin());
        phi->addIncoming(found, branch);
        phi->addIncoming(Constant::getNullValue(word), from);
        before.back() = phi;
      }
    }
    redirectMemory(assembly, steps, places);
    Instruction* after = assembly.getNextNode();
    for (std::size_t n = 0; n < steps.size(); ++n) {
      const Step& s = steps[n];
      SiteClass cls = classOf(s.effect.kind);
      if (cls == SiteClass::Flush || cls == SiteClass::Fence) {
        IRBuilder<> b(after);
        b.SetCurrentDebugLocation(loc);
        if (cls == SiteClass::Flush)
          hooks_.call(b, "__blackout_flush", hooks_.voidTy, {s.pointer, rows[n]});
        else
          hooks_.call(b, "__blackout_fence", hooks_.voidTy, {rows[n]});
        continue;
      }
      if (s.inPm != nullptr) {
        hooks_.insertIf(s.inPm, *after, loc, [&](IRBuilder<>& t) {
          // A compare-and-swap whose flag we don't see stored if memory changed.
          Value* stored = nullptr;
          if (before[n] != nullptr) {
            Value* now = t.CreateAlignedLoad(before[n]->getType(), places[n], Align(1));
            stored = t.CreateZExt(t.CreateICmpNE(now, before[n]), hooks_.i32);
          }
          hooks_.leave(t, s.pointer, s.size, rows[n], stored);
        });
      }
      if (cls == SiteClass::Atomic) hooks_.insertRmwFence(*after, loc, s.pointer, rows[n], s.inPm);
    }
  }

  // One access in full.
  static bool isMemoryOperand(const CallBase& assembly, const AsmEffect& e) {
    return e.argument >= 0 && e.offset == 0 && e.index < 0 && e.count < 0 &&
           assembly.getParamElementType(static_cast<unsigned>(e.argument)) != nullptr;
  }

  // A memory operand that is one access in full is made where the hook says. An address in a register may come out of
  // the assembly again and stays what it is: that access faults and is followed.
  static void redirectMemory(CallBase& assembly, const std::vector<Step>& steps, const std::vector<Value*>& places) {
    for (std::size_t n = 0; n < steps.size(); ++n) {
      const AsmEffect& e = steps[n].effect;
      if (places[n] == nullptr || !isMemoryOperand(assembly, e)) continue;
      auto argument = static_cast<unsigned>(e.argument);
      Value* pointer = assembly.getArgOperand(argument);
      // An operand that is read and written stands there twice.
      for (unsigned a = 0; a < assembly.arg_size(); ++a)
        if (assembly.getArgOperand(a) == pointer && assembly.getParamElementType(a) != nullptr)
          assembly.setArgOperand(a, places[n]);
    }
  }

  // A client request: the argument block in rax, the default answer in rdx.
  void answerRequest(CallInst& assembly) {
    IRBuilder<> b(&assembly);
    GlobalVariable* site = row(assembly, BLACKOUT_SITE_Request, 0);
    Value* args = assembly.getArgOperand(0);
    if (!args->getType()->isPointerTy()) args = b.CreateIntToPtr(args, hooks_.ptr);
    Value* unanswered = b.CreateZExtOrTrunc(assembly.getArgOperand(1), hooks_.i64);
    Value* answer = hooks_.call(b, "__blackout_request", hooks_.i64, {unanswered, args, site}, Hooks::Registers::AsInC);
    if (!assembly.getType()->isVoidTy()) assembly.replaceAllUsesWith(b.CreateZExtOrTrunc(answer, assembly.getType()));
    assembly.eraseFromParent();
  }

  // ---- the rest ----

  void insertFlush(Instruction& i, blackout_site_kind kind, Value* pointer) {
    IRBuilder<> b(i.getNextNode());
    b.SetCurrentDebugLocation(i.getDebugLoc());
    hooks_.call(b, "__blackout_flush", hooks_.voidTy, {pointer, row(i, kind, 0)});
  }
  void insertFence(Instruction& i, blackout_site_kind kind) {
    IRBuilder<> b(i.getNextNode());
    b.SetCurrentDebugLocation(i.getDebugLoc());
    hooks_.call(b, "__blackout_fence", hooks_.voidTy, {row(i, kind, 0)});
  }

  Constant* bytes(std::uint64_t n) { return ConstantInt::get(hooks_.i64, n); }
  GlobalVariable* row(Instruction& i, blackout_site_kind kind, std::uint64_t size, bool atomic = false,
                      std::uint32_t element = 0) {
    return sites_.row(i, kind, size, atomic, element);
  }

  Module& m_;
  const DataLayout& dl_;
  InstrumentOptions options_;
  SiteWriter sites_;
  GlobalVariable* record_;
  Hooks hooks_;
  Calls calls_;
};

}  // namespace

PreservedAnalyses Instrument::run(Module& m, ModuleAnalysisManager&) {
  Instrumenter(m, *unit, options).run();
  return PreservedAnalyses::none();
}

}  // namespace blackout
