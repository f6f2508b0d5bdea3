// The accesses of a module as the front end wrote them, taken at the start of the pipeline. An
// optimiser that merges two instructions (hoists, sinks, folds a diamond) leaves one without a
// usable place; its sources are the original accesses of the same function that have no instruction
// of their own any more.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <tuple>
#include <vector>

#include "llvm/IR/DebugInfoMetadata.h"
#include "llvm/IR/Module.h"
#include "llvm/IR/PassManager.h"

namespace blackout {

// What enters an id of the kind of a site: see events/site_kinds.def.
enum class SiteClass : std::uint8_t { Read, Write, Atomic, Flush, Fence, Request, Lock, Call, Branch, Alloc, Library };

// One frame of a place: the function in whose source an instruction stands, and where.
struct SourcePlace {
  std::string function;  // linkage name
  std::string file;
  std::uint32_t line = 0;
  std::uint32_t column = 0;
  std::uint32_t discriminator = 0;
  auto operator<=>(const SourcePlace&) const = default;
};

SourcePlace placeOf(const llvm::DILocation& loc);
std::string linkageNameOf(const llvm::DISubprogram& sp);

struct OriginalAccess {
  SourcePlace place;
  SiteClass cls;
  std::uint64_t size;  // 0: varies
  auto operator<=>(const OriginalAccess&) const = default;
};

// By linkage name of the function in whose source they stand, sorted.
class Originals {
 public:
  void collect(llvm::Module& m);
  // The sources that a merged access may have: those of `function` with the same class and size that
  // `present` does not hold; on `line` only, if it isn't 0.
  std::vector<SourcePlace> candidates(const std::string& function, SiteClass cls, std::uint64_t size,
                                      std::uint32_t line,
                                      const std::set<std::pair<SourcePlace, SiteClass>>& present) const;
  bool contains(const SourcePlace& place, SiteClass cls) const;

 private:
  std::map<std::string, std::set<OriginalAccess>> byFunction_;
};

struct CollectOriginals : llvm::PassInfoMixin<CollectOriginals> {
  explicit CollectOriginals(std::shared_ptr<Originals> originals) : originals(std::move(originals)) {}
  std::shared_ptr<Originals> originals;
  llvm::PreservedAnalyses run(llvm::Module& m, llvm::ModuleAnalysisManager&) {
    originals->collect(m);
    return llvm::PreservedAnalyses::all();
  }
  static bool isRequired() { return true; }
};

}  // namespace blackout
