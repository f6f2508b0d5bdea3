// What is done at a fence, a flush or a client request that was replaced by a jump (patches.h), for the cases that are
// the most: its place in the trace is known already, or nothing is recorded. Everything else is done with all of the
// program's state saved.
#pragma once

#include "runtime/trap/access_stub.h"
#include "runtime/trap/patch.h"

namespace blackout::rt {

// A QuickAction.
bool fenceReached(const Patch& patch, AccessFrame& frame);

}  // namespace blackout::rt
