#include "infer/objects.h"

#include <algorithm>

#include "llvm/IR/Constants.h"
#include "llvm/IR/GlobalVariable.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/Operator.h"

using namespace llvm;

namespace blackout {

namespace {

// What is reached from more objects than this is taken for reached from anywhere.
constexpr std::size_t kMostAbove = 96;

// As many values may come into a variable; what else does is not followed.
constexpr std::size_t kMostStored = 32;

// Code that takes an address through more steps than this was not written by hand.
constexpr int kMostSteps = 1000;

// Through what only changes the type, or takes tag bits off.
const Value* plain(const Value* v) {
  for (;;) {
    if (const auto* cast = dyn_cast<CastInst>(v)) {
      v = cast->getOperand(0);
    } else if (const auto* freeze = dyn_cast<FreezeInst>(v)) {
      v = freeze->getOperand(0);
    } else if (const auto* operation = dyn_cast<BinaryOperator>(v); operation != nullptr &&
                                                                    isa<ConstantInt>(operation->getOperand(1)) &&
                                                                    operation->getOpcode() != Instruction::Mul) {
      v = operation->getOperand(0);
    } else {
      return v;
    }
  }
}

// What comes into a local variable that has stayed in memory: what is stored at the offset or at a place that varies,
// and what calls that were given the variable were given too.
std::vector<const Value*> storedInto(const AllocaInst& variable, std::int64_t offset) {
  std::vector<const Value*> values;
  const DataLayout& dl = variable.getModule()->getDataLayout();
  std::vector<std::pair<const Value*, std::int64_t>> work{{&variable, 0}};
  while (!work.empty() && values.size() < kMostStored) {
    auto [address, at] = work.back();
    work.pop_back();
    for (const User* user : address->users()) {
      if (const auto* gep = dyn_cast<GetElementPtrInst>(user)) {
        APInt constant(64, 0);
        bool fixed = at >= 0 && gep->accumulateConstantOffset(dl, constant);
        work.emplace_back(gep, fixed ? at + constant.getSExtValue() : -1);
      } else if (const auto* store = dyn_cast<StoreInst>(user);
                 store != nullptr && store->getPointerOperand() == address) {
        if (at < 0 || at == offset) values.push_back(store->getValueOperand());
      } else if (const auto* call = dyn_cast<CallBase>(user)) {
        for (const Value* a : call->args())
          if (a != address && a->getType()->isPointerTy()) values.push_back(a);
      }
    }
  }
  return values;
}

}  // namespace

Objects::Objects(const Module& m) : dl_(m.getDataLayout()) {
  Spot any;
  any.any = true;
  spots_.push_back(any);
  intern({});
}

// To where the address begins: the steps in between are offsets and indices.
Objects::Address Objects::addressOf(const Value* pointer) const {
  Address a;
  a.base = plain(pointer);
  while (const auto* gep = dyn_cast<GEPOperator>(a.base)) {
    MapVector<Value*, APInt> variable;
    APInt constant(64, 0);
    if (gep->getType()->isVectorTy() || !gep->collectOffset(dl_, 64, variable, constant)) break;
    a.offset += constant.getSExtValue();
    for (const auto& [index, scale] : variable) a.indices.emplace_back(plain(index), scale.getZExtValue());
    a.base = plain(gep->getPointerOperand());
  }
  return a;
}

ObjectNo Objects::make(const Value* v, bool open) {
  auto no = objects_.endId();
  Object o;
  o.value = v;
  o.open = open;
  o.same = no;
  objects_.push_back(std::move(o));
  if (v != nullptr) numbers_[v] = no;
  return no;
}

// The number is there before the parts are looked at: a phi may lead back to itself.
ObjectNo Objects::madeOf(const Value* v, const std::vector<const Value*>& parts) {
  ObjectNo no = make(v, false);
  std::vector<ObjectNo> parents;
  for (const Value* part : parts)
    if (!isa<Constant>(part) || isa<GlobalValue>(part)) parents.push_back(objectOf(part));
  // A pointer that only moves on in its object, as in a loop over an array, is that object.
  std::vector<ObjectNo> others;
  for (ObjectNo parent : parents)
    if (same(parent) != no && (others.empty() || others[0] != same(parent))) others.push_back(same(parent));
  if ((isa<PHINode, SelectInst>(v)) && others.size() == 1) objects_[no].same = others[0];
  objects_[no].parents = std::move(parents);
  return same(no);
}

ObjectNo Objects::same(ObjectNo no) const {
  while (objects_[no].same != no) no = objects_[no].same;
  return no;
}

ObjectNo Objects::objectOf(const Value* value) {
  Address address = addressOf(value);
  const Value* v = address.base;
  if (auto known = numbers_.find(v); known != numbers_.end()) return same(known->second);
  if (depth_ > kMostSteps) return make(nullptr, true);
  struct Deeper {
    int& depth;
    explicit Deeper(int& d) : depth(d) { ++depth; }
    ~Deeper() { --depth; }
  } deeper(depth_);
  if (const auto* load = dyn_cast<LoadInst>(v)) {
    Address from = addressOf(load->getPointerOperand());
    std::vector<std::pair<ObjectNo, std::uint64_t>> indices;
    for (const auto& [index, scale] : from.indices)
      if (!isa<Constant>(index)) indices.emplace_back(objectOf(index), scale);
    ObjectNo base = objectOf(from.base);
    std::sort(indices.begin(), indices.end());
    Place place{base, from.offset, indices};
    if (auto same = places_.find(place); same != places_.end()) return numbers_[v] = same->second;
    // Meanwhile the load itself may have been met, on the way round a loop.
    if (auto known = numbers_.find(v); known != numbers_.end()) return same(known->second);
    ObjectNo no = make(v, false);
    places_[place] = no;
    std::vector<ObjectNo> parents{base};
    for (const auto& [index, scale] : indices) parents.push_back(index);
    if (const auto* variable = dyn_cast<AllocaInst>(from.base))
      for (const Value* stored : storedInto(*variable, from.offset)) parents.push_back(objectOf(stored));
    objects_[no].parents = std::move(parents);
    return no;
  }
  if (const auto* phi = dyn_cast<PHINode>(v)) return madeOf(v, {phi->op_begin(), phi->op_end()});
  if (const auto* select = dyn_cast<SelectInst>(v)) return madeOf(v, {select->getTrueValue(), select->getFalseValue()});
  if (const auto* call = dyn_cast<CallBase>(v)) {
    std::vector<const Value*> parts;
    for (const Value* a : call->args())
      if (a->getType()->isPointerTy() || a->getType()->isIntegerTy(64)) parts.push_back(a);
    return madeOf(v, parts);
  }
  if (const auto* operation = dyn_cast<BinaryOperator>(v))
    return madeOf(v, {operation->getOperand(0), operation->getOperand(1)});
  if (const auto* part = dyn_cast<ExtractValueInst>(v)) return madeOf(v, {part->getAggregateOperand()});
  if (const auto* rmw = dyn_cast<AtomicRMWInst>(v)) return madeOf(v, {rmw->getPointerOperand()});
  if (const auto* cas = dyn_cast<AtomicCmpXchgInst>(v)) return madeOf(v, {cas->getPointerOperand()});
  return make(v, !isa<Argument, GlobalVariable, AllocaInst>(v));
}

const std::vector<ObjectNo>& Objects::above(ObjectNo no) {
  if (objects_[no].closed) return objects_[no].above;
  std::vector<ObjectNo> all{no}, work{no};
  bool open = objects_[no].open;
  while (!work.empty() && !open) {
    ObjectNo from = work.back();
    work.pop_back();
    for (ObjectNo parent : objects_[from].parents) {
      parent = same(parent);
      if (std::find(all.begin(), all.end(), parent) != all.end()) continue;
      all.push_back(parent);
      work.push_back(parent);
      open |= objects_[parent].open || all.size() > kMostAbove;
    }
  }
  std::sort(all.begin(), all.end());
  Object& o = objects_[no];
  o.above = std::move(all);
  o.open = open;
  o.closed = true;
  return o.above;
}

SpotNo Objects::intern(Spot spot) {
  for (auto* list : {&spot.bases, &spot.indices}) {
    for (ObjectNo& o : *list) o = same(o);
    std::sort(list->begin(), list->end());
    list->erase(std::unique(list->begin(), list->end()), list->end());
  }
  auto [at, fresh] = spotNumbers_.try_emplace(spot, spots_.endId());
  if (fresh) spots_.push_back(std::move(spot));
  return at->second;
}

SpotNo Objects::spotOf(const Value* pointer) {
  Address address = addressOf(pointer);
  Spot spot;
  spot.bases = {objectOf(address.base)};
  for (const auto& [index, scale] : address.indices)
    if (!isa<Constant>(index)) spot.indices.push_back(objectOf(index));
  if (const auto* i = dyn_cast<Instruction>(address.base))
    spot.function = i->getFunction();
  else if (const auto* a = dyn_cast<Argument>(address.base))
    spot.function = a->getParent();
  return intern(std::move(spot));
}

std::vector<unsigned> Objects::argumentsAbove(SpotNo no) {
  std::vector<unsigned> arguments;
  for (const auto* list : {&spots_[no].bases, &spots_[no].indices})
    for (ObjectNo base : std::vector<ObjectNo>(*list))
      for (ObjectNo o : above(base))
        if (const auto* a = dyn_cast_or_null<Argument>(objects_[o].value)) arguments.push_back(a->getArgNo());
  std::sort(arguments.begin(), arguments.end());
  arguments.erase(std::unique(arguments.begin(), arguments.end()), arguments.end());
  return arguments;
}

SpotNo Objects::inCaller(SpotNo no, const Function& callee, const std::vector<SpotNo>& actuals) {
  if (spots_[no].any || spots_[no].function != &callee) return no;
  Spot spot;
  for (unsigned k : argumentsAbove(no)) {
    if (k >= actuals.size() || actuals[k] == kAnySpot) return kAnySpot;
    const Spot& actual = spots_[actuals[k]];
    spot.bases.insert(spot.bases.end(), actual.bases.begin(), actual.bases.end());
    spot.function = actual.function == nullptr ? spot.function : actual.function;
  }
  if (spot.bases.empty()) return kAnySpot;
  spot.below = true;
  return intern(std::move(spot));
}

bool Objects::reaches(SpotNo from, ObjectNo to) {
  for (std::size_t side = 0; side < 2; ++side) {
    const std::vector<ObjectNo> starts = side == 0 ? spots_[from].bases : spots_[from].indices;
    for (ObjectNo start : starts) {
      const std::vector<ObjectNo>& all = above(start);
      if (std::binary_search(all.begin(), all.end(), to)) return true;
      // An index that comes from nowhere is a number; a base that does may be anything.
      if (side == 0 && objects_[start].open) return true;
    }
  }
  return false;
}

bool Objects::isSameObject(SpotNo a, SpotNo b) const {
  if (spots_[a].below || spots_[b].below) return false;
  const std::vector<ObjectNo>& mine = spots_[a].bases;
  return std::any_of(mine.begin(), mine.end(),
                     [&](ObjectNo o) { return std::binary_search(spots_[b].bases.begin(), spots_[b].bases.end(), o); });
}

bool Objects::isRelated(SpotNo read, SpotNo test) {
  if (read == test || spots_[read].any || spots_[test].any) return true;
  const Function *in = spots_[read].function, *of = spots_[test].function;
  if (in != nullptr && of != nullptr && in != of) return true;
  for (ObjectNo base : spots_[test].bases)
    if (objects_[base].open || reaches(read, base)) return true;
  const std::vector<ObjectNo>&mine = spots_[read].indices, &its = spots_[test].indices;
  return std::any_of(mine.begin(), mine.end(),
                     [&](ObjectNo i) { return std::binary_search(its.begin(), its.end(), i); });
}

}  // namespace blackout
