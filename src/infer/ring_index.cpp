#include "infer/ring_index.h"

#include "llvm/IR/Constants.h"
#include "llvm/IR/InstrTypes.h"
#include "llvm/IR/Instructions.h"

using namespace llvm;

namespace blackout {

namespace {

const Value* withoutCasts(const Value* v) {
  while (isa<CastInst, FreezeInst>(v)) {
    const Value* from = cast<Instruction>(v)->getOperand(0);
    if (!from->getType()->isIntegerTy()) break;
    v = from;
  }
  return v;
}

void addends(const Value* v, const ProgramCode& code, std::set<KeyNo>& fields, std::set<const Value*>& seen) {
  v = withoutCasts(v);
  if (seen.size() > 30 || !seen.insert(v).second) return;
  if (const auto* load = dyn_cast<LoadInst>(v)) {
    const CodeAccess* a = code.accessOf(*load);
    if (a != nullptr && a->readKeys.size() == 1 && !a->readsLocal) fields.insert(a->readKeys[0]);
    return;
  }
  const auto* sum = dyn_cast<BinaryOperator>(v);
  if (!isa<PHINode>(v) &&
      (sum == nullptr || (sum->getOpcode() != Instruction::Add && sum->getOpcode() != Instruction::Sub)))
    return;
  for (const Use& u : cast<Instruction>(v)->operands()) addends(u.get(), code, fields, seen);
}

}  // namespace

const Value* roundedFrom(const Value* number, std::uint64_t elements) {
  const auto* b = dyn_cast<BinaryOperator>(withoutCasts(number));
  if (b == nullptr) return nullptr;
  const auto* by = dyn_cast<ConstantInt>(withoutCasts(b->getOperand(1)));
  if (b->getOpcode() == Instruction::URem || b->getOpcode() == Instruction::SRem)
    return by != nullptr && elements != 0 && by->getZExtValue() != elements ? nullptr : b->getOperand(0);
  if (b->getOpcode() != Instruction::And) return nullptr;
  if (by != nullptr)
    return !by->getValue().isMask() || (elements != 0 && by->getZExtValue() + 1 != elements) ? nullptr
                                                                                             : b->getOperand(0);
  // A capacity that is a power of two, less one.
  const auto* mask = dyn_cast<BinaryOperator>(withoutCasts(b->getOperand(1)));
  const auto* one = mask == nullptr ? nullptr : dyn_cast<ConstantInt>(mask->getOperand(1));
  bool less = one != nullptr && ((mask->getOpcode() == Instruction::Sub && one->isOne()) ||
                                 (mask->getOpcode() == Instruction::Add && one->isMinusOne()));
  return less ? b->getOperand(0) : nullptr;
}

void addendsOf(const Value* number, const ProgramCode& code, std::set<KeyNo>& fields) {
  std::set<const Value*> seen;
  addends(number, code, fields, seen);
}

}  // namespace blackout
