// The places in the source that an instruction comes from: one, or several if the optimiser merged
// instructions. Says too much rather than too little: a merged instruction lists every original access
// that it may have been made of, and all its ids are ids that an unoptimised build has.
#pragma once

#include <map>
#include <set>
#include <string>
#include <vector>

#include "ir/originals.h"
#include "llvm/IR/Function.h"

namespace blackout {

std::uint64_t siteId(const SourcePlace& place, SiteClass cls);

// Innermost first; then the calls into which it was inlined.
std::vector<SourcePlace> chainOf(const llvm::DILocation* loc);

struct SourceChain {
  std::uint64_t id;
  std::vector<SourcePlace> chain;  // innermost first; then the calls into which it was inlined
  SiteClass cls;                   // of the original access
};

class Sources {
 public:
  explicit Sources(const Originals& originals) : originals_(originals) {}

  // Notes which originals still have an instruction in the function, and what was inlined into it.
  void enterFunction(const llvm::Function& f);
  std::vector<SourceChain> of(const llvm::Instruction& i, SiteClass cls, std::uint64_t size) const;

 private:
  using Chain = std::vector<SourcePlace>;
  std::vector<SourceChain> merged(const llvm::Instruction& i, const Chain& chain, SiteClass cls,
                                  std::uint64_t size) const;
  void addSwallowed(const llvm::Instruction& i, const Chain& chain, SiteClass cls, std::uint64_t size,
                    std::vector<SourceChain>& sources) const;

  const Originals& originals_;
  std::set<std::pair<SourcePlace, SiteClass>> present_;
  // By linkage name, the calls through which a function's code came to be here: none for the function itself.
  std::map<std::string, Chain> inlined_;
};

}  // namespace blackout
