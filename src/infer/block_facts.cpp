#include <algorithm>

#include "infer/slicer.h"
#include "infer/test_shapes.h"
#include "llvm/IR/DebugInfoMetadata.h"
#include "llvm/IR/IntrinsicInst.h"

using namespace llvm;

namespace blackout {

// The condition of the select that alone uses a value.
SetNo FunctionSlicer::chosenBy(const Instruction& read) {
  const Value* v = &read;
  for (int steps = 0; steps < 8 && v->hasOneUse(); ++steps) {
    const User* user = *v->user_begin();
    if (const auto* s = dyn_cast<SelectInst>(user))
      return s->getCondition() == v ? 0 : decided(of(s->getCondition()), false, sets_, p_.facts.reads);
    if (!isa<CastInst>(user)) return 0;
    v = user;
  }
  return 0;
}

// A loop that only waits for what others store, or tries to swap: what comes after it stands under its condition,
// though it is always reached if the loop ends.
static bool onlyWaits(const Loop& loop) {
  for (const BasicBlock* b : loop.blocks())
    for (const Instruction& i : *b)
      if (i.mayWriteToMemory() && !isa<LoadInst, AtomicRMWInst, AtomicCmpXchgInst, FenceInst, IntrinsicInst>(i))
        return false;
  auto waits = [&](const Value* v) {
    if (const auto* e = dyn_cast<ExtractValueInst>(v)) return isa<AtomicCmpXchgInst>(e->getAggregateOperand());
    if (const auto* load = dyn_cast<LoadInst>(v)) return loop.isLoopInvariant(load->getPointerOperand());
    return loop.isLoopInvariant(v);
  };
  for (const PHINode& phi : loop.getHeader()->phis())
    for (unsigned k = 0; k < phi.getNumIncomingValues(); ++k) {
      const Value* next = phi.getIncomingValue(k);
      if (!loop.contains(phi.getIncomingBlock(k)) || waits(next)) continue;
      const auto* either = dyn_cast<PHINode>(next);
      if (either == nullptr) return false;
      for (const Value* v : either->incoming_values())
        if (v != &phi && !waits(v)) return false;
    }
  return true;
}

void FunctionSlicer::addWaits(IdVector<BlockNo, std::vector<BlockNo>>& deciding) {
  waits_.resize(control_.blocks.size());
  for (const Loop* loop : loops_.getLoopsInPreorder()) {
    if (!onlyWaits(*loop)) continue;
    for (const BasicBlock* from : loop->blocks()) {
      BlockNo a = control_.numberOf(from);
      if (a == kNoBlock || conditions_[a] == 0) continue;
      for (const BasicBlock* to : successors(from)) {
        if (loop->contains(to) || !dominators_.dominates(BasicBlockEdge(from, to), to)) continue;
        for (BlockNo b = 0; b < control_.blocks.endId(); ++b)
          if (dominators_.dominates(to, control_.blocks[b])) deciding[b].push_back(a);
        waits_[a] = 1;
      }
    }
  }
}

// Between two conditions of `a && b`: nothing happens there that could be seen.
bool FunctionSlicer::onlyEvaluates(const BasicBlock& b) const {
  for (const Instruction& i : b)
    if (i.mayWriteToMemory() && !isa<DbgInfoIntrinsic>(i) && !(isa<LoadInst>(i) && !i.mayThrow())) return false;
  return true;
}

// Where an edge leads in the end, and the last block before that.
struct Way {
  const BasicBlock* from;
  const BasicBlock* to;
};
static Way endOf(Way way) {
  for (int steps = 0; steps < 64 && ControlDependence::onlyLeadsOn(*way.to); ++steps)
    way = {way.to, way.to->getSingleSuccessor()};
  return way;
}

// Two ways to one place, with the same values.
static bool meet(Way a, Way b) {
  a = endOf(a);
  b = endOf(b);
  if (a.to != b.to) return false;
  return all_of(a.to->phis(), [&](const PHINode& p) {
    return p.getIncomingValueForBlock(a.from) == p.getIncomingValueForBlock(b.from);
  });
}

// The function, inlined or not, in which an assertion or the end of a wait stands: that of its condition, since
// assertions are often functions of their own.
static const DILocation* placeOfAssertion(const Instruction& terminator) {
  const auto* branch = dyn_cast<BranchInst>(&terminator);
  const Value* v = branch == nullptr || !branch->isConditional() ? nullptr : branch->getCondition();
  const DILocation* place = terminator.getDebugLoc().get();
  for (int steps = 0; v != nullptr && steps < 8; ++steps) {
    const auto* i = dyn_cast<Instruction>(v);
    if (i == nullptr) break;
    if (i->getDebugLoc()) place = i->getDebugLoc().get();
    const auto* compare = dyn_cast<ICmpInst>(i);
    bool passes = isa<CastInst>(i) || (compare != nullptr && isa<ConstantData>(compare->getOperand(1)) &&
                                       isa<CastInst, ICmpInst>(compare->getOperand(0)));
    v = passes ? i->getOperand(0) : nullptr;
  }
  return place;
}

static bool standsIn(const DILocation* place, const DILocation* function) {
  if (function == nullptr) return true;
  for (; place != nullptr; place = place->getInlinedAt())
    if (place->getInlinedAt() == function->getInlinedAt() &&
        place->getScope()->getSubprogram() == function->getScope()->getSubprogram())
      return true;
  return false;
}

std::vector<BlockNo> FunctionSlicer::decidingOver(const Instruction& i, const std::vector<BlockNo>& all) const {
  std::vector<BlockNo> own;
  for (BlockNo a : all)
    if (!(control_.isAssertion(a) || waits_[a]) ||
        standsIn(i.getDebugLoc().get(), placeOfAssertion(*control_.blocks[a]->getTerminator())))
      own.push_back(a);
  return own;
}

// A search: the loop ends where it has found what is read after it, so what its conditions test is what was looked for.
SetNo FunctionSlicer::leftBy(const Value* pointer, const Instruction& read) const {
  constexpr std::size_t kMostSteps = 24;
  SmallPtrSet<const Value*, 16> seen;
  SmallVector<const Value*, 16> work{pointer};
  SetNo all = 0;
  while (!work.empty() && seen.size() < kMostSteps) {
    const Value* v = work.pop_back_val();
    const auto* i = dyn_cast<Instruction>(v);
    if (i == nullptr || !seen.insert(v).second) continue;
    const Loop* loop = loops_.getLoopFor(i->getParent());
    if (isa<PHINode>(i) && loop != nullptr && loop->getHeader() == i->getParent() && !loop->contains(&read)) {
      SmallVector<BasicBlock*, 8> exiting;
      loop->getExitingBlocks(exiting);
      for (const BasicBlock* b : exiting)
        if (BlockNo no = control_.numberOf(b); no != kNoBlock) all = sets_.unite(all, conditions_[no]);
    } else if (isa<GetElementPtrInst, CastInst, BinaryOperator, PHINode, SelectInst, FreezeInst>(i)) {
      work.append(i->op_begin(), i->op_end());
    }
  }
  return all;
}

// What a condition compares, through && and || however they are written. The values that one side may have are one
// term: of two reads in it only one counts at a time.
void FunctionSlicer::addTerms(const Value* v, std::vector<std::vector<Origin>>& terms, int depth) {
  // A condition over more than this says little about any part of it.
  constexpr std::size_t kMostTerms = 64;
  if (depth > 8 || terms.size() > kMostTerms) return;
  const bool truth = v->getType()->isIntegerTy(1);
  if (const auto* compare = dyn_cast<CmpInst>(v)) {
    for (const Value* side : compare->operands()) addTerms(side, terms, depth + 1);
  } else if (isa<CastInst, FreezeInst>(v)) {
    addTerms(cast<User>(v)->getOperand(0), terms, depth + 1);
  } else if (isa<BinaryOperator>(v) || (truth && isa<SelectInst>(v))) {
    for (const Value* part : cast<User>(v)->operands()) addTerms(part, terms, depth + 1);
  } else if (const auto* phi = dyn_cast<PHINode>(v); phi != nullptr && truth) {
    for (const Value* incoming : phi->incoming_values()) addTerms(incoming, terms, depth + 1);
    BlockNo block = control_.numberOf(phi->getParent());
    if (block == kNoBlock) return;
    for (BlockNo by : control_.choosing(block))
      if (const auto* branch = dyn_cast<BranchInst>(control_.blocks[by]->getTerminator());
          branch != nullptr && branch->isConditional())
        addTerms(branch->getCondition(), terms, depth + 1);
  } else if (isa<CallBase>(v) && v->getType()->isIntegerTy() && v->getType()->getIntegerBitWidth() <= 32) {
    // What a function tests that says yes or no.
    for (const Origin& o : sets_.of(of(v))) terms.push_back({o});
  } else {
    std::vector<Origin> term;
    for (const Origin& o : sets_.of(of(v)))
      if (!isTested(o.stage)) term.push_back(o);
    if (!term.empty()) terms.push_back(std::move(term));
  }
}

// Their origins are those of the condition, with the shapes that it gives them.
std::vector<SetNo> FunctionSlicer::termsOf(const Instruction& terminator) {
  const Value* condition = nullptr;
  if (const auto* branch = dyn_cast<BranchInst>(&terminator); branch != nullptr && branch->isConditional())
    condition = branch->getCondition();
  if (const auto* choice = dyn_cast<SwitchInst>(&terminator)) condition = choice->getCondition();
  if (condition == nullptr) return {};
  std::vector<std::vector<Origin>> terms;
  addTerms(condition, terms, 0);
  auto same = [](const Origin& a, const Origin& b) { return a.kind == b.kind && a.no == b.no && a.spot == b.spot; };
  const std::vector<Origin> all = sets_.of(conditionOf(terminator));
  std::vector<SetNo> sets;
  for (const std::vector<Origin>& term : terms) {
    std::vector<Origin> kept;
    for (const Origin& o : all)
      if (any_of(term, [&](const Origin& d) { return same(o, d); })) kept.push_back(o);
    if (!kept.empty()) sets.push_back(sets_.intern(std::move(kept)));
  }
  return sets;
}

void FunctionSlicer::addFacts(FunctionFacts& facts) {
  facts.returned = returned_;
  facts.blocks.resize(control_.blocks.size());
  IdVector<BlockNo, std::vector<BlockNo>> waits(control_.blocks.size());
  addWaits(waits);
  for (BlockNo no = 0; no < control_.blocks.endId(); ++no) {
    const BasicBlock& b = *control_.blocks[no];
    BlockFact& block = facts.blocks[no];
    std::vector<BlockNo> deciding = control_.decidingAhead(no);
    deciding.insert(deciding.end(), waits[no].begin(), waits[no].end());
    block.deciding = decidingOver(*b.getTerminator(), deciding);
    bool asserted = any_of(deciding, [&](BlockNo a) { return control_.isAssertion(a) || waits_[a]; });
    auto decidingOf = [&](const Instruction& i) {
      Deciding d;
      if (!asserted) return d;
      d.blocks = decidingOver(i, deciding);
      d.own = d.blocks != block.deciding;
      return d;
    };
    block.condition = conditions_[no];
    block.terms = termsOf(*b.getTerminator());
    block.group = no;
    for (const Instruction& i : b) {
      if (const CodeAccess* access = p_.code.accessOf(i); access != nullptr && !access->writesLocal)
        for (KeyNo key : access->writtenKeys)
          if (p_.types.isPersistent(key)) addKeys(block.writes, {key});
      if (const CodeAccess* access = p_.code.accessOf(i); access != nullptr && access->read != nullptr) {
        ReadFact read;
        if (!access->readsLocal)
          for (KeyNo key : access->readKeys) {
            if (p_.types.isPersistent(key))
              read.reads.push_back(p_.facts.reads.of(access->site, key, access->swaps));
            else
              read.volatiles.push_back(key);
          }
        if (!read.reads.empty() || !read.volatiles.empty()) {
          read.address = sets_.unite(of(access->read), access->read2 == nullptr ? 0 : of(access->read2));
          read.spot = spotOf(access->read);
          read.choice = chosenBy(i);
          read.left = leftBy(access->read, i);
          if (asserted) {
            const std::vector<BlockNo> own = decidingOver(i, deciding);
            for (BlockNo a : deciding)
              if (control_.isAssertion(a) && !is_contained(own, a))
                read.asserted = sets_.unite(read.asserted, conditions_[a]);
          }
          read.deciding = decidingOf(i);
          block.reads.push_back(std::move(read));
        }
      }
      const auto* c = dyn_cast<CallBase>(&i);
      const Function* callee = c == nullptr ? nullptr : calleeOf(*c);
      if (callee == nullptr) continue;
      CallFact fact{decidingOf(i), p_.code.numberOf(callee), {}, spotsOf(*c)};
      for (const Value* v : c->args()) fact.arguments.push_back(of(v));
      block.calls.push_back(std::move(fact));
    }
  }
  findConditions(facts);
}

// A block joins a condition before it if that is all it was entered for, and both can lead to the same place; what
// stands between them is a part of it too: a && (b || c).
void FunctionSlicer::findConditions(FunctionFacts& facts) const {
  constexpr int kMostParts = 16;
  auto groupOf = [&](BlockNo b) {
    while (facts.blocks[b].group != b) b = facts.blocks[b].group;
    return b;
  };
  auto before = [&](BlockNo b) {
    if (!onlyEvaluates(*control_.blocks[b])) return kNoBlock;
    const BasicBlock* p = control_.blocks[b]->getSinglePredecessor();
    while (p != nullptr && ControlDependence::onlyLeadsOn(*p)) p = p->getSinglePredecessor();
    BlockNo no = p == nullptr ? kNoBlock : control_.numberOf(p);
    return no == kNoBlock || no >= b || conditions_[no] == 0 ? kNoBlock : no;
  };
  auto join = [&](BlockNo a, BlockNo b) {
    const BasicBlock *first = control_.blocks[a], *second = control_.blocks[b];
    for (const BasicBlock* s : successors(first))
      for (const BasicBlock* t : successors(second))
        if (s != second && t != first && meet({first, s}, {second, t})) return true;
    return false;
  };
  for (BlockNo no = 0; no < facts.blocks.endId(); ++no) {
    if (conditions_[no] == 0) continue;
    std::vector<BlockNo> between{no};
    for (BlockNo a = before(no); a != kNoBlock && between.size() < kMostParts; a = before(a)) {
      if (join(no, a))
        for (BlockNo b : between) facts.blocks[groupOf(b)].group = groupOf(a);
      between.push_back(a);
    }
  }
  for (BlockNo no = 0; no < facts.blocks.endId(); ++no) facts.blocks[no].group = groupOf(no);
}

}  // namespace blackout
