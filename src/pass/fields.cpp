#include "pass/fields.h"

#include "llvm/BinaryFormat/Dwarf.h"
#include "llvm/IR/Constants.h"
#include "llvm/IR/DataLayout.h"
#include "llvm/IR/DebugInfo.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/Operator.h"

using namespace llvm;

namespace blackout {

Fields::Fields(const Module& m) : module_(m) {
  DebugInfoFinder finder;
  finder.processModule(m);
  auto add = [&](StringRef name, const DICompositeType* type) {
    if (name.empty()) return;
    auto [it, fresh] = types_.try_emplace(name, type);
    if (!fresh && it->second != type) it->second = nullptr;
  };
  for (const DIType* t : finder.types()) {
    const auto* type = dyn_cast<DICompositeType>(t);
    if (type == nullptr || type->isForwardDecl()) continue;
    if (type->getTag() != dwarf::DW_TAG_structure_type && type->getTag() != dwarf::DW_TAG_class_type) continue;
    add(type->getIdentifier(), type);
    add(type->getName(), type);
  }
}

std::string Fields::memberAt(const DICompositeType& type, std::uint64_t byteOffset) const {
  // The innermost named member that holds the byte; members of base classes and of anonymous
  // structs are named through them.
  for (const DINode* element : type.getElements()) {
    const auto* member = dyn_cast<DIDerivedType>(element);
    if (member == nullptr || member->isStaticMember()) continue;
    if (member->getTag() != dwarf::DW_TAG_member && member->getTag() != dwarf::DW_TAG_inheritance) continue;
    std::uint64_t begin = member->getOffsetInBits() / 8;
    std::uint64_t size = member->getSizeInBits() / 8;
    const DIType* inner = member->getBaseType();
    while (const auto* derived = dyn_cast_or_null<DIDerivedType>(inner)) {
      if (derived->getTag() == dwarf::DW_TAG_pointer_type) break;
      inner = derived->getBaseType();
    }
    if (size == 0 && inner != nullptr) size = inner->getSizeInBits() / 8;
    if (byteOffset < begin || byteOffset >= begin + std::max<std::uint64_t>(size, 1)) continue;
    const auto* composite = dyn_cast_or_null<DICompositeType>(inner);
    bool nested = composite != nullptr && (composite->getTag() == dwarf::DW_TAG_structure_type ||
                                           composite->getTag() == dwarf::DW_TAG_class_type);
    if (nested) {
      std::string deeper = memberAt(*composite, byteOffset - begin);
      if (member->getName().empty()) return deeper.empty() ? "" : type.getName().str() + deeper.substr(deeper.find('.'));
      if (!deeper.empty()) return deeper;
    }
    if (member->getName().empty()) return "";
    StringRef owner = type.getName();
    if (owner.empty()) return "?." + member->getName().str();
    return (owner + "." + member->getName()).str();
  }
  return "";
}

std::string Fields::nameOf(const Instruction& i, const Value* pointer) const {
  auto member = [&](StringRef typeName, std::uint64_t offset) -> std::string {
    auto found = types_.find(typeName);
    if (found == types_.end() || found->second == nullptr) return "";
    return memberAt(*found->second, offset);
  };
  // A struct-path TBAA tag is (base type, access type, offset).
  if (const MDNode* tag = i.getMetadata(LLVMContext::MD_tbaa); tag != nullptr && tag->getNumOperands() >= 3) {
    const auto* base = dyn_cast<MDNode>(tag->getOperand(0));
    const auto* offset = mdconst::dyn_extract<ConstantInt>(tag->getOperand(2));
    if (base != nullptr && base->getNumOperands() > 0 && offset != nullptr)
      if (const auto* name = dyn_cast<MDString>(base->getOperand(0)))
        if (std::string found = member(name->getString(), offset->getZExtValue()); !found.empty()) return found;
  }
  // getelementptr %struct.T, p, 0, k: the type's name without its prefix.
  if (const auto* gep = dyn_cast_or_null<GEPOperator>(pointer)) {
    auto* type = dyn_cast<StructType>(gep->getSourceElementType());
    if (type == nullptr || !type->hasName()) return "";
    StringRef name = type->getName();
    if (!name.consume_front("struct.") && !name.consume_front("class.")) return "";
    const DataLayout& dl = module_.getDataLayout();
    SmallVector<Value*, 4> indices;
    for (auto it = gep->idx_begin(); it != gep->idx_end(); ++it) indices.push_back(it->get());
    if (indices.empty()) return "";
    indices[0] = Constant::getNullValue(indices[0]->getType());
    for (Value*& index : indices)
      if (!isa<ConstantInt>(index)) index = Constant::getNullValue(index->getType());
    std::uint64_t offset = static_cast<std::uint64_t>(dl.getIndexedOffsetInType(type, indices));
    if (std::string found = member(name, offset); !found.empty()) return found;
    // "ns::T" has the plain name "T" in debug info; "T.123" is a renamed duplicate.
    if (std::size_t colon = name.rfind("::"); colon != StringRef::npos) return member(name.substr(colon + 2), offset);
  }
  return "";
}

}  // namespace blackout
