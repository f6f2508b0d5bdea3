// Loops that add up what they read and do nothing else with it, as PMDK's libraries check their logs (util_checksum):
// Fletcher's sum, in which each word is added to one sum and that to another.
#pragma once

#include <cstdint>
#include <string>

namespace blackout {

// Whether the instruction reads the words of such a loop. Its offset is from the load bias of the program file. Only
// the form that compilers give the loop when they optimise is known; of any other code, and of a file that can't be
// read, the answer is no.
bool readsForFletcher(const std::string& path, std::uint64_t offset);

}  // namespace blackout
