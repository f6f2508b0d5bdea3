// Questions about bit-vectors, answered by Z3: the only file that knows it is solver.cpp. Terms live as long as the
// solver; facts are pushed and popped. Symbols may be the same again once the last level was popped, and a question
// that was asked before is not asked again: nothing made inside may be used after that. A question has a budget of
// work, not of time, so that the answer is the same on any machine.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace blackout {

class Solver {
 public:
  enum class Answer : std::uint8_t {
    Proven,      // the goal follows from the facts, which can be true together
    Refuted,     // there are values for which it does not
    Unknown,     // the budget did not suffice
    Impossible,  // the facts contradict each other: nothing is proven by them
  };
  enum class Op : std::uint8_t { Add, Sub, Mul, And, Or, Xor, Shl, LShr, AShr };
  enum class Cmp : std::uint8_t { Eq, Ne, Ult, Ule, Slt, Sle };

  // A bit-vector or, with width 0, a truth value.
  struct Term {
    std::uint32_t no = UINT32_MAX;
    std::uint32_t width = 0;
    bool valid() const { return no != UINT32_MAX; }
  };
  struct Value {
    std::string name;
    std::int64_t value = 0;
    bool operator==(const Value&) const = default;
  };

  explicit Solver(std::uint32_t budget);
  ~Solver();
  Solver(const Solver&) = delete;
  Solver& operator=(const Solver&) = delete;

  Term constant(std::uint32_t width, std::int64_t value);
  // A fresh one. What has a name is told in the values that refute.
  Term symbol(std::uint32_t width, const std::string& name = {});
  Term apply(Op op, Term a, Term b);
  Term compare(Cmp cmp, Term a, Term b);
  Term choose(Term condition, Term then, Term otherwise);
  Term extend(Term a, std::uint32_t width, bool isSigned);  // or cut
  Term both(Term a, Term b);
  Term either(Term a, Term b);
  Term negate(Term a);
  Term truth(bool value);
  // Of a term that is a constant.
  std::optional<std::int64_t> valueOf(Term t) const;

  void push();
  void pop();
  void assume(Term fact);
  Answer ask(Term goal);
  // Of the last question that was refuted: the named symbols, in the order in which they were made.
  const std::vector<Value>& values() const;
  std::uint64_t asked() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace blackout
