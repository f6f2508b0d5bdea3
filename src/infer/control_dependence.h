// Which branches decide whether a block runs (Ferrante et al.), by post-dominance. A loop that never ends has an exit
// in LLVM's tree, so its blocks are dependent on their branches like others.
#pragma once

#include <vector>

#include "infer/ids.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/IR/Function.h"

namespace blackout {

class ControlDependence {
 public:
  explicit ControlDependence(const llvm::Function& f);

  // Blocks that can be reached, in reverse post-order.
  IdVector<BlockNo, const llvm::BasicBlock*> blocks;
  // kNoBlock: it can't be reached.
  BlockNo numberOf(const llvm::BasicBlock* b) const;
  // The blocks whose branches decide directly whether this one runs, in order.
  const std::vector<BlockNo>& deciding(BlockNo b) const { return deciding_[b]; }
  // The same without what decides only over the next turn of a loop, except for the condition at a loop's end. A test
  // that leaves a loop would otherwise seem to stand before all that the loop reads ahead of it.
  std::vector<BlockNo> decidingAhead(BlockNo b) const;
  // A branch of which one way never comes back: an assertion.
  bool isAssertion(BlockNo b) const;
  // It has nothing in it, as blocks have that only some levels of optimisation make.
  static bool onlyLeadsOn(const llvm::BasicBlock& b);

  // The blocks whose branches choose the edge by which this one is entered, and so the values of its phis.
  const std::vector<BlockNo>& choosing(BlockNo b);

 private:
  BlockNo repeated(BlockNo b) const;

  llvm::DenseMap<const llvm::BasicBlock*, BlockNo> numbers_;
  IdVector<BlockNo, std::vector<BlockNo>> deciding_;
  IdVector<BlockNo, std::vector<BlockNo>> choosing_;
  IdVector<BlockNo, char> chosen_;
  IdVector<BlockNo, char> doomed_;      // every way from here ends the program
  IdVector<BlockNo, BlockNo> repeats_;  // by branch: the start of the loop whose next turn it decides over, or kNoBlock
};

}  // namespace blackout
