// The insertion for vector accesses under a mask (lane_access.h): made lane by
// lane if they may be PM, because a lane that is off touches nothing.
#pragma once

#include "events/contract.h"
#include "ir/lane_access.h"
#include "llvm/IR/GlobalVariable.h"
#include "llvm/IR/IntrinsicInst.h"
#include "pass/hooks.h"

namespace blackout {

// `watched` decides at run time; the intrinsic itself stays for when it doesn't hold.
void instrumentLanes(Hooks& hooks, llvm::IntrinsicInst& i, const LaneAccess& lanes, llvm::GlobalVariable* site,
                     llvm::Value* watched);

}  // namespace blackout
