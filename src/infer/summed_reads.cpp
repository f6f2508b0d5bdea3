#include "infer/summed_reads.h"

#include <algorithm>
#include <map>
#include <optional>
#include <set>

#include "infer/link_units.h"
#include "infer/program_code.h"
#include "infer/selects.h"
#include "infer/straighten.h"
#include "llvm/ADT/SmallPtrSet.h"
#include "llvm/Analysis/LoopInfo.h"
#include "llvm/IR/Dominators.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/IntrinsicsX86.h"
#include "llvm/IR/LLVMContext.h"

using namespace llvm;

namespace blackout {

namespace {

constexpr unsigned kSumBits = 32;         // a sum of fewer bits is met by chance
constexpr std::uint64_t kLarge = 0xffff;  // a smaller factor leaves small differences next to each other
constexpr std::uint64_t kTable = 256;     // entries
constexpr int kDepth = 4;                 // calls that a sum is returned through
constexpr std::size_t kFollowed = 4096;   // values

unsigned bitsOf(const Value& v) { return v.getType()->isIntegerTy() ? v.getType()->getIntegerBitWidth() : 0; }

const ConstantInt* distance(const Value* v, unsigned opcode) {
  const auto* o = dyn_cast<BinaryOperator>(v);
  return o != nullptr && o->getOpcode() == opcode ? dyn_cast<ConstantInt>(o->getOperand(1)) : nullptr;
}

// The value of which the operation is a rotation or `x ^ x >> n`, `x ^ x << n`; null: it is none.
const Value* turned(const Instruction& i) {
  if (const auto* call = dyn_cast<IntrinsicInst>(&i)) {
    bool shifts = call->getIntrinsicID() == Intrinsic::fshl || call->getIntrinsicID() == Intrinsic::fshr;
    return shifts && call->getArgOperand(0) == call->getArgOperand(1) ? call->getArgOperand(0) : nullptr;
  }
  const auto* o = dyn_cast<BinaryOperator>(&i);
  if (o == nullptr) return nullptr;
  const Value *a = o->getOperand(0), *b = o->getOperand(1);
  if (o->getOpcode() == Instruction::Xor)
    for (auto [shifted, whole] : {std::pair(a, b), std::pair(b, a)})
      for (unsigned by : {Instruction::LShr, Instruction::Shl})
        if (distance(shifted, by) != nullptr && cast<User>(shifted)->getOperand(0) == whole) return whole;
  if (o->getOpcode() != Instruction::Or && o->getOpcode() != Instruction::Xor && o->getOpcode() != Instruction::Add)
    return nullptr;
  for (auto [up, down] : {std::pair(a, b), std::pair(b, a)}) {
    const ConstantInt *left = distance(up, Instruction::Shl), *right = distance(down, Instruction::LShr);
    if (left == nullptr || right == nullptr || cast<User>(up)->getOperand(0) != cast<User>(down)->getOperand(0))
      continue;
    if (left->getZExtValue() + right->getZExtValue() == bitsOf(i)) return cast<User>(up)->getOperand(0);
  }
  return nullptr;
}

// A shift of which nothing is used but in such an operation.
bool isPartOfTurn(const Instruction& i) {
  if (distance(&i, Instruction::Shl) == nullptr && distance(&i, Instruction::LShr) == nullptr) return false;
  return all_of(i.users(), [&](const User* u) {
    const auto* by = dyn_cast<Instruction>(u);
    return by != nullptr && turned(*by) == i.getOperand(0);
  });
}

bool multiplies(const Instruction& i, bool large) {
  if (i.getOpcode() != Instruction::Mul) return false;
  for (const Value* operand : i.operands())
    if (const auto* c = dyn_cast<ConstantInt>(operand))
      return (c->getValue()[0]) && (!large || c->getValue().ugt(kLarge));
  return false;
}

bool isCrc32(const Instruction& i) {
  const auto* call = dyn_cast<IntrinsicInst>(&i);
  return call != nullptr && call->getCalledFunction()->getName().starts_with("llvm.x86.sse42.crc32");
}

// A value that is computed of one other and of constants alone.
using Parts = SmallPtrSet<const Instruction*, 16>;
std::optional<APInt> evaluated(const Value& v, const Value& from, const APInt& is, const Parts& parts,
                               std::map<const Value*, APInt>& known) {
  if (&v == &from) return is;
  if (const auto* c = dyn_cast<ConstantInt>(&v)) return c->getValue();
  if (auto it = known.find(&v); it != known.end()) return it->second;
  const auto* i = dyn_cast<Instruction>(&v);
  if (i == nullptr || !parts.contains(i)) return std::nullopt;
  std::vector<APInt> of;
  for (const Value* operand : i->operands()) {
    auto value = evaluated(*operand, from, is, parts, known);
    if (!value) return std::nullopt;
    of.push_back(*value);
  }
  std::optional<APInt> result;
  switch (i->getOpcode()) {
    case Instruction::Add:
      result = of[0] + of[1];
      break;
    case Instruction::Sub:
      result = of[0] - of[1];
      break;
    case Instruction::Mul:
      result = of[0] * of[1];
      break;
    case Instruction::And:
      result = of[0] & of[1];
      break;
    case Instruction::Or:
      result = of[0] | of[1];
      break;
    case Instruction::Xor:
      result = of[0] ^ of[1];
      break;
    case Instruction::Shl:
      if (of[1].ult(bitsOf(*i))) result = of[0].shl(of[1]);
      break;
    case Instruction::LShr:
      if (of[1].ult(bitsOf(*i))) result = of[0].lshr(of[1]);
      break;
    case Instruction::AShr:
      if (of[1].ult(bitsOf(*i))) result = of[0].ashr(of[1]);
      break;
    case Instruction::ZExt:
      result = of[0].zext(bitsOf(*i));
      break;
    case Instruction::SExt:
      result = of[0].sext(bitsOf(*i));
      break;
    case Instruction::Trunc:
      result = of[0].trunc(bitsOf(*i));
      break;
    case Instruction::Freeze:
      result = of[0];
      break;
    case Instruction::Select:
      result = of[0].isZero() ? of[2] : of[1];
      break;
    case Instruction::ICmp:
      result = APInt(1, ICmpInst::compare(of[0], of[1], cast<ICmpInst>(i)->getPredicate()) ? 1 : 0);
      break;
    default:
      break;
  }
  if (result) known.emplace(&v, *result);
  return result;
}

// A sum bit by bit, as CRCs without a table make it: the sum is shifted, and xored with a constant if the bit that goes
// was set. However it is spelled, it is linear, and no two sums become one: both are tried with
// numbers.
struct BitStep {
  const Instruction* result = nullptr;  // null: it is none
  Parts parts;                          // what is computed on the way, and the result
  unsigned shifts = 0;                  // by so many bits
};
bool isBijection(std::vector<APInt> images) {
  std::size_t rank = 0;
  for (unsigned bit = 0; bit < images.size(); ++bit) {
    auto pivot =
        std::find_if(images.begin() + std::ptrdiff_t(rank), images.end(), [&](const APInt& a) { return a[bit]; });
    if (pivot == images.end()) return false;
    if (*pivot != images[rank]) std::swap(*pivot, images[rank]);
    for (std::size_t k = 0; k < images.size(); ++k)
      if (k != rank && images[k][bit]) images[k] ^= images[rank];
    ++rank;
  }
  return true;
}
BitStep bitStepFrom(const Value& sum) {
  constexpr std::size_t kMost = 48;  // eight steps that were written out
  const unsigned bits = bitsOf(sum);
  BitStep none, step;
  if (bits < kSumBits || bits > 64) return none;
  std::vector<const Value*> work{&sum};
  while (!work.empty() && step.parts.size() < kMost) {
    const Value* v = work.back();
    work.pop_back();
    for (const User* u : v->users()) {
      const auto* i = dyn_cast<Instruction>(u);
      if (i == nullptr || isa<PHINode, CallBase>(i) || !i->getType()->isIntegerTy() || step.parts.contains(i)) continue;
      bool alone = all_of(i->operands(), [&](const Use& o) {
        const auto* part = dyn_cast<Instruction>(o.get());
        return o.get() == &sum || isa<ConstantInt>(o.get()) || (part != nullptr && step.parts.contains(part));
      });
      // What waits for another operand comes again with that.
      if (alone) step.parts.insert(i), work.push_back(i);
    }
  }
  // Only one of them is used for anything else.
  bool tests = false;
  for (const Instruction* i : step.parts) {
    tests |= isa<ICmpInst>(i) || i->getOpcode() == Instruction::And;
    bool outside = any_of(i->users(), [&](const User* u) {
      const auto* by = dyn_cast<Instruction>(u);
      return by != nullptr && !isa<DbgInfoIntrinsic>(by) && !step.parts.contains(by);
    });
    if (!outside) continue;
    if (step.result != nullptr || bitsOf(*i) != bits) return none;
    step.result = i;
  }
  if (step.result == nullptr || !tests) return none;
  auto of = [&](const APInt& is) {
    std::map<const Value*, APInt> known;
    return evaluated(*step.result, sum, is, step.parts, known);
  };
  std::vector<APInt> images;
  for (unsigned bit = 0; bit < bits; ++bit) {
    auto image = of(APInt::getOneBitSet(bits, bit));
    if (!image) return none;
    images.push_back(*image);
  }
  const APInt& ofLast = images.back();
  const APInt& ofFirst = images.front();
  if (ofLast.popcount() == 1)
    step.shifts = bits - 1 - ofLast.countr_zero();
  else if (ofFirst.popcount() == 1)
    step.shifts = ofFirst.countr_zero();
  // Linear: of any sum what its bits become. Some bit becomes many: a shift alone would mix nothing.
  std::uint64_t some = 0x9e3779b97f4a7c15;
  for (int n = 0; n < 64; ++n, some = some * 6364136223846793005 + 1442695040888963407) {
    APInt tried = APInt(64, n == 0 ? 0 : some).trunc(bits), expected(bits, 0);
    for (unsigned bit = 0; bit < bits; ++bit)
      if (tried[bit]) expected ^= images[bit];
    if (auto is = of(tried); !is || *is != expected) return none;
  }
  constexpr unsigned kMany = 4;
  bool mixes = any_of(images, [](const APInt& a) { return a.popcount() >= kMany; });
  return mixes && isBijection(std::move(images)) ? step : none;
}

// What a table of a checksum says for an index that `v` is: the loads. None: it is something else that is indexed.
std::vector<const LoadInst*> lookedUp(const GetElementPtrInst& at, const Value& v) {
  const auto* table = dyn_cast<GlobalVariable>(at.getPointerOperand());
  const auto* type = table == nullptr ? nullptr : dyn_cast<ArrayType>(table->getValueType());
  if (&v == at.getPointerOperand() || type == nullptr || type->getNumElements() < kTable ||
      !type->getElementType()->isIntegerTy() || type->getElementType()->getIntegerBitWidth() < kSumBits)
    return {};
  std::vector<const LoadInst*> loads;
  for (const User* u : at.users()) {
    const auto* load = dyn_cast<LoadInst>(u);
    if (load == nullptr) return {};
    loads.push_back(load);
  }
  return loads;
}

// Whether the operation hands on every difference of a sum: none of its bits is dropped.
bool keepsAll(const Instruction& i) {
  switch (i.getOpcode()) {
    case Instruction::Add:
    case Instruction::Sub:
    case Instruction::Xor:
    case Instruction::ZExt:
    case Instruction::PHI:
    case Instruction::Select:
    case Instruction::Freeze:
      return true;
    case Instruction::Trunc:
      return bitsOf(i) >= kSumBits;
    default:
      return turned(i) != nullptr || isPartOfTurn(i) || multiplies(i, false) || isCrc32(i);
  }
}

// What an instruction computes from a value, as far as that is followed; and nothing more.
bool computes(const Instruction& i) {
  if (const auto* call = dyn_cast<IntrinsicInst>(&i))
    return turned(i) != nullptr || isCrc32(i) || call->getIntrinsicID() == Intrinsic::bswap;
  if (!i.getType()->isIntegerTy() || bitsOf(i) == 1) return false;
  if (const auto* o = dyn_cast<BinaryOperator>(&i))
    return o->getOpcode() != Instruction::UDiv && o->getOpcode() != Instruction::SDiv &&
           o->getOpcode() != Instruction::URem && o->getOpcode() != Instruction::SRem;
  // A condition has one bit, and is none of what is followed.
  return isa<ZExtInst, SExtInst, TruncInst, FreezeInst, PHINode, SelectInst>(i);
}

// The loops of a function, and the sums in them.
class Sums {
 public:
  explicit Sums(const Function& f) : dominators_(const_cast<Function&>(f)), loops_(dominators_) {}

  const LoopInfo& loops() const { return loops_; }
  const BitStep& bitStep(const Value& v) {
    auto [it, fresh] = bitSteps_.try_emplace(&v);
    if (fresh) it->second = bitStepFrom(v);
    if (fresh && it->second.result != nullptr) stepResults_.try_emplace(it->second.result, &v);
    return it->second;
  }
  // The loop in each turn of which the value is part of a sum that mixes; null: there is none.
  const Loop* mixing(const Instruction& i) {
    for (const Loop* loop = loops_.getLoopFor(i.getParent()); loop != nullptr; loop = loop->getParentLoop())
      for (const PHINode& phi : loop->getHeader()->phis())
        if (const Cycle& c = cycleOf(phi, *loop); c.mixes && c.values.contains(&i)) return loop;
    return nullptr;
  }

 private:
  struct Cycle {
    SmallPtrSet<const Instruction*, 16> values;  // on the way from the phi to itself
    bool mixes = false;
  };

  const Cycle& cycleOf(const PHINode& phi, const Loop& loop) {
    auto [it, fresh] = cycles_.try_emplace(&phi);
    Cycle& c = it->second;
    if (!fresh || bitsOf(phi) < kSumBits) return c;
    SmallPtrSet<const Instruction*, 32> after, before;
    bool table = false;
    auto forward = [&](const Instruction& i, auto add) {
      for (const User* u : i.users()) {
        const auto* next = dyn_cast<Instruction>(u);
        if (next == nullptr || !loop.contains(next)) continue;
        if (const BitStep& step = bitStep(i); step.result != nullptr && step.parts.contains(next)) {
          if (loop.contains(step.result)) add(step.result);
        } else if (const auto* at = dyn_cast<GetElementPtrInst>(next)) {
          for (const LoadInst* load : lookedUp(*at, i)) add(load), table = true;
        } else if (computes(*next)) {
          add(next);
        }
      }
    };
    auto backward = [&](const Instruction& i, auto add) {
      auto operand = [&](const Value* v) {
        if (const auto* o = dyn_cast<Instruction>(v); o != nullptr && loop.contains(o)) add(o);
      };
      if (const auto* load = dyn_cast<LoadInst>(&i)) {
        if (const auto* at = dyn_cast<GetElementPtrInst>(load->getPointerOperand()))
          for (const Value* index : at->indices()) operand(index);
      } else if (auto step = stepResults_.find(&i); step != stepResults_.end()) {
        operand(step->second);
      } else {
        for (const Value* v : i.operands()) operand(v);
      }
    };
    reach(phi, after, forward);
    reach(phi, before, backward);
    for (const Instruction* i : after)
      if (before.contains(i)) c.values.insert(i);
    if (!c.values.contains(&phi)) c.values.clear();
    bool looked = any_of(c.values, [](const Instruction* i) { return isa<LoadInst>(i); });
    bool mixes = looked, keeps = true;
    for (const Instruction* i : c.values) {
      auto of = stepResults_.find(i);
      bool step = of != stepResults_.end();
      // One bit for a whole word would leave neighbours next to each other.
      constexpr unsigned kByte = 8;
      bool enough = step && (loops_.getLoopFor(i->getParent()) != &loop || bitStep(*of->second).shifts >= kByte);
      mixes |= enough || turned(*i) != nullptr || multiplies(*i, true) || isCrc32(*i);
      keeps &= step || keepsAll(*i);
    }
    // A CRC drops bits on one way and has them on the other.
    c.mixes = mixes && (keeps || looked);
    return c;
  }
  template <class Step>
  static void reach(const Instruction& from, SmallPtrSet<const Instruction*, 32>& to, Step step) {
    std::vector<const Instruction*> work{&from};
    while (!work.empty() && to.size() < kFollowed) {
      const Instruction* i = work.back();
      work.pop_back();
      step(*i, [&](const Instruction* next) {
        if (to.insert(next).second) work.push_back(next);
      });
    }
  }

  DominatorTree dominators_;
  LoopInfo loops_;
  std::map<const PHINode*, Cycle> cycles_;
  std::map<const Value*, BitStep> bitSteps_;
  std::map<const Instruction*, const Value*> stepResults_;  // and of what they are
};

CallPlace placeOf(const DILocation& at) {
  StringRef file = at.getFilename();
  return {file.substr(file.rfind('/') == StringRef::npos ? 0 : file.rfind('/') + 1).str(), at.getLine()};
}

void addInlined(std::vector<CallPlace>& calls, const Instruction& i) {
  const DILocation* at = i.getDebugLoc().get();
  for (at = at == nullptr ? nullptr : at->getInlinedAt(); at != nullptr; at = at->getInlinedAt())
    calls.push_back(placeOf(*at));
}

class Follower {
 public:
  explicit Follower(const ProgramCode& code) : code_(code) {}

  void follow(const LoadInst& load, SummedRead& out) {
    ReadWay way;
    addInlined(way.calls, load);
    follow(load, false, way, 0, out);
  }

 private:
  // Everything that is done with a value of one function. `summed`: it is a sum that mixes.
  struct Uses {
    bool other = false;     // something else than to sum, compare and return it
    bool returned = false;  // as a sum
    bool returnedRaw = false;
    std::set<const ICmpInst*> compared;
  };

  Sums& sumsOf(const Function& f) {
    auto& sums = sums_[&f];
    if (sums == nullptr) sums = std::make_unique<Sums>(f);
    return *sums;
  }

  Uses usesOf(const Instruction& value, bool summed) {
    Uses uses;
    Sums& sums = sumsOf(*value.getFunction());
    std::set<std::pair<const Instruction*, bool>> seen;
    std::vector<std::pair<const Instruction*, bool>> work;
    auto add = [&](const Instruction* i, bool s) {
      if (seen.emplace(i, s).second) work.emplace_back(i, s);
    };
    add(&value, summed);
    while (!work.empty() && !uses.other) {
      auto [v, isSum] = work.back();
      work.pop_back();
      const Loop* loop = sums.mixing(*v);
      for (const User* u : v->users()) {
        const auto* by = dyn_cast<Instruction>(u);
        if (by == nullptr || seen.size() > kFollowed) return {.other = true};
        // What leaves the loop is the sum; inside it is on its way.
        bool sum = isSum || (loop != nullptr && !loop->contains(by));
        if (isa<DbgInfoIntrinsic>(by)) continue;
        if (const BitStep& step = sums.bitStep(*v); step.result != nullptr && step.parts.contains(by)) {
          add(step.result, sum && sums.mixing(*step.result) == nullptr);
        } else if (const auto* back = dyn_cast<ReturnInst>(by); back != nullptr) {
          (sum ? uses.returned : uses.returnedRaw) = true;
        } else if (const auto* compare = dyn_cast<ICmpInst>(by)) {
          if (!sum || !compare->isEquality() || bitsOf(*v) < kSumBits) return {.other = true};
          uses.compared.insert(compare);
        } else if (const auto* at = dyn_cast<GetElementPtrInst>(by)) {
          auto loads = lookedUp(*at, *v);
          if (loads.empty() || sum) return {.other = true};
          for (const LoadInst* load : loads) add(load, false);
        } else if (computes(*by) && (!sum || keepsAll(*by))) {
          add(by, sum && sums.mixing(*by) == nullptr);  // it goes on in another loop, and leaves that again
        } else {
          return {.other = true};
        }
      }
    }
    return uses;
  }

  // Where a comparison stands in a loop around what it compares, it is one comparison for each thing only if what it
  // compares with is read anew in each turn.
  bool addLoop(const ICmpInst& compare, const Instruction& value, ReadWay& way) {
    const LoopInfo& loops = sumsOf(*compare.getFunction()).loops();
    const Loop* around = loops.getLoopFor(compare.getParent());
    if (around == nullptr) return true;
    if (const Loop* own = sumsOf(*compare.getFunction()).mixing(value); own != nullptr && own->contains(&compare))
      return false;
    way.inLoop = true;
    bool any = false;
    for (const Value* side : compare.operands()) {
      while (const auto* cast = dyn_cast<CastInst>(side)) side = cast->getOperand(0);
      const auto* load = dyn_cast<LoadInst>(side);
      if (load == nullptr || !around->contains(load) || around->isLoopInvariant(load->getPointerOperand())) continue;
      if (const CodeAccess* access = code_.accessOf(*load))
        way.comparedWith.push_back(code_.sites.accessId(access->site)), any = true;
    }
    return any;
  }

  void follow(const Instruction& value, bool summed, ReadWay way, int depth, SummedRead& out) {
    Uses uses = usesOf(value, summed);
    const Function& f = *value.getFunction();
    bool ends = !uses.compared.empty(), goesOn = uses.returned || uses.returnedRaw;
    bool known = !uses.other && !(uses.returned && uses.returnedRaw) && (ends || goesOn) && depth < kDepth;
    for (const ICmpInst* compare : uses.compared) known = known && addLoop(*compare, value, way);
    // Whoever has its address may call it from anywhere.
    if (goesOn && f.hasAddressTaken()) known = false;
    if (!known) {
      out.used.push_back(std::move(way));
      return;
    }
    if (!goesOn) {
      out.compared.push_back(std::move(way));
      return;
    }
    for (std::uint32_t no : code_.callsOf(code_.numberOf(&f))) {
      const CallBase& call = *code_.calls[no].call;
      ReadWay longer = way;
      const DILocation* at = call.getDebugLoc().get();
      longer.calls.push_back(at == nullptr ? CallPlace() : placeOf(*at));
      addInlined(longer.calls, call);
      follow(call, uses.returned, std::move(longer), depth + 1, out);
    }
  }

  const ProgramCode& code_;
  std::map<const Function*, std::unique_ptr<Sums>> sums_;
};

void inOrder(std::vector<ReadWay>& ways) {
  std::sort(ways.begin(), ways.end());
  ways.erase(std::unique(ways.begin(), ways.end()), ways.end());
}

}  // namespace

std::vector<SummedRead> summedReads(const ProgramBitcode& program) {
  LLVMContext context;
  std::vector<std::string> notes;
  std::unique_ptr<Module> module = linkUnits(program, context, notes);
  straighten(*module);
  for (Function& f : *module)
    if (!f.isDeclaration()) chooseWithoutBranches(f);
  ProgramCode code(*module);
  Follower follower(code);
  std::map<std::uint64_t, SummedRead> reads;
  for (const Function* f : code.functions)
    for (const BasicBlock& b : *f)
      for (const Instruction& i : b) {
        const CodeAccess* access = code.accessOf(i);
        if (access == nullptr || access->read == nullptr || access->readsLocal) continue;
        SummedRead& read = reads[code.sites.accessId(access->site)];
        if (const auto* load = dyn_cast<LoadInst>(&i); load != nullptr && load->getType()->isIntegerTy()) {
          follower.follow(*load, read);
        } else {
          ReadWay way;
          addInlined(way.calls, i);
          read.used.push_back(std::move(way));
        }
      }
  std::vector<SummedRead> out;
  for (auto& [access, read] : reads) {
    if (read.compared.empty()) continue;
    read.access = access;
    inOrder(read.compared);
    inOrder(read.used);
    out.push_back(std::move(read));
  }
  return out;
}

}  // namespace blackout
