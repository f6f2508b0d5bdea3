// What a Valgrind client request of the program means (events/client_requests.def).
#pragma once

#include <stdint.h>

#include "events/contract.h"

namespace blackout::rt {

// args[0] is the code; returns the request's answer. `frame` is the hook's.
uint64_t clientRequest(uint64_t unanswered, const uint64_t* args, blackout_site* site, const void* frame);

}  // namespace blackout::rt
