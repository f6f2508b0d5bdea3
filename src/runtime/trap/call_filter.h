// The seccomp filters that hand system calls to the runtime, made from the table (system_calls.def).
#pragma once

#include <linux/filter.h>
#include <stddef.h>
#include <stdint.h>

#include "runtime/system_call_table.h"

namespace blackout::rt {

// What comes with a signal of these filters (si_errno), and not with that of a filter of the program's own.
constexpr unsigned kHandedOver = 0xb1ac;

struct CallFilter {
  static constexpr unsigned kMost = 4096;  // the kernel's
  sock_filter code[kMost];
  unsigned size = 0;
};

// Calls with an argument in [begin, end), whoever makes them but the instruction before `own`.
void filterAddresses(CallFilter& filter, uintptr_t own, uintptr_t begin, uintptr_t end);

// Whose instructions these are: which calls they hand over.
enum class Caller : uint8_t {
  Program,  // all that the runtime has a function for, or something to say of
  Restart,  // the same, with what is pinned
  Libc,     // only what no function of libc's that ours stands before is for
};
bool handsOver(Caller caller, long number);

// Calls by `count` instructions; `after` are the addresses behind them, in their order, all with the same upper half.
// Filters outlive an exec, and by then other code lies at these addresses: exact ones are met by nobody else.
constexpr size_t kMostInstructions = 2000;
void filterInstructions(CallFilter& filter, Caller caller, const uintptr_t* after, size_t count);

}  // namespace blackout::rt
