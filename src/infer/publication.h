// Publish after initialisation (Durinn, section 5.2), from a trace alone: an object is filled while nothing persistent
// leads to it, and then a pointer to it is stored. Durinn knows the allocator; here an object is what a pointer
// leads to (memory_cells.h), so that it also works where memory is taken out of a pool by the program's own means, and
// where freed memory is used again.
//
// An object is *published* while a pointer to it stands in published memory outside of it; memory in no cell always is.
// Pointers are counted, so a ring of objects that only lead to each other stays published when it is cut off: its
// stores are kept rather than left out.
//
// Where the program marks its operations, only stores of the operation that publishes count, as for Durinn: a log that
// leads to a fixed field for a while makes no new object of it.
#pragma once

#include <vector>

#include "events/site.h"

namespace blackout {

// The stores to objects that were not published yet, and were so later; in order.
std::vector<EventNo> initialisingStores(const Trace& trace);

}  // namespace blackout
