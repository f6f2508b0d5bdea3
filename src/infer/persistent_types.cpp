#include "infer/persistent_types.h"

#include <algorithm>
#include <set>

#include "llvm/Analysis/ValueTracking.h"

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
  const NamedMDNode* types = code.module.getNamedMetadata(kTypesNode);
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
    bool pointer = type.consume_front("*");
    // A container of the library is persistent only where somebody flushes one.
    if (type.empty() || type.starts_with("std::") || owner.starts_with("std::")) continue;
    KeyNo to = code_.fields.of(type.str());
    if (!related_.has(std::max(from, to))) related_.resize(std::max(from, to).value() + std::size_t{1});
    related_[from].push_back(to);
    if (pointer)
      pointers_[code_.fields.of((owner + "." + member).str())] = to;
    else if (member != type)  // a base class says nothing of the others that are derived from it
      within.push_back({to, from});
  }
  // What contains a persistent struct is persistent too, unless such objects stand on the stack or in variables, as
  // the arguments of a function that are a struct do. (By the keys of accesses: the linker makes one type of all
  // structs of one shape.)
  std::set<KeyNo> variables;
  for (const CodeAccess& a : code.accesses()) {
    auto add = [&](const Value* pointer, bool local, const Keys& keys) {
      if (pointer == nullptr || !(local || isa<GlobalVariable>(getUnderlyingObject(pointer)))) return;
      for (KeyNo key : keys) variables.insert(code.fields.structOf(key));
    };
    add(a.written, a.writesLocal, a.writtenKeys);
    add(a.read, a.readsLocal, a.readKeys);
  }
  for (const auto& [part, whole] : within)
    if (!variables.contains(whole)) related_[part].push_back(whole);
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

// What a pointer without keys leads to, by the type of the member that it
// was loaded from, and other accesses through the same pointer.
Keys PersistentTypes::pointees(const Value* pointer) const {
  Keys keys;
  for (const Value* root : rootsOf(pointer)) {
    if (const auto* load = dyn_cast<LoadInst>(root)) {
      for (KeyNo member : code_.fields.in(*load, kFieldNode))
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
        for (KeyNo from : code_.fields.in(*load, kFieldNode)) throughPointer |= text == code_.fields.key(from) + "[]";
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
  for (KeyNo k : idRange<KeyNo>(size))
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
  return (fields_.has(key) && fields_[key] != 0) || (structs_.has(owner) && structs_[owner] != 0);
}

}  // namespace blackout
