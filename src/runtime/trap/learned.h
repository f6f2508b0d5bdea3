// Instructions that faulted more than once in a restart: kept by file and offset in memory that the fork server shares
// with its workers and their runs, so that each worker patches them before it forks the next run, whoever met them
// first; and a run that loads a library patches what is known of it. A program that a run executes learns for itself.
#pragma once

#include <stdint.h>

#include "runtime/trap/instruction.h"

namespace blackout::rt {

// In the fork server, before it makes its workers.
void shareLearned();
// In a restart, in the handler of its faults: it has faulted so often.
void learnOf(const Instruction& i, uintptr_t pc, uint32_t faults);
// Patches what was learned since the last time; with `again`, all of it, after files were loaded.
void applyLearned(bool again);

}  // namespace blackout::rt
