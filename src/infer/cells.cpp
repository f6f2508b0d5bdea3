#include "infer/cells.h"

#include <algorithm>
#include <optional>
#include <tuple>

#include "infer/cell_objects.h"
#include "llvm/Analysis/AliasAnalysis.h"
#include "llvm/Analysis/ValueTracking.h"
#include "llvm/IR/Dominators.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/Operator.h"
#include "llvm/Transforms/Utils/PromoteMemToReg.h"

using namespace llvm;

namespace blackout {

// --- what functions change ---

Changes::Changes(const ProgramCode& code) : code_(code) {
  if (const NamedMDNode* types = code.module.getNamedMetadata(kTypesNode))
    for (const MDNode* row : types->operands()) {
      if (row->getNumOperands() < 3) continue;
      const auto* owner = dyn_cast_or_null<MDString>(row->getOperand(0).get());
      const auto* type = dyn_cast_or_null<MDString>(row->getOperand(2).get());
      if (owner == nullptr || type == nullptr || type->getString().empty() || type->getString().starts_with("*"))
        continue;
      auto& fields = const_cast<ProgramCode&>(code_).fields;
      parts_[fields.of(owner->getString().str())].insert(fields.of(type->getString().str()));
    }
  for (bool changed = true; changed;) {
    changed = false;
    for (auto& [outer, inner] : parts_)
      for (KeyNo k : std::vector<KeyNo>(inner.begin(), inner.end()))
        if (auto more = parts_.find(k); more != parts_.end())
          for (KeyNo m : more->second) changed |= inner.insert(m).second;
  }
  all_.resize(code.functions.size());
  for (FunctionNo f = 0; f < code.functions.endId(); ++f)
    for (const Instruction& i : instructions(*code.functions[f])) {
      Of& own = all_[f];
      if (const CodeAccess* a = code.accessOf(i); a != nullptr) {
        if (a->written == nullptr || a->writesLocal) continue;
        own.keys.insert(a->writtenKeys.begin(), a->writtenKeys.end());
        if (!a->writtenKeys.empty()) continue;
        const auto* variable = dyn_cast<GlobalVariable>(getUnderlyingObject(a->written));
        if (variable != nullptr)
          own.variables.insert(variable);
        else
          own.anything = true;
      } else if (const auto* call = dyn_cast<CallBase>(&i); call != nullptr && call->isIndirectCall()) {
        own.anything = true;
      }
    }
  // Callers change what their callees do.
  std::vector<FunctionNo> work;
  for (FunctionNo f = 0; f < code.functions.endId(); ++f) work.push_back(f);
  while (!work.empty()) {
    FunctionNo f = work.back();
    work.pop_back();
    for (std::uint32_t no : code.callsOf(f)) {
      Of& caller = all_[code.calls[no].caller];
      std::size_t before = caller.keys.size() + caller.variables.size() + (caller.anything ? 1 : 0);
      const Of& callee = all_[f];
      caller.keys.insert(callee.keys.begin(), callee.keys.end());
      caller.variables.insert(callee.variables.begin(), callee.variables.end());
      caller.anything |= callee.anything;
      if (caller.keys.size() + caller.variables.size() + (caller.anything ? 1 : 0) != before)
        work.push_back(code.calls[no].caller);
    }
  }
}

bool Changes::contains(KeyNo outer, KeyNo inner) const {
  auto at = parts_.find(outer);
  return outer == inner || (at != parts_.end() && at->second.contains(inner));
}

bool Changes::overlap(const Keys& written, const Keys& cell) const {
  for (KeyNo w : written)
    for (KeyNo c : cell) {
      if (w == c) return true;
      // A whole struct, and what is inside it.
      if (code_.fields.isStruct(w) && contains(w, code_.fields.structOf(c))) return true;
      if (code_.fields.isStruct(c) && contains(c, code_.fields.structOf(w))) return true;
    }
  return false;
}

namespace {

constexpr int kRounds = 8;                // members of members of members
constexpr std::size_t kMostCells = 1000;  // of a function

bool isScalar(const Type* t) { return t->isPointerTy() || (t->isIntegerTy() && t->getIntegerBitWidth() <= 64); }

// A variable whose address is used for nothing but loads and stores: only these change it.
bool isOwn(const Value* object, int depth = 0) {
  if (depth > 4) return false;
  for (const User* u : object->users()) {
    if (isa<LoadInst>(u)) continue;
    if (const auto* store = dyn_cast<StoreInst>(u); store != nullptr && store->getValueOperand() != object) continue;
    if (isa<GEPOperator>(u) && isOwn(u, depth + 1)) continue;
    if (const auto* i = dyn_cast<IntrinsicInst>(u);
        i != nullptr && (i->isLifetimeStartOrEnd() || isa<DbgInfoIntrinsic>(i)))
      continue;
    return false;
  }
  return true;
}

struct Cell {
  CellPlace place;
  Type* type = nullptr;
  std::uint64_t size = 0;
  Keys keys;
  std::vector<LoadInst*> loads;
  std::vector<WantedCell*> wanted;
  AllocaInst* variable = nullptr;
};

class Rewriter {
 public:
  Rewriter(Function& f, ProgramCode& code, const Changes& changes, std::vector<WantedCell>& wanted, CellValues& values)
      : f_(f), code_(code), dl_(code.module.getDataLayout()), changes_(changes), wanted_(wanted), values_(values) {}

  void run() {
    for (int round = 0; round < kRounds; ++round)
      if (!oneRound(round + 1 == kRounds)) break;
  }

 private:
  bool oneRound(bool last) {
    CellObjects objects(dl_);
    std::map<std::tuple<ObjectId, std::int64_t, Type*>, Cell> cells;
    std::vector<Instruction*> writers;
    bool later = false;
    // What is itself loaded, and will be a register in a later round, is no object yet, nor an index.
    const std::set<const LoadInst*> before = done_;
    auto waits = [&](const Value* pointer) { return isPending(pointer, before, 0); };
    auto cellAt = [&](const Value* pointer, std::int64_t offset, Type* type) -> Cell& {
      CellPlace place = objects.placeOf(pointer);
      place.offset += offset;
      Cell& cell = cells[{place.object, place.offset, type}];
      cell.place = place;
      cell.type = type;
      cell.size = dl_.getTypeStoreSize(type);
      return cell;
    };
    for (Instruction& i : instructions(f_)) {
      if (mayChange(i)) writers.push_back(&i);
      auto* load = dyn_cast<LoadInst>(&i);
      if (load == nullptr || done_.contains(load) || !isScalar(load->getType())) continue;
      if (!last && waits(load->getPointerOperand())) {
        later = true;
        continue;
      }
      Cell& cell = cellAt(load->getPointerOperand(), 0, load->getType());
      cell.loads.push_back(load);
      if (const CodeAccess* a = code_.accessOf(i)) addKeys(cell.keys, a->readKeys);
      done_.insert(load);
    }
    for (WantedCell& w : wanted_) {
      if (w.note != nullptr || (!last && waits(w.address.pointer->get()))) continue;
      if (settled_.contains(&w)) continue;
      settled_.insert(&w);
      Cell& cell = cellAt(w.address.pointer->get(), w.address.offset, w.type);
      cell.wanted.push_back(&w);
      addKeys(cell.keys, w.keys);
    }
    // Constants and what is too much stay as they are.
    std::vector<Cell*> chosen;
    for (auto& [key, cell] : cells)
      if (chosen.size() < kMostCells && !isa<ConstantData>(objects.root(cell.place.object))) chosen.push_back(&cell);
    if (!chosen.empty()) promote(objects, chosen, writers);
    return later;
  }

  static bool isPending(const Value* v, const std::set<const LoadInst*>& done, int depth) {
    if (const auto* load = dyn_cast<LoadInst>(v)) return isScalar(load->getType()) && !done.contains(load);
    if (depth > 16 || !(isa<CastInst, BinaryOperator, FreezeInst>(v) || isa<GEPOperator>(v))) return false;
    for (const Value* operand : cast<User>(v)->operands())
      if (isPending(operand, done, depth + 1)) return true;
    return false;
  }

  bool mayChange(const Instruction& i) const {
    if (isOurs(i)) return false;
    if (const CodeAccess* a = code_.accessOf(i)) return a->written != nullptr;
    if (isa<StoreInst>(i)) return true;
    const auto* call = dyn_cast<CallBase>(&i);
    return call != nullptr && !isa<DbgInfoIntrinsic>(i) && !call->doesNotAccessMemory() && !call->isInlineAsm();
  }

  bool isOurs(const Instruction& i) const {
    if (const auto* store = dyn_cast<StoreInst>(&i)) return variables_.contains(store->getPointerOperand());
    return values_.of(&i) != nullptr;
  }

  enum class Effect { None, Exact, Unknown };

  bool own(const Value* variable) const {
    auto [at, fresh] = own_.try_emplace(variable, false);
    if (fresh) at->second = isOwn(variable);
    return at->second;
  }

  Effect effectOf(const Instruction& i, const Cell& cell, CellObjects& objects) const {
    const Value* object = objects.root(cell.place.object);
    const Value* base = getUnderlyingObject(object, 64);
    bool variable = isa<AllocaInst>(base) || isa<GlobalVariable>(base);
    const CodeAccess* a = code_.accessOf(i);
    const Value* written = a != nullptr ? a->written : nullptr;
    if (const auto* store = dyn_cast<StoreInst>(&i)) written = store->getPointerOperand();
    if (written != nullptr) {
      CellPlace to = objects.placeOf(written);
      if (to.object == cell.place.object) {
        std::optional<std::uint64_t> size = sizeOf(i);
        if (size && (to.offset + static_cast<std::int64_t>(*size) <= cell.place.offset ||
                     to.offset >= cell.place.offset + static_cast<std::int64_t>(cell.size)))
          return Effect::None;
        bool exact = isa<StoreInst>(i) && to.offset == cell.place.offset &&
                     cast<StoreInst>(i).getValueOperand()->getType() == cell.type;
        return exact ? Effect::Exact : Effect::Unknown;
      }
      const Value* other = getUnderlyingObject(written, 64);
      if (isIdentifiedObject(other) && isIdentifiedObject(base) && other != base) return Effect::None;
      if (variable && own(base) && other != base) return Effect::None;
      // A variable that nothing else leads to is no part of an object.
      if (isa<AllocaInst, GlobalVariable>(other) && other != base && own(other)) return Effect::None;
      const Keys& keys = a != nullptr ? a->writtenKeys : kNoKeys;
      if (!keys.empty() && !cell.keys.empty())
        return changes_.overlap(keys, cell.keys) ? Effect::Unknown : Effect::None;
      return Effect::Unknown;
    }
    const auto* call = dyn_cast<CallBase>(&i);
    if (call == nullptr) return Effect::None;
    if (const Function* callee = calleeOf(*call); callee != nullptr && code_.numberOf(callee) != kNoFunction) {
      const Changes::Of& of = changes_.of(code_.numberOf(callee));
      if (isa<AllocaInst>(base)) return own(base) ? Effect::None : Effect::Unknown;
      if (const auto* g = dyn_cast<GlobalVariable>(base); g != nullptr && of.variables.contains(g))
        return Effect::Unknown;
      if (variable && own(base)) return Effect::None;
      if (of.anything) return Effect::Unknown;
      if (cell.keys.empty()) return of.keys.empty() ? Effect::None : Effect::Unknown;
      return changes_.overlap(Keys(of.keys.begin(), of.keys.end()), cell.keys) ? Effect::Unknown : Effect::None;
    }
    if (variable && own(base)) return Effect::None;
    if (call->isIndirectCall()) return Effect::Unknown;
    // No code: it changes what it is given.
    if (a != nullptr || (call->onlyReadsMemory() && !call->mayWriteToMemory())) return Effect::None;
    for (unsigned k = 0; k < call->arg_size(); ++k) {
      const Value* argument = call->getArgOperand(k);
      if (!argument->getType()->isPointerTy()) continue;
      if (getUnderlyingObject(argument, 64) == base) return Effect::Unknown;
      if (changes_.overlap(code_.fields.argument(*call, k), cell.keys)) return Effect::Unknown;
    }
    return Effect::None;
  }

  std::optional<std::uint64_t> sizeOf(const Instruction& i) const {
    if (const auto* store = dyn_cast<StoreInst>(&i)) return dl_.getTypeStoreSize(store->getValueOperand()->getType());
    if (const auto* rmw = dyn_cast<AtomicRMWInst>(&i)) return dl_.getTypeStoreSize(rmw->getType());
    if (const auto* cas = dyn_cast<AtomicCmpXchgInst>(&i))
      return dl_.getTypeStoreSize(cas->getNewValOperand()->getType());
    if (const auto* memory = dyn_cast<MemIntrinsic>(&i))
      if (const auto* length = dyn_cast<ConstantInt>(memory->getLength())) return length->getZExtValue();
    return std::nullopt;
  }

  void promote(CellObjects& objects, const std::vector<Cell*>& cells, const std::vector<Instruction*>& writers) {
    DominatorTree tree(f_);
    std::vector<AllocaInst*> variables;
    for (Cell* cell : cells) {
      Instruction* begin = definitionOf(*cell, objects, tree);
      if (begin == nullptr) continue;
      IRBuilder<> builder(&*f_.getEntryBlock().getFirstInsertionPt());
      cell->variable = builder.CreateAlloca(cell->type);
      variables_.insert(cell->variable);
      variables.push_back(cell->variable);
      builder.SetInsertPoint(begin);
      set(builder, *cell, false);
    }
    // Effects first: what is put in must not be looked at.
    struct Change {
      Instruction* at;
      Cell* cell;
      Effect effect;
    };
    std::vector<Change> list;
    for (Instruction* i : writers)
      for (Cell* cell : cells)
        if (cell->variable != nullptr)
          if (Effect effect = effectOf(*i, *cell, objects); effect != Effect::None) list.push_back({i, cell, effect});
    for (const Change& change : list) {
      std::vector<Instruction*> points;
      if (auto* invoke = dyn_cast<InvokeInst>(change.at)) {
        points.push_back(&*invoke->getNormalDest()->getFirstInsertionPt());
        points.push_back(&*invoke->getUnwindDest()->getFirstInsertionPt());
      } else if (!change.at->isTerminator()) {
        points.push_back(change.at->getNextNode());
      }
      for (Instruction* point : points) {
        IRBuilder<> builder(point);
        if (change.effect == Effect::Exact)
          builder.CreateStore(cast<StoreInst>(change.at)->getValueOperand(), change.cell->variable);
        else
          set(builder, *change.cell, true);
      }
    }
    for (Cell* cell : cells) {
      if (cell->variable == nullptr) continue;
      for (LoadInst* load : cell->loads) {
        IRBuilder<> builder(load);
        load->replaceAllUsesWith(builder.CreateLoad(cell->type, cell->variable));
      }
      for (WantedCell* w : cell->wanted) {
        IRBuilder<> builder(w->at);
        Value* now = builder.CreateLoad(cell->type, cell->variable);
        w->note = builder.CreateCall(opaque("blackout.note", Type::getVoidTy(f_.getContext()), {cell->type}), {now});
        values_.add(w->note, {cell->keys, false});
      }
    }
    std::vector<AllocaInst*> promotable;
    for (AllocaInst* v : variables)
      if (isAllocaPromotable(v)) promotable.push_back(v);
    for (AllocaInst* v : variables) variables_.erase(v);
    PromoteMemToReg(promotable, tree);
  }

  // Where the object is known first. Null: at no one place.
  Instruction* definitionOf(const Cell& cell, const CellObjects& objects, const DominatorTree& tree) const {
    const Value* root = objects.root(cell.place.object);
    Instruction* latest = nullptr;
    if (!definedBy(root, tree, latest, 0)) return nullptr;
    return latest == nullptr ? &*f_.getEntryBlock().getFirstInsertionPt() : latest;
  }

  // An element is known where its array and its index are.
  bool definedBy(const Value* v, const DominatorTree& tree, Instruction*& latest, int depth) const {
    const auto* i = dyn_cast<Instruction>(v);
    if (i == nullptr) return isa<Argument, Constant>(v);
    if (depth < 16 && (isa<GetElementPtrInst, FreezeInst>(i) || (depth > 0 && isa<CastInst, BinaryOperator>(i)))) {
      for (const Value* operand : i->operands())
        if (!definedBy(operand, tree, latest, depth + 1)) return false;
      return true;
    }
    Instruction* after = nullptr;
    auto* own = const_cast<Instruction*>(i);
    if (auto* invoke = dyn_cast<InvokeInst>(own)) {
      if (!invoke->getNormalDest()->getSinglePredecessor()) return false;
      after = &*invoke->getNormalDest()->getFirstInsertionPt();
    } else if (own->isTerminator()) {
      return false;
    } else if (isa<PHINode>(own)) {
      auto at = own->getParent()->getFirstInsertionPt();
      if (at == own->getParent()->end()) return false;
      after = &*at;
    } else {
      after = own->getNextNode();
    }
    if (latest == nullptr || tree.dominates(latest, after)) latest = after;
    return true;
  }

  void set(IRBuilder<>& builder, const Cell& cell, bool unknown) {
    CallInst* value = builder.CreateCall(opaque(unknown ? "blackout.changed" : "blackout.before", cell.type, {}), {});
    values_.add(value, {cell.keys, unknown});
    builder.CreateStore(value, cell.variable);
  }

  FunctionCallee opaque(StringRef name, Type* result, ArrayRef<Type*> arguments) {
    std::string full = name.str();
    Type* kind = arguments.empty() ? result : arguments[0];
    full += kind->isPointerTy() ? ".ptr" : "." + std::to_string(kind->getIntegerBitWidth());
    FunctionCallee callee = f_.getParent()->getOrInsertFunction(full, FunctionType::get(result, arguments, false));
    if (auto* function = dyn_cast<Function>(callee.getCallee())) {
      function->setDoesNotThrow();
      function->setWillReturn();
      function->setMemoryEffects(MemoryEffects::inaccessibleMemOnly());
    }
    return callee;
  }

  static const Keys kNoKeys;
  Function& f_;
  ProgramCode& code_;
  const DataLayout& dl_;
  const Changes& changes_;
  std::vector<WantedCell>& wanted_;
  CellValues& values_;
  mutable std::map<const Value*, bool> own_;
  std::set<const LoadInst*> done_;
  std::set<const WantedCell*> settled_;
  std::set<const Value*> variables_;
};

const Keys Rewriter::kNoKeys;

}  // namespace

void makeCellsRegisters(Function& f, ProgramCode& code, const Changes& changes, std::vector<WantedCell>& wanted,
                        CellValues& values) {
  Rewriter(f, code, changes, wanted, values).run();
}

}  // namespace blackout
