#include "pass/prepare.h"

#include <map>

#include "ir/accesses.h"
#include "ir/prepared.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/Bitcode/BitcodeReader.h"
#include "llvm/Bitcode/BitcodeWriter.h"
#include "llvm/IR/Constants.h"
#include "llvm/IR/DebugInfo.h"
#include "llvm/IR/DiagnosticHandler.h"
#include "llvm/IR/InlineAsm.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/Instructions.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/raw_ostream.h"
#include "pass/canonical.h"
#include "pass/expand.h"
#include "pass/fields.h"
#include "pass/keys.h"
#include "pass/markers.h"
#include "pass/slim_debug_info.h"

using namespace llvm;

namespace blackout {

namespace {

struct Silent : DiagnosticHandler {
  bool handleDiagnostics(const DiagnosticInfo&) override { return true; }
};

class Annotator {
 public:
  Annotator(Module& m, const Fields& fields, KeyTable& table)
      : m_(m), c_(m.getContext()), fields_(fields), keys_(fields, m.getDataLayout()), table_(table) {}

  void run() {
    for (Function& f : m_)
      for (Instruction& i : instructions(f)) annotate(i);
    NamedMDNode* types = m_.getOrInsertNamedMetadata(kTypesNode);
    for (const auto& [name, type] : owners_)
      for (const Fields::Member& member : fields_.membersOf(*type))
        types->addOperand(MDNode::get(c_, {text(name), text(member.name), text(member.leadsTo)}));
    m_.getOrInsertNamedMetadata(kPreparedNode)
        ->addOperand(
            MDNode::get(c_, ConstantAsMetadata::get(ConstantInt::get(Type::getInt32Ty(c_), BLACKOUT_BITCODE_VERSION))));
  }

 private:
  MDString* text(StringRef s) { return MDString::get(c_, s); }

  // Null for no keys.
  MDNode* node(const std::vector<Field>& fields) {
    if (fields.empty()) return nullptr;
    SmallVector<Metadata*, 4> texts;
    for (const Field& f : fields) {
      texts.push_back(text(f.key));
      std::string name = fields_.nameOf(*f.owner);
      if (StringRef(f.key).starts_with(name)) owners_.try_emplace(name, f.owner);
    }
    return MDNode::get(c_, texts);
  }

  void annotate(Instruction& i) {
    if (isMarker(i)) return;
    if (auto* gep = dyn_cast<GetElementPtrInst>(&i)) {
      if (isa<ArrayType>(gep->getSourceElementType()))
        if (MDNode* n = node(keys_.ofArray(gep->getPointerOperand()))) i.setMetadata(kArrayNode, n);
      return;
    }
    std::vector<Access> accesses = accessesOf(i, m_.getDataLayout());
    Operands operands = operandsOf(i, m_.getDataLayout());
    if (!operands.field.empty()) {
      std::vector<Field> field = keys_.of(operands.field);
      table_.add(i, accesses, field);
      if (MDNode* n = node(field)) i.setMetadata(kFieldNode, n);
      if (!operands.source.empty())
        if (MDNode* n = node(keys_.of(operands.source))) i.setMetadata(kSourceNode, n);
      return;
    }
    if (auto* ret = dyn_cast<ReturnInst>(&i)) {
      if (ret->getReturnValue() != nullptr && ret->getReturnValue()->getType()->isPointerTy())
        if (MDNode* n = node(keys_.of(Touched{ret->getReturnValue()}))) i.setMetadata(kFieldNode, n);
      return;
    }
    auto* call = dyn_cast<CallBase>(&i);
    if (call == nullptr || !accesses.empty() || isa<IntrinsicInst>(call)) return;
    SmallVector<Metadata*, 8> arguments;
    bool any = false;
    for (const Use& a : call->args()) {
      MDNode* n = a->getType()->isPointerTy() ? node(keys_.of(Touched{a.get()})) : nullptr;
      any |= n != nullptr;
      arguments.push_back(n);
    }
    if (any) i.setMetadata(kArgumentsNode, MDNode::get(c_, arguments));
  }

  Module& m_;
  LLVMContext& c_;
  const Fields& fields_;
  Keys keys_;
  KeyTable& table_;
  std::map<std::string, const DICompositeType*> owners_;
};

}  // namespace

Prepared prepare(const Module& original, KeyTable& table) {
  SmallVector<char, 0> bytes;
  {
    raw_svector_ostream out(bytes);
    WriteBitcodeToFile(original, out);
  }
  Prepared result;
  result.context = std::make_unique<LLVMContext>();
  result.context->setDiagnosticHandler(std::make_unique<Silent>());
  Expected<std::unique_ptr<Module>> copy = parseBitcodeFile(
      MemoryBufferRef(StringRef(bytes.data(), bytes.size()), original.getModuleIdentifier()), *result.context);
  if (!copy) {
    consumeError(copy.takeError());
    return result;
  }
  result.module = std::move(*copy);
  Module& m = *result.module;
  makeCanonical(m);
  Fields fields(m);
  addMarkers(m, fields);
  expand(m);
  Annotator(m, fields, table).run();
  removeMarkers(m);
  slimDebugInfo(m);
  return result;
}

}  // namespace blackout
