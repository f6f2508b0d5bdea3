// The insertion: every access, flush, fence and locked instruction of a module gets its hook of
// events/contract.h. An access takes its native path unless its pointer is inside the window of PM.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "events/contract.h"
#include "llvm/IR/PassManager.h"
#include "pass/unit.h"

namespace blackout {

// What is instrumented beside stores, flushes and fences; from the plugin's options.
struct InstrumentOptions {
  bool loads = true;
  bool calls = false;
  bool branches = false;
  bool allocations = false;
  bool locks = false;
};

// Work on one instruction each. It is planned for a whole function before any is done, because the
// answers of the checks are made before the function is cut up. Operands are read when the work is
// done: a load among them has a phi in its place by then.
using Plan = std::vector<std::function<void()>>;

struct Instrument : llvm::PassInfoMixin<Instrument> {
  Instrument(std::shared_ptr<Unit> unit, InstrumentOptions options) : unit(std::move(unit)), options(options) {}
  std::shared_ptr<Unit> unit;
  InstrumentOptions options;
  llvm::PreservedAnalyses run(llvm::Module& m, llvm::ModuleAnalysisManager&);
  static bool isRequired() { return true; }
};

}  // namespace blackout
