// Registration of the plugin: the unit is read at the start of the pipeline, the
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

static cl::opt<bool> keepBitcode("blackout-bitcode", cl::init(true), cl::desc("keep bitcode for blackout infer"));

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
  auto unit = std::make_shared<blackout::Unit>();
  builder.registerPipelineStartEPCallback(
      [unit](ModulePassManager& passes, OptimizationLevel) { passes.addPass(blackout::ReadUnit(unit, keepBitcode)); });
  builder.registerOptimizerLastEPCallback([unit](ModulePassManager& passes, OptimizationLevel) {
    passes.addPass(blackout::Instrument(unit, optionsFromCommandLine()));
  });
  // For opt -load-pass-plugin … -passes=blackout.
  builder.registerPipelineParsingCallback(
      [unit](StringRef name, ModulePassManager& passes, ArrayRef<PassBuilder::PipelineElement>) {
        if (name != "blackout") return false;
        passes.addPass(blackout::ReadUnit(unit, keepBitcode));
        passes.addPass(blackout::Instrument(unit, optionsFromCommandLine()));
        return true;
      });
}

extern "C" __attribute__((visibility("default"))) PassPluginLibraryInfo llvmGetPassPluginInfo() {
  return {LLVM_PLUGIN_API_VERSION, "Blackout", "1", registerPasses};
}
