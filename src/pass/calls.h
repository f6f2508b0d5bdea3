// Calls: of libc's functions over memory, which go to the runtime's versions, and the calls, locks and
// allocations that are events on demand.
#pragma once

#include "llvm/IR/InstrTypes.h"
#include "pass/hooks.h"
#include "pass/instrument.h"
#include "pass/sites.h"

namespace blackout {

class Calls {
 public:
  Calls(Hooks& hooks, SiteWriter& sites, const InstrumentOptions& options)
      : hooks_(hooks), sites_(sites), options_(options) {}

  // Appends what is to be done about the call.
  void plan(llvm::CallBase& c, Plan& work);

 private:
  void redirect(llvm::CallBase& c, llvm::StringRef hook, blackout_site_kind kind);
  void planLock(llvm::CallBase& c, llvm::StringRef name, Plan& work);
  void planAllocation(llvm::CallBase& c, llvm::StringRef name, Plan& work);

  Hooks& hooks_;
  SiteWriter& sites_;
  const InstrumentOptions& options_;
};

}  // namespace blackout
