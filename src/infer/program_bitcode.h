// The bitcode that the compiler wrappers keep, read back from whatever holds it: a program or library, an object file,
// an archive, or a file of bitcode. Everything in it comes from outside and is checked; what can't be used is left out
// with a sentence, and the rest still counts.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "events/error.h"

namespace blackout {

// One translation unit.
struct KeptUnit {
  std::string source;   // the name of its source file
  std::string holder;   // the file that it was read from
  std::string bitcode;  // unpacked
};

struct ProgramBitcode {
  std::vector<KeptUnit> units;  // in the order of the files, and in the order of the sections in them
  // Files of bitcode that no wrapper prepared: compile.h does.
  std::vector<std::string> unprepared;
  std::vector<std::string> notes;  // sentences: what was left out and why
};

// Appends what the file holds. An error if it can't be read or is of no known kind; a file without any
// bitcode of ours is a note.
Result<void> addBitcode(ProgramBitcode& program, const std::string& path);

// For tests and fuzzers: the records of a section.
void addRecords(ProgramBitcode& program, std::span<const char> section, const std::string& holder);

}  // namespace blackout
