// From code to counting-related properties: reads of arrays and the numbers beside them, what is proven of each, and
// which of the pairs are likely to belong together. Rewrites the module (cells.h), so it comes last.
#pragma once

#include <cstdint>

#include "infer/counting.h"
#include "infer/persistent_types.h"

namespace blackout {

struct CountingOptions {
  bool all = false;                       // pairs of types that nothing shows to be persistent, too
  double seconds = 10;                    // of the processor's time, of the whole; 0: no bound
  std::uint32_t questionBudget = 300000;  // units of the solver's work for one question: some tenths of a second
};

CountingProperties inferCounting(llvm::Module& module, const CountingOptions& options = {});

}  // namespace blackout
