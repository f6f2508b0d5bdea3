// Rows of the site table: a stable id, the places in the source and the field of every
// instrumented instruction, written into the section that contract.h describes.
//
// The id is a hash of the linkage name of the function in whose *source* the instruction stands (so
// inlining doesn't change it), the file's base name (so the folder of a checkout doesn't), line, column,
// discriminator and class of the kind.
#pragma once

#include <map>
#include <set>
#include <string>

#include "events/contract.h"
#include "llvm/IR/Constants.h"
#include "llvm/IR/GlobalVariable.h"
#include "llvm/IR/Instruction.h"
#include "pass/fields.h"
#include "pass/originals.h"

namespace blackout {

SiteClass classOf(blackout_site_kind kind);
std::uint64_t siteId(const SourcePlace& place, SiteClass cls);

class SiteWriter {
 public:
  SiteWriter(llvm::Module& m, const Originals& originals);

  // Says that an instruction at this place is still there, before any row is made: it is not
  // a source of a merged one.
  void present(const llvm::Instruction& i, SiteClass cls);

  // The row of one instruction.
  llvm::GlobalVariable* row(const llvm::Instruction& i, blackout_site_kind kind, std::uint64_t size, bool atomic,
                            const llvm::Value* pointer);

 private:
  struct SourceChain {
    std::uint64_t id;
    std::vector<SourcePlace> chain;
  };
  std::vector<SourceChain> sourcesOf(const llvm::Instruction& i, SiteClass cls, std::uint64_t size) const;
  llvm::Constant* text(const std::string& s);
  llvm::Constant* relative(llvm::Constant* target, llvm::GlobalVariable* from, llvm::ArrayRef<unsigned> field);

  llvm::Module& module_;
  const Originals& originals_;
  Fields fields_;
  std::set<std::pair<SourcePlace, SiteClass>> present_;
  std::map<std::string, llvm::Constant*> texts_;
  llvm::StructType* placeType_;
  llvm::StructType* siteType_;
};

}  // namespace blackout
