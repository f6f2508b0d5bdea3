#include "ir/accesses.h"

#include "ir/assembly.h"
#include "ir/lane_access.h"
#include "llvm/Analysis/ValueTracking.h"
#include "llvm/IR/GlobalVariable.h"
#include "llvm/IR/InlineAsm.h"
#include "llvm/IR/IntrinsicsX86.h"
#include "llvm/IR/Module.h"

using namespace llvm;

namespace blackout {

SiteClass classOf(blackout_site_kind kind) {
  switch (kind) {
#define BLACKOUT_SITE(code, Name, text, Class) \
  case BLACKOUT_SITE_##Name:                   \
    return SiteClass::Class;
#include "events/site_kinds.def"
#undef BLACKOUT_SITE
  }
  llvm_unreachable("a kind that is not in the table");
}

static bool objectCannotBePm(const Value* object) {
  if (isa<AllocaInst>(object) || isa<Function>(object)) return true;
  if (const auto* argument = dyn_cast<Argument>(object))
    return argument->hasPassPointeeByValueCopyAttr() || argument->hasSwiftErrorAttr();
  if (const auto* global = dyn_cast<GlobalVariable>(object)) return global->isThreadLocal() || global->isConstant();
  if (const auto* call = dyn_cast<IntrinsicInst>(object))
    return call->getIntrinsicID() == Intrinsic::threadlocal_address;
  return false;
}

bool cannotBePm(const Value* pointer) {
  // Accesses of other address spaces (fs:, gs:) are relative to a segment.
  if (pointer->getType()->getPointerAddressSpace() != 0) return true;
  // Through phis and selects: a loop over an array on the stack.
  SmallVector<const Value*, 4> objects;
  getUnderlyingObjects(pointer, objects, nullptr, 0);
  return all_of(objects, objectCannotBePm);
}

bool isLockedStore(const StoreInst& s) {
  if (s.getOrdering() == AtomicOrdering::SequentiallyConsistent) return true;
  // Without AVX there is no other way to write 16 bytes at once than cmpxchg16b.
  std::uint64_t size = s.getModule()->getDataLayout().getTypeStoreSize(s.getValueOperand()->getType());
  return s.isAtomic() && size == 16 &&
         !s.getFunction()->getFnAttribute("target-features").getValueAsString().contains("+avx");
}

std::optional<blackout_site_kind> persistKind(const IntrinsicInst& i) {
  switch (i.getIntrinsicID()) {
    case Intrinsic::x86_sse2_clflush:
      return BLACKOUT_SITE_Clflush;
    case Intrinsic::x86_clflushopt:
      return BLACKOUT_SITE_Clflushopt;
    case Intrinsic::x86_clwb:
      return BLACKOUT_SITE_Clwb;
    case Intrinsic::x86_sse_sfence:
      return BLACKOUT_SITE_Sfence;
    case Intrinsic::x86_sse2_mfence:
      return BLACKOUT_SITE_Mfence;
    case Intrinsic::x86_sse2_lfence:
      return BLACKOUT_SITE_Lfence;
    default:
      return std::nullopt;
  }
}

std::optional<LibcFunction> libcFunction(const CallBase& c) {
  const Function* callee = c.getCalledFunction();
  // A program's own function of that name is instrumented itself.
  if (callee == nullptr || !callee->isDeclaration() || callee->isIntrinsic()) return std::nullopt;
  StringRef name = callee->getName();
#define BLACKOUT_LIBC(function, hook, Kind) \
  if (name == function) return LibcFunction{hook, BLACKOUT_SITE_##Kind};
#include "ir/libc_functions.def"
#undef BLACKOUT_LIBC
  return std::nullopt;
}

std::optional<AtomicCall> atomicCall(const CallBase& c) {
  const Function* callee = c.getCalledFunction();
  if (callee == nullptr || !callee->isDeclaration()) return std::nullopt;
  StringRef name = callee->getName();
  if (!name.consume_front("__atomic_")) return std::nullopt;
  AtomicCall a{BLACKOUT_SITE_Rmw, 0, 0};
  // "store_16(p, ...)" has its size in its name, "store(16, p, ...)" as its first argument.
  auto [operation, digits] = name.rsplit('_');
  if (digits.getAsInteger(10, a.size)) {
    operation = name;
    const auto* size = c.arg_size() < 2 ? nullptr : dyn_cast<ConstantInt>(c.getArgOperand(0));
    if (size == nullptr) return std::nullopt;
    a.size = size->getZExtValue();
    a.pointer = 1;
  }
  if (c.arg_size() <= a.pointer || !c.getArgOperand(a.pointer)->getType()->isPointerTy()) return std::nullopt;
  if (operation == "load")
    a.kind = BLACKOUT_SITE_Load;
  else if (operation == "compare_exchange")
    a.kind = BLACKOUT_SITE_CmpXchg;
  else if (operation != "store" && operation != "exchange" && !operation.starts_with("fetch_") &&
           !operation.ends_with("_fetch"))
    return std::nullopt;
  return a;
}

std::vector<Access> accessesOf(const Instruction& i, const DataLayout& dl) {
  auto size = [&](const Type* t) -> std::uint64_t { return dl.getTypeStoreSize(const_cast<Type*>(t)); };
  if (auto* load = dyn_cast<LoadInst>(&i)) return {{SiteClass::Read, size(load->getType())}};
  if (auto* store = dyn_cast<StoreInst>(&i))
    return {{isLockedStore(*store) ? SiteClass::Atomic : SiteClass::Write, size(store->getValueOperand()->getType())}};
  if (auto* rmw = dyn_cast<AtomicRMWInst>(&i)) return {{SiteClass::Atomic, size(rmw->getValOperand()->getType())}};
  if (auto* cas = dyn_cast<AtomicCmpXchgInst>(&i))
    return {{SiteClass::Atomic, size(cas->getNewValOperand()->getType())}};
  if (isa<FenceInst>(i)) return {{SiteClass::Fence}};
  if (isa<BranchInst>(i)) return {{SiteClass::Branch}};
  if (auto* memory = dyn_cast<MemIntrinsic>(&i)) {
    auto* length = dyn_cast<ConstantInt>(memory->getLength());
    return {{SiteClass::Write, length == nullptr ? 0 : length->getZExtValue()}};
  }
  if (auto* intrinsic = dyn_cast<IntrinsicInst>(&i)) {
    if (auto kind = persistKind(*intrinsic)) return {{classOf(*kind)}};
    if (auto lanes = laneAccess(*intrinsic)) return {{lanes->load ? SiteClass::Read : SiteClass::Write}};
    switch (intrinsic->getIntrinsicID()) {
      case Intrinsic::x86_directstore32:
      case Intrinsic::x86_directstore64:
      case Intrinsic::x86_movdir64b:
      case Intrinsic::masked_compressstore:
        return {{SiteClass::Write}};
      case Intrinsic::masked_expandload:
        return {{SiteClass::Read}};
      default:
        return {};
    }
  }
  auto* call = dyn_cast<CallBase>(&i);
  if (call == nullptr) return {};
  if (isa<InlineAsm>(call->getCalledOperand())) {
    AsmMeaning meaning = readAssembly(*call);
    std::vector<Access> result;
    if (meaning.clientRequest) result.push_back({SiteClass::Request});
    for (const AsmEffect& e : meaning.effects) result.push_back({classOf(e.kind), e.count >= 0 ? 0 : e.size});
    return result;
  }
  if (auto atomic = atomicCall(*call)) return {{classOf(atomic->kind), atomic->size}};
  if (auto libc = libcFunction(*call)) return {{classOf(libc->kind)}};
  return {};
}

}  // namespace blackout
