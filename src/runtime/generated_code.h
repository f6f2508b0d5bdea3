// Code that the program makes at run time. Its accesses to PM fault and are followed like any other's; flushes and
// fences in it do not, and nobody searches for them while it changes. So memory that becomes executable is looked at
// once, and what may be a flush or a fence in it is said.
#pragma once

#include <stddef.h>

namespace blackout::rt {

// [at, at + size) was made executable. `writable` too: it is looked at when the program ends.
void noteExecutable(const void* at, size_t size, bool writable);

}  // namespace blackout::rt
