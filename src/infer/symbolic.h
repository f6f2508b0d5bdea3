// Values of a function as terms of the solver, as they are at one instruction: what they are computed from, the
// branches that lead there, and for loops what LLVM's scalar evolution says: a variable that moves by a constant is
// where it began plus its step times the number of the turn. What it can't express is a symbol of which nothing is
// known but what holds in every turn (see invariants below).
#pragma once

#include <map>
#include <set>
#include <string>
#include <vector>

#include "infer/cells.h"
#include "infer/solver.h"
#include "llvm/Analysis/LoopInfo.h"
#include "llvm/Analysis/ScalarEvolution.h"
#include "llvm/IR/Dominators.h"

namespace blackout {

// Nothing addressable has more elements, and no loop makes more turns.
inline constexpr int kAddressBits = 47;

class Symbolic {
 public:
  // All must outlive it. Facts are given to the solver as they come up: push it before, pop it after.
  Symbolic(Solver& solver, const ProgramCode& code, const CellValues& cells, llvm::ScalarEvolution& evolution,
           llvm::LoopInfo& loops, llvm::DominatorTree& tree)
      : solver_(solver), code_(code), cells_(cells), evolution_(evolution), loops_(loops), tree_(tree) {}

  // One for the same function that has met nothing yet.
  Symbolic another() const { return {solver_, code_, cells_, evolution_, loops_, tree_}; }

  Solver::Term term(const llvm::Value* v);
  // How far the first pointer is beyond the second.
  Solver::Term difference(const llvm::Value* pointer, const llvm::Value* from);
  // A value that is to be this term, before anything that is made of it is asked for.
  void define(const llvm::Value* v, Solver::Term t) { terms_[v] = t; }
  // A number that others may stay below, in every turn of a loop: tried where a loop can't be expressed.
  void hint(const llvm::Value* most) { hints_.push_back(most); }
  // Whether the instruction is reached.
  Solver::Term reached(const llvm::Instruction& at) { return reached(at.getParent(), nullptr); }

  // Whether something was met of which nothing is known although the code says more: then values that refute a goal
  // need not be possible.
  bool abstracted() const { return abstracted_; }
  const std::string& abstraction() const { return why_; }
  // What was met of which the code says no more: arguments, memory, results of calls.
  const std::set<const llvm::Value*>& symbols() const { return symbols_; }
  // Whether an argument of the function was met.
  bool arguments() const { return arguments_; }

 private:
  void fact(Solver::Term t);
  Solver::Term raw(const llvm::Value* v);
  Solver::Term ofExpression(const llvm::SCEV* s);
  Solver::Term merged(const llvm::PHINode& phi);
  Solver::Term carried(const llvm::PHINode& phi);
  Solver::Term condition(const llvm::Value* v);
  Solver::Term unknown(std::uint32_t width, const char* why);
  Solver::Term turn(const llvm::Loop* loop);
  Solver::Term operation(const llvm::Instruction& i);
  Solver::Term product(Solver::Term a, Solver::Term b);
  Solver::Term quotient(Solver::Term a, const llvm::Value* divisor, Solver::Term b, bool remainder);
  bool inductive(const llvm::PHINode& phi, const llvm::Loop& loop, const llvm::Value* most, Solver::Cmp cmp);
  Solver::Term reached(const llvm::BasicBlock* block, const llvm::BasicBlock* from);
  Solver::Term edge(const llvm::BasicBlock* from, const llvm::BasicBlock* to);
  std::string nameOf(const llvm::Value* v) const;
  bool deep() const { return depth_ > 60; }

  Solver& solver_;
  const ProgramCode& code_;
  const CellValues& cells_;
  llvm::ScalarEvolution& evolution_;
  llvm::LoopInfo& loops_;
  llvm::DominatorTree& tree_;
  std::map<const llvm::Value*, Solver::Term> terms_;
  std::map<const llvm::SCEV*, Solver::Term> expressions_;
  std::map<const llvm::Loop*, Solver::Term> turns_;
  std::vector<Solver::Term> guards_;  // of the ways that are looked at; facts hold on the innermost
  std::vector<const llvm::Value*> hints_;
  std::set<const llvm::Value*> symbols_;
  bool abstracted_ = false, arguments_ = false;
  bool inductive_ = false;  // it answers for a step of an induction, and begins none
  std::string why_;
  int depth_ = 0;
};

}  // namespace blackout
