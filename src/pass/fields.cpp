#include "pass/fields.h"

#include <algorithm>

#include "llvm/ADT/StringExtras.h"
#include "llvm/BinaryFormat/Dwarf.h"
#include "llvm/Demangle/Demangle.h"
#include "llvm/IR/Constants.h"
#include "llvm/IR/DataLayout.h"
#include "llvm/IR/DebugInfo.h"
#include "llvm/IR/DebugProgramInstruction.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/IntrinsicInst.h"

using namespace llvm;

namespace blackout {

namespace {

bool isStruct(const DIType* t) {
  const auto* c = dyn_cast_or_null<DICompositeType>(t);
  return c != nullptr && (c->getTag() == dwarf::DW_TAG_structure_type || c->getTag() == dwarf::DW_TAG_class_type);
}

// Through typedefs and qualifiers, and through `pointers` pointers or references.
const DIType* strip(const DIType* t, int pointers = 0) {
  while (const auto* derived = dyn_cast_or_null<DIDerivedType>(t)) {
    bool points = derived->getTag() == dwarf::DW_TAG_pointer_type ||
                  derived->getTag() == dwarf::DW_TAG_reference_type ||
                  derived->getTag() == dwarf::DW_TAG_rvalue_reference_type;
    if (points && pointers-- == 0) break;
    t = derived->getBaseType();
  }
  return t;
}

// "std::pair<int, A<int> >::first" without what is in angle brackets.
std::string withoutTemplateArguments(StringRef name) {
  std::string out;
  int depth = 0;
  for (char c : name) {
    if (c == '<') ++depth;
    if (depth == 0) out += c;
    if (c == '>') --depth;
  }
  return out;
}

std::string withScopes(const DIType& type, StringRef name) {
  std::string result = name.str();
  for (const DIScope* s = type.getScope(); s != nullptr && !isa<DIFile>(s) && !isa<DICompileUnit>(s);
       s = s->getScope()) {
    // A type local to a function is named without it in IR.
    if (isa<DISubprogram>(s) || isa<DILexicalBlockBase>(s)) break;
    StringRef outer = s->getName();
    result = (outer.empty() ? "(anonymous namespace)" : outer.str()) + "::" + result;
  }
  return result;
}

}  // namespace

Fields::Fields(const Module& m) : module_(m) {
  DebugInfoFinder finder;
  finder.processModule(m);
  auto add = [](Types& types, StringRef name, const DICompositeType* type) {
    if (name.empty()) return;
    auto [it, fresh] = types.try_emplace(name, type);
    if (!fresh && it->second != type) it->second = nullptr;
  };
  auto addNamed = [&](StringRef name, const DICompositeType* type) {
    std::string full = withScopes(*type, name);
    add(types_, full, type);
    add(irNames_, withoutTemplateArguments(full), type);
  };
  for (const DIType* t : finder.types()) {
    if (t->getTag() == dwarf::DW_TAG_typedef) {
      const auto* type = dyn_cast_or_null<DICompositeType>(cast<DIDerivedType>(t)->getBaseType());
      if (!isStruct(type) || !type->getName().empty() || !typedefs_.try_emplace(type, t->getName().str()).second)
        continue;
      addNamed(t->getName(), type);
    }
    if (!isStruct(t) || t->isForwardDecl()) continue;
    const auto* type = cast<DICompositeType>(t);
    add(types_, type->getIdentifier(), type);
    if (type->getName().empty())
      anonymous_.push_back(type);
    else
      addNamed(type->getName(), type);
  }
}

std::string Fields::nameOf(const DICompositeType& type) const {
  if (!type.getName().empty()) return type.getName().str();
  auto found = typedefs_.find(&type);
  return found == typedefs_.end() ? "?" : found->second;
}

// The innermost named member that holds the bytes; members of base classes are named by the base,
// those of anonymous structs by the struct around.
std::string Fields::memberAt(const DICompositeType& type, std::uint64_t offset, std::uint64_t size) const {
  std::uint64_t last = offset + std::max<std::uint64_t>(size, 1);
  for (const DINode* element : type.getElements()) {
    const auto* member = dyn_cast<DIDerivedType>(element);
    if (member == nullptr || !member->isBitField()) continue;
    if (offset * 8 < member->getOffsetInBits() + member->getSizeInBits() && member->getOffsetInBits() < last * 8)
      return "";
  }
  for (const DINode* element : type.getElements()) {
    const auto* member = dyn_cast<DIDerivedType>(element);
    if (member == nullptr || member->isStaticMember() || member->isBitField()) continue;
    bool base = member->getTag() == dwarf::DW_TAG_inheritance;
    if (member->getTag() != dwarf::DW_TAG_member && !base) continue;
    std::uint64_t begin = member->getOffsetInBits() / 8;
    const DIType* inner = strip(member->getBaseType());
    std::uint64_t bytes = member->getSizeInBits() / 8;
    if (bytes == 0 && inner != nullptr) bytes = inner->getSizeInBits() / 8;
    // Derived members may lie in a base's tail padding, and behind an empty base.
    if (offset < begin || offset >= begin + std::max<std::uint64_t>(bytes, base ? 0 : 1)) continue;
    // A field of one element of an array, or the array.
    std::uint64_t within = offset - begin;
    if (const auto* array = dyn_cast_or_null<DICompositeType>(inner);
        array != nullptr && array->getTag() == dwarf::DW_TAG_array_type) {
      const DIType* item = strip(array->getBaseType());
      if (isStruct(item) && item->getSizeInBits() >= 8) {
        within %= item->getSizeInBits() / 8;
        inner = item;
      }
    }
    if (isStruct(inner)) {
      std::string deeper = memberAt(*cast<DICompositeType>(inner), within, size);
      bool unnamed = member->getName().empty() && !base;
      if (unnamed) return deeper.empty() ? "" : nameOf(type) + deeper.substr(deeper.find('.'));
      if (!deeper.empty()) return deeper;
    }
    if (base) continue;
    if (member->getName().empty() || (bytes != 0 && last > begin + bytes)) return "";
    return nameOf(type) + "." + member->getName().str();
  }
  return "";
}

const DICompositeType* Fields::byTbaaName(StringRef name) const {
  if (auto found = types_.find(name); found != types_.end()) return found->second;
  // Types of anonymous namespaces have no identifier in debug info.
  std::string readable = demangle(name);
  StringRef plain(readable);
  if (!plain.consume_front("typeinfo name for ")) return nullptr;
  auto found = types_.find(plain);
  return found == types_.end() ? nullptr : found->second;
}

std::string Fields::nameOf(const TbaaMember& member, std::uint64_t size) const {
  const DICompositeType* type = member.structure.empty() ? nullptr : byTbaaName(member.structure);
  return type == nullptr ? "" : memberAt(*type, member.offset, size);
}

// The struct of a struct-path TBAA tag: (base type, access type, offset).
const DICompositeType* Fields::byTbaa(const Instruction& i, std::uint64_t& offset) const {
  const MDNode* tag = i.getMetadata(LLVMContext::MD_tbaa);
  if (tag == nullptr || tag->getNumOperands() < 3) return nullptr;
  const auto* base = dyn_cast_or_null<MDNode>(tag->getOperand(0));
  const auto* at = mdconst::dyn_extract_or_null<ConstantInt>(tag->getOperand(2));
  if (base == nullptr || base == tag->getOperand(1) || base->getNumOperands() == 0 || at == nullptr) return nullptr;
  const auto* name = dyn_cast_or_null<MDString>(base->getOperand(0));
  if (name == nullptr) return nullptr;
  offset = at->getZExtValue();
  if (!name->getString().empty()) return byTbaaName(name->getString());
  // C's anonymous structs have no name here: the one whose members stand at the same offsets.
  std::vector<std::uint64_t> offsets;
  for (unsigned n = 2; n < base->getNumOperands(); n += 2)
    if (const auto* o = mdconst::dyn_extract_or_null<ConstantInt>(base->getOperand(n)))
      offsets.push_back(o->getZExtValue());
  const DICompositeType* result = nullptr;
  for (const DICompositeType* type : anonymous_) {
    std::vector<std::uint64_t> own;
    for (const DINode* element : type->getElements())
      if (const auto* member = dyn_cast<DIDerivedType>(element);
          member != nullptr && member->getTag() == dwarf::DW_TAG_member)
        own.push_back(member->getOffsetInBits() / 8);
    if (own != offsets) continue;
    if (result != nullptr) return nullptr;
    result = type;
  }
  return result;
}

// The struct that a variable points to which holds the pointer: at -O0 the pointer is loaded from the
// variable's slot, later it is the variable's value.
const DICompositeType* Fields::byVariable(const Value* pointer) const {
  SmallVector<const DILocalVariable*, 4> variables;
  auto* value = const_cast<Value*>(pointer);
  if (const auto* load = dyn_cast<LoadInst>(pointer))
    if (auto* slot = dyn_cast<AllocaInst>(const_cast<Value*>(load->getPointerOperand()))) {
      for (DbgVariableRecord* r : findDVRDeclares(slot)) variables.push_back(r->getVariable());
      for (DbgDeclareInst* d : findDbgDeclares(slot)) variables.push_back(d->getVariable());
    }
  SmallVector<DbgValueInst*, 4> values;
  SmallVector<DbgVariableRecord*, 4> records;
  findDbgValues(values, value, &records);
  for (DbgVariableRecord* r : records)
    if (r->getExpression()->getNumElements() == 0) variables.push_back(r->getVariable());
  for (DbgValueInst* v : values)
    if (v->getExpression()->getNumElements() == 0) variables.push_back(v->getVariable());
  const DICompositeType* result = nullptr;
  for (const DILocalVariable* v : variables) {
    const auto* type = dyn_cast_or_null<DICompositeType>(strip(v->getType(), 1));
    if (!isStruct(type) || type == result) continue;
    if (result != nullptr) return nullptr;  // a cast: which one it is can't be told
    result = type;
  }
  return result;
}

// A type of IR by its name: "T.123" is another type of the same name, or another instance of a template,
// "T.base" is T without its tail padding.
const DICompositeType* Fields::byIrType(const StructType& type, const Value* pointer) const {
  if (!type.hasName()) return nullptr;
  StringRef name = type.getName();
  if (!name.consume_front("struct.") && !name.consume_front("class.")) return nullptr;
  std::size_t dot = name.rfind('.');
  if (dot != StringRef::npos && dot + 1 < name.size() && all_of(name.drop_front(dot + 1), isDigit))
    name = name.take_front(dot);
  bool tailless = name.consume_back(".base");
  auto fits = [&](const DICompositeType* t) {
    return t != nullptr && (tailless || t->getSizeInBits() / 8 ==
                                            module_.getDataLayout().getTypeAllocSize(const_cast<StructType*>(&type)));
  };
  auto found = irNames_.find(name);
  if (found == irNames_.end()) return nullptr;
  if (found->second != nullptr) return fits(found->second) ? found->second : nullptr;
  const DICompositeType* variable = byVariable(pointer);
  if (!fits(variable)) return nullptr;
  return withoutTemplateArguments(withScopes(*variable, nameOf(*variable))) == name ? variable : nullptr;
}

// The struct of getelementptr %struct.T, p, 0, k. Array elements on top of it count as the array, members
// of an anonymous struct as members of the one around.
const DICompositeType* Fields::byAddress(const Value* pointer, std::uint64_t& offset) const {
  const DataLayout& dl = module_.getDataLayout();
  offset = 0;
  bool decayed = false;  // p + i: only if p is an array
  for (const auto* gep = dyn_cast_or_null<GEPOperator>(pointer); gep != nullptr;
       gep = dyn_cast<GEPOperator>(gep->getPointerOperand())) {
    auto* type = dyn_cast<StructType>(gep->getSourceElementType());
    if (gep->getSourceElementType()->isIntegerTy(8) && gep->hasAllConstantIndices()) {
      // Optimised addresses are in bytes from a pointer, or from one element of many.
      offset += cast<ConstantInt>(gep->idx_begin()->get())->getZExtValue();
      const Value* from = gep->getPointerOperand();
      const auto* element = dyn_cast<GEPOperator>(from);
      if (element != nullptr && element->getNumIndices() == 1)
        if (auto* of = dyn_cast<StructType>(element->getSourceElementType()))
          return byIrType(*of, element->getPointerOperand());
      return byVariable(from);
    }
    if (type == nullptr) {
      bool array = isa<ArrayType>(gep->getSourceElementType());
      if ((decayed && !array) || offset != 0) return nullptr;
      decayed = !array;
      continue;
    }
    if (gep->getNumIndices() < 2) return nullptr;
    SmallVector<Value*, 4> indices(gep->idx_begin(), gep->idx_end());
    // Which element of an array doesn't matter.
    indices[0] = Constant::getNullValue(indices[0]->getType());
    for (Value*& index : indices)
      if (!isa<ConstantInt>(index)) index = Constant::getNullValue(index->getType());
    if (decayed && !GetElementPtrInst::getIndexedType(type, indices)->isArrayTy()) return nullptr;
    offset += static_cast<std::uint64_t>(dl.getIndexedOffsetInType(type, indices));
    decayed = false;
    if (type->hasName() && type->getName().starts_with("struct.anon")) continue;
    return byIrType(*type, gep->getPointerOperand());
  }
  return nullptr;
}

std::string Fields::nameOf(const Instruction& i, const Value* pointer, std::uint64_t size) const {
  std::uint64_t offset = 0;
  if (const DICompositeType* type = byTbaa(i, offset)) return memberAt(*type, offset, size);
  if (const DICompositeType* type = byAddress(pointer, offset)) return memberAt(*type, offset, size);
  return "";
}

}  // namespace blackout
