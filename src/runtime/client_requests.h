// What a Valgrind client request of the program means (events/client_requests.def).
#pragma once

#include <stdint.h>

#include "events/contract.h"

namespace blackout::rt {

// args[0] is the code; returns the request's answer. `frame` is the hook's. `where`, if it is given, gets the place
// that was recorded with it, if one was.
uint64_t clientRequest(uint64_t unanswered, const uint64_t* args, blackout_site* site, const void* frame,
                       uint32_t* where = nullptr);

// The same for requests whose only effect is some events, by whoever may not touch a vector register.
constexpr uint64_t kMostRequestEvents = 128;
bool isOnlyRecorded(const uint64_t* args);
bool isRecordedWithPlace(const uint64_t* args);
// Inside a Scope, with room for so many.
void recordRequest(const uint64_t* args, uint32_t where);

}  // namespace blackout::rt
