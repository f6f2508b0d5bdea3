#include "infer/control_dependence.h"

#include <algorithm>
#include <unordered_set>

#include "llvm/ADT/PostOrderIterator.h"
#include "llvm/Analysis/PostDominators.h"
#include "llvm/IR/CFG.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/IntrinsicInst.h"

using namespace llvm;

namespace blackout {

static bool branches(const BasicBlock* b) {
  const BasicBlock* first = nullptr;
  for (const BasicBlock* s : successors(b)) {
    if (first != nullptr && s != first) return true;
    first = s;
  }
  return false;
}

ControlDependence::ControlDependence(const Function& f) {
  for (const BasicBlock* b : ReversePostOrderTraversal<const Function*>(&f)) {
    numbers_[b] = blocks.endId();
    blocks.push_back(b);
  }
  deciding_.resize(blocks.size());
  doomed_.resize(blocks.size());
  for (BlockNo b = blocks.endId(); b > 0;) {
    --b;
    bool all = !isa<ReturnInst, ResumeInst>(blocks[b]->getTerminator());
    for (const BasicBlock* s : successors(blocks[b])) all &= numberOf(s) > b && doomed_[numberOf(s)] != 0;
    doomed_[b] = all;
  }
  for (BlockNo b = 0; b < blocks.endId(); ++b) repeats_.push_back(repeated(b));
  choosing_.resize(blocks.size());
  chosen_.resize(blocks.size());
  PostDominatorTree tree(const_cast<Function&>(f));
  for (BlockNo a = 0; a < blocks.endId(); ++a) {
    if (!branches(blocks[a])) continue;
    const auto* node = tree.getNode(blocks[a]);
    if (node == nullptr) continue;
    for (const BasicBlock* s : successors(blocks[a]))
      for (const auto* at = tree.getNode(s); at != nullptr && at != node->getIDom(); at = at->getIDom()) {
        if (at->getBlock() == nullptr) break;
        BlockNo b = numberOf(at->getBlock());
        // Successors may share a way up.
        if (b != kNoBlock && (deciding_[b].empty() || deciding_[b].back() != a)) deciding_[b].push_back(a);
      }
  }
}

// Nothing that a test could decide over.
static bool onlyComputes(const BasicBlock& b) {
  return none_of(b, [](const Instruction& i) { return i.mayReadOrWriteMemory() && !isa<DbgInfoIntrinsic>(i); });
}

BlockNo ControlDependence::repeated(BlockNo b) const {
  if (!branches(blocks[b])) return kNoBlock;
  for (const BasicBlock* s : successors(blocks[b])) {
    BlockNo from = b;
    for (int steps = 0; s != nullptr && steps < 16; ++steps) {
      BlockNo to = numberOf(s);
      if (to <= from) return to;
      if (!onlyComputes(*s)) break;
      from = to;
      s = s->getSingleSuccessor();
    }
  }
  return kNoBlock;
}

std::vector<BlockNo> ControlDependence::decidingAhead(BlockNo b) const {
  std::vector<BlockNo> ahead;
  for (BlockNo a : deciding_[b])
    if (a < b || (repeats_[a] != kNoBlock && repeats_[a] <= b && !isAssertion(a))) ahead.push_back(a);
  return ahead;
}

bool ControlDependence::isAssertion(BlockNo b) const {
  bool ends = false, goesOn = false;
  for (const BasicBlock* s : successors(blocks[b])) (doomed_[numberOf(s)] ? ends : goesOn) = true;
  return ends && goesOn;
}

bool ControlDependence::onlyLeadsOn(const BasicBlock& b) {
  const auto* branch = dyn_cast<BranchInst>(b.getFirstNonPHIOrDbg());
  return branch != nullptr && branch->isUnconditional() && b.phis().empty() && branch->getSuccessor(0) != &b;
}

BlockNo ControlDependence::numberOf(const BasicBlock* b) const {
  auto at = numbers_.find(b);
  return at == numbers_.end() ? kNoBlock : at->second;
}

// From each entering edge up through what decides over it, but not to what decides whether the block is reached at all.
const std::vector<BlockNo>& ControlDependence::choosing(BlockNo b) {
  std::vector<BlockNo>& found = choosing_[b];
  if (chosen_[b]) return found;
  chosen_[b] = 1;
  const std::vector<BlockNo>& own = deciding_[b];
  std::unordered_set<BlockNo> seen;
  auto add = [&](BlockNo a) {
    if (std::binary_search(own.begin(), own.end(), a)) return;
    if (seen.insert(a).second) found.push_back(a);
  };
  for (const BasicBlock* p : predecessors(blocks[b])) {
    BlockNo from = numberOf(p);
    if (from == kNoBlock) continue;
    if (branches(p)) add(from);
    for (BlockNo a : deciding_[from]) add(a);
  }
  for (std::size_t k = 0; k < found.size(); ++k)
    for (BlockNo a : std::vector<BlockNo>(deciding_[found[k]])) add(a);
  std::sort(found.begin(), found.end());
  return found;
}

}  // namespace blackout
