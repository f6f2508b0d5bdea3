// Memory that the program registers as PM: by blackout_pm_register, or by a client request (client_requests.cpp).
#pragma once

#include <stddef.h>

#include "runtime/regions.h"

namespace blackout::rt {

// `caller`: what the program called, for messages. Neither is called inside a Scope.
void registerMemory(void* p, size_t size, const char* name, const char* caller);
// The whole region that holds p.
void unregisterMemory(void* p);
bool isRegistered(const Region& r);

}  // namespace blackout::rt
