// From bitcode to guardians, and to arrays with their counters: links the units of a program and analyses them. Takes
// no longer than in proportion to the code.
#pragma once

#include "infer/counting.h"
#include "infer/guardians.h"
#include "infer/program_bitcode.h"

namespace blackout {

struct InferOptions {
  bool all = false;                   // fields of types that nothing shows to be persistent, too
  std::uint64_t steps = 300'000'000;  // the budget of work (value_sets.h): some ten seconds
  bool correlations = false;          // fields that are mostly accessed together
  double seconds = 2;                 // for arrays and their counters; 0: they are not looked for
};

// Units that can't be read or linked are left out with a note.
Guardians inferGuardians(const ProgramBitcode& program, const InferOptions& options = {});

// The same, and which arrays and counters belong together.
struct InferredProperties {
  Guardians guardians;
  CountingProperties counting;
};
InferredProperties inferProperties(const ProgramBitcode& program, const InferOptions& options = {});
CountingProperties inferCounting(const ProgramBitcode& program, const InferOptions& options = {});

}  // namespace blackout
