#include "infer/solver.h"

#include <z3++.h>

#include <algorithm>
#include <map>

namespace blackout {

namespace {

// What went below zero is told so.
std::int64_t signedValue(std::uint64_t bits, std::uint32_t width) {
  if (width < 64 && (bits >> (width - 1) & 1) != 0) bits |= ~std::uint64_t{0} << width;
  return static_cast<std::int64_t>(bits);
}

}  // namespace

struct Solver::State {
  // The one that takes every question as it is: questions are many and small, and what others do to a question before
  // they look at it costs several times as much. The few on which it gives up go to one that does all that.
  explicit State(std::uint32_t budget) : solver(context, z3::solver::simple()), thorough(context, "QF_BV") {
    z3::params p(context);
    p.set("rlimit", budget);
    solver.set(p);
    thorough.set(p);
  }
  z3::context context;
  z3::solver solver, thorough;
  std::vector<z3::expr> terms;
  std::vector<std::pair<std::string, std::uint32_t>> named;  // symbols in order
  // Z3 has no facts between two questions: with every level that it is told of it would work out what they mean, also
  // where nothing is asked of it.
  std::vector<z3::expr> facts;
  std::vector<unsigned> numbers;  // Z3's, of the facts: equal for equal terms
  struct Level {
    std::size_t named, facts;
  };
  std::vector<Level> levels;  // at each push
  std::vector<Value> values;
  std::uint64_t asked = 0;
  std::uint32_t fresh = 0;  // begins anew with every question, so that equal ones are equal terms

  // Answers, by what was asked: the facts and behind them the goal, or nothing where it is whether they are possible.
  struct Known {
    z3::check_result result{};
    std::map<unsigned, std::int64_t> values;  // by Z3's number of a symbol
  };
  std::map<std::vector<unsigned>, Known> known;

  // Whether something makes all facts true, and this with them.
  const Known& check(const z3::expr* with, unsigned number) {
    std::vector<unsigned> key = numbers;
    key.push_back(number);
    auto hasValues = [&](const Known& k) {
      return k.result != z3::sat || with == nullptr || std::all_of(named.begin(), named.end(), [&](const auto& n) {
               return k.values.contains(Z3_get_ast_id(context, terms[n.second]));
             });
    };
    if (auto at = known.find(key); at != known.end() && hasValues(at->second)) return at->second;
    Known answer = solve(solver, with);
    if (answer.result == z3::unknown) answer = solve(thorough, with);
    // What is true with the goal's contrary is possible.
    if (answer.result == z3::sat && with != nullptr) {
      std::vector<unsigned> alone = numbers;
      alone.push_back(kNoGoal);
      known[alone] = {z3::sat, {}};
    }
    return known[key] = std::move(answer);
  }

  Known solve(z3::solver& by, const z3::expr* with) {
    ++asked;
    by.reset();
    for (const z3::expr& fact : facts) by.add(fact);
    if (with != nullptr) by.add(*with);
    Known answer{by.check(), {}};
    if (answer.result != z3::sat || with == nullptr) return answer;
    z3::model model = by.get_model();
    for (const auto& [name, no] : named) {
      const z3::expr& symbol = terms[no];
      std::uint64_t bits = model.eval(symbol, true).get_numeral_uint64();
      answer.values[Z3_get_ast_id(context, symbol)] = signedValue(bits, symbol.get_sort().bv_size());
    }
    return answer;
  }
  static constexpr unsigned kNoGoal = UINT32_MAX;

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

void Solver::push() { state_->levels.push_back({state_->named.size(), state_->facts.size()}); }

void Solver::pop() {
  state_->named.resize(state_->levels.back().named);
  auto& facts = state_->facts;
  facts.erase(facts.begin() + static_cast<std::ptrdiff_t>(state_->levels.back().facts), facts.end());
  state_->numbers.resize(facts.size());
  state_->levels.pop_back();
  if (state_->levels.empty()) state_->fresh = 0;
}

void Solver::assume(Term fact) {
  state_->facts.push_back(state_->at(fact));
  state_->numbers.push_back(Z3_get_ast_id(state_->context, state_->at(fact)));
}

Solver::Answer Solver::ask(Term goal) {
  State& s = *state_;
  s.values.clear();
  const z3::expr contrary = !s.at(goal);
  const State::Known& answer = s.check(&contrary, Z3_get_ast_id(s.context, s.at(goal)));
  if (answer.result == z3::sat) {
    for (const auto& [name, no] : s.named)
      s.values.push_back({name, answer.values.at(Z3_get_ast_id(s.context, s.terms[no]))});
    return Answer::Refuted;
  }
  if (answer.result != z3::unsat) return Answer::Unknown;
  // What follows from a contradiction is no proof.
  switch (s.check(nullptr, State::kNoGoal).result) {
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
