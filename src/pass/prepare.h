// A translation unit as static analysis wants it: the code of the front end before any optimisation, made the same for
// every level of optimisation (canonical.h), with small functions inlined and local variables in registers (expand.h),
// addresses and branches as they were written, places as in the instrumented code, and field keys on every access.
//
// The metadata is that of ir/prepared.h. Types are not in the debug information any more: only what places need.
#pragma once

#include <memory>

#include "llvm/IR/LLVMContext.h"
#include "llvm/IR/Module.h"
#include "pass/key_table.h"

namespace blackout {

// A copy of a module, in a context of its own: nothing that is done to it shows in the compilation, remarks and
// diagnostics included.
struct Prepared {
  std::unique_ptr<llvm::LLVMContext> context;
  std::unique_ptr<llvm::Module> module;
};

// The module stays as it is. The copy's module is null if it can't be made.
Prepared prepare(const llvm::Module& m, KeyTable& keys);

}  // namespace blackout
