#include "infer/symbolic.h"

#include "llvm/Analysis/ScalarEvolutionExpressions.h"
#include "llvm/IR/Operator.h"
#include "llvm/IR/PatternMatch.h"

using namespace llvm;

namespace blackout {

namespace {

using Term = Solver::Term;
using Op = Solver::Op;
using Cmp = Solver::Cmp;

constexpr std::uint32_t kPointer = 64;
constexpr std::int64_t kSmallFactor = 1 << 15;

std::uint32_t widthOf(const Type* t) { return t->isPointerTy() ? kPointer : t->getScalarSizeInBits(); }

bool isNumber(const Type* t) { return t->isPointerTy() || (t->isIntegerTy() && t->getIntegerBitWidth() <= 64); }

// Scalar evolution makes a product of a remainder, and loses that it is less than the divisor.
bool hasRemainder(const Value* v, int depth) {
  const auto* i = dyn_cast<Instruction>(v);
  if (i == nullptr || depth > 3 || !isa<CastInst, BinaryOperator>(i)) return false;
  if (i->getOpcode() == Instruction::URem) return true;
  return std::any_of(i->op_begin(), i->op_end(), [&](const Use& u) { return hasRemainder(u.get(), depth + 1); });
}

struct Depth {
  explicit Depth(int& number) : depth(number) { ++depth; }
  ~Depth() { --depth; }
  int& depth;
};

}  // namespace

void Symbolic::fact(Term t) { solver_.assume(guards_.empty() ? t : solver_.either(solver_.negate(guards_.back()), t)); }

Term Symbolic::unknown(std::uint32_t width, const char* why) {
  abstracted_ = true;
  if (why_.empty()) why_ = why;
  return solver_.symbol(width);
}

std::string Symbolic::nameOf(const Value* v) const {
  auto text = [&](const Keys& keys) {
    std::string out;
    for (KeyNo k : keys) out += (out.empty() ? "" : "/") + code_.fields.key(k);
    return out;
  };
  if (const CellValue* cell = cells_.of(v)) return text(cell->keys);
  if (const auto* i = dyn_cast<Instruction>(v))
    if (const CodeAccess* a = code_.accessOf(*i); a != nullptr && a->read != nullptr) return text(a->readKeys);
  if (const auto* a = dyn_cast<Argument>(v))
    return a->hasName() ? a->getName().str() : "argument " + std::to_string(a->getArgNo() + 1);
  return {};
}

Term Symbolic::term(const Value* v) {
  if (auto known = terms_.find(v); known != terms_.end()) return known->second;
  Depth depth(depth_);
  if (deep()) return unknown(widthOf(v->getType()), "a computation is too long");
  Term t;
  if (const auto* c = dyn_cast<ConstantInt>(v); c != nullptr && c->getBitWidth() <= 64)
    t = solver_.constant(c->getBitWidth(), c->getSExtValue());
  else if (isa<ConstantPointerNull>(v))
    t = solver_.constant(kPointer, 0);
  else if (evolution_.isSCEVable(v->getType()) && !v->getType()->isIntegerTy(1) && !hasRemainder(v, 0))
    t = ofExpression(evolution_.getSCEV(const_cast<Value*>(v)));
  else
    t = raw(v);
  terms_[v] = t;
  return t;
}

Term Symbolic::difference(const Value* pointer, const Value* from) {
  const SCEV* distance = evolution_.getMinusSCEV(evolution_.getSCEV(const_cast<Value*>(pointer)),
                                                 evolution_.getSCEV(const_cast<Value*>(from)));
  if (isa<SCEVCouldNotCompute>(distance)) return unknown(kPointer, "two pointers have nothing in common");
  return ofExpression(distance);
}

// The number of the loop's present turn, from 0.
Term Symbolic::turn(const Loop* loop) {
  if (auto known = turns_.find(loop); known != turns_.end()) return known->second;
  Term t = solver_.symbol(64);
  turns_[loop] = t;
  fact(solver_.compare(Cmp::Ult, t, solver_.constant(64, std::int64_t{1} << kAddressBits)));
  const SCEV* most = evolution_.getSymbolicMaxBackedgeTakenCount(loop);
  if (!isa<SCEVCouldNotCompute>(most)) {
    // What is not known of its terms makes it no stronger, and so refutes nothing.
    Term bound = ofExpression(most);
    fact(solver_.compare(Cmp::Ule, t, solver_.extend(bound, 64, false)));
  }
  return t;
}

Term Symbolic::ofExpression(const SCEV* s) {
  if (auto known = expressions_.find(s); known != expressions_.end()) return known->second;
  Depth depth(depth_);
  const std::uint32_t width = s->getSCEVType() == scCouldNotCompute ? 64 : widthOf(s->getType());
  if (deep() || width == 0 || width > 64) return unknown(std::max(width, 1u), "a computation is too long");
  Term t;
  auto fold = [&](const SCEVNAryExpr* n, auto combine) {
    Term all = solver_.extend(ofExpression(n->getOperand(0)), width, false);
    for (unsigned k = 1; k < n->getNumOperands(); ++k)
      all = combine(all, solver_.extend(ofExpression(n->getOperand(k)), width, false));
    return all;
  };
  auto best = [&](Cmp less, bool least) {
    return [this, less, least](Term a, Term b) {
      Term first = solver_.compare(less, a, b);
      return least ? solver_.choose(first, a, b) : solver_.choose(first, b, a);
    };
  };
  switch (s->getSCEVType()) {
    case scConstant:
      t = solver_.constant(width, cast<SCEVConstant>(s)->getAPInt().getSExtValue());
      break;
    case scUnknown:
      t = raw(cast<SCEVUnknown>(s)->getValue());
      break;
    case scTruncate:
    case scZeroExtend:
      t = solver_.extend(ofExpression(cast<SCEVCastExpr>(s)->getOperand()), width, false);
      break;
    case scSignExtend:
      t = solver_.extend(ofExpression(cast<SCEVCastExpr>(s)->getOperand()), width, true);
      break;
    case scPtrToInt:
      t = ofExpression(cast<SCEVCastExpr>(s)->getOperand());
      break;
    case scAddExpr:
      t = fold(cast<SCEVNAryExpr>(s), [&](Term a, Term b) { return solver_.apply(Op::Add, a, b); });
      break;
    case scMulExpr:
      t = fold(cast<SCEVNAryExpr>(s), [&](Term a, Term b) { return product(a, b); });
      break;
    case scUDivExpr: {
      const auto* d = cast<SCEVUDivExpr>(s);
      const auto* by = dyn_cast<SCEVConstant>(d->getRHS());
      t = quotient(ofExpression(d->getLHS()), by == nullptr ? nullptr : by->getValue(), ofExpression(d->getRHS()),
                   false);
      break;
    }
    case scUMaxExpr:
      t = fold(cast<SCEVNAryExpr>(s), best(Cmp::Ult, false));
      break;
    case scSMaxExpr:
      t = fold(cast<SCEVNAryExpr>(s), best(Cmp::Slt, false));
      break;
    case scUMinExpr:
    case scSequentialUMinExpr:
      t = fold(cast<SCEVNAryExpr>(s), best(Cmp::Ult, true));
      break;
    case scSMinExpr:
      t = fold(cast<SCEVNAryExpr>(s), best(Cmp::Slt, true));
      break;
    case scAddRecExpr: {
      const auto* r = cast<SCEVAddRecExpr>(s);
      const auto* step = r->isAffine() ? dyn_cast<SCEVConstant>(r->getOperand(1)) : nullptr;
      if (step == nullptr) {
        t = unknown(width, "a loop moves by a step that varies");
        break;
      }
      const std::int64_t by = step->getAPInt().getSExtValue();
      Term start = ofExpression(r->getStart());
      Term number = turn(r->getLoop());
      Term moved = solver_.apply(Op::Mul, solver_.extend(number, width, false), solver_.constant(width, by));
      t = solver_.apply(Op::Add, start, moved);
      // Without wrap-around it goes one way only.
      std::uint64_t size = by < 0 ? 0 - static_cast<std::uint64_t>(by) : static_cast<std::uint64_t>(by);
      if (r->hasNoSelfWrap() && width < 48 && size != 0)
        fact(solver_.compare(Cmp::Ult, number,
                             solver_.constant(64, static_cast<std::int64_t>((std::uint64_t{1} << width) / size))));
      if (r->hasNoSignedWrap())
        fact(by < 0 ? solver_.compare(Cmp::Sle, t, start) : solver_.compare(Cmp::Sle, start, t));
      if (r->hasNoUnsignedWrap() && by > 0) fact(solver_.compare(Cmp::Ule, start, t));
      break;
    }
    default:
      t = unknown(width, "a computation can't be expressed");
      break;
  }
  t = solver_.extend(t, width, false);
  expressions_[s] = t;
  return t;
}

// What scalar evolution takes as it is.
Term Symbolic::raw(const Value* v) {
  if (const auto known = terms_.find(v); known != terms_.end()) return known->second;
  Depth depth(depth_);
  const std::uint32_t width = widthOf(v->getType());
  if (!isNumber(v->getType())) return unknown(std::clamp(width, 1u, 64u), "a value is no number");
  if (const auto* phi = dyn_cast<PHINode>(v)) {
    if (deep()) return unknown(width, "a computation is too long");
    Term t = loops_.isLoopHeader(phi->getParent()) ? carried(*phi) : merged(*phi);
    terms_[v] = t;
    return t;
  }
  Term t;
  if (const auto* i = dyn_cast<Instruction>(v); i != nullptr && !isa<LoadInst, CallBase, AllocaInst>(i)) {
    t = operation(*i);
  } else if (const CellValue* cell = cells_.of(v)) {
    symbols_.insert(v);
    t = cell->unknown ? unknown(width, "something changes a field in between") : solver_.symbol(width, nameOf(v));
    // A number in memory that counts is none that is too large for memory.
    if (!v->getType()->isPointerTy() && width >= 32 && !cell->keys.empty())
      fact(solver_.compare(
          Cmp::Ult, t,
          solver_.constant(width, std::int64_t{1} << std::min<int>(kAddressBits, static_cast<int>(width) - 1))));
  } else if (isa<Argument>(v)) {
    symbols_.insert(v);
    arguments_ = true;
    t = solver_.symbol(width, nameOf(v));
  } else {
    symbols_.insert(v);
    t = solver_.symbol(width, nameOf(v));
  }
  terms_[v] = t;
  return t;
}

Term Symbolic::operation(const Instruction& i) {
  const std::uint32_t width = widthOf(i.getType());
  if (deep()) return unknown(width, "a computation is too long");
  if (isa<ICmpInst>(i) || (width == 1 && isa<BinaryOperator>(i)))
    return solver_.choose(condition(&i), solver_.constant(1, 1), solver_.constant(1, 0));
  if (const auto* select = dyn_cast<SelectInst>(&i))
    return solver_.choose(condition(select->getCondition()), term(select->getTrueValue()),
                          term(select->getFalseValue()));
  if (const auto* cast = dyn_cast<CastInst>(&i)) {
    const Value* from = cast->getOperand(0);
    if (!isNumber(from->getType())) return unknown(width, "a value is no number");
    return solver_.extend(term(from), width, isa<SExtInst>(cast));
  }
  if (isa<FreezeInst>(i)) return term(i.getOperand(0));
  const auto* binary = dyn_cast<BinaryOperator>(&i);
  if (binary == nullptr) return unknown(width, "a computation can't be expressed");
  Op op{};
  switch (binary->getOpcode()) {
    case Instruction::Add:
      op = Op::Add;
      break;
    case Instruction::Sub:
      op = Op::Sub;
      break;
    case Instruction::Mul:
      return product(term(binary->getOperand(0)), term(binary->getOperand(1)));
    case Instruction::UDiv:
    case Instruction::URem:
      return quotient(term(binary->getOperand(0)), binary->getOperand(1), term(binary->getOperand(1)),
                      binary->getOpcode() == Instruction::URem);
    case Instruction::And:
      op = Op::And;
      break;
    case Instruction::Or:
      op = Op::Or;
      break;
    case Instruction::Xor:
      op = Op::Xor;
      break;
    case Instruction::Shl:
      op = Op::Shl;
      break;
    case Instruction::LShr:
      op = Op::LShr;
      break;
    case Instruction::AShr:
      op = Op::AShr;
      break;
    default:
      return unknown(width, "a computation can't be expressed");
  }
  Term a = term(binary->getOperand(0)), b = term(binary->getOperand(1));
  // It was executed: a shift is by less than the width.
  if (op == Op::Shl || op == Op::LShr || op == Op::AShr)
    fact(solver_.compare(Cmp::Ult, b, solver_.constant(b.width, b.width)));
  return solver_.apply(op, a, b);
}

// By a small number as it is; of any other product nothing is known, as of what a hash function makes: the solver would
// multiply bit by bit.
Term Symbolic::product(Term a, Term b) {
  for (Term t : {a, b})
    if (auto value = solver_.valueOf(t); value && *value > -kSmallFactor && *value < kSmallFactor)
      return solver_.apply(Op::Mul, a, b);
  return solver_.symbol(a.width);
}

// What defines it, without a division: q * b <= a < q * b + b by a constant, and what is left is less than the divisor.
Term Symbolic::quotient(Term a, const Value* divisor, Term b, bool remainder) {
  // It was executed: a division by zero ends the program.
  fact(solver_.compare(Cmp::Ne, b, solver_.constant(b.width, 0)));
  Term t = solver_.symbol(a.width);
  fact(solver_.compare(Cmp::Ule, t, a));
  const auto* constant = dyn_cast_or_null<ConstantInt>(divisor);
  if (constant != nullptr && constant->getValue().isPowerOf2()) {
    std::int64_t bits = constant->getValue().logBase2();
    return remainder ? solver_.apply(Op::And, a, solver_.constant(a.width, constant->getSExtValue() - 1))
                     : solver_.apply(Op::LShr, a, solver_.constant(a.width, bits));
  }
  if (remainder) {
    fact(solver_.compare(Cmp::Ult, t, b));
    return t;
  }
  if (constant == nullptr || constant->getValue().getActiveBits() > 15) return t;
  Term product = solver_.apply(Op::Mul, t, b);
  std::uint64_t most = (a.width == 64 ? UINT64_MAX : (std::uint64_t{1} << a.width) - 1) / constant->getZExtValue();
  fact(solver_.compare(Cmp::Ule, t, solver_.constant(a.width, static_cast<std::int64_t>(most))));
  fact(solver_.compare(Cmp::Ule, product, a));
  fact(solver_.compare(Cmp::Ult, solver_.apply(Op::Sub, a, product), b));
  return t;
}

Term Symbolic::condition(const Value* v) {
  using namespace llvm::PatternMatch;
  Depth depth(depth_);
  if (const auto* c = dyn_cast<ConstantInt>(v)) return solver_.truth(!c->isZero());
  const Value *a = nullptr, *b = nullptr;
  if (!deep()) {
    if (match(v, m_Not(m_Value(a)))) return solver_.negate(condition(a));
    if (match(v, m_LogicalAnd(m_Value(a), m_Value(b)))) return solver_.both(condition(a), condition(b));
    if (match(v, m_LogicalOr(m_Value(a), m_Value(b)))) return solver_.either(condition(a), condition(b));
  }
  const auto* compare = dyn_cast<ICmpInst>(v);
  if (compare != nullptr && isNumber(compare->getOperand(0)->getType())) {
    Term x = term(compare->getOperand(0)), y = term(compare->getOperand(1));
    switch (compare->getPredicate()) {
      case CmpInst::ICMP_EQ:
        return solver_.compare(Cmp::Eq, x, y);
      case CmpInst::ICMP_NE:
        return solver_.compare(Cmp::Ne, x, y);
      case CmpInst::ICMP_ULT:
        return solver_.compare(Cmp::Ult, x, y);
      case CmpInst::ICMP_ULE:
        return solver_.compare(Cmp::Ule, x, y);
      case CmpInst::ICMP_UGT:
        return solver_.compare(Cmp::Ult, y, x);
      case CmpInst::ICMP_UGE:
        return solver_.compare(Cmp::Ule, y, x);
      case CmpInst::ICMP_SLT:
        return solver_.compare(Cmp::Slt, x, y);
      case CmpInst::ICMP_SLE:
        return solver_.compare(Cmp::Sle, x, y);
      case CmpInst::ICMP_SGT:
        return solver_.compare(Cmp::Slt, y, x);
      case CmpInst::ICMP_SGE:
        return solver_.compare(Cmp::Sle, y, x);
      default:
        break;
    }
  }
  // A condition of which nothing is known leaves both ways open, and is no reason to doubt what refutes: whether it
  // can be true is another question than what the index is.
  if (compare != nullptr || !isNumber(v->getType()))
    return solver_.compare(Cmp::Eq, solver_.symbol(1), solver_.constant(1, 1));
  return solver_.compare(Cmp::Eq, raw(v), solver_.constant(1, 1));
}

// The edge between two blocks is taken, once the first is there.
Term Symbolic::edge(const BasicBlock* from, const BasicBlock* to) {
  const Instruction* end = from->getTerminator();
  if (const auto* branch = dyn_cast<BranchInst>(end); branch != nullptr && branch->isConditional()) {
    if (branch->getSuccessor(0) == branch->getSuccessor(1)) return solver_.truth(true);
    Term c = condition(branch->getCondition());
    return branch->getSuccessor(0) == to ? c : solver_.negate(c);
  }
  if (const auto* choice = dyn_cast<SwitchInst>(end);
      choice != nullptr && isNumber(choice->getCondition()->getType())) {
    Term number = term(choice->getCondition());
    Term any = solver_.truth(choice->getDefaultDest() == to);
    for (const auto& one : choice->cases()) {
      Term equal = solver_.compare(Cmp::Eq, number, solver_.constant(number.width, one.getCaseValue()->getSExtValue()));
      if (one.getCaseSuccessor() == to)
        any = solver_.either(any, equal);
      else if (choice->getDefaultDest() == to)
        any = solver_.both(any, solver_.negate(equal));
    }
    return any;
  }
  return solver_.truth(true);
}

// The branches that lead from a dominator of the block (null: from the beginning) to it.
Term Symbolic::reached(const BasicBlock* block, const BasicBlock* from) {
  Term all = solver_.truth(true);
  const auto* node = tree_.getNode(block);
  if (node == nullptr || block == from) return all;
  for (node = node->getIDom(); node != nullptr; node = node->getIDom()) {
    const BasicBlock* b = node->getBlock();
    std::set<const BasicBlock*> seen;
    if (b->getTerminator()->getNumSuccessors() > 1)
      for (const BasicBlock* next : successors(b))
        if (seen.insert(next).second && tree_.dominates(BasicBlockEdge(b, next), block))
          all = solver_.both(all, edge(b, next));
    if (b == from) break;
  }
  return all;
}

// Ways that meet: one of them was taken. What is known because an instruction was executed is so on its way only.
Term Symbolic::merged(const PHINode& phi) {
  const std::uint32_t width = widthOf(phi.getType());
  if (phi.getNumIncomingValues() > 16) return unknown(width, "too many ways meet");
  Term t = solver_.symbol(width);
  terms_[&phi] = t;
  const auto* node = tree_.getNode(phi.getParent());
  const BasicBlock* above = node == nullptr || node->getIDom() == nullptr ? nullptr : node->getIDom()->getBlock();
  Term any = solver_.truth(false);
  for (unsigned k = 0; k < phi.getNumIncomingValues(); ++k) {
    const BasicBlock* from = phi.getIncomingBlock(k);
    Term taken = solver_.compare(Cmp::Eq, solver_.symbol(1), solver_.constant(1, 1));
    guards_.push_back(taken);
    fact(reached(from, above));
    fact(edge(from, phi.getParent()));
    fact(solver_.compare(Cmp::Eq, t, solver_.extend(term(phi.getIncomingValue(k)), width, false)));
    guards_.pop_back();
    any = solver_.either(any, taken);
  }
  fact(any);
  return t;
}

// What a loop carries from turn to turn in a way that scalar evolution can't express: it stays below what it is below
// before the loop, if every turn keeps it so.
Term Symbolic::carried(const PHINode& phi) {
  symbols_.insert(&phi);
  const std::uint32_t width = widthOf(phi.getType());
  // An object that a loop goes to next: memory like any other.
  if (phi.getType()->isPointerTy()) return solver_.symbol(width);
  const Loop* loop = loops_.getLoopFor(phi.getParent());
  Term t = unknown(width, "a loop changes a value in more than one way");
  terms_[&phi] = t;
  if (inductive_) return t;
  for (const Value* most : hints_) {
    const auto* i = dyn_cast<Instruction>(most);
    if (loop->contains(i == nullptr ? nullptr : i->getParent())) continue;
    if (i != nullptr && !tree_.dominates(i, phi.getParent())) continue;
    for (Cmp cmp : {Cmp::Slt, Cmp::Sle}) {
      if (!inductive(phi, *loop, most, cmp)) continue;
      fact(solver_.compare(cmp, solver_.extend(t, 64, true),
                           solver_.extend(term(most), 64, widthOf(most->getType()) >= 32)));
      break;
    }
  }
  return t;
}

bool Symbolic::inductive(const PHINode& phi, const Loop& loop, const Value* most, Cmp cmp) {
  for (unsigned k = 0; k < phi.getNumIncomingValues(); ++k) {
    const BasicBlock* from = phi.getIncomingBlock(k);
    solver_.push();
    Symbolic there = another();
    there.inductive_ = true;
    auto below = [&](const Value* v) {
      return solver_.compare(cmp, solver_.extend(there.term(v), 64, true),
                             solver_.extend(there.term(most), 64, widthOf(most->getType()) >= 32));
    };
    if (loop.contains(from)) solver_.assume(below(&phi));
    solver_.assume(there.reached(from, nullptr));
    solver_.assume(there.edge(from, phi.getParent()));
    Solver::Answer answer = solver_.ask(below(phi.getIncomingValue(k)));
    solver_.pop();
    if (answer != Solver::Answer::Proven) return false;
  }
  return true;
}

}  // namespace blackout
