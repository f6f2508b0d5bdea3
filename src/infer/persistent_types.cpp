#include "infer/persistent_types.h"

#include <algorithm>
#include <set>

#include "llvm/ADT/StringExtras.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/Operator.h"

using namespace llvm;

namespace blackout {

// Pointers that are loaded from one variable lead to one type.
static const Value* sharedRoot(const Value* root) {
  const auto* load = dyn_cast<LoadInst>(root);
  return load != nullptr && isa<GlobalVariable>(load->getPointerOperand()) ? load->getPointerOperand() : root;
}

PersistentTypes::PersistentTypes(ProgramCode& code, bool all) : code_(code), all_(all) {
  readTypes(code);
  readUses(code);
  // Arguments that a function flushes, or passes to one that does.
  std::vector<char> flushed(code.argumentCount(), 0);
  std::vector<const Argument*> found;
  auto flush = [&](const Keys& keys, const Value* pointer) {
    addFlushed(keys, pointer);
    if (!keys.empty()) return;
    for (const Value* root : rootsOf(pointer)) {
      const auto* a = dyn_cast<Argument>(root);
      if (a == nullptr || flushed[code.argumentNo(*a)]) continue;
      flushed[code.argumentNo(*a)] = 1;
      found.push_back(a);
    }
  };
  for (const CodeAccess& a : code.accesses())
    if (a.flushed != nullptr) flush(a.flushedKeys, a.flushed);
  for (std::size_t k = 0; k < found.size(); ++k) {
    const Argument* a = found[k];
    for (std::uint32_t no : code.callsOf(code.numberOf(a->getParent()))) {
      const CallBase* call = code.calls[no].call;
      if (a->getArgNo() < call->arg_size())
        flush(code.fields.argument(*call, a->getArgNo()), call->getArgOperand(a->getArgNo()));
    }
  }
  close();
}

void PersistentTypes::readTypes(const ProgramCode& code) {
  const NamedMDNode* types = code.module.getNamedMetadata("blackout.types");
  if (types == nullptr) return;
  std::set<const MDNode*> seen;
  std::vector<std::pair<KeyNo, KeyNo>> within;
  for (const MDNode* row : types->operands()) {
    if (row->getNumOperands() < 3 || !seen.insert(row).second) continue;
    auto text = [&](unsigned k) {
      const auto* s = dyn_cast_or_null<MDString>(row->getOperand(k).get());
      return s == nullptr ? StringRef() : s->getString();
    };
    StringRef owner = text(0), member = text(1), type = text(2);
    if (owner.empty()) continue;
    KeyNo from = code_.fields.of(owner.str());
    Keys& named = byIrName_[owner.substr(0, owner.find('<')).str()];
    addKeys(named, {from});
    bool pointer = type.consume_front("*");
    // A container of the library is persistent only where somebody flushes one.
    if (type.empty() || type.starts_with("std::") || owner.starts_with("std::")) continue;
    KeyNo to = code_.fields.of(type.str());
    if (related_.size() <= std::max(from, to)) related_.resize(std::max(from, to) + 1);
    related_[from].push_back(to);
    if (pointer)
      pointers_[code_.fields.of((owner + "." + member).str())] = to;
    else if (member != type)  // a base class says nothing of the others that are derived from it
      within.push_back({to, from});
  }
  // What contains a persistent struct is persistent too, unless such objects stand on the stack or in variables, as
  // the arguments of a function that are a struct do.
  std::set<KeyNo> variables;
  auto addVariable = [&](const Type* type) {
    while (const auto* array = dyn_cast<ArrayType>(type)) type = array->getElementType();
    for (KeyNo key : namedBy(type)) variables.insert(key);
  };
  for (const GlobalVariable& g : code.module.globals()) addVariable(g.getValueType());
  for (const Function* f : code.functions)
    for (const Instruction& i : instructions(*f))
      if (const auto* local = dyn_cast<AllocaInst>(&i)) addVariable(local->getAllocatedType());
  for (const auto& [part, whole] : within)
    if (!variables.contains(whole)) related_[part].push_back(whole);
}

// The structs whose IR type it is: "struct.Node.12" is "Node".
Keys PersistentTypes::namedBy(const Type* type) const {
  const auto* structure = dyn_cast<StructType>(type);
  if (structure == nullptr || !structure->hasName()) return {};
  StringRef name = structure->getName();
  name = name.substr(name.find('.') + 1);
  if (auto [front, digits] = name.rsplit('.'); !digits.empty() && all_of(digits, isDigit)) name = front;
  auto at = byIrName_.find(name.str());
  return at == byIrName_.end() ? Keys{} : at->second;
}

void PersistentTypes::readUses(const ProgramCode& code) {
  for (const CodeAccess& a : code.accesses()) {
    auto add = [&](const Value* pointer, const Keys& keys) {
      if (pointer == nullptr || keys.empty()) return;
      Keys structs;
      for (KeyNo key : keys) addKeys(structs, {code.fields.structOf(key)});
      for (const Value* root : rootsOf(pointer)) addKeys(uses_[sharedRoot(root)], structs);
    };
    add(a.written, a.writtenKeys);
    add(a.read, a.readKeys);
  }
}

// What a pointer without keys leads to, by the struct that its address is computed in, the type of the member that it
// was loaded from, and other accesses through the same pointer.
Keys PersistentTypes::pointees(const Value* pointer) const {
  Keys keys;
  for (const Value* v = pointer; v != nullptr;) {
    if (const auto* gep = dyn_cast<GEPOperator>(v)) {
      addKeys(keys, namedBy(gep->getSourceElementType()));
      v = gep->getPointerOperand();
    } else if (isa<CastInst, FreezeInst>(v)) {
      v = cast<User>(v)->getOperand(0);
    } else {
      v = nullptr;
    }
  }
  if (!keys.empty()) return keys;
  for (const Value* root : rootsOf(pointer)) {
    if (const auto* load = dyn_cast<LoadInst>(root)) {
      for (KeyNo member : code_.fields.in(*load, "blackout.field"))
        if (auto at = pointers_.find(member); at != pointers_.end()) addKeys(keys, {at->second});
    }
    if (auto at = uses_.find(sharedRoot(root)); at != uses_.end()) addKeys(keys, at->second);
  }
  return keys;
}

void PersistentTypes::addFlushed(Keys keys, const Value* pointer) {
  if (pointer->getType()->isPointerTy() && localPlace(pointer, code_.module.getDataLayout()).variable != nullptr)
    return;
  if (keys.empty()) keys = pointees(pointer);
  structs_.resize(code_.fields.size());
  fields_.resize(code_.fields.size());
  for (KeyNo key : keys) {
    anyFlush_ = true;
    fields_[key] = 1;
    // What a pointer in a struct leads to, as in a volatile handle of a pool: says nothing of the struct.
    bool throughPointer = false;
    const FieldKey text = code_.fields.key(key);
    if (text.ends_with("[]")) {
      for (const Value* root : rootsOf(pointer)) {
        const auto* load = dyn_cast<LoadInst>(root);
        if (load == nullptr) continue;
        for (KeyNo from : code_.fields.in(*load, "blackout.field"))
          throughPointer |= text == code_.fields.key(from) + "[]";
      }
    }
    if (!throughPointer) structs_[code_.fields.structOf(key)] = 1;
  }
}

void PersistentTypes::close() {
  std::size_t size = std::max(code_.fields.size(), related_.size());
  structs_.resize(size);
  fields_.resize(size);
  related_.resize(size);
  std::vector<KeyNo> work;
  for (KeyNo k = 0; k < size; ++k)
    if (structs_[k]) work.push_back(k);
  while (!work.empty()) {
    KeyNo from = work.back();
    work.pop_back();
    for (KeyNo next : related_[from])
      if (!structs_[next]) {
        structs_[next] = 1;
        work.push_back(next);
      }
  }
}

bool PersistentTypes::isPersistent(KeyNo key) const {
  if (all_ || !anyFlush_) return true;
  KeyNo owner = code_.fields.structOf(key);
  return (key < fields_.size() && fields_[key]) || (owner < structs_.size() && structs_[owner]);
}

}  // namespace blackout
