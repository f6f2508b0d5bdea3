#include "pass/markers.h"

#include "llvm/BinaryFormat/Dwarf.h"
#include "llvm/IR/Constants.h"
#include "llvm/IR/DebugInfo.h"
#include "llvm/IR/DebugProgramInstruction.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/IntrinsicInst.h"

using namespace llvm;

namespace blackout {

static constexpr const char* kFunction = "blackout.marker";
static constexpr const char* kNode = "blackout.marker";

const DIType* declaredType(const Value& storage) {
  if (const auto* global = dyn_cast<GlobalVariable>(&storage)) {
    SmallVector<DIGlobalVariableExpression*, 1> all;
    global->getDebugInfo(all);
    return all.size() == 1 && all[0]->getExpression()->getNumElements() == 0 ? all[0]->getVariable()->getType()
                                                                             : nullptr;
  }
  auto* value = const_cast<Value*>(&storage);
  const DIType* result = nullptr;
  bool clash = false;
  auto consider = [&](const DILocalVariable* v, const DIExpression* e) {
    // With an operation (the variable is elsewhere, its address is here) it is another type.
    if (e->getNumElements() != 0) return;
    clash |= result != nullptr && result != v->getType();
    result = v->getType();
  };
  for (DbgVariableRecord* r : findDVRDeclares(value)) consider(r->getVariable(), r->getExpression());
  for (DbgDeclareInst* d : findDbgDeclares(value)) consider(d->getVariable(), d->getExpression());
  return clash ? nullptr : result;
}

namespace {

// A variable that is only pointed to from where its declaration stands: the result of a function that returns it in
// memory, an argument that is passed in memory.
const DIType* declaredIndirectly(const Value& storage) {
  auto* value = const_cast<Value*>(&storage);
  auto derefs = [](const DIExpression* e) {
    return e->getNumElements() == 1 && e->getElement(0) == dwarf::DW_OP_deref;
  };
  for (DbgVariableRecord* r : findDVRDeclares(value))
    if (derefs(r->getExpression())) return r->getVariable()->getType();
  for (DbgDeclareInst* d : findDbgDeclares(value))
    if (derefs(d->getExpression())) return d->getVariable()->getType();
  return nullptr;
}

class Typing {
 public:
  Typing(const Fields& fields, const DataLayout& dl) : fields_(fields), dl_(dl) {}

  // What stands where the pointer points to, by debug info; null if unknown.
  const DIType* pointee(const Value& pointer) {
    auto [it, fresh] = known_.try_emplace(&pointer, nullptr);
    if (!fresh) return it->second;  // null for a cycle of phis, too
    const DIType* type = find(pointer);
    known_[&pointer] = type;
    return type;
  }

  // The struct and the place in it of the member that a getelementptr leads to.
  struct Member {
    const DICompositeType* type = nullptr;
    std::string alias;
    std::int64_t offset = 0;
    std::uint64_t size = 0;
  };
  Member member(const GEPOperator& gep) {
    Member m;
    auto* type = dyn_cast<StructType>(gep.getSourceElementType());
    if (type == nullptr || gep.getNumIndices() != 2) return m;
    const auto* index = dyn_cast<ConstantInt>((gep.idx_begin() + 1)->get());
    if (index == nullptr) return m;
    auto field = static_cast<unsigned>(index->getZExtValue());
    m.offset = static_cast<std::int64_t>(dl_.getStructLayout(type)->getElementOffset(field).getFixedValue());
    m.size = dl_.getTypeAllocSize(type->getElementType(field));
    m.type = fields_.ofIrType(*type, pointee(*gep.getPointerOperand()), static_cast<std::uint64_t>(m.offset), m.alias);
    return m;
  }

 private:
  const DIType* find(const Value& pointer) {
    if (const DIType* declared = declaredType(pointer)) return strip(declared);
    if (const auto* load = dyn_cast<LoadInst>(&pointer)) {
      if (const DIType* indirect = declaredIndirectly(*load->getPointerOperand())) return strip(indirect);
      return pointeeOf(pointee(*load->getPointerOperand()));
    }
    if (const auto* gep = dyn_cast<GEPOperator>(&pointer)) return ofGep(*gep);
    if (const auto* call = dyn_cast<CallBase>(&pointer)) {
      const Function* callee = call->getCalledFunction();
      const DISubprogram* sp = callee == nullptr ? nullptr : callee->getSubprogram();
      if (sp == nullptr || sp->getType() == nullptr) return nullptr;
      DITypeRefArray types = sp->getType()->getTypeArray();
      return types.size() == 0 ? nullptr : pointeeOf(types[0]);
    }
    SmallVector<const Value*, 4> from;
    if (const auto* phi = dyn_cast<PHINode>(&pointer))
      from.append(phi->op_begin(), phi->op_end());
    else if (const auto* select = dyn_cast<SelectInst>(&pointer))
      from = {select->getTrueValue(), select->getFalseValue()};
    const DIType* common = nullptr;
    for (const Value* v : from) {
      if (isa<Constant>(v) && cast<Constant>(v)->isNullValue()) continue;
      const DIType* t = pointee(*v);
      if (t == nullptr || (common != nullptr && common != t)) return nullptr;
      common = t;
    }
    return common;
  }

  const DIType* ofGep(const GEPOperator& gep) {
    if (isa<StructType>(gep.getSourceElementType()) && gep.getNumIndices() == 2) {
      Member m = member(gep);
      if (m.type == nullptr || !m.alias.empty()) return nullptr;
      // The member itself, not what is innermost in it.
      for (const DINode* element : m.type->getElements()) {
        const auto* d = dyn_cast_or_null<DIDerivedType>(element);
        if (d == nullptr || d->isStaticMember() || d->isBitField()) continue;
        if (d->getTag() != dwarf::DW_TAG_member && d->getTag() != dwarf::DW_TAG_inheritance) continue;
        if (d->getFlags() & DINode::FlagVirtual && d->getTag() == dwarf::DW_TAG_inheritance) continue;
        if (static_cast<std::int64_t>(d->getOffsetInBits() / 8) != m.offset) continue;
        if (bytesOf(d->getBaseType()) == 0 && m.size != 0) continue;
        return strip(d->getBaseType());
      }
      return nullptr;
    }
    const DIType* of = pointee(*gep.getPointerOperand());
    if (of == nullptr) return nullptr;
    if (isa<ArrayType>(gep.getSourceElementType()) && gep.getNumIndices() == 2) {
      // int a[2][3] is one array of two dimensions in debug info.
      const auto* array = dyn_cast<DICompositeType>(of);
      if (array == nullptr || array->getTag() != dwarf::DW_TAG_array_type) return nullptr;
      return isa<ArrayType>(gep.getResultElementType()) ? of : strip(array->getBaseType());
    }
    if (gep.getNumIndices() != 1) return nullptr;
    if (gep.getSourceElementType()->isIntegerTy(8) && asStruct(of) != nullptr) {
      // To a base class.
      APInt offset(64, 0);
      if (!gep.accumulateConstantOffset(dl_, offset)) return nullptr;
      for (const DINode* element : asStruct(of)->getElements()) {
        const auto* d = dyn_cast_or_null<DIDerivedType>(element);
        if (d != nullptr && d->getTag() == dwarf::DW_TAG_inheritance && !(d->getFlags() & DINode::FlagVirtual) &&
            d->getOffsetInBits() / 8 == offset.getZExtValue())
          return strip(d->getBaseType());
      }
      return nullptr;
    }
    return of;
  }

  const Fields& fields_;
  const DataLayout& dl_;
  DenseMap<const Value*, const DIType*> known_;
};

// One getelementptr per level, as the front end makes them.
void splitGeps(Function& f) {
  for (Instruction& i : make_early_inc_range(instructions(f))) {
    auto* gep = dyn_cast<GetElementPtrInst>(&i);
    if (gep == nullptr || gep->getNumIndices() <= 2 || gep->getType()->isVectorTy()) continue;
    IRBuilder<> b(gep);
    SmallVector<Value*, 4> indices(gep->idx_begin(), gep->idx_end());
    Value* at = gep->getPointerOperand();
    Type* type = gep->getSourceElementType();
    Value* first = indices[0];
    for (std::size_t k = 1; k < indices.size(); ++k) {
      at = b.Insert(GetElementPtrInst::Create(type, at, {first, indices[k]}));
      type = GetElementPtrInst::getTypeAtIndex(type, indices[k]);
      first = ConstantInt::get(first->getType(), 0);
    }
    gep->replaceAllUsesWith(at);
    gep->eraseFromParent();
  }
}

}  // namespace

void addMarkers(Module& m, const Fields& fields) {
  LLVMContext& c = m.getContext();
  auto* ptr = PointerType::get(c, 0);
  FunctionCallee function = m.getOrInsertFunction(kFunction, FunctionType::get(ptr, {ptr}, false));
  auto* declaration = cast<Function>(function.getCallee());
  declaration->setMemoryEffects(MemoryEffects::none());
  declaration->setDoesNotThrow();
  declaration->setWillReturn();
  auto number = [&](std::uint64_t n) -> Metadata* {
    return ConstantAsMetadata::get(ConstantInt::get(Type::getInt64Ty(c), n));
  };
  unsigned kind = c.getMDKindID(kNode);
  struct Found {
    Instruction* of;
    MDNode* node;
  };
  for (Function& f : m) {
    if (f.isDeclaration()) continue;
    splitGeps(f);
    if (f.getSubprogram() == nullptr) continue;
    Typing typing(fields, m.getDataLayout());
    std::vector<Found> found;
    for (Instruction& i : instructions(f)) {
      if (i.getType() != ptr || i.use_empty()) continue;
      if (auto* gep = dyn_cast<GetElementPtrInst>(&i)) {
        Typing::Member member = typing.member(cast<GEPOperator>(*gep));
        if (member.type == nullptr) continue;
        found.push_back(
            {&i, MDNode::get(c, {const_cast<DICompositeType*>(member.type), MDString::get(c, member.alias), number(1),
                                 number(static_cast<std::uint64_t>(member.offset)), number(member.size)})});
      } else if (isa<LoadInst, CallInst, InvokeInst>(i)) {
        const DICompositeType* type = asStruct(typing.pointee(i));
        if (type == nullptr || (isa<InvokeInst>(i) && !cast<InvokeInst>(i).getNormalDest()->getSinglePredecessor()) ||
            (isa<CallInst>(i) && cast<CallInst>(i).isMustTailCall()))
          continue;
        found.push_back({&i, MDNode::get(c, {const_cast<DICompositeType*>(type), MDString::get(c, ""), number(0),
                                             number(0), number(0)})});
      }
    }
    for (const Found& one : found) {
      std::optional<BasicBlock::iterator> at = one.of->getInsertionPointAfterDef();
      if (!at) continue;
      auto* call = CallInst::Create(function, {one.of}, "", *at);
      call->setDebugLoc(one.of->getDebugLoc());
      call->setMetadata(kind, one.node);
      one.of->replaceUsesWithIf(call, [&](Use& u) { return u.getUser() != call; });
    }
  }
}

bool isMarker(const Value& v) {
  const auto* call = dyn_cast<CallInst>(&v);
  return call != nullptr && call->getCalledFunction() != nullptr && call->getCalledFunction()->getName() == kFunction;
}

std::optional<Marker> markerOf(const Value& v) {
  if (!isMarker(v)) return std::nullopt;
  const MDNode* node = cast<CallInst>(v).getMetadata(kNode);
  if (node == nullptr) return std::nullopt;
  auto number = [&](unsigned n) { return mdconst::extract<ConstantInt>(node->getOperand(n))->getZExtValue(); };
  return Marker{cast<DIType>(node->getOperand(0)), cast<MDString>(node->getOperand(1))->getString().str(),
                number(2) != 0, static_cast<std::int64_t>(number(3)), number(4)};
}

static void remove(CallInst& marker) {
  marker.replaceAllUsesWith(marker.getArgOperand(0));
  marker.eraseFromParent();
}

bool removeMarkersOfLocals(Function& f) {
  SmallVector<Value*, 32> work;
  SmallPtrSet<Value*, 32> seen;
  SmallVector<CallInst*, 16> markers;
  for (Instruction& i : instructions(f))
    if (isa<AllocaInst>(i)) work.push_back(&i);
  while (!work.empty()) {
    Value* v = work.pop_back_val();
    if (!seen.insert(v).second) continue;
    for (User* u : v->users()) {
      if (isMarker(*u)) markers.push_back(cast<CallInst>(u));
      if (isMarker(*u) || isa<GetElementPtrInst, PHINode, SelectInst>(u)) work.push_back(u);
    }
  }
  bool any = false;
  SmallPtrSet<CallInst*, 16> gone;
  for (CallInst* m : markers)
    if (gone.insert(m).second) {
      remove(*m);
      any = true;
    }
  return any;
}

void removeMarkers(Module& m) {
  Function* f = m.getFunction(kFunction);
  if (f == nullptr) return;
  for (User* u : make_early_inc_range(f->users()))
    if (isMarker(*u)) remove(*cast<CallInst>(u));
  if (f->use_empty()) f->eraseFromParent();
}

}  // namespace blackout
