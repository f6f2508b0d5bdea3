// A stack with room enough for what the runtime does in a program's place: the program may have little left, and so may
// its handlers, on whose stack (sigaltstack) our own handlers begin.
#pragma once

#include <stddef.h>

namespace blackout::rt {

constexpr size_t kStackWanted = size_t{256} << 10;

// Calls function(argument), on a stack of its own where the thread's has less room than that.
void withStack(void (*function)(void*), void* argument);

template <class Body>
void withStack(Body&& body) {
  withStack([](void* b) { (*static_cast<Body*>(b))(); }, &body);
}

}  // namespace blackout::rt
