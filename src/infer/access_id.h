// How an access in code is matched with one in a trace.
#pragma once

#include <cstdint>

#include "events/site.h"

namespace blackout {

// The source's own id, which every build agrees on; for an access inside the library's wrappers
// (events/access_wrapper.h), which has one id for all its callers, mixed with the places up to and including the first
// outside of them.
std::uint64_t accessId(const Source& source);

// The place in the program's own code: the call of the wrapper, for an access inside one. Null: unknown.
const Place* ownPlace(const Source& source);

}  // namespace blackout
