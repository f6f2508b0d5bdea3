// Vector accesses under a mask (masked loads and stores, gathers, scatters, AVX's own): made lane by
// lane if they may be PM, because a lane that is off touches nothing.
#pragma once

#include <optional>

#include "events/contract.h"
#include "llvm/IR/DerivedTypes.h"
#include "llvm/IR/GlobalVariable.h"
#include "llvm/IR/IntrinsicInst.h"
#include "pass/hooks.h"

namespace blackout {

struct LaneAccess {
  llvm::FixedVectorType* type;  // of the data
  bool load = false;
  bool everyLaneHasPointer = false;  // gather, scatter
  bool nonTemporal = false;
  // Numbers of the intrinsic's arguments; -1: it has none.
  int pointer, mask, data = -1, otherwise = -1;

  llvm::Value* pointerOf(const llvm::IntrinsicInst& i) const { return i.getArgOperand(static_cast<unsigned>(pointer)); }
};

std::optional<LaneAccess> laneAccess(const llvm::IntrinsicInst& i);

// `watched` decides at run time; the intrinsic itself stays for when it doesn't hold.
void instrumentLanes(Hooks& hooks, llvm::IntrinsicInst& i, const LaneAccess& lanes, llvm::GlobalVariable* site,
                     llvm::Value* watched);

}  // namespace blackout
