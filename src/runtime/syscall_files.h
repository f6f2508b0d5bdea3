// syscall() on files and mappings.
#pragma once

namespace blackout::rt {

// Whether libc has a function for the call that the runtime stands before: then that one was called, and `result` is
// what it returned.
bool callOnFile(long number, const long (&a)[6], long& result);

}  // namespace blackout::rt
