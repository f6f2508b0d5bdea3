#include "infer/program_code.h"

#include <algorithm>
#include <optional>
#include <set>

#include "events/access_wrapper.h"
#include "infer/access_id.h"
#include "ir/sources.h"
#include "llvm/Analysis/ValueTracking.h"
#include "llvm/IR/InlineAsm.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/Operator.h"

using namespace llvm;

namespace blackout {

static Place toPlace(SourcePlace p) {
  return {std::move(p.function), std::move(p.file), p.line, p.column, p.discriminator};
}

// LLVM's verifier doesn't look at the file of a block; bitcode comes from outside.
static bool isSound(const DILocation* loc) {
  for (; loc != nullptr; loc = loc->getInlinedAt()) {
    const Metadata* file = loc->getScope()->getRawFile();
    if (file != nullptr && !isa<DIFile>(file)) return false;
  }
  return true;
}

AccessSite AccessSites::of(const Instruction& i, SiteClass cls) {
  const DILocation* loc = i.getDebugLoc().get();
  if (!isSound(loc)) loc = nullptr;
  // Without a location all accesses of a function are one, as in the instrumented code.
  const void* where = loc != nullptr ? static_cast<const void*>(loc) : i.getFunction();
  auto [at, fresh] = byLocation_.try_emplace({where, static_cast<unsigned>(cls)}, 0);
  if (!fresh) return at->second;
  Source source;
  SourcePlace inner;
  if (loc != nullptr) {
    inner = placeOf(*loc);
    // As far as the access is told from others by: what it was inlined into beyond that is one example of many.
    do {
      source.chain.push_back(toPlace(placeOf(*loc)));
      loc = loc->getInlinedAt();
    } while (loc != nullptr && isAccessWrapper(source.chain.back().function));
  } else {
    inner.function = i.getFunction()->getName().str();
    if (const DISubprogram* sp = i.getFunction()->getSubprogram()) {
      inner.function = linkageNameOf(*sp);
      inner.file = sp->getFilename().str();
    }
    source.chain.push_back(toPlace(inner));
  }
  source.id = siteId(inner, cls);
  std::uint64_t id = blackout::accessId(source);
  auto [known, first] = byId_.try_emplace(id, sources_.endId());
  at->second = known->second;
  if (first) {
    sources_.push_back(std::move(source));
    ids_.push_back(id);
  } else if (source.chain < sources_[known->second].chain) {
    sources_[known->second] = std::move(source);
  }
  return at->second;
}

const Function* calleeOf(const CallBase& call) {
  const Value* called = call.getCalledOperand()->stripPointerCastsAndAliases();
  const auto* f = dyn_cast<Function>(called);
  return f == nullptr || f->isDeclaration() || f->isIntrinsic() ? nullptr : f;
}

LocalPlace localPlace(const Value* pointer, const DataLayout& dl) {
  if (!pointer->getType()->isPointerTy()) return {};
  APInt offset(dl.getIndexTypeSizeInBits(pointer->getType()), 0);
  const Value* base = pointer->stripAndAccumulateConstantOffsets(dl, offset, /*AllowNonInbounds=*/true);
  auto isLocal = [](const Value* v) {
    const auto* a = dyn_cast<Argument>(v);
    return isa<AllocaInst>(v) || (a != nullptr && a->hasByValAttr());
  };
  if (isLocal(base)) return {base, offset.getSExtValue()};
  const Value* object = getUnderlyingObject(pointer);
  return isLocal(object) ? LocalPlace{object, -1} : LocalPlace{};
}

std::vector<const Value*> rootsOf(const Value* pointer) {
  constexpr std::size_t kMostSteps = 64;
  std::vector<const Value*> seen{pointer}, roots;
  for (std::size_t k = 0; k < seen.size(); ++k) {
    if (seen.size() > kMostSteps) return {};
    auto add = [&](const Value* v) {
      if (std::find(seen.begin(), seen.end(), v) == seen.end()) seen.push_back(v);
    };
    const Value* v = seen[k];
    if (const auto* gep = dyn_cast<GEPOperator>(v)) {
      add(gep->getPointerOperand());
    } else if (isa<CastInst, PHINode, SelectInst, BinaryOperator, FreezeInst>(v)) {
      for (const Value* operand : cast<User>(v)->operands()) add(operand);
    } else if (!isa<Constant>(v) || isa<GlobalVariable>(v)) {
      roots.push_back(v);
    }
  }
  return roots;
}

ProgramCode::ProgramCode(const Module& m) : module(m) {
  for (const Function& f : m) {
    if (f.isDeclaration()) continue;
    numbers_[&f] = functions.endId();
    functions.push_back(&f);
    firstArgument_.push_back(argumentCount_);
    argumentCount_ += static_cast<std::uint32_t>(f.arg_size());
  }
  callers_.resize(functions.size());
  argumentKeys_.resize(argumentCount_);
  for (FunctionNo no = 0; no < functions.endId(); ++no)
    for (const Instruction& i : instructions(*functions[no])) {
      addAccess(i);
      const auto* call = dyn_cast<CallBase>(&i);
      const Function* callee = call == nullptr ? nullptr : calleeOf(*call);
      if (callee == nullptr) continue;
      callers_[numbers_[callee]].push_back(static_cast<std::uint32_t>(calls.size()));
      calls.push_back({call, no, numbers_[callee]});
    }
  bindArguments();
  addKeysOfArguments();
}

FunctionNo ProgramCode::numberOf(const Function* f) const {
  auto at = numbers_.find(f);
  return at == numbers_.end() ? kNoFunction : at->second;
}

const CodeAccess* ProgramCode::accessOf(const Instruction& i) const {
  auto at = accessNo_.find(&i);
  return at == accessNo_.end() ? nullptr : &accesses_[at->second];
}

std::uint32_t ProgramCode::argumentNo(const Argument& a) const {
  return firstArgument_[numberOf(a.getParent())] + a.getArgNo();
}

static std::optional<unsigned> persistedArgument(const CallBase& call) {
  const Function* callee = call.getCalledFunction();
  if (callee == nullptr || !callee->isDeclaration()) return std::nullopt;
  StringRef name = callee->getName();
#define BLACKOUT_PERSISTS(function, argument) \
  if (name == function && call.arg_size() > argument) return argument;
#include "infer/persisting_functions.def"
#undef BLACKOUT_PERSISTS
  return std::nullopt;
}

static bool isNonTemporal(const Instruction& i) {
  if (i.getMetadata(LLVMContext::MD_nontemporal) != nullptr) return true;
  const auto* intrinsic = dyn_cast<IntrinsicInst>(&i);
  if (intrinsic == nullptr) return false;
  StringRef name = intrinsic->getCalledFunction()->getName();
  return name.starts_with("llvm.x86.directstore") || name.starts_with("llvm.x86.movdir64b") || name.contains("movnt");
}

static const Value* pointerArgument(const CallBase& call, unsigned number) {
  if (number >= call.arg_size()) return nullptr;
  const Value* v = call.getArgOperand(number);
  return v->getType()->isPointerTy() ? v : nullptr;
}

static const Value* firstPointer(const CallBase& call) {
  for (const Value* v : call.args())
    if (v->getType()->isPointerTy()) return v;
  return nullptr;
}

// What the instruction reads, writes and flushes, without keys.
static std::optional<CodeAccess> accessIn(const Instruction& i, const Access& a) {
  CodeAccess access;
  if (const auto* load = dyn_cast<LoadInst>(&i)) {
    access.read = load->getPointerOperand();
  } else if (const auto* store = dyn_cast<StoreInst>(&i)) {
    access.written = store->getPointerOperand();
    if (isNonTemporal(i)) access.flushed = access.written;
  } else if (const auto* rmw = dyn_cast<AtomicRMWInst>(&i)) {
    access.read = access.written = rmw->getPointerOperand();
  } else if (const auto* cas = dyn_cast<AtomicCmpXchgInst>(&i)) {
    access.read = access.written = cas->getPointerOperand();
    access.swaps = true;
  } else if (const auto* call = dyn_cast<CallBase>(&i)) {
    std::optional<AtomicCall> atomic = atomicCall(*call);
    std::optional<LibcFunction> libc = libcFunction(*call);
    if (const auto* memory = dyn_cast<MemIntrinsic>(call)) {
      access.written = memory->getRawDest();
      if (const auto* copy = dyn_cast<MemTransferInst>(call)) access.read = copy->getRawSource();
    } else if (atomic) {
      const Value* pointer = call->getArgOperand(atomic->pointer);
      access.read = pointer;
      if (atomic->kind != BLACKOUT_SITE_Load) access.written = pointer;
      access.swaps = atomic->kind == BLACKOUT_SITE_CmpXchg;
    } else if (libc) {
      // bcopy has them the other way round.
      bool turned = call->getCalledFunction()->getName() == "bcopy";
      const Value* first = pointerArgument(*call, turned ? 1 : 0);
      const Value* second = pointerArgument(*call, turned ? 0 : 1);
      switch (a.cls) {
        case SiteClass::Flush:
          access.flushed = first;
          break;
        case SiteClass::Read:
          access.read = first;
          access.read2 = second;
          access.texts = true;
          break;
        case SiteClass::Write:
          access.written = first;
          if (libc->kind != BLACKOUT_SITE_Fill) access.read = second;
          break;
        default:
          return std::nullopt;
      }
    } else if (a.cls == SiteClass::Flush) {
      access.flushed = firstPointer(*call);
    } else if (a.cls == SiteClass::Read) {
      access.read = firstPointer(*call);
    } else if (a.cls == SiteClass::Write) {
      access.written = firstPointer(*call);
      if (isNonTemporal(i)) access.flushed = access.written;
    } else if (a.cls == SiteClass::Atomic) {
      access.read = access.written = firstPointer(*call);
    } else {
      return std::nullopt;
    }
  } else {
    return std::nullopt;
  }
  return access;
}

std::size_t ProgramCode::indirectCalls() const {
  std::size_t count = 0;
  for (const Function* f : functions)
    for (const Instruction& i : instructions(*f))
      if (const auto* call = dyn_cast<CallBase>(&i))
        count += call->isIndirectCall() && !isa<Constant>(call->getCalledOperand()->stripPointerCasts());
  return count;
}

Keys ProgramCode::marks() const {
  std::set<std::pair<KeyNo, std::uint64_t>> set, tested;
  auto add = [](auto& to, const Keys& keys, const ConstantInt& constant) {
    if (!constant.isZero() && constant.getBitWidth() <= 64)
      for (KeyNo key : keys) to.insert({key, constant.getZExtValue()});
  };
  for (const Function* f : functions)
    for (const Instruction& i : instructions(*f)) {
      if (const auto* store = dyn_cast<StoreInst>(&i)) {
        const auto* value = dyn_cast<ConstantInt>(store->getValueOperand());
        const CodeAccess* access = value == nullptr ? nullptr : accessOf(i);
        if (access != nullptr) add(set, access->writtenKeys, *value);
      } else if (const auto* compare = dyn_cast<ICmpInst>(&i); compare != nullptr && compare->isEquality()) {
        const auto* value = dyn_cast<ConstantInt>(compare->getOperand(1));
        const Value* side = compare->getOperand(0);
        while (const auto* cast = dyn_cast<CastInst>(side)) side = cast->getOperand(0);
        const auto* load = value == nullptr ? nullptr : dyn_cast<LoadInst>(side);
        const CodeAccess* access = load == nullptr ? nullptr : accessOf(*load);
        if (access != nullptr) add(tested, access->readKeys, *value);
      }
    }
  Keys marks;
  for (const auto& one : set)
    if (tested.contains(one)) addKeys(marks, {one.first});
  return marks;
}

void ProgramCode::addAccess(const Instruction& i) {
  const auto* call = dyn_cast<CallBase>(&i);
  const DataLayout& dl = module.getDataLayout();
  std::optional<CodeAccess> access;
  SiteClass cls{};
  for (const Access& a : accessesOf(i, dl)) {
    if (a.cls == SiteClass::Fence || a.cls == SiteClass::Request) continue;
    access = accessIn(i, a);
    cls = a.cls;
    if (access) break;
  }
  std::optional<unsigned> persisted = call == nullptr ? std::nullopt : persistedArgument(*call);
  if (!access && !persisted) return;
  if (!access) {
    access.emplace();
    cls = SiteClass::Call;
  }
  Keys field = fields.in(i, kFieldNode);
  if (persisted) {
    access->flushed = pointerArgument(*call, *persisted);
    if (field.empty()) field = fields.argument(*call, *persisted);
  }
  access->site = sites.of(i, cls);
  if (access->written != nullptr) {
    access->writesLocal = localPlace(access->written, dl).variable != nullptr;
    access->writtenKeys = field;
  }
  if (access->flushed != nullptr && localPlace(access->flushed, dl).variable == nullptr) access->flushedKeys = field;
  if (access->read != nullptr) {
    // The two sides of a copy or of a comparison have each their own keys.
    bool copies = access->written != nullptr && access->written != access->read;
    Keys source = fields.in(i, kSourceNode);
    access->readsLocal = localPlace(access->read, dl).variable != nullptr;
    access->readKeys = copies ? source : field;
    if (access->texts) {
      if (access->readsLocal) access->readKeys.clear();
      bool secondLocal = access->read2 != nullptr && localPlace(access->read2, dl).variable != nullptr;
      if (!secondLocal) addKeys(access->readKeys, source);
      access->readsLocal = access->readsLocal && (access->read2 == nullptr || secondLocal);
    }
  }
  accessNo_[&i] = static_cast<std::uint32_t>(accesses_.size());
  accesses_.push_back(std::move(*access));
}

// Keys flow from the calls down to the arguments until nothing changes; more than a few say nothing.
void ProgramCode::bindArguments() {
  std::vector<std::vector<std::uint32_t>> passedOn(argumentCount_);  // arguments that are passed on as arguments
  std::vector<char> many(argumentCount_, 0);
  std::vector<std::uint32_t> changed;
  auto add = [&](std::uint32_t argument, const Keys& keys, bool tooMany) {
    if (many[argument]) return;
    Keys all = argumentKeys_[argument];
    addKeys(all, keys);
    many[argument] = tooMany || all.size() > kMostKeys;
    if (many[argument]) all.clear();
    if (!many[argument] && all == argumentKeys_[argument]) return;
    argumentKeys_[argument] = std::move(all);
    changed.push_back(argument);
  };
  for (const CodeCall& c : calls) {
    std::uint32_t first = firstArgument_[c.callee];
    auto count = static_cast<unsigned>(std::min<std::size_t>(c.call->arg_size(), functions[c.callee]->arg_size()));
    for (unsigned k = 0; k < count; ++k) {
      const Value* actual = c.call->getArgOperand(k);
      if (!actual->getType()->isPointerTy() || localPlace(actual, module.getDataLayout()).variable != nullptr) continue;
      Keys keys = fields.argument(*c.call, k);
      if (!keys.empty()) {
        add(first + k, keys, false);
        continue;
      }
      for (const Value* root : rootsOf(actual))
        if (const auto* a = dyn_cast<Argument>(root)) passedOn[argumentNo(*a)].push_back(first + k);
    }
  }
  for (std::uint32_t a = 0; a < argumentCount_; ++a)
    if (!argumentKeys_[a].empty() || many[a]) changed.push_back(a);
  while (!changed.empty()) {
    std::uint32_t from = changed.back();
    changed.pop_back();
    for (std::uint32_t to : passedOn[from]) add(to, argumentKeys_[from], many[from] != 0);
  }
}

Keys ProgramCode::passed(const Value* pointer) const {
  Keys keys;
  for (const Value* root : rootsOf(pointer)) {
    const auto* a = dyn_cast<Argument>(root);
    // A pointer that may also have been loaded leads to anything.
    if (a == nullptr) return {};
    addKeys(keys, argumentKeys_[argumentNo(*a)]);
  }
  return keys.size() > kMostKeys ? Keys{} : keys;
}

void ProgramCode::addKeysOfArguments() {
  for (CodeAccess& a : accesses_) {
    if (a.written != nullptr && !a.writesLocal && a.writtenKeys.empty()) a.writtenKeys = passed(a.written);
    if (a.read != nullptr && !a.readsLocal && a.readKeys.empty()) {
      a.readKeys = passed(a.read);
      if (a.read2 != nullptr) addKeys(a.readKeys, passed(a.read2));
    }
  }
}

}  // namespace blackout
