#include "pass/slim_debug_info.h"

#include "llvm/IR/DebugInfo.h"
#include "llvm/IR/DebugInfoMetadata.h"
#include "llvm/IR/DebugProgramInstruction.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/IntrinsicInst.h"

using namespace llvm;

namespace blackout {

void slimDebugInfo(Module& m) {
  // Those of inlined functions are reached by places only.
  DebugInfoFinder finder;
  finder.processModule(m);
  for (Function& f : m)
    for (Instruction& i : make_early_inc_range(instructions(f))) {
      i.dropDbgRecords();
      if (isa<DbgInfoIntrinsic>(i)) i.eraseFromParent();
    }
  for (GlobalVariable& g : m.globals()) g.eraseMetadata(LLVMContext::MD_dbg);
  auto* noTypes = DISubroutineType::get(m.getContext(), DINode::FlagZero, 0, DITypeRefArray());
  for (DISubprogram* sp : finder.subprograms()) {
    if (!sp->isDistinct()) continue;
    // scope, declaration, containing type, template parameters, retained nodes, thrown types, annotations.
    sp->replaceOperandWith(1, sp->getFile());
    sp->replaceType(noTypes);
    for (unsigned n : {6u, 7u, 8u, 9u, 10u, 11u})
      if (n < sp->getNumOperands()) sp->replaceOperandWith(n, nullptr);
  }
  for (DICompileUnit* cu : finder.compile_units()) {
    cu->replaceEnumTypes(nullptr);
    cu->replaceRetainedTypes(nullptr);
    cu->replaceGlobalVariables(nullptr);
    cu->replaceImportedEntities(nullptr);
    cu->replaceMacros(nullptr);
  }
}

}  // namespace blackout
