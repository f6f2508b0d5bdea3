#include "infer/counting_analysis.h"

#include <algorithm>
#include <cstdlib>
#include <ctime>
#include <optional>
#include <set>

#include "infer/bind_calls.h"
#include "infer/cell_objects.h"
#include "infer/cells.h"
#include "infer/guards.h"
#include "infer/ring_index.h"
#include "infer/symbolic.h"
#include "llvm/Analysis/AssumptionCache.h"
#include "llvm/Analysis/TargetLibraryInfo.h"
#include "llvm/Analysis/ValueTracking.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/TargetParser/Triple.h"

using namespace llvm;

namespace blackout {

namespace {

using Term = Solver::Term;
using Op = Solver::Op;
using Cmp = Solver::Cmp;

// A property needs as much in its favour.
constexpr double kRelaxed = 0.75;

// One read of an array.
struct ArrayRead {
  Instruction* at = nullptr;
  FunctionNo function = 0;
  AccessSite site = 0;
  ArrayLevel level;
  const Use* length = nullptr;  // bytes, of a copy or comparison; null: one element
};

// What is known of an array, by its key.
struct Array {
  std::vector<ArrayRead> reads;
  std::size_t onStack = 0;  // reads of arrays that are there
  bool varies = false;      // some read is not at a constant index
  bool goesRound = false;   // some read is at the remainder of a number
  std::set<KeyNo> addends;  // fields that indices are made of by sums
  std::optional<KeyNo> pointer;
  std::map<FunctionNo, std::set<AccessSite>> writes, pointerWrites;
  std::uint64_t elements = 0, elementSize = 0;
  std::optional<std::pair<const StructType*, std::int64_t>> layout;
};

struct Counter {
  Type* type = nullptr;
  bool severalTypes = false;
  bool shifts = false;              // a shift is by it
  bool goesRound = false;           // some store gives it a remainder
  std::set<std::int64_t> masks;     // what is left of it before it is used
  std::set<std::int64_t> minuends;  // constants that it is taken from
  std::map<FunctionNo, std::set<AccessSite>> writes;
  std::optional<std::pair<const StructType*, std::int64_t>> layout;
};

// A pair that is looked at.
struct Pair {
  KeyNo array = 0, counter = 0;
  std::int64_t distance = 0;  // from where the object has the array to the counter
  struct Start {
    KeyNo key = 0;
    std::int64_t distance = 0;
  };
  std::vector<Start> starts;  // where a ring may begin that ends at the counter, or is as long as it says
};

const Use* useOf(const Instruction& i, const Value* pointer) {
  if (const auto* copy = dyn_cast<MemTransferInst>(&i); copy != nullptr && copy->getRawSource() == pointer)
    return &copy->getRawSourceUse();
  for (const Use& u : i.operands())
    if (u.get() == pointer) return &u;
  return nullptr;
}

std::optional<std::pair<const StructType*, std::int64_t>> layoutOf(const Value* address, std::int64_t beyond,
                                                                   const DataLayout& dl) {
  const auto* gep = dyn_cast<GEPOperator>(address);
  const auto* type = gep == nullptr ? nullptr : dyn_cast<StructType>(gep->getSourceElementType());
  if (type == nullptr || gep->getNumIndices() < 2) return std::nullopt;
  SmallVector<Value*, 4> indices(gep->idx_begin(), gep->idx_end());
  indices[0] = ConstantInt::get(indices[0]->getType(), 0);
  for (const Value* index : indices)
    if (!isa<ConstantInt>(index)) return std::nullopt;
  return std::pair(type, dl.getIndexedOffsetInType(const_cast<StructType*>(type), indices) + beyond);
}

class Analysis {
 public:
  Analysis(Module& module, const CountingOptions& options)
      : options_(options),
        dl_(module.getDataLayout()),
        code_(module),
        types_(code_, options.all),
        changes_(code_),
        solver_(options.questionBudget),
        libraryInfo_(Triple(module.getTargetTriple())) {}

  CountingProperties run() {
    for (FunctionNo f = 0; f < code_.functions.endId(); ++f) scan(f);
    learnDistances();
    choosePairs();
    for (const auto& [key, array] : arrays_) result_.reads += array.reads.size();
    result_.arrays = arrays_.size();
    for (FunctionNo f = 0; f < code_.functions.endId(); ++f) {
      if (late()) break;
      prove(f);
    }
    conclude();
    result_.questions = solver_.asked();
    return std::move(result_);
  }

 private:
  // By the processor's time: a machine that is busy finds the same.
  bool late() {
    if (options_.seconds == 0 || late_) return late_;
    if (static_cast<double>(std::clock() - start_) <= options_.seconds * CLOCKS_PER_SEC) return false;
    late_ = true;
    result_.incomplete.emplace_back(
        "arrays and their counters were looked at only in part, because the time for it was over; --infer-time gives "
        "more");
    return true;
  }

  // --- what the code does ---

  void scan(FunctionNo f) {
    for (const Instruction& i : instructions(*code_.functions[f])) {
      const CodeAccess* a = code_.accessOf(i);
      if (a == nullptr) continue;
      if (a->read != nullptr) scanRead(f, i, *a, a->read);
      if (a->read2 != nullptr) scanRead(f, i, *a, a->read2);
      if (a->written != nullptr) scanWrite(f, i, *a);
    }
  }

  static const Use* lengthOf(const Instruction& i) {
    if (const auto* memory = dyn_cast<MemIntrinsic>(&i)) return &memory->getLengthUse();
    const auto* call = dyn_cast<CallBase>(&i);
    // memcpy and its like: two pointers and a number.
    if (call == nullptr || call->arg_size() < 3 || !call->getArgOperand(2)->getType()->isIntegerTy()) return nullptr;
    return &call->getArgOperandUse(2);
  }

  void scanRead(FunctionNo f, const Instruction& i, const CodeAccess& a, const Value* pointer) {
    const Use* use = useOf(i, pointer);
    if (use == nullptr) return;
    bool onStack = localPlace(pointer, dl_).variable != nullptr;
    std::vector<const Use*> ways;
    addReads(f, i, a, const_cast<Instruction*>(&i), onStack, arrayLevels(*use, code_.fields, dl_, &ways));
    // An address that was computed on another way is as good as read there.
    for (const Use* way : ways) {
      const auto* phi = cast<PHINode>(way->getUser());
      addReads(f, i, a, phi->getIncomingBlock(*way)->getTerminator(), onStack, arrayLevels(*way, code_.fields, dl_));
    }
    if (isa<LoadInst>(i) && i.getType()->isIntegerTy() && a.readKeys.size() == 1 && !a.readsLocal)
      noteCounter(a.readKeys[0], pointer, i.getType());
    if (isa<LoadInst>(i))
      for (const User* u : i.users()) noteUse(*u, i, a, 0);
  }

  void addReads(FunctionNo f, const Instruction& i, const CodeAccess& a, Instruction* at, bool onStack,
                std::vector<ArrayLevel> levels) {
    for (std::size_t k = 0; k < levels.size(); ++k) {
      ArrayLevel& level = levels[k];
      if (level.containers.size() != 1) continue;
      Array& array = arrays_[level.containers[0]];
      noteArray(array, level);
      if (onStack && !level.behindPointer) {
        ++array.onStack;
        continue;
      }
      array.varies |= !level.indices.empty() || level.moving != nullptr;
      for (const Use* index : level.indices) {
        const Value* position = roundedFrom(index->get(), level.elements);
        array.goesRound |= position != nullptr;
        addendsOf(position != nullptr ? position : index->get(), code_, array.addends);
      }
      bool range = isa<CallBase>(i) && k == 0;
      array.reads.push_back({at, f, a.site, std::move(level), range ? lengthOf(i) : nullptr});
    }
  }

  // How the number is used: shifted by, taken from a constant.
  void noteUse(const User& u, const Value& v, const CodeAccess& a, int depth) {
    if (a.readKeys.size() != 1 || a.readsLocal || depth > 3) return;
    if (isa<CastInst>(u)) {
      for (const User* next : u.users()) noteUse(*next, u, a, depth + 1);
      return;
    }
    const auto* b = dyn_cast<BinaryOperator>(&u);
    if (b == nullptr) return;
    if ((b->isShift()) && b->getOperand(1) == &v) counters_[a.readKeys[0]].shifts = true;
    const auto* mask = dyn_cast<ConstantInt>(b->getOperand(1));
    if (b->getOpcode() == Instruction::And && mask != nullptr && mask->getValue().isMask())
      counters_[a.readKeys[0]].masks.insert(mask->getSExtValue());
    const auto* from = dyn_cast<ConstantInt>(b->getOperand(0));
    if (b->getOpcode() == Instruction::Sub && b->getOperand(1) == &v && from != nullptr && from->getSExtValue() > 1) {
      counters_[a.readKeys[0]].minuends.insert(from->getSExtValue());
      // 64 - depth bits of a hash.
      for (const User* next : b->users()) noteUse(*next, *b, a, depth + 1);
    }
  }

  void noteArray(Array& array, const ArrayLevel& level) {
    array.elements = std::max(array.elements, level.elements);
    array.elementSize = std::max(array.elementSize, level.elementSize);
    if (!array.layout) array.layout = layoutOf(level.anchor.pointer->get(), level.anchor.offset, dl_);
    if (!level.behindPointer) return;
    FieldKey key = code_.fields.key(level.containers[0]);
    array.pointer = code_.fields.of(key.substr(0, key.size() - 2));
  }

  void noteCounter(KeyNo key, const Value* pointer, Type* type) {
    const FieldKey& text = code_.fields.key(key);
    if (text.ends_with("[]") || code_.fields.isStruct(key) || type->getIntegerBitWidth() < 8 ||
        type->getIntegerBitWidth() > 64)
      return;
    Counter& counter = counters_[key];
    if (counter.type == nullptr) counter.type = type;
    counter.severalTypes |= counter.type != type;
    if (!counter.layout) counter.layout = layoutOf(pointer, 0, dl_);
  }

  void scanWrite(FunctionNo f, const Instruction& i, const CodeAccess& a) {
    if (a.writesLocal) return;
    if (const Use* use = useOf(i, a.written))
      for (const ArrayLevel& level : arrayLevels(*use, code_.fields, dl_)) {
        if (level.containers.size() != 1) continue;
        Array& array = arrays_[level.containers[0]];
        noteArray(array, level);
        array.writes[f].insert(a.site);
      }
    const auto* store = dyn_cast<StoreInst>(&i);
    Type* type = store != nullptr ? store->getValueOperand()->getType() : i.getType();
    for (KeyNo key : a.writtenKeys) {
      if (type->isIntegerTy() && a.writtenKeys.size() == 1 && (store != nullptr || isa<AtomicRMWInst>(i))) {
        noteCounter(key, a.written, type);
        if (auto at = counters_.find(key); at != counters_.end() && store != nullptr)
          at->second.goesRound |= roundedFrom(store->getValueOperand(), 0) != nullptr;
      }
      keyWrites_[key][f].insert(a.site);
    }
  }

  // --- which pairs there are ---

  // How far apart the two are in their object, by accesses to one object in one function.
  void learnDistances() {
    for (FunctionNo f = 0; f < code_.functions.endId(); ++f) {
      CellObjects objects(dl_);
      std::map<ObjectId, std::vector<std::pair<KeyNo, std::int64_t>>> anchors, cells;
      for (const auto& [key, array] : arrays_)
        for (const ArrayRead& r : array.reads)
          if (r.function == f) {
            CellPlace p = objects.placeOf(r.level.anchor.pointer->get());
            anchors[p.object].emplace_back(key, p.offset + r.level.anchor.offset);
          }
      if (anchors.empty()) continue;
      for (const Instruction& i : instructions(*code_.functions[f])) {
        const CodeAccess* a = code_.accessOf(i);
        if (a == nullptr || !isa<LoadInst, StoreInst>(i)) continue;
        const Keys& keys = isa<LoadInst>(i) ? a->readKeys : a->writtenKeys;
        const Value* pointer = isa<LoadInst>(i) ? a->read : a->written;
        if (keys.size() != 1 || !counters_.contains(keys[0])) continue;
        CellPlace p = objects.placeOf(pointer);
        cells[p.object].emplace_back(keys[0], p.offset);
      }
      for (const auto& [object, list] : anchors)
        for (const auto& [array, from] : list)
          for (const auto& [counter, to] : cells[object]) {
            auto [at, fresh] = distances_.try_emplace({array, counter}, to - from);
            if (!fresh && std::abs(to - from) < std::abs(at->second)) at->second = to - from;
          }
    }
  }

  std::optional<std::int64_t> distance(KeyNo array, KeyNo counter) {
    if (auto known = distances_.find({array, counter}); known != distances_.end()) return known->second;
    const auto &from = arrays_[array].layout, &to = counters_[counter].layout;
    if (!from || !to || from->first != to->first) return std::nullopt;
    return to->second - from->second;
  }

  void drop(KeyNo array, KeyNo counter, std::string reason, std::vector<CountedRead> reads = {}) {
    result_.dropped.push_back(
        {code_.fields.key(array), code_.fields.key(counter), std::move(reason), std::move(reads)});
  }

  void choosePairs() {
    for (auto& [key, array] : arrays_) {
      if (array.reads.empty() && array.onStack == 0) continue;
      if (auto own = keyWrites_.find(key); own != keyWrites_.end())
        for (const auto& [f, sites] : own->second) array.writes[f].insert(sites.begin(), sites.end());
      if (array.pointer)
        if (auto own = keyWrites_.find(*array.pointer); own != keyWrites_.end()) array.pointerWrites = own->second;
      for (auto& [counter, what] : counters_) {
        // A member of the same struct, or of another part of the same object, as of its base class.
        if (what.type == nullptr) continue;
        if (code_.fields.structOf(counter) != code_.fields.structOf(key) && !distances_.contains({key, counter}))
          continue;
        if (auto own = keyWrites_.find(counter); own != keyWrites_.end()) what.writes = own->second;
        if (!types_.isPersistent(key) || !types_.isPersistent(counter)) {
          drop(key, counter, "nothing shows that it is persistent");
        } else if (array.reads.empty()) {
          drop(key, counter, "the array is on the stack");
        } else if (!array.varies) {
          drop(key, counter, "the array is read at constant places only");
        } else if (what.severalTypes) {
          drop(key, counter, "the counter is a number of several widths");
        } else if (what.writes.empty()) {
          drop(key, counter, "the counter never changes");
        } else if (updaters(array, what).empty()) {
          drop(key, counter, "nothing updates both");
        } else if (auto d = distance(key, counter)) {
          pairs_.push_back({key, counter, *d, {}});
        } else {
          drop(key, counter, "no code has both of one object");
        }
      }
    }
    for (Pair& p : pairs_) chooseStarts(p);
  }

  // Nothing need change the start together with the array: what leaves a ring is not written.
  void chooseStarts(Pair& pair) {
    const Array& array = arrays_[pair.array];
    for (KeyNo key : array.addends) {
      auto known = counters_.find(key);
      if (key == pair.counter || known == counters_.end()) continue;
      const Counter& start = known->second;
      if (start.severalTypes || start.type != counters_[pair.counter].type || !keyWrites_.contains(key) ||
          !types_.isPersistent(key))
        continue;
      if (!array.goesRound && !start.goesRound) continue;
      if (auto d = distance(pair.array, key)) pair.starts.push_back({key, *d});
    }
  }

  // Functions that change both, and call none that does. The whole program does not count.
  std::set<FunctionNo> updaters(const Array& array, const Counter& counter) {
    std::map<FunctionNo, int> does;
    auto spread = [&](const std::map<FunctionNo, std::set<AccessSite>>& writes, int bit) {
      std::vector<FunctionNo> work;
      for (const auto& [f, sites] : writes) work.push_back(f);
      while (!work.empty()) {
        FunctionNo f = work.back();
        work.pop_back();
        if ((does[f] & bit) != 0) continue;
        does[f] |= bit;
        for (std::uint32_t no : code_.callsOf(f)) work.push_back(code_.calls[no].caller);
      }
    };
    spread(array.writes, 1);
    spread(array.pointerWrites, 1);
    spread(counter.writes, 2);
    std::set<FunctionNo> both;
    for (const auto& [f, bits] : does)
      if (bits == 3) both.insert(f);
    std::set<FunctionNo> lowest = both;
    for (FunctionNo f : both)
      for (std::uint32_t no : code_.callsOf(f))
        if (code_.calls[no].caller != f) lowest.erase(code_.calls[no].caller);
    // Only what calls is left of a ring of functions that call each other: take them all.
    if (lowest.empty()) lowest = both;
    std::erase_if(lowest, [&](FunctionNo f) { return code_.functions[f]->getName() == "main"; });
    return lowest;
  }

  // --- what is proven ---

  struct Verdict {
    ReadProof proof = ReadProof::Proven;
    std::string why;
    bool notZero = false;
  };
  // What the bound may be, and what was found out about it.
  struct Hypothesis {
    CountingRule rule{};
    std::int64_t constant = 0;  // Complement: the counter is taken from it
    std::int64_t mask = 0;      // of a counter that shares its word with something else; 0: none
    std::size_t start = 0;      // of a ring: of the pair's starts
    std::map<AccessSite, Verdict> verdicts;
    std::size_t refuted = 0;
  };

  static bool isRing(CountingRule rule) { return rule == CountingRule::Ring || rule == CountingRule::RingLength; }

  std::vector<Hypothesis> hypotheses(const Pair& pair) {
    const Counter& counter = counters_[pair.counter];
    std::vector<Hypothesis> all;
    auto add = [&](CountingRule rule, std::int64_t constant, std::int64_t mask, std::size_t start = 0) {
      all.push_back({rule, constant, mask, start, {}, 0});
    };
    // A counter that shares its word is no number without its mask.
    if (counter.masks.empty()) add(CountingRule::Size, 0, 0);
    for (std::int64_t mask : counter.masks) add(CountingRule::Size, 0, mask);
    if (counter.shifts) add(CountingRule::Power, 0, 0);
    for (std::int64_t c : counter.minuends) add(CountingRule::Complement, c, 0);
    for (std::size_t s = 0; s < pair.starts.size(); ++s)
      for (CountingRule rule : {CountingRule::Ring, CountingRule::RingLength}) add(rule, 0, 0, s);
    return all;
  }

  void prove(FunctionNo no) {
    struct Question {
      const ArrayRead* read;
      std::size_t pair;
      std::size_t wanted;  // the counter; behind it the starts
    };
    std::vector<WantedCell> wanted;
    std::vector<Question> questions;
    for (std::size_t p = 0; p < pairs_.size(); ++p)
      for (const ArrayRead& r : arrays_[pairs_[p].array].reads) {
        if (r.function != no) continue;
        questions.push_back({&r, p, wanted.size()});
        auto want = [&](KeyNo key, std::int64_t distance) {
          wanted.push_back(
              {r.at, {r.level.anchor.pointer, r.level.anchor.offset + distance}, counters_[key].type, {key}, nullptr});
        };
        want(pairs_[p].counter, pairs_[p].distance);
        for (const Pair::Start& s : pairs_[p].starts) want(s.key, s.distance);
      }
    if (questions.empty()) return;
    auto& f = const_cast<Function&>(*code_.functions[no]);
    CellValues cells;
    makeCellsRegisters(f, code_, changes_, wanted, cells);
    DominatorTree tree(f);
    LoopInfo loops(tree);
    AssumptionCache assumptions(f);
    TargetLibraryInfo library(libraryInfo_, &f);
    ScalarEvolution evolution(f, library, assumptions, tree, loops);
    for (const Question& q : questions) {
      if (late()) return;
      auto [at, fresh] = evidence_.try_emplace(q.pair);
      if (fresh) at->second = hypotheses(pairs_[q.pair]);
      // One that so much speaks against can't become a property any more.
      const std::size_t reads = arrays_[pairs_[q.pair].array].reads.size();
      for (Hypothesis& h : at->second) {
        if (static_cast<double>(h.refuted) > (1 - kRelaxed) * static_cast<double>(reads)) continue;
        Asked asked{*q.read, pairs_[q.pair], wanted[q.wanted].note,
                    isRing(h.rule) ? wanted[q.wanted + 1 + h.start].note : nullptr};
        Verdict v = answer(asked, h, cells, evolution, loops, tree);
        h.refuted += v.proof == ReadProof::Refuted ? 1 : 0;
        merge(h.verdicts, q.read->site, std::move(v));
      }
    }
  }

  // One place that is in several functions, or twice in one, is as good as the worst.
  static void merge(std::map<AccessSite, Verdict>& all, AccessSite site, Verdict v) {
    auto [at, fresh] = all.try_emplace(site, v);
    if (fresh) return;
    auto rank = [](ReadProof p) { return p == ReadProof::Refuted ? 2 : p == ReadProof::Unknown ? 1 : 0; };
    bool notZero = at->second.notZero || v.notZero;
    if (rank(v.proof) > rank(at->second.proof)) at->second = std::move(v);
    at->second.notZero = notZero;
  }

  // A read, and what its object's counter and the ring's start are there.
  struct Asked {
    const ArrayRead& read;
    const Pair& pair;
    const CallInst* counter;
    const CallInst* start;
  };

  std::string distanceName(const Asked& q, const Hypothesis& h) const {
    return code_.fields.key(q.pair.counter) + " - " + code_.fields.key(q.pair.starts[h.start].key);
  }

  Verdict answer(const Asked& q, const Hypothesis& h, const CellValues& cells, ScalarEvolution& evolution,
                 LoopInfo& loops, DominatorTree& tree) {
    if (q.counter == nullptr || (isRing(h.rule) && q.start == nullptr))
      return {ReadProof::Unknown, "it is not known which object's counter belongs to it", false};
    if (!tree.isReachableFromEntry(q.read.at->getParent())) return {};
    solver_.push();
    Symbolic symbolic(solver_, code_, cells, evolution, loops, tree);
    Verdict v = isRing(h.rule) ? answerRing(q, h, symbolic) : answer(q.read, q.counter, h, symbolic);
    solver_.pop();
    return v;
  }

  // How far the position is from the start, however often both have gone round, is less than what is in the ring.
  Verdict answerRing(const Asked& q, const Hypothesis& h, Symbolic& symbolic) {
    const ArrayRead& r = q.read;
    if (r.length != nullptr || r.level.moving != nullptr)
      return {ReadProof::Unknown, "several elements are read at once", false};
    const Value* position = r.level.indices.size() == 1 && r.level.constant == 0
                                ? roundedFrom(r.level.indices[0]->get(), r.level.elements)
                                : nullptr;
    auto wide = [&](Term t) { return solver_.extend(t, 64, false); };
    Term first = symbolic.term(q.start->getArgOperand(0));
    // The counter as the start and a distance: where a loop ends when it has come to the counter, both cancel out,
    // which the solver does not see bit by bit.
    const Value* end = q.counter->getArgOperand(0);
    if (h.rule == CountingRule::Ring && isa<LoadInst, CallBase, Argument>(end) && end != q.start->getArgOperand(0))
      symbolic.define(end, solver_.apply(Op::Add, first, solver_.symbol(first.width, distanceName(q, h))));
    Term start = wide(first), counter = wide(symbolic.term(end));
    Term at = position != nullptr ? wide(symbolic.term(position)) : indexOf(r, symbolic);
    for (Term t : {start, counter})
      solver_.assume(solver_.compare(Cmp::Ult, t, solver_.constant(64, std::int64_t{1} << kAddressBits)));
    Term inside = h.rule == CountingRule::Ring ? solver_.apply(Op::Sub, counter, start) : counter;
    Term goal = solver_.compare(Cmp::Ult, solver_.apply(Op::Sub, at, start), inside);
    Solver::Answer answer = solver_.ask(goal);
    Verdict v;
    if (answer != Solver::Answer::Proven) {
      solver_.assume(symbolic.reached(*r.at));
      answer = solver_.ask(goal);
      if (answer == Solver::Answer::Refuted) v.why = valuesText();
    }
    return settled(answer, std::move(v), r, symbolic);
  }

  Verdict answer(const ArrayRead& r, const CallInst* note, const Hypothesis& h, Symbolic& symbolic) {
    symbolic.hint(note->getArgOperand(0));
    Term index = indexOf(r, symbolic);
    Term length = r.length == nullptr ? Term{} : solver_.extend(symbolic.term(r.length->get()), 64, false);
    Term reached = symbolic.reached(*r.at);
    // Of most counters nothing is said at all.
    const std::set<const Value*> before = symbolic.symbols();
    Term counter = symbolic.term(note->getArgOperand(0));
    if (!isa<Constant>(note->getArgOperand(0)) && symbolic.symbols().size() > before.size()) {
      Symbolic alone = symbolic.another();
      (void)alone.term(note->getArgOperand(0));
      bool related = std::any_of(alone.symbols().begin(), alone.symbols().end(),
                                 [&](const Value* s) { return before.contains(s); });
      if (!related)
        return {symbolic.abstracted() ? ReadProof::Unknown : ReadProof::Refuted,
                symbolic.abstracted() ? symbolic.abstraction() : "any values: nothing relates the two", false};
    }
    // Counters of 8 and 16 bits are unsigned; wider ones are far from their sign, or nothing could be that long.
    Term count = solver_.extend(counter, 64, counter.width >= 32);
    if (counter.width >= 32)
      solver_.assume(solver_.compare(Cmp::Ult, count, solver_.constant(64, std::int64_t{1} << kAddressBits)));
    if (h.mask != 0) count = solver_.apply(Op::And, count, solver_.constant(64, h.mask));
    Term bound = count;
    if (h.rule == CountingRule::Power) {
      solver_.assume(solver_.compare(Cmp::Ult, count, solver_.constant(64, kAddressBits)));
      bound = solver_.apply(Op::Shl, solver_.constant(64, 1), count);
    } else if (h.rule == CountingRule::Complement) {
      solver_.assume(solver_.compare(Cmp::Sle, count, solver_.constant(64, h.constant)));
      bound = solver_.apply(Op::Sub, solver_.constant(64, h.constant), count);
    }
    Term goal;
    if (r.length == nullptr && r.level.moving == nullptr) {
      goal = solver_.compare(Cmp::Slt, index, bound);
    } else {
      // The end of what is read, in bytes; of nothing there is none. Memory is never so large that this wraps around.
      Term size = solver_.constant(64, static_cast<std::int64_t>(std::max<std::uint64_t>(1, r.level.elementSize)));
      Term begin = r.level.moving != nullptr ? index : solver_.apply(Op::Mul, index, size);
      Term end = solver_.apply(Op::Add, begin, r.length == nullptr ? size : length);
      goal = solver_.compare(Cmp::Sle, end, solver_.apply(Op::Mul, bound, size));
      if (r.length != nullptr) {
        solver_.assume(solver_.compare(Cmp::Ult, length, solver_.constant(64, std::int64_t{1} << kAddressBits)));
        goal = solver_.either(solver_.compare(Cmp::Eq, length, solver_.constant(64, 0)), goal);
      }
    }
    Verdict v;
    const bool varies = !r.level.indices.empty() || r.level.moving != nullptr;
    solver_.push();
    solver_.assume(reached);
    Solver::Answer answer = solver_.ask(goal);
    if (answer == Solver::Answer::Refuted) v.why = valuesText();
    // A capacity is never nothing: where that alone is missing, it is said with the property.
    auto unlessZero = [&] {
      if (!varies || h.rule != CountingRule::Size) return false;
      solver_.push();
      solver_.assume(solver_.compare(Cmp::Ne, count, solver_.constant(64, 0)));
      const bool proven = solver_.ask(goal) == Solver::Answer::Proven;
      solver_.pop();
      return proven;
    };
    if (answer == Solver::Answer::Refuted) v.notZero = unlessZero();
    solver_.pop();
    // Some need no word about the way there, which may be a long story.
    if (answer == Solver::Answer::Unknown || answer == Solver::Answer::Impossible) {
      const Solver::Answer without = solver_.ask(goal);
      if (without == Solver::Answer::Proven)
        answer = without;
      else if (answer == Solver::Answer::Unknown)
        v.notZero = unlessZero();
    }
    if (v.notZero) answer = Solver::Answer::Proven;
    return settled(answer, std::move(v), r, symbolic);
  }

  // What an answer of the solver says of a read, as far as all that leads there could be expressed.
  Verdict settled(Solver::Answer answer, Verdict v, const ArrayRead& r, const Symbolic& symbolic) const {
    switch (answer) {
      case Solver::Answer::Proven:
        v.why.clear();
        return v;
      case Solver::Answer::Impossible:
        // Nothing leads there, as far as it is known: it says nothing.
        return {ReadProof::Unknown, "no values lead there", false};
      case Solver::Answer::Unknown:
        return {ReadProof::Unknown, "the solver gave up", false};
      case Solver::Answer::Refuted:
        break;
    }
    if (symbolic.abstracted()) return {ReadProof::Unknown, symbolic.abstraction(), false};
    if (symbolic.arguments() && !code_.callsOf(r.function).empty())
      return {ReadProof::Unknown, "it depends on what callers pass (" + v.why + ")", false};
    v.proof = ReadProof::Refuted;
    return v;
  }

  std::string valuesText() {
    std::string text;
    std::set<std::string> seen;
    for (const Solver::Value& value : solver_.values()) {
      std::string one = value.name + " = " + std::to_string(value.value);
      if (!seen.insert(one).second) continue;
      text += (text.empty() ? "" : ", ") + one;
      if (seen.size() == 6) break;
    }
    return text.empty() ? "whatever the values are" : text;
  }

  // Of a pointer that moves in bytes.
  Term indexOf(const ArrayRead& r, Symbolic& symbolic) {
    const ArrayLevel& level = r.level;
    if (level.moving != nullptr)
      return solver_.extend(symbolic.difference(level.moving->get(), level.beginning), 64, true);
    Term sum = solver_.constant(64, level.constant);
    for (const Use* index : level.indices)
      sum = solver_.apply(Op::Add, sum, solver_.extend(symbolic.term(index->get()), 64, true));
    return sum;
  }

  // --- the result ---

  std::vector<Source> sources(const std::set<AccessSite>& sites) const {
    std::vector<Source> out;
    for (AccessSite s : sites) out.push_back(code_.sites.source(s));
    std::sort(out.begin(), out.end(), placedBefore);
    return out;
  }

  CountingProperty propertyOf(const Pair& pair, const Hypothesis& h) {
    CountingProperty p;
    p.rule = h.rule;
    p.constant = h.constant;
    p.mask = h.mask;
    p.array = code_.fields.key(pair.array);
    p.counter = code_.fields.key(pair.counter);
    const Array& array = arrays_[pair.array];
    if (isRing(h.rule)) p.start = code_.fields.key(pair.starts[h.start].key);
    if (array.pointer) p.pointer = code_.fields.key(*array.pointer);
    p.counterAt = pair.distance;
    if (!array.pointer) p.arrayBytes = array.elements * array.elementSize;
    for (const auto& [site, v] : h.verdicts) {
      p.reads.push_back({code_.sites.source(site), v.proof, v.why});
      ++(v.proof == ReadProof::Proven ? p.proven : v.proof == ReadProof::Refuted ? p.refuted : p.unknown);
      p.notZero |= v.notZero && v.proof == ReadProof::Proven;
    }
    std::sort(p.reads.begin(), p.reads.end(),
              [](const CountedRead& a, const CountedRead& b) { return placedBefore(a.at, b.at); });
    return p;
  }

  void addUpdates(CountingProperty& p, const Pair& pair) {
    const Array& array = arrays_[pair.array];
    const Counter& counter = counters_[pair.counter];
    std::set<FunctionNo> functions = updaters(array, counter);
    // With what they call.
    std::vector<FunctionNo> work(functions.begin(), functions.end());
    std::map<FunctionNo, std::vector<FunctionNo>> callees;
    for (const CodeCall& c : code_.calls) callees[c.caller].push_back(c.callee);
    while (!work.empty()) {
      FunctionNo f = work.back();
      work.pop_back();
      for (FunctionNo callee : callees[f])
        if (functions.insert(callee).second) work.push_back(callee);
    }
    auto of = [&](const std::map<FunctionNo, std::set<AccessSite>>& writes) {
      std::set<AccessSite> sites;
      for (const auto& [f, own] : writes)
        if (functions.contains(f)) sites.insert(own.begin(), own.end());
      return sources(sites);
    };
    p.arrayWrites = of(array.writes);
    p.pointerWrites = of(array.pointerWrites);
    p.counterWrites = of(counter.writes);
  }

  static std::string againstText(const CountingProperty& p) {
    std::string text = boundText(p);
    for (ReadProof proof : {ReadProof::Refuted, ReadProof::Unknown})
      for (const CountedRead& r : p.reads)
        if (r.proof == proof) return text + "; " + (proof == ReadProof::Refuted ? "not with " : "") + r.why;
    return text;
  }

  void conclude() {
    for (std::size_t k = 0; k < pairs_.size(); ++k) {
      const Pair& pair = pairs_[k];
      std::vector<CountingProperty> rules;
      for (const Hypothesis& h : evidence_[k]) rules.push_back(propertyOf(pair, h));
      if (rules.empty()) continue;  // out of time
      // The first of the best.
      auto best =
          std::max_element(rules.begin(), rules.end(),
                           [](const CountingProperty& a, const CountingProperty& b) { return a.score() < b.score(); });
      if (best->proven == 0 || best->score() < kRelaxed) {
        drop(pair.array, pair.counter, againstText(*best), best->reads);
        continue;
      }
      addUpdates(*best, pair);
      result_.properties.push_back(std::move(*best));
    }
    std::sort(result_.properties.begin(), result_.properties.end(),
              [](const CountingProperty& a, const CountingProperty& b) {
                return std::tuple(-a.score(), a.array, a.counter) < std::tuple(-b.score(), b.array, b.counter);
              });
    std::sort(result_.dropped.begin(), result_.dropped.end(), [](const DroppedPair& a, const DroppedPair& b) {
      return std::tie(a.array, a.counter) < std::tie(b.array, b.counter);
    });
  }

  const CountingOptions& options_;
  const DataLayout& dl_;
  ProgramCode code_;
  PersistentTypes types_;
  Changes changes_;
  Solver solver_;
  TargetLibraryInfoImpl libraryInfo_;
  std::clock_t start_ = std::clock();
  bool late_ = false;
  std::map<KeyNo, Array> arrays_;
  std::map<KeyNo, Counter> counters_;
  std::map<KeyNo, std::map<FunctionNo, std::set<AccessSite>>> keyWrites_;
  std::map<std::pair<KeyNo, KeyNo>, std::int64_t> distances_;
  std::vector<Pair> pairs_;
  std::map<std::size_t, std::vector<Hypothesis>> evidence_;
  CountingProperties result_;
};

}  // namespace

CountingProperties inferCounting(Module& module, const CountingOptions& options) {
  bindCalls(module);
  return Analysis(module, options).run();
}

}  // namespace blackout
