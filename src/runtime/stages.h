// What the program says of this run's stage: where findings are wanted in a restart, for the queries that it makes.
#pragma once

#include <stdint.h>

namespace blackout::rt {

// BLACKOUT_QUERY_SKIPPED, _INSIDE, _OUTSIDE: where this thread is in a restart.
uint32_t stageFlags();

}  // namespace blackout::rt
