// What a blocked restart waits for, in words that the runtime says and the tool knows again.
#pragma once

namespace blackout {

constexpr const char* kWaitsForLock = "a lock or a condition";
constexpr const char* kWaitsForPmLock = "a lock or a condition in persistent memory";

}  // namespace blackout
