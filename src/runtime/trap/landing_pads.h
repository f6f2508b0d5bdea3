// Where the unwinder enters a function when an exception is caught in it: places that no branch leads to, and that must
// keep their addresses. They are in the language's table (.gcc_except_table) of the function's entry in .eh_frame.
#pragma once

#include <link.h>
#include <stdint.h>

#include "runtime/trap/eh_frame.h"

namespace blackout::rt {

// Calls body for every landing pad of the function that begins here, until it returns false. False: it did, or the
// tables can't be read.
bool forEachLandingPad(const dl_phdr_info& info, const FrameTable& table, uintptr_t function,
                       bool (*body)(uintptr_t place, void*), void* argument);

}  // namespace blackout::rt
