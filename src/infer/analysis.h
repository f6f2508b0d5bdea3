// From bitcode to guardians: links the units of a program and analyses them. Takes no longer than in proportion to the
// code.
#pragma once

#include "infer/guardians.h"
#include "infer/program_bitcode.h"

namespace blackout {

struct InferOptions {
  bool all = false;                   // fields of types that nothing shows to be persistent, too
  std::uint64_t steps = 300'000'000;  // the budget of work (value_sets.h): some ten seconds
};

// Units that can't be read or linked are left out with a note.
Guardians inferGuardians(const ProgramBitcode& program, const InferOptions& options = {});

}  // namespace blackout
