#include "pass/keys.h"

#include <numeric>
#include <set>

#include "ir/accesses.h"
#include "ir/assembly.h"
#include "ir/lane_access.h"
#include "ir/prepared.h"
#include "llvm/ADT/SmallPtrSet.h"
#include "llvm/IR/Constants.h"
#include "llvm/IR/InlineAsm.h"
#include "llvm/IR/IntrinsicsX86.h"
#include "llvm/IR/Operator.h"
#include "pass/markers.h"

using namespace llvm;

namespace blackout {

// --- Which pointers -----------------------------------------------------------------------------------

namespace {

std::uint64_t constantOr0(const Value* v) {
  const auto* c = dyn_cast<ConstantInt>(v);
  return c == nullptr ? 0 : c->getZExtValue();
}

// Of the functions in libc_functions.def: the numbers of the arguments, -1 for none.
struct LibcOperands {
  int field, source, size;
};
LibcOperands libcOperands(StringRef name) {
  name.consume_front("__");
  name.consume_back("_chk");
  if (name == "bcopy") return {1, 0, 2};
  if (name == "bzero" || name == "explicit_bzero") return {0, -1, 1};
  if (name == "memccpy") return {0, 1, -1};
  if (name == "memset" || name == "memchr" || name.starts_with("pmem_memset"))
    return {0, -1, name == "memchr" ? -1 : 2};
  if (name.starts_with("wmem")) return {0, name == "wmemset" ? -1 : 1, -1};
  if (name.starts_with("pmem_mem") || name.starts_with("mem") || name == "bcmp") return {0, 1, 2};
  if (name.starts_with("pmem_")) return {name.ends_with("drain") ? -1 : 0, -1, name.ends_with("drain") ? -1 : 1};
  if (name.ends_with("printf")) return {0, -1, -1};
  if (name == "strlen" || name == "strnlen" || name == "strchr" || name == "strrchr" || name == "strdup")
    return {0, -1, -1};
  return {0, 1, -1};  // strcpy, strcat, strcmp and their like
}

}  // namespace

Operands operandsOf(const Instruction& i, const DataLayout& dl) {
  auto size = [&](const Type* t) -> std::uint64_t { return dl.getTypeStoreSize(const_cast<Type*>(t)); };
  if (const auto* load = dyn_cast<LoadInst>(&i)) return {{{load->getPointerOperand(), 0, size(load->getType())}}, {}};
  if (const auto* store = dyn_cast<StoreInst>(&i))
    return {{{store->getPointerOperand(), 0, size(store->getValueOperand()->getType())}}, {}};
  if (const auto* rmw = dyn_cast<AtomicRMWInst>(&i))
    return {{{rmw->getPointerOperand(), 0, size(rmw->getValOperand()->getType())}}, {}};
  if (const auto* cas = dyn_cast<AtomicCmpXchgInst>(&i))
    return {{{cas->getPointerOperand(), 0, size(cas->getNewValOperand()->getType())}}, {}};
  if (const auto* memory = dyn_cast<MemIntrinsic>(&i)) {
    std::uint64_t n = constantOr0(memory->getLength());
    Operands o{{{memory->getRawDest(), 0, n}}, {}};
    if (const auto* copy = dyn_cast<MemTransferInst>(memory)) o.source = {{copy->getRawSource(), 0, n}};
    return o;
  }
  if (const auto* intrinsic = dyn_cast<IntrinsicInst>(&i)) {
    if (auto kind = persistKind(*intrinsic)) {
      if (classOf(*kind) != SiteClass::Flush) return {};
      return {{{intrinsic->getArgOperand(0), 0, 0}}, {}};
    }
    if (auto lanes = laneAccess(*intrinsic)) {
      if (lanes->everyLaneHasPointer) return {};
      return {{{lanes->pointerOf(*intrinsic), 0, size(lanes->type)}}, {}};
    }
    switch (intrinsic->getIntrinsicID()) {
      case Intrinsic::x86_directstore32:
      case Intrinsic::x86_directstore64:
        return {{{intrinsic->getArgOperand(0), 0, size(intrinsic->getArgOperand(1)->getType())}}, {}};
      case Intrinsic::x86_movdir64b:
        return {{{intrinsic->getArgOperand(0), 0, 64}}, {{intrinsic->getArgOperand(1), 0, 64}}};
      case Intrinsic::masked_compressstore:
        return {{{intrinsic->getArgOperand(1), 0, size(intrinsic->getArgOperand(0)->getType())}}, {}};
      case Intrinsic::masked_expandload:
        return {{{intrinsic->getArgOperand(0), 0, size(intrinsic->getType())}}, {}};
      default:
        return {};
    }
  }
  const auto* call = dyn_cast<CallBase>(&i);
  if (call == nullptr) return {};
  Operands o;
  if (isa<InlineAsm>(call->getCalledOperand())) {
    for (const AsmEffect& e : readAssembly(*call).effects) {
      if (e.argument < 0) continue;
      const Value* pointer = call->getArgOperand(static_cast<unsigned>(e.argument));
      if (!pointer->getType()->isPointerTy()) continue;
      bool exact = e.count < 0 && e.index < 0 && classOf(e.kind) != SiteClass::Flush;
      o.field.push_back({pointer, e.offset, exact ? e.size : 0});
    }
    return o;
  }
  if (auto atomic = atomicCall(*call)) return {{{call->getArgOperand(atomic->pointer), 0, atomic->size}}, {}};
  if (libcFunction(*call)) {
    LibcOperands which = libcOperands(call->getCalledFunction()->getName());
    auto has = [&](int n) { return n >= 0 && static_cast<unsigned>(n) < call->arg_size(); };
    std::uint64_t n = has(which.size) ? constantOr0(call->getArgOperand(static_cast<unsigned>(which.size))) : 0;
    auto take = [&](int argument, std::vector<Touched>& into) {
      if (!has(argument)) return;
      const Value* pointer = call->getArgOperand(static_cast<unsigned>(argument));
      if (pointer->getType()->isPointerTy()) into.push_back({pointer, 0, n});
    };
    take(which.field, o.field);
    take(which.source, o.source);
  }
  return o;
}

// --- Which field --------------------------------------------------------------------------------------

namespace {

// Follows an address back, over all ways on which it may have come.
class Trail {
 public:
  Trail(Keys& keys, const Fields& fields, const DataLayout& dl) : keys_(keys), fields_(fields), dl_(dl) {}

  bool known = true;  // nothing was met that could be anything
  std::set<Field> found;

  void follow(const Value* v, Extent e, Field library = {}) {
    if (++steps_ > 200 || !known || found.size() > kMostKeys) {
      known = false;
      return;
    }
    for (;;) {
      if (std::optional<Marker> marker = markerOf(*v)) {
        Field f = at(*marker, e);
        if (f.ofProgram) return add(f);
        if (!f.key.empty()) library = f;
        v = cast<CallInst>(v)->getArgOperand(0);
        continue;
      }
      const auto* gep = dyn_cast<GEPOperator>(v);
      if (gep == nullptr) break;
      MapVector<Value*, APInt> variable;
      APInt constant(64, 0);
      if (gep->getType()->isVectorTy() || !gep->collectOffset(dl_, 64, variable, constant)) {
        known = false;
        return;
      }
      move(e, *gep, constant.getSExtValue(), !variable.empty());
      for (const auto& [index, scale] : variable) e.stride = std::gcd(e.stride, scale.abs().getZExtValue());
      v = gep->getPointerOperand();
    }
    if (const auto* phi = dyn_cast<PHINode>(v)) return followPhi(*phi, e, library);
    if (const auto* select = dyn_cast<SelectInst>(v)) {
      follow(select->getTrueValue(), e, library);
      follow(select->getFalseValue(), e, library);
      return;
    }
    if (isa<ConstantPointerNull, UndefValue>(v)) return;
    root(*v, e, library);
  }

 private:
  // To where the address computation began. An index into an array stays inside it.
  void move(Extent& e, const GEPOperator& gep, std::int64_t constant, bool indexed) const {
    e.offset += constant;
    auto* array = dyn_cast<ArrayType>(gep.getSourceElementType());
    if (indexed && e.stride == 0 && array != nullptr && array->getNumElements() != 0) {
      e.low = 0;
      e.high = static_cast<std::int64_t>(dl_.getTypeAllocSize(array).getFixedValue());
    } else if (indexed) {
      e.low = 0;
      e.high = INT64_MAX;
    } else if (e.high != INT64_MAX) {
      e.low += constant;
      e.high += constant;
    }
  }

  Field at(const Marker& m, Extent& e) const {
    if (m.step) {
      // Where in the member; without a size, all of it.
      if (e.size == 0 && e.stride == 0 && m.size > static_cast<std::uint64_t>(std::max<std::int64_t>(e.offset, 0)))
        e.size = m.size - static_cast<std::uint64_t>(std::max<std::int64_t>(e.offset, 0));
      Extent inside = e;
      inside.offset += m.offset;
      inside.low = m.offset;
      // An array at the end of a struct has no size.
      inside.high = m.size == 0 ? INT64_MAX - 1 : m.offset + static_cast<std::int64_t>(m.size);
      return fields_.at(m.type, inside, m.alias);
    }
    Field f = fields_.at(m.type, e, m.alias);
    if (e.size == 0 && e.stride == 0 && e.offset == 0) e.size = bytesOf(m.type);
    return f;
  }

  void add(const Field& f) {
    found.insert(f);
    if (found.size() > kMostKeys) known = false;
  }

  void followPhi(const PHINode& phi, Extent e, const Field& library) {
    if (!seen_.insert(&phi).second) return;
    // A pointer that moves on in a loop.
    for (const Value* incoming : phi.incoming_values()) {
      std::int64_t delta = 0;
      const Value* v = incoming;
      for (;;) {
        if (isMarker(*v)) {
          v = cast<CallInst>(v)->getArgOperand(0);
          continue;
        }
        const auto* gep = dyn_cast<GEPOperator>(v);
        APInt constant(64, 0);
        if (gep == nullptr) break;
        if (!gep->accumulateConstantOffset(dl_, constant)) {
          MapVector<Value*, APInt> variable;
          APInt fixed(64, 0);
          if (!gep->collectOffset(dl_, 64, variable, fixed)) break;
          for (const auto& [index, scale] : variable)
            delta = std::gcd(delta, static_cast<std::int64_t>(scale.abs().getZExtValue()));
          constant = fixed;
        }
        delta = std::gcd(delta, constant.getSExtValue());
        v = gep->getPointerOperand();
      }
      if (v == &phi) e.stride = std::gcd(e.stride, static_cast<std::uint64_t>(delta));
    }
    for (const Value* incoming : phi.incoming_values()) follow(incoming, e, library);
  }

  // The pointers that a number was made of, as a flush rounds an address down to its line and goes on from line to
  // line.
  void followNumber(const Value* v, SmallPtrSetImpl<const Value*>& seen) {
    if (!seen.insert(v).second || seen.size() > 32) return;
    if (const auto* pointer = dyn_cast<PtrToIntOperator>(v)) return follow(pointer->getPointerOperand(), {0, 0});
    if (const auto* operation = dyn_cast<BinaryOperator>(v)) {
      for (const Value* part : operation->operands()) followNumber(part, seen);
    } else if (const auto* phi = dyn_cast<PHINode>(v)) {
      for (const Value* incoming : phi->incoming_values()) followNumber(incoming, seen);
    } else if (const auto* cast = dyn_cast<CastInst>(v)) {
      followNumber(cast->getOperand(0), seen);
    } else if (!isa<Constant>(v)) {
      known = false;
    }
  }

  // Where the address begins.
  void root(const Value& v, const Extent& e, const Field& library) {
    if (const auto* cast = dyn_cast<IntToPtrInst>(&v); cast != nullptr && e.size == 0 && e.stride == 0) {
      SmallPtrSet<const Value*, 16> seen;
      return followNumber(cast->getOperand(0), seen);
    }
    if (const DIType* declared = declaredType(v)) {
      Field f = fields_.at(declared, e);
      if (f.ofProgram) return add(f);
      if (!f.key.empty()) return add(f);
    }
    if (const auto* load = dyn_cast<LoadInst>(&v)) {
      const std::vector<Field>& fields = keys_.behind(*load);
      for (const Field& f : fields) add(f);
      if (!fields.empty()) return;
    }
    if (!library.key.empty()) return add(library);
    if (e.size != 0 && e.stride == 0)
      if (Field f = byOtherAccesses(v, e); f.ofProgram) return add(f);
    if (!isa<AllocaInst>(v)) known = false;
  }

  // The first member through a pointer to something else: what the other accesses through it say.
  Field byOtherAccesses(const Value& v, const Extent& e) const {
    if (isa<Constant>(v)) return {};
    const DIType* type = nullptr;
    auto consider = [&](const Value& address) {
      for (const User* u : address.users())
        if (std::optional<Marker> m = markerOf(*u); m && m->step && m->alias.empty()) {
          if (type != nullptr && type != m->type) return false;
          type = m->type;
        }
      return true;
    };
    if (!consider(v)) return {};
    for (const User* u : v.users())
      if (isa<GetElementPtrInst>(u) && cast<GetElementPtrInst>(u)->getPointerOperand() == &v && !consider(*u))
        return {};
    return type == nullptr ? Field{} : fields_.at(type, e);
  }

  Keys& keys_;
  const Fields& fields_;
  const DataLayout& dl_;
  int steps_ = 0;
  SmallPtrSet<const PHINode*, 8> seen_;
};

}  // namespace

const std::vector<Field>& Keys::behind(const LoadInst& pointer) {
  // Empty while it is being found out: a list's pointer leads to itself.
  auto [it, fresh] = behind_.try_emplace(&pointer);
  if (!fresh) return it->second;
  std::vector<Field> fields = of(Touched{pointer.getPointerOperand(), 0, dl_.getTypeStoreSize(pointer.getType())});
  for (Field& f : fields) {
    const DIType* to = pointeeOf(f.type);
    if (!f.ofProgram || strip(f.type) == nullptr || (to == nullptr && !isPointer(f.type)) || asStruct(to) != nullptr)
      return behind_[&pointer];
    f.key += "[]";
    f.path += "[]";
    f.type = to;
  }
  return behind_[&pointer] = std::move(fields);
}

std::vector<Field> Keys::of(const Touched& touched) { return of(std::vector<Touched>{touched}); }

std::vector<Field> Keys::ofArray(const Value* address) {
  Trail trail(*this, fields_, dl_);
  Extent first{0, 1};
  first.array = true;
  trail.follow(address, first);
  if (!trail.known) return {};
  std::vector<Field> arrays;
  for (const Field& f : trail.found)
    if (StringRef(f.key).ends_with("[]")) arrays.push_back(f);
  return arrays;
}

std::vector<Field> Keys::of(const std::vector<Touched>& touched) {
  std::set<Field> all;
  for (const Touched& t : touched) {
    Trail trail(*this, fields_, dl_);
    trail.follow(t.pointer, {t.offset, t.size});
    if (!trail.known) return {};
    all.insert(trail.found.begin(), trail.found.end());
  }
  if (all.size() > kMostKeys) return {};
  return {all.begin(), all.end()};
}

}  // namespace blackout
