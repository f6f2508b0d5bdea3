// The accesses of a module as the front end wrote them, taken at the start of the pipeline. An
// optimiser that merges two instructions (hoists, sinks, folds a diamond, makes a vector of them) leaves
// one without a usable place, or with the place of one of them; its sources are the original accesses of
// the same function that have no instruction of their own any more.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "ir/accesses.h"
#include "llvm/IR/DebugInfoMetadata.h"
#include "llvm/IR/Module.h"
#include "llvm/IR/PassManager.h"

namespace blackout {

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

// The member that a struct-path TBAA tag names; `structure` is empty if it names none.
struct TbaaMember {
  std::string structure;
  std::uint64_t offset = 0;
  auto operator<=>(const TbaaMember&) const = default;
};
TbaaMember tbaaMemberOf(const llvm::Instruction& i);

struct OriginalAccess {
  SourcePlace place;
  SiteClass cls;
  std::uint64_t size;  // 0: varies
  TbaaMember member;
  auto operator<=>(const OriginalAccess&) const = default;
};

// By linkage name of the function in whose source they stand, sorted.
class Originals {
 public:
  void collect(llvm::Module& m);
  const std::set<OriginalAccess>& of(const std::string& function) const;
  // The original at the place of an instruction of this class: of another class if the optimiser made one
  // out of the other (a struct copy became a load and a store, an exchange whose result is unused a store).
  const OriginalAccess* at(const SourcePlace& place, SiteClass cls) const;

 private:
  std::map<std::string, std::set<OriginalAccess>> byFunction_;
};

}  // namespace blackout
