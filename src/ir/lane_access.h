// Vector accesses under a mask: masked loads and stores, gathers, scatters, AVX's own.
#pragma once

#include <optional>

#include "llvm/IR/DerivedTypes.h"
#include "llvm/IR/IntrinsicInst.h"

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

}  // namespace blackout
