// What the runtime says of a restart in words that the tool knows again: why it hangs, what it reads.
#pragma once

namespace blackout {

constexpr const char* kWaitsForLock = "a lock or a condition";
constexpr const char* kWaitsForPmLock = "a lock or a condition in persistent memory";
// A note that begins so goes on with the path of a file that is no pool.
constexpr const char* kReadsRecorded = "a restart reads ";
// "more than 1280000000 " and this.
constexpr const char* kTurns = "turns of its loops, and it read nothing new of its pools";

}  // namespace blackout
