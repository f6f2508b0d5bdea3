#include "pass/unit.h"

#include "pass/access_wrappers.h"
#include "pass/kept_bitcode.h"
#include "pass/prepare.h"

using namespace llvm;

namespace blackout {

PreservedAnalyses ReadUnit::run(Module& m, ModuleAnalysisManager&) {
  unit->originals.collect(m);
  Prepared prepared = prepare(m, unit->keys);
  if (keepBitcode && prepared.module != nullptr) blackout::keepBitcode(m, *prepared.module);
  inlineAccessWrappers(m);
  return PreservedAnalyses::none();
}

}  // namespace blackout
