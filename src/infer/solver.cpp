#include "infer/solver.h"

#include <z3++.h>

namespace blackout {

namespace {

// What went below zero is told so.
std::int64_t signedValue(std::uint64_t bits, std::uint32_t width) {
  if (width < 64 && (bits >> (width - 1) & 1) != 0) bits |= ~std::uint64_t{0} << width;
  return static_cast<std::int64_t>(bits);
}

}  // namespace

struct Solver::State {
  explicit State(std::uint32_t budget) : solver(context, "QF_BV") {
    z3::params p(context);
    p.set("rlimit", budget);
    solver.set(p);
  }
  z3::context context;
  z3::solver solver;
  std::vector<z3::expr> terms;
  std::vector<std::pair<std::string, std::uint32_t>> named;  // symbols in order
  std::vector<std::size_t> levels;                           // of named, at each push
  std::vector<Value> values;
  std::uint64_t asked = 0;
  std::uint32_t fresh = 0;

  Term add(z3::expr e) {
    std::uint32_t width = e.is_bv() ? e.get_sort().bv_size() : 0;
    terms.push_back(std::move(e));
    return {static_cast<std::uint32_t>(terms.size() - 1), width};
  }
  const z3::expr& at(Term t) const { return terms[t.no]; }
};

Solver::Solver(std::uint32_t budget) : state_(std::make_unique<State>(budget)) {}
Solver::~Solver() = default;

Solver::Term Solver::constant(std::uint32_t width, std::int64_t value) {
  return state_->add(state_->context.bv_val(value, width));
}

Solver::Term Solver::symbol(std::uint32_t width, const std::string& name) {
  Term t = state_->add(state_->context.bv_const(("v" + std::to_string(state_->fresh++)).c_str(), width));
  if (!name.empty()) state_->named.emplace_back(name, t.no);
  return t;
}

Solver::Term Solver::apply(Op op, Term a, Term b) {
  const z3::expr &x = state_->at(a), &y = state_->at(b);
  switch (op) {
    case Op::Add:
      return state_->add(x + y);
    case Op::Sub:
      return state_->add(x - y);
    case Op::Mul:
      return state_->add(x * y);
    case Op::And:
      return state_->add(x & y);
    case Op::Or:
      return state_->add(x | y);
    case Op::Xor:
      return state_->add(x ^ y);
    case Op::Shl:
      return state_->add(z3::shl(x, y));
    case Op::LShr:
      return state_->add(z3::lshr(x, y));
    case Op::AShr:
      return state_->add(z3::ashr(x, y));
  }
  return {};
}

Solver::Term Solver::compare(Cmp cmp, Term a, Term b) {
  const z3::expr &x = state_->at(a), &y = state_->at(b);
  switch (cmp) {
    case Cmp::Eq:
      return state_->add(x == y);
    case Cmp::Ne:
      return state_->add(x != y);
    case Cmp::Ult:
      return state_->add(z3::ult(x, y));
    case Cmp::Ule:
      return state_->add(z3::ule(x, y));
    case Cmp::Slt:
      return state_->add(x < y);
    case Cmp::Sle:
      return state_->add(x <= y);
  }
  return {};
}

Solver::Term Solver::choose(Term condition, Term then, Term otherwise) {
  return state_->add(z3::ite(state_->at(condition), state_->at(then), state_->at(otherwise)));
}

Solver::Term Solver::extend(Term a, std::uint32_t width, bool isSigned) {
  if (a.width == width) return a;
  const z3::expr& x = state_->at(a);
  if (a.width > width) return state_->add(x.extract(width - 1, 0));
  return state_->add(isSigned ? z3::sext(x, width - a.width) : z3::zext(x, width - a.width));
}

Solver::Term Solver::both(Term a, Term b) { return state_->add(state_->at(a) && state_->at(b)); }
Solver::Term Solver::either(Term a, Term b) { return state_->add(state_->at(a) || state_->at(b)); }
Solver::Term Solver::negate(Term a) { return state_->add(!state_->at(a)); }
Solver::Term Solver::truth(bool value) { return state_->add(state_->context.bool_val(value)); }

std::optional<std::int64_t> Solver::valueOf(Term t) const {
  const z3::expr& e = state_->at(t);
  std::uint64_t bits = 0;
  if (!e.is_bv() || !e.is_numeral_u64(bits)) return std::nullopt;
  return signedValue(bits, t.width);
}

void Solver::push() {
  state_->solver.push();
  state_->levels.push_back(state_->named.size());
}

void Solver::pop() {
  state_->solver.pop();
  state_->named.resize(state_->levels.back());
  state_->levels.pop_back();
}

void Solver::assume(Term fact) { state_->solver.add(state_->at(fact)); }

Solver::Answer Solver::ask(Term goal) {
  state_->values.clear();
  ++state_->asked;
  state_->solver.push();
  state_->solver.add(!state_->at(goal));
  z3::check_result result = state_->solver.check();
  if (result == z3::sat) {
    z3::model model = state_->solver.get_model();
    for (const auto& [name, no] : state_->named) {
      const z3::expr& symbol = state_->terms[no];
      std::uint64_t bits = model.eval(symbol, true).get_numeral_uint64();
      state_->values.push_back({name, signedValue(bits, symbol.get_sort().bv_size())});
    }
  }
  state_->solver.pop();
  if (result != z3::unsat) return result == z3::sat ? Answer::Refuted : Answer::Unknown;
  // What follows from a contradiction is no proof.
  ++state_->asked;
  switch (state_->solver.check()) {
    case z3::sat:
      return Answer::Proven;
    case z3::unsat:
      return Answer::Impossible;
    case z3::unknown:
      break;
  }
  return Answer::Unknown;
}

const std::vector<Solver::Value>& Solver::values() const { return state_->values; }
std::uint64_t Solver::asked() const { return state_->asked; }

}  // namespace blackout
