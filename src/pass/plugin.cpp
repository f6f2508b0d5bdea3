// Registration of the plugin: the originals are taken at the start of the pipeline, the
// instrumentation is inserted at its end, so that optimised code stays optimised. Options come as
// -mllvm -blackout-…; the wrappers translate their own.

#include "llvm/Passes/PassBuilder.h"
#include "llvm/Passes/PassPlugin.h"
#include "llvm/Support/CommandLine.h"
#include "pass/instrument.h"

using namespace llvm;

static cl::opt<bool> instrumentLoads("blackout-loads", cl::init(true), cl::desc("instrument loads"));
static cl::list<std::string> extraEvents("blackout-events", cl::CommaSeparated,
                                         cl::desc("also instrument: call, branch, alloc, lock"));

static blackout::InstrumentOptions optionsFromCommandLine() {
  blackout::InstrumentOptions o;
  o.loads = instrumentLoads;
  for (const std::string& e : extraEvents) {
    if (e == "call")
      o.calls = true;
    else if (e == "branch")
      o.branches = true;
    else if (e == "alloc")
      o.allocations = true;
    else if (e == "lock")
      o.locks = true;
    else
      report_fatal_error(Twine("-blackout-events=") + e + ": not one of call, branch, alloc, lock", false);
  }
  return o;
}

static void registerPasses(PassBuilder& builder) {
  auto originals = std::make_shared<blackout::Originals>();
  builder.registerPipelineStartEPCallback([originals](ModulePassManager& passes, OptimizationLevel) {
    passes.addPass(blackout::CollectOriginals(originals));
  });
  builder.registerOptimizerLastEPCallback([originals](ModulePassManager& passes, OptimizationLevel) {
    passes.addPass(blackout::Instrument(originals, optionsFromCommandLine()));
  });
  // For opt -load-pass-plugin … -passes=blackout.
  builder.registerPipelineParsingCallback(
      [originals](StringRef name, ModulePassManager& passes, ArrayRef<PassBuilder::PipelineElement>) {
        if (name != "blackout") return false;
        passes.addPass(blackout::CollectOriginals(originals));
        passes.addPass(blackout::Instrument(originals, optionsFromCommandLine()));
        return true;
      });
}

extern "C" __attribute__((visibility("default"))) PassPluginLibraryInfo llvmGetPassPluginInfo() {
  return {LLVM_PLUGIN_API_VERSION, "Blackout", "1", registerPasses};
}
