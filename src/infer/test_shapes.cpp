#include "infer/test_shapes.h"

#include "llvm/ADT/SmallVector.h"
#include "llvm/IR/Constants.h"
#include "llvm/IR/Operator.h"

using namespace llvm;

namespace blackout {

static const Value* withoutCasts(const Value* v) {
  for (int steps = 0; steps < 16; ++steps) {
    if (const auto* c = dyn_cast<CastInst>(v))
      v = c->getOperand(0);
    else if (const auto* f = dyn_cast<FreezeInst>(v))
      v = f->getOperand(0);
    else
      break;
  }
  return v;
}

// i + 1 is as good as i.
static const Value* withoutConstants(const Value* v) {
  for (int steps = 0; steps < 16; ++steps) {
    v = withoutCasts(v);
    const auto* op = dyn_cast<BinaryOperator>(v);
    if (op != nullptr && isa<ConstantInt>(op->getOperand(1)) &&
        (op->getOpcode() == Instruction::Add || op->getOpcode() == Instruction::Sub)) {
      v = op->getOperand(0);
      continue;
    }
    const auto* gep = dyn_cast<GetElementPtrInst>(v);
    if (gep == nullptr || !gep->hasAllConstantIndices()) break;
    v = gep->getPointerOperand();
  }
  return v;
}

bool isCounter(const Value* v, const LoopInfo& loops) {
  const auto* phi = dyn_cast<PHINode>(withoutConstants(v));
  if (phi == nullptr || !loops.isLoopHeader(phi->getParent())) return false;
  const Loop* loop = loops.getLoopFor(phi->getParent());
  for (unsigned k = 0; k < phi->getNumIncomingValues(); ++k) {
    if (!loop->contains(phi->getIncomingBlock(k))) continue;
    const Value* next = withoutCasts(phi->getIncomingValue(k));
    const auto* op = dyn_cast<BinaryOperator>(next);
    bool steps = op != nullptr && (op->getOpcode() == Instruction::Add || op->getOpcode() == Instruction::Sub);
    if (!steps && !isa<GetElementPtrInst>(next)) continue;
    bool own = false, fixed = true;
    for (const Value* operand : cast<User>(next)->operands()) {
      if (withoutCasts(operand) == phi)
        own = true;
      else
        fixed &= loop->isLoopInvariant(operand);
    }
    if (own && fixed) return true;
  }
  return false;
}

static bool isOneBit(const Value* v) {
  const auto* shift = dyn_cast<BinaryOperator>(withoutCasts(v));
  return isa<Constant>(v) ||
         (shift != nullptr && shift->getOpcode() == Instruction::Shl && isa<Constant>(shift->getOperand(0)));
}

Stage afterOperation(const BinaryOperator& operation, unsigned operand, Stage before) {
  // Truth values are combined, not changed.
  if (isTested(before) || operation.getType()->isIntOrIntVectorTy(1)) return before;
  const Value* other = operation.getOperand(1 - operand);
  switch (operation.getOpcode()) {
    case Instruction::And:
      if (isOneBit(other)) return std::max(before, kMasked);
      break;
    case Instruction::LShr:
    case Instruction::AShr:
      // The value is shifted, whatever the distance; the distance is computed with.
      if (operand == 0) return std::max(before, kMasked);
      break;
    default:
      break;
  }
  return isa<Constant>(other) ? before : std::max(before, kComputed);
}

// Compared with an index, a value is a bound.
static bool isIndex(const Value* v) {
  SmallVector<const Value*, 8> work{withoutCasts(v)};
  for (unsigned k = 0; k < work.size() && k < 32; ++k)
    for (const User* user : work[k]->users()) {
      if (const auto* gep = dyn_cast<GetElementPtrInst>(user)) {
        for (const Value* index : gep->indices())
          if (index == work[k]) return true;
      } else if (isa<CastInst>(user) && work.size() < 32) {
        work.push_back(user);
      }
    }
  return false;
}

static bool isPlainConstant(const Value* v) { return isa<ConstantData>(v); }

static Stage withConstant(const Origin& o, bool null, const ReadTable& reads) {
  if (isTested(o.stage)) return o.stage;
  if (o.stage == kMasked) return tested(Shape::Mask);
  if (o.stage != kRaw) return tested(Shape::Comparison);
  if (o.kind == Origin::Read && reads.at(o.read()).swaps) return tested(Shape::CompareAndSwap);
  return tested(null ? Shape::NullCheck : Shape::Flag);
}

// Of a side of a comparison: the read that it is, if it is exactly one.
static const Origin* onlyRead(const std::vector<Origin>& side) {
  return side.size() == 1 && side[0].kind == Origin::Read && side[0].stage == kRaw ? &side[0] : nullptr;
}

static bool isVersionPair(const CmpInst& compare, const std::vector<Origin>& left, const std::vector<Origin>& right,
                          const ReadTable& reads, const FieldTable& fields) {
  const Origin *a = onlyRead(left), *b = onlyRead(right);
  if (!compare.isEquality() || a == nullptr || b == nullptr) return false;
  KeyNo first = reads.at(a->read()).key, second = reads.at(b->read()).key;
  if (first == second) return withoutCasts(compare.getOperand(0)) != withoutCasts(compare.getOperand(1));
  return compare.getOperand(0)->getType()->isIntegerTy() && fields.structOf(first) == fields.structOf(second);
}

static bool isChecksum(const CmpInst& compare, const std::vector<Origin>& sum, const std::vector<Origin>& stored) {
  if (!compare.isEquality()) return false;
  bool summed = false, raw = false;
  for (const Origin& o : sum) summed |= o.kind != Origin::Argument && o.stage == kAccumulated;
  for (const Origin& o : stored) {
    if (o.stage == kAccumulated) return false;
    raw |= o.kind != Origin::Memory && !isTested(o.stage);
  }
  return summed && raw;
}

SetNo compared(const CmpInst& compare, SetNo left, SetNo right, ValueSets& sets, const ReadTable& reads,
               const FieldTable& fields, const LoopInfo& loops) {
  if (left == 0 && right == 0) return 0;
  const Value *a = compare.getOperand(0), *b = compare.getOperand(1);
  if (isPlainConstant(a) || isPlainConstant(b)) {
    bool null = isa<ConstantPointerNull>(a) || isa<ConstantPointerNull>(b);
    return sets.map(sets.unite(left, right), [&](const Origin& o) { return withConstant(o, null, reads); });
  }
  auto all = [&](Shape shape) {
    return sets.map(sets.unite(left, right),
                    [&](const Origin& o) { return isTested(o.stage) ? o.stage : tested(shape); });
  };
  if (isCounter(a, loops) || isCounter(b, loops)) return all(Shape::Count);
  if (isChecksum(compare, sets.of(left), sets.of(right)) || isChecksum(compare, sets.of(right), sets.of(left)))
    return all(Shape::Checksum);
  if (isVersionPair(compare, sets.of(left), sets.of(right), reads, fields)) return all(Shape::VersionPair);
  auto side = [&](SetNo set, const Value* other) {
    if (set == 0) return set;
    bool bound = !compare.isEquality() && isIndex(other);
    return sets.map(set, [&](const Origin& o) {
      if (isTested(o.stage)) return o.stage;
      if (o.stage == kRaw && bound) return tested(Shape::Count);
      Stage plain = withConstant(o, false, reads);
      return plain == tested(Shape::Flag) ? tested(Shape::Comparison) : plain;
    });
  };
  return sets.unite(side(left, b), side(right, a));
}

SetNo decided(SetNo condition, bool isSwitch, ValueSets& sets, const ReadTable& reads) {
  return sets.map(condition, [&](const Origin& o) {
    if (isSwitch && !isTested(o.stage)) return tested(Shape::Switch);
    return withConstant(o, false, reads);
  });
}

}  // namespace blackout
