#include "infer/slicer.h"

#include <algorithm>

#include "infer/test_shapes.h"
#include "llvm/Analysis/ValueTracking.h"
#include "llvm/IR/IntrinsicInst.h"

using namespace llvm;

namespace blackout {

// Phis need a pass more for every level of loops. A set that still grows after so many is left as it is.
constexpr int kMostPasses = 12;

void FunctionSlicer::evaluate() {
  for (int pass = 0; pass < kMostPasses; ++pass) {
    changed_ = false;
    for (BlockNo b = 0; b < control_.blocks.endId(); ++b) {
      for (const Instruction& i : *control_.blocks[b]) visit(i, b);
      set(conditions_[b], conditionOf(*control_.blocks[b]->getTerminator()));
    }
    if (!changed_) break;
  }
}

void FunctionSlicer::visit(const Instruction& i, BlockNo block) {
  const CodeAccess* access = p_.code.accessOf(i);
  if (const auto* s = dyn_cast<StoreInst>(&i)) {
    store(s->getPointerOperand(), access == nullptr ? Keys{} : access->writtenKeys, of(s->getValueOperand()));
    return;
  }
  if (const auto* r = dyn_cast<ReturnInst>(&i)) {
    if (r->getReturnValue() != nullptr) add(returned_, of(r->getReturnValue()));
    return;
  }
  if (const auto* rmw = dyn_cast<AtomicRMWInst>(&i))
    store(rmw->getPointerOperand(), access == nullptr ? Keys{} : access->writtenKeys, of(rmw->getValOperand()));
  if (const auto* cas = dyn_cast<AtomicCmpXchgInst>(&i))
    store(cas->getPointerOperand(), access == nullptr ? Keys{} : access->writtenKeys, of(cas->getNewValOperand()));
  if (access != nullptr && access->written != nullptr && access->read != nullptr && access->written != access->read)
    copy(*access);
  if (i.getType()->isVoidTy() && !isa<CallBase>(i)) return;
  set(values_[numbers_.find(&i)->second], valueOf(i, block));
}

SetNo FunctionSlicer::valueOf(const Instruction& i, BlockNo block) {
  if (const auto* c = dyn_cast<CallBase>(&i)) return call(*c);
  if (const auto* p = dyn_cast<PHINode>(&i)) return phi(*p, block);
  if (const auto* c = dyn_cast<CmpInst>(&i))
    return compared(*c, of(c->getOperand(0)), of(c->getOperand(1)), sets_, p_.facts.reads, p_.code.fields, loops_);
  if (const auto* b = dyn_cast<BinaryOperator>(&i)) {
    SetNo all = 0;
    for (unsigned k = 0; k < 2; ++k)
      all = sets_.unite(
          all, sets_.map(of(b->getOperand(k)), [&](const Origin& o) { return afterOperation(*b, k, o.stage); }));
    return all;
  }
  if (const auto* s = dyn_cast<SelectInst>(&i)) {
    SetNo condition = decided(of(s->getCondition()), false, sets_, p_.facts.reads);
    return sets_.unite(condition, sets_.unite(of(s->getTrueValue()), of(s->getFalseValue())));
  }
  if (const auto* e = dyn_cast<ExtractValueInst>(&i)) {
    SetNo from = of(e->getAggregateOperand());
    // Whether the swap was made.
    bool success = isa<AtomicCmpXchgInst>(e->getAggregateOperand()) && e->getIndices()[0] == 1;
    return success ? atStage(from, tested(Shape::CompareAndSwap)) : from;
  }
  if (isa<LoadInst, AtomicRMWInst, AtomicCmpXchgInst>(i)) {
    const CodeAccess* access = p_.code.accessOf(i);
    return access == nullptr ? 0 : readBy(*access);
  }
  if (isa<AllocaInst, LandingPadInst, FuncletPadInst, VAArgInst>(i)) return 0;
  return operandsOf(i);  // casts, addresses, vectors, freeze
}

SetNo FunctionSlicer::phi(const PHINode& phi, BlockNo block) {
  SetNo all = 0;
  bool differ = false;
  const Loop* loop = loops_.isLoopHeader(phi.getParent()) ? loops_.getLoopFor(phi.getParent()) : nullptr;
  for (unsigned k = 0; k < phi.getNumIncomingValues(); ++k) {
    SetNo value = of(phi.getIncomingValue(k));
    // What is computed with on every turn is a sum.
    if (loop != nullptr && loop->contains(phi.getIncomingBlock(k)))
      value = sets_.map(value, [](const Origin& o) { return o.stage == kComputed ? kAccumulated : o.stage; });
    all = sets_.unite(all, value);
    differ |= phi.getIncomingValue(k) != phi.getIncomingValue(0);
  }
  if (differ)
    for (BlockNo by : control_.choosing(block)) all = sets_.unite(all, conditions_[by]);
  return all;
}

// The function's part of a summary in the terms of its caller.
SetNo FunctionSlicer::substituted(SetNo summary, const CallBase& call, FunctionNo callee) {
  std::uint32_t first = p_.code.firstArgument(callee);
  auto count = static_cast<std::uint32_t>(p_.code.functions[callee]->arg_size());
  std::vector<Origin> own;
  SetNo all = 0;
  for (const Origin& o : std::vector<Origin>(sets_.of(summary))) {
    if (o.kind != Origin::Argument) {
      own.push_back(o);
      if (o.kind == Origin::Read && o.spot != kAnySpot)
        own.back().spot = p_.facts.objects->inCaller(o.spot, *p_.code.functions[callee], spotsOf(call));
    } else if (o.no >= first && o.no - first < std::min<std::uint32_t>(count, call.arg_size())) {
      all = sets_.unite(all, atStage(of(call.getArgOperand(o.no - first)), o.stage));
    }
  }
  return sets_.unite(all, sets_.intern(std::move(own)));
}

static bool allocates(StringRef name) {
  return name.contains("alloc") || name.contains("memalign") || name.starts_with("_Zn") || name == "mmap" ||
         name == "mmap64" || name == "pmem_map_file";
}

// A lock decides too, but over who may go on, not over what is valid.
static bool locks(StringRef name) {
  return name.starts_with("pthread_") || name.starts_with("sem_") || name.starts_with("mtx_");
}

SetNo FunctionSlicer::call(const CallBase& call) {
  const CodeAccess* access = p_.code.accessOf(call);
  if (const Function* callee = calleeOf(call)) {
    FunctionNo no = p_.code.numberOf(callee);
    // Variables that the callee writes into.
    for (const OutFact& out : p_.facts.functions[no].outs) {
      if (out.argument >= call.arg_size()) continue;
      const Value* pointer = call.getArgOperand(out.argument);
      if (!pointer->getType()->isPointerTy()) continue;
      SetNo value = substituted(out.value, call, no);
      LocalPlace place = localPlace(pointer, f_.getParent()->getDataLayout());
      bool known = place.offset != kAnywhere && out.offset != kAnywhere;
      std::int64_t offset = known ? place.offset + out.offset : kAnywhere;
      if (place.variable != nullptr) {
        StackVariable& v = variables_[place.variable];
        add(v.cells[offset], value);
        add(v.all, value);
      } else if (const auto* a = dyn_cast<Argument>(getUnderlyingObject(pointer))) {
        add(outs_[{a->getArgNo(), a == pointer ? out.offset : kAnywhere}], value);
      }
    }
    return substituted(p_.returned[no], call, no);
  }
  if (access != nullptr && access->read != nullptr &&
      (access->texts || access->written == nullptr || access->written == access->read)) {
    SetNo read = readBy(*access);
    // libatomic leaves what it read in a variable.
    for (const Value* v : call.args())
      if (v->getType()->isPointerTy() && v != access->read && !access->texts) {
        LocalPlace place = localPlace(v, f_.getParent()->getDataLayout());
        if (place.variable == nullptr) continue;
        add(variables_[place.variable].cells[place.offset], read);
        add(variables_[place.variable].all, read);
      }
    if (access->swaps) return atStage(read, tested(Shape::CompareAndSwap));
    if (access->texts) return sets_.unite(atStage(read, kComputed), atStage(operandsOf(call), kComputed));
    return read;
  }
  const Function* callee = call.getCalledFunction();
  if (callee == nullptr || call.getType()->isVoidTy() || allocates(callee->getName())) return 0;
  SetNo arguments = 0;
  for (const Value* v : call.args()) arguments = sets_.unite(arguments, of(v));
  if (callee->isIntrinsic()) return arguments;
  // A function of another library, over what it was given: a number that it makes of a field is a checksum, for all
  // that is known, or the like.
  SetNo all = call.getType()->isPointerTy() ? arguments : atStage(arguments, kAccumulated);
  if (!call.getType()->isPointerTy() && !locks(callee->getName()))
    for (unsigned k = 0; k < call.arg_size(); ++k)
      for (KeyNo key : p_.code.fields.argument(call, k))
        if (!p_.code.fields.isStruct(key) && p_.types.isPersistent(key)) {
          AccessSite site = p_.code.sites.of(call, SiteClass::Call);
          all = sets_.unite(all, sets_.one(Origin::ofRead(p_.facts.reads.of(site, key, false), kAccumulated,
                                                          spotOf(call.getArgOperand(k)), key)));
        }
  return all;
}

// What an access that reads gets.
SetNo FunctionSlicer::readBy(const CodeAccess& access) {
  const DataLayout& dl = f_.getParent()->getDataLayout();
  SetNo all = 0;
  if (!access.texts) {
    LocalPlace place = localPlace(access.read, dl);
    if (place.variable != nullptr) return loadedFrom(place.variable, place.offset, access.readKeys, 0);
  }
  if (access.readsLocal) return 0;
  for (KeyNo key : access.readKeys) {
    Origin o = p_.types.isPersistent(key)
                   ? Origin::ofRead(p_.facts.reads.of(access.site, key, access.swaps), kRaw, spotOf(access.read), key)
                   : Origin{Origin::Memory, kRaw, p_.memoryOf(key)};
    all = sets_.unite(all, sets_.one(o));
  }
  if (access.readKeys.empty())
    if (const auto* g = dyn_cast<GlobalVariable>(getUnderlyingObject(access.read)); g != nullptr && !g->isConstant())
      all = sets_.one({Origin::Memory, kRaw, p_.memoryOf(g)});
  return all;
}

SetNo FunctionSlicer::loadedFrom(const Value* variable, std::int64_t offset, const Keys& keys, int depth) {
  auto at = variables_.find(variable);
  if (at == variables_.end() || depth > 4) return 0;
  const StackVariable& v = at->second;
  SetNo all = 0;
  if (offset == kAnywhere) {
    all = v.all;
  } else {
    for (std::int64_t cell : {offset, kAnywhere})
      if (auto c = v.cells.find(cell); c != v.cells.end()) all = sets_.unite(all, c->second);
  }
  for (const StackVariable::Copy& c : v.copies) {
    if (c.from != nullptr) {
      bool known = offset != kAnywhere && c.shifted;
      all = sets_.unite(all, loadedFrom(c.from, known ? offset + c.shift : kAnywhere, keys, depth + 1));
      continue;
    }
    // A copy of a whole struct is a read of the field that is looked at in the copy.
    for (KeyNo source : c.access->readKeys) {
      Keys read;
      for (KeyNo own : keys)
        if (p_.code.fields.structOf(own) == p_.code.fields.structOf(source)) read.push_back(own);
      if (read.empty()) read.push_back(source);
      for (KeyNo key : read)
        if (p_.types.isPersistent(key))
          all = sets_.unite(all, sets_.one(Origin::ofRead(p_.facts.reads.of(c.access->site, key, false), kRaw,
                                                          spotOf(c.access->read), key)));
    }
  }
  return all;
}

void FunctionSlicer::store(const Value* pointer, const Keys& keys, SetNo value) {
  if (value == 0) return;
  const DataLayout& dl = f_.getParent()->getDataLayout();
  LocalPlace place = localPlace(pointer, dl);
  if (place.variable != nullptr) {
    StackVariable& v = variables_[place.variable];
    add(v.cells[place.offset], value);
    add(v.all, value);
    return;
  }
  APInt offset(dl.getIndexTypeSizeInBits(pointer->getType()), 0);
  const Value* base = pointer->stripAndAccumulateConstantOffsets(dl, offset, true);
  if (const auto* a = dyn_cast<Argument>(base))
    add(outs_[{a->getArgNo(), offset.getSExtValue()}], value);
  else if (const auto* in = dyn_cast<Argument>(getUnderlyingObject(pointer)))
    add(outs_[{in->getArgNo(), kAnywhere}], value);
  for (KeyNo key : keys)
    if (!p_.types.isPersistent(key)) add(p_.facts.stored[p_.memoryOf(key)], value);
  if (keys.empty())
    if (const auto* g = dyn_cast<GlobalVariable>(getUnderlyingObject(pointer)))
      add(p_.facts.stored[p_.memoryOf(g)], value);
}

void FunctionSlicer::copy(const CodeAccess& access) {
  const DataLayout& dl = f_.getParent()->getDataLayout();
  LocalPlace to = localPlace(access.written, dl), from = localPlace(access.read, dl);
  if (to.variable == nullptr) return;
  StackVariable& v = variables_[to.variable];
  for (const StackVariable::Copy& c : v.copies)
    if (c.access == &access) return;
  StackVariable::Copy c{&access, from.variable, from.offset - to.offset,
                        from.offset != kAnywhere && to.offset != kAnywhere};
  if (from.variable == nullptr && access.readKeys.empty()) return;
  v.copies.push_back(c);
  changed_ = true;
}

SetNo FunctionSlicer::conditionOf(const Instruction& terminator) {
  const Value* condition = nullptr;
  if (const auto* branch = dyn_cast<BranchInst>(&terminator); branch != nullptr && branch->isConditional())
    condition = branch->getCondition();
  const auto* choice = dyn_cast<SwitchInst>(&terminator);
  if (choice != nullptr) condition = choice->getCondition();
  if (condition == nullptr) return 0;
  return decided(of(condition), choice != nullptr, sets_, p_.facts.reads);
}

}  // namespace blackout
