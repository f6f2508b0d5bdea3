// The creation of a pool by a library. A call like pmemobj_create() makes a file and fills it, and a crash in the
// middle leaves one that can neither be opened nor created again. However many stores of the library a cause could be
// named by, that is one mistake of the program, with one cure: it creates the pool under the name that restarts look
// for.
#pragma once

#include <string>
#include <vector>

#include "detect/trusted.h"
#include "judge/finding_builder.h"
#include "model/index.h"

namespace blackout {

struct PoolCreation {
  FileNo file = 0;
  EventNo begin = 0;  // the file is there
  EventNo last = 0;   // the last event of the call
  StackId where = 0;  // the first place in it
  // Whether a crash just before the event interrupts it.
  bool interruptedAt(EventNo at) const { return begin < at && at <= last; }
};

// By the library calls of a recording; a pool that the program's own code fills after it was made is not among them.
std::vector<PoolCreation> poolCreations(const Index& recording, const Trusted& libraries);

// The one finding of all that come of it, of which there is at least one. `states` and `points` at which restarts fail
// there; `call`: the calls at `where`.
ShownFinding interruptedCreation(const PoolCreation& creation, const Trusted& libraries,
                                 std::vector<ShownFinding> findings, std::uint64_t states, std::uint64_t points,
                                 std::vector<Frame> call);

}  // namespace blackout
