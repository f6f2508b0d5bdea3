// The insertion for vector accesses under a mask (lane_access.h), if they may be PM: loads are made lane by lane,
// because a lane that is off touches nothing, stores by a hook that gets all lanes.
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
