// What the end of the pipeline wants to know of a translation unit as the front end wrote it.
#pragma once

#include <memory>

#include "ir/originals.h"
#include "llvm/IR/PassManager.h"
#include "pass/key_table.h"

namespace blackout {

struct Unit {
  Originals originals;
  KeyTable keys;
};

// At the start of the pipeline.
struct ReadUnit : llvm::PassInfoMixin<ReadUnit> {
  ReadUnit(std::shared_ptr<Unit> unit, bool keepBitcode) : unit(std::move(unit)), keepBitcode(keepBitcode) {}
  std::shared_ptr<Unit> unit;
  bool keepBitcode;
  llvm::PreservedAnalyses run(llvm::Module& m, llvm::ModuleAnalysisManager&);
  static bool isRequired() { return true; }
};

}  // namespace blackout
