// What the runtime says of a restart in words that the tool knows again: why it hangs, what it reads.
#pragma once

namespace blackout {

constexpr const char* kWaitsForLock = "a lock or a condition";
constexpr const char* kWaitsForPmLock = "a lock or a condition in persistent memory";
// A note that begins so goes on with the path of a file that is no pool.
constexpr const char* kReadsRecorded = "a restart reads ";
// "more than 1280000000 " and this.
constexpr const char* kTurns = "turns of its loops, and it read nothing new of its pools";

// This and "20000000 steps", of several threads under control.
constexpr const char* kSpun =
    "all of its threads that could go on spin, and none read anything new or did anything that another one could "
    "notice "
    "for";

}  // namespace blackout
