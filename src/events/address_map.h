// The map of addresses in a process that Blackout watches, from below: everything of the runtime's own has its place
// away from where programs and the kernel put things (0x5555..., 0x7f...), the same in every run.
#pragma once

#include <stdint.h>

namespace blackout {

// Pools that the program lets us place, with gaps, 2 MiB aligned.
constexpr uintptr_t kPmBase = 0x200000000000;
constexpr uintptr_t kPmSpan = uintptr_t{16} << 40;
constexpr uintptr_t kPoolAlignment = uintptr_t{2} << 20;
// Of a restart: the plan, what it has observed, its worker's control block, and the table of files where nothing is
// traced.
constexpr uintptr_t kPlanBase = 0x300000000000;
constexpr uintptr_t kObservedBase = 0x308000000000;
constexpr uintptr_t kControlBase = 0x309000000000;
constexpr uintptr_t kTableBase = 0x30a000000000;
// What else the runtime needs, in the order in which it does.
constexpr uintptr_t kOwnBase = 0x30b000000000;
constexpr uint64_t kOwnSpan = uint64_t{1} << 36;
// What is large and must not lie where jumps of the program reach: which addresses are PM, and the states of pages.
constexpr uintptr_t kPmTableBase = 0x30c000000000;
constexpr uint64_t kPmTableSpan = uint64_t{1} << 32;
constexpr uintptr_t kPageStatesBase = 0x30e000000000;
constexpr uint64_t kPageStatesSpan = uint64_t{1} << 33;
// The trace, and behind it the table of places.
constexpr uintptr_t kTraceBase = 0x310000000000;
constexpr uint64_t kTraceSpan = uint64_t{1} << 38;
// Second mappings of PM, without protection.
constexpr uintptr_t kAliasBase = 0x400000000000;
constexpr uintptr_t kAliasEnd = 0x500000000000;
// Where nothing ever lies (sanitizers have their heap below): an address in it is one of a process that has other
// addresses.
constexpr uintptr_t kNowhereBase = 0x680000000000;
constexpr uint64_t kNowhereSpan = uint64_t{1} << 42;

static_assert(kPmBase + kPmSpan <= kPlanBase && kPlanBase < kObservedBase && kObservedBase < kControlBase &&
              kControlBase < kTableBase && kTableBase < kOwnBase && kOwnBase + kOwnSpan <= kPmTableBase &&
              kPmTableBase + kPmTableSpan < kPageStatesBase && kPageStatesBase + kPageStatesSpan < kTraceBase &&
              kTraceBase + kTraceSpan < kAliasBase && kAliasEnd < kNowhereBase);

}  // namespace blackout
