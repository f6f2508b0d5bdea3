#include "infer/cell_objects.h"

#include "llvm/ADT/MapVector.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/Operator.h"

using namespace llvm;

namespace blackout {

CellPlace CellObjects::placeOf(const Value* pointer) {
  std::int64_t offset = 0;
  for (int steps = 0; steps < 64; ++steps) {
    if (isa<FreezeInst, AddrSpaceCastInst>(pointer)) {
      pointer = cast<User>(pointer)->getOperand(0);
      continue;
    }
    const auto* gep = dyn_cast<GEPOperator>(pointer);
    if (gep == nullptr) break;
    MapVector<Value*, APInt> variable;
    APInt constant(64, 0);
    if (gep->getType()->isVectorTy() || !gep->collectOffset(dl_, 64, variable, constant)) break;
    if (!variable.empty()) {
      CellPlace base = placeOf(gep->getPointerOperand());
      Indices indices;
      for (const auto& [index, scale] : variable) indices.emplace_back(numberOf(index), scale.getSExtValue());
      auto [at, fresh] = elements_.try_emplace({base.object, base.offset, indices}, nextObject_);
      if (fresh) {
        roots_.push_back(pointer);
        ++nextObject_;
      }
      return {at->second, offset + constant.getSExtValue()};
    }
    offset += constant.getSExtValue();
    pointer = gep->getPointerOperand();
  }
  auto [at, fresh] = values_.try_emplace(pointer, nextObject_);
  if (fresh) {
    roots_.push_back(pointer);
    ++nextObject_;
  }
  return {at->second, offset};
}

// The same number for the same computation, as far as it is a short one.
std::uint64_t CellObjects::numberOf(const Value* v, int depth) {
  const auto* i = dyn_cast<Instruction>(v);
  if (i != nullptr && depth < 4 && isa<CastInst, BinaryOperator>(i)) {
    std::vector<std::uint64_t> key{i->getOpcode(), i->getType()->getScalarSizeInBits()};
    for (const Value* operand : i->operands()) key.push_back(numberOf(operand, depth + 1));
    auto [at, fresh] = expressions_.try_emplace(std::move(key), nextNumber_);
    if (fresh) ++nextNumber_;
    return at->second;
  }
  auto [at, fresh] = plain_.try_emplace(v, nextNumber_);
  if (fresh) ++nextNumber_;
  return at->second;
}

}  // namespace blackout
