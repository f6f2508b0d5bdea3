#include "infer/correlated_fields.h"

#include <algorithm>
#include <map>
#include <set>

#include "llvm/IR/DebugInfoMetadata.h"
#include "llvm/IR/InstIterator.h"

namespace blackout {

namespace {

// What is less frequent says nothing; programs are small here, the paper's thresholds are for millions of lines.
constexpr std::size_t kSupport = 3;
constexpr double kConfidence = 0.8;
// A function that touches everything says of no two fields that they belong together.
constexpr std::size_t kMostFields = 256;

// A function of the source: code that was inlined into another is still its own.
using SourceFunction = const void*;

SourceFunction functionOf(const llvm::Instruction& i) {
  if (const llvm::DebugLoc& at = i.getDebugLoc())
    if (const llvm::DISubprogram* s = at->getScope()->getSubprogram()) return s;
  if (const llvm::DISubprogram* s = i.getFunction()->getSubprogram()) return s;
  return i.getFunction();
}

// Who calls what: a call, and code that was inlined.
void addCalls(const llvm::Instruction& i, std::map<SourceFunction, std::set<SourceFunction>>& calls) {
  if (const auto* call = llvm::dyn_cast<llvm::CallBase>(&i))
    if (const llvm::Function* callee = calleeOf(*call)) {
      const llvm::DISubprogram* s = callee->getSubprogram();
      calls[functionOf(i)].insert(s != nullptr ? static_cast<SourceFunction>(s) : callee);
    }
  for (const llvm::DILocation* at = i.getDebugLoc(); at != nullptr && at->getInlinedAt() != nullptr;
       at = at->getInlinedAt())
    calls[at->getInlinedAt()->getScope()->getSubprogram()].insert(at->getScope()->getSubprogram());
}

}  // namespace

std::vector<CorrelatedFields> correlatedFields(const ProgramCode& code, const PersistentTypes& types) {
  std::map<SourceFunction, std::set<KeyNo>> own;
  std::map<SourceFunction, std::set<SourceFunction>> calls;
  for (const llvm::Function* f : code.functions)
    for (const llvm::Instruction& i : llvm::instructions(*f)) {
      addCalls(i, calls);
      const CodeAccess* a = code.accessOf(i);
      if (a == nullptr) continue;
      auto add = [&](const Keys& keys) {
        for (KeyNo key : keys)
          if (types.isPersistent(key) && !code.fields.isStruct(key)) own[functionOf(i)].insert(key);
      };
      if (a->written != nullptr && !a->writesLocal) add(a->writtenKeys);
      if ((a->read != nullptr || a->read2 != nullptr) && !a->readsLocal) add(a->readKeys);
    }
  std::map<SourceFunction, std::set<KeyNo>> all = own;
  for (const auto& [caller, callees] : calls)
    for (SourceFunction callee : callees)
      if (auto at = own.find(callee); at != own.end()) all[caller].insert(at->second.begin(), at->second.end());

  std::map<KeyNo, std::size_t> alone;
  std::map<std::pair<KeyNo, KeyNo>, std::size_t> together;
  for (const auto& [function, keys] : all) {
    for (KeyNo key : keys) ++alone[key];
    if (keys.size() > kMostFields) continue;
    for (auto a = keys.begin(); a != keys.end(); ++a)
      for (auto b = std::next(a); b != keys.end(); ++b) ++together[{*a, *b}];
  }
  std::vector<CorrelatedFields> result;
  for (const auto& [pair, n] : together) {
    const std::size_t least = std::min(alone[pair.first], alone[pair.second]);
    if (n < kSupport || static_cast<double>(n) < kConfidence * static_cast<double>(least)) continue;
    CorrelatedFields c{code.fields.key(pair.first), code.fields.key(pair.second), n, alone[pair.first],
                       alone[pair.second]};
    if (c.second < c.first) {
      std::swap(c.first, c.second);
      std::swap(c.firstIn, c.secondIn);
    }
    result.push_back(std::move(c));
  }
  std::sort(result.begin(), result.end(), [](const CorrelatedFields& a, const CorrelatedFields& b) {
    return std::tie(a.first, a.second) < std::tie(b.first, b.second);
  });
  return result;
}

}  // namespace blackout
