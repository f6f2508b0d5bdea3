// The slices of one function (slices.h): the sets of its values, in slicer.cpp, and what is kept of its blocks, in
// block_facts.cpp.
#pragma once

#include <cstdint>
#include <map>
#include <unordered_map>
#include <vector>

#include "infer/control_dependence.h"
#include "infer/function_facts.h"
#include "infer/slices.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/Analysis/LoopInfo.h"
#include "llvm/IR/Dominators.h"
#include "llvm/IR/Instructions.h"

namespace blackout {

// A variable on the stack that has stayed in memory, by offset; kAnywhere for what was stored at a place that varies.
constexpr std::int64_t kAnywhere = -1;
struct StackVariable {
  std::map<std::int64_t, SetNo> cells;
  SetNo all = 0;
  struct Copy {  // from persistent memory, or from another variable
    const CodeAccess* access = nullptr;
    const llvm::Value* from = nullptr;
    std::int64_t shift = 0;  // to be added to an offset here
    bool shifted = false;    // `shift` is known
  };
  std::vector<Copy> copies;
};

// What the slicers of all functions share.
struct SlicedProgram {
  ProgramCode& code;
  const PersistentTypes& types;
  ProgramFacts& facts;
  llvm::DenseMap<const llvm::GlobalVariable*, std::uint32_t> variables{};
  std::unordered_map<KeyNo, std::uint32_t> volatiles{};
  IdVector<FunctionNo, SetNo> returned{};  // as far as known

  std::uint32_t memoryOf(const llvm::GlobalVariable* variable) {
    auto [at, fresh] = variables.try_emplace(variable, static_cast<std::uint32_t>(facts.memory.size()));
    if (fresh) {
      facts.memory.push_back({variable, 0});
      facts.stored.push_back(0);
    }
    return at->second;
  }
  std::uint32_t memoryOf(KeyNo key) {
    auto [at, fresh] = volatiles.try_emplace(key, static_cast<std::uint32_t>(facts.memory.size()));
    if (fresh) {
      facts.memory.push_back({nullptr, key});
      facts.stored.push_back(0);
    }
    return at->second;
  }
};

// One function: first the values, until nothing changes, then what is kept of it.
class FunctionSlicer {
 public:
  FunctionSlicer(SlicedProgram& program, FunctionNo no)
      : p_(program), sets_(program.facts.sets), f_(*program.code.functions[no]), control_(f_) {
    dominators_.recalculate(const_cast<llvm::Function&>(f_));
    loops_.analyze(dominators_);
    std::uint32_t count = 0;
    for (const llvm::BasicBlock* b : control_.blocks)
      for (const llvm::Instruction& i : *b) numbers_[&i] = count++;
    values_.resize(count);
    conditions_.resize(control_.blocks.size());
  }

  // Values and the summary, from what is known of callees so far.
  void evaluate();

  SetNo returned() const { return returned_; }
  std::vector<OutFact> outs() const {
    std::vector<OutFact> list;
    for (const auto& [place, value] : outs_) list.push_back({place.first, place.second, value});
    return list;
  }
  void addFacts(FunctionFacts& facts);

 private:
  void set(SetNo& at, SetNo value) {
    changed_ |= at != value;
    at = value;
  }
  void add(SetNo& at, SetNo value) { set(at, sets_.unite(at, value)); }
  SetNo of(const llvm::Value* v) const {
    if (const auto* i = llvm::dyn_cast<llvm::Instruction>(v)) {
      auto at = numbers_.find(i);
      return at == numbers_.end() ? 0 : values_[at->second];
    }
    const auto* a = llvm::dyn_cast<llvm::Argument>(v);
    return a == nullptr ? 0 : sets_.one({Origin::Argument, kRaw, p_.code.argumentNo(*a)});
  }
  SetNo operandsOf(const llvm::User& u) const {
    SetNo all = 0;
    for (const llvm::Value* v : u.operands()) all = sets_.unite(all, of(v));
    return all;
  }
  SetNo atStage(SetNo s, Stage stage) {
    return sets_.map(s, [&](const Origin& o) { return compose(o.stage, stage); });
  }

  SpotNo spotOf(const llvm::Value* pointer) const { return p_.facts.objects->spotOf(pointer); }
  std::vector<SpotNo> spotsOf(const llvm::CallBase& call) const {
    std::vector<SpotNo> spots;
    for (const llvm::Value* v : call.args()) spots.push_back(v->getType()->isPointerTy() ? spotOf(v) : kNoSpot);
    return spots;
  }

  void visit(const llvm::Instruction& i, BlockNo block);
  SetNo valueOf(const llvm::Instruction& i, BlockNo block);
  SetNo phi(const llvm::PHINode& phi, BlockNo block);
  SetNo call(const llvm::CallBase& call);
  SetNo substituted(SetNo summary, const llvm::CallBase& call, FunctionNo callee);
  SetNo readBy(const CodeAccess& access);
  SetNo loadedFrom(const llvm::Value* variable, std::int64_t offset, const Keys& keys, int depth);
  void store(const llvm::Value* pointer, const Keys& keys, SetNo value);
  void copy(const CodeAccess& access);
  SetNo conditionOf(const llvm::Instruction& terminator);
  SetNo chosenBy(const llvm::Instruction& read);
  SetNo leftBy(const llvm::Value* pointer, const llvm::Instruction& read) const;
  std::vector<SetNo> termsOf(const llvm::Instruction& terminator);
  void addTerms(const llvm::Value* v, std::vector<std::vector<Origin>>& terms, int depth);
  bool onlyEvaluates(const llvm::BasicBlock& b) const;
  void findConditions(FunctionFacts& facts) const;
  void addWaits(IdVector<BlockNo, std::vector<BlockNo>>& deciding);
  std::vector<BlockNo> decidingOver(const llvm::Instruction& i, const std::vector<BlockNo>& all) const;

  SlicedProgram& p_;
  ValueSets& sets_;
  const llvm::Function& f_;
  ControlDependence control_;
  llvm::DominatorTree dominators_;
  llvm::LoopInfo loops_;
  llvm::DenseMap<const llvm::Instruction*, std::uint32_t> numbers_;
  std::vector<SetNo> values_;
  IdVector<BlockNo, SetNo> conditions_;
  std::map<const llvm::Value*, StackVariable> variables_;
  std::map<std::pair<unsigned, std::int64_t>, SetNo> outs_;
  SetNo returned_ = 0;
  IdVector<BlockNo, char> waits_;  // its branch ends a loop that waits
  bool changed_ = false;
};

}  // namespace blackout
