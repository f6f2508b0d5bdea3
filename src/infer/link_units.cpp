#include "infer/link_units.h"

#include <set>

#include "infer/in_child.h"
#include "infer/program_code.h"
#include "infer/straighten.h"
#include "ir/prepared.h"
#include "llvm/Bitcode/BitcodeReader.h"
#include "llvm/IR/DiagnosticInfo.h"
#include "llvm/IR/DiagnosticPrinter.h"
#include "llvm/IR/Verifier.h"
#include "llvm/Linker/Linker.h"
#include "llvm/Support/raw_ostream.h"

using namespace llvm;

namespace blackout {

static std::string nameOf(const KeptUnit& unit) {
  return unit.source.empty() || unit.source == unit.holder ? unit.holder : unit.source + " (in " + unit.holder + ")";
}

// LLVM's own handler would print, and end the process on an error.
static void keepFirstError(const DiagnosticInfo* info, void* at) {
  auto* text = static_cast<std::string*>(at);
  if (info->getSeverity() != DS_Error || !text->empty()) return;
  raw_string_ostream out(*text);
  DiagnosticPrinterRawOStream printer(out);
  info->print(printer);
}

static std::string faultIn(const KeptUnit& unit) {
  LLVMContext context;
  // The reader drops debug information that is not valid, and the places with it.
  bool dropped = false;
  context.setDiagnosticHandlerCallBack(
      [](const DiagnosticInfo* info, void* at) {
        if (info->getKind() == DK_DebugMetadataInvalid) *static_cast<bool*>(at) = true;
      },
      &dropped);
  Expected<std::unique_ptr<Module>> read = parseBitcodeFile(MemoryBufferRef(unit.bitcode, unit.source), context);
  if (!read)
    return "its bitcode can't be read (" + toString(read.takeError()) +
           "); compile it again with this version's wrappers";
  bool brokenDebugInfo = false;
  if (dropped || verifyModule(**read, nullptr, &brokenDebugInfo) || brokenDebugInfo)
    return "its bitcode is not valid; compile it again";
  if (!isPrepared(**read))
    return "its bitcode was not prepared for analysis; compile it with blackout-clang or blackout-clang++";
  // What the verifier doesn't look at shows when the code is read.
  straighten(**read);
  ProgramCode code(**read);
  return "";
}

// Two strong definitions of one name, as in two programs that are analysed at once, are two functions: each unit's
// calls lead to its own.
static void keepApart(Module& unit, const Module& all) {
  auto isDefined = [](const GlobalValue* v) { return v != nullptr && !v->isDeclaration() && v->hasExternalLinkage(); };
  for (GlobalValue& v : unit.global_values()) {
    if (!isDefined(&v) || !v.hasName() || !isDefined(all.getNamedValue(v.getName()))) continue;
    if (auto* object = dyn_cast<GlobalObject>(&v)) object->setComdat(nullptr);
    std::string name = v.getName().str();
    for (int k = 2; all.getNamedValue(v.getName()) != nullptr; ++k) v.setName(name + "." + std::to_string(k));
  }
}

std::unique_ptr<Module> linkUnits(const ProgramBitcode& program, LLVMContext& context,
                                  std::vector<std::string>& notes) {
  std::string error;
  context.setDiagnosticHandlerCallBack(keepFirstError, &error);
  // A class that many units know is one type: less to link.
  context.enableDebugTypeODRUniquing();
  auto all = std::make_unique<Module>("program", context);
  Linker linker(*all);
  std::set<std::string_view> seen;  // a unit that two files hold, as an archive and the program that it is linked to
  std::vector<const KeptUnit*> sound;
  for (const KeptUnit& unit : program.units) {
    if (!seen.insert(unit.bitcode).second) continue;
    // Before any of them is read here: a fork of a process that holds much is slow.
    std::string fault = inChild([&] { return faultIn(unit); }).value_or("its bitcode is damaged; compile it again");
    if (fault.empty())
      sound.push_back(&unit);
    else
      notes.push_back(nameOf(unit) + " is left out: " + fault);
  }
  for (const KeptUnit* sent : sound) {
    const KeptUnit& unit = *sent;
    std::unique_ptr<Module> m = cantFail(parseBitcodeFile(MemoryBufferRef(unit.bitcode, unit.source), context));
    // Flags that contradict each other would stop the linker, and say nothing that is needed here.
    if (NamedMDNode* flags = m->getModuleFlagsMetadata()) flags->eraseFromParent();
    if (all->empty() && all->global_empty()) {
      all->setDataLayout(m->getDataLayout());
      all->setTargetTriple(m->getTargetTriple());
    }
    keepApart(*m, *all);
    error.clear();
    if (linker.linkInModule(std::move(m)))
      notes.push_back(nameOf(unit) + " is left out: it can't be linked with the others (" +
                      (error.empty() ? "unknown reason" : error) + ")");
  }
  context.setDiagnosticHandlerCallBack(nullptr);
  return all;
}

}  // namespace blackout
