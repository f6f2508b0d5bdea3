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
#include "ir/sources.h"
#include "llvm/IR/Constants.h"
#include "llvm/IR/GlobalVariable.h"
#include "llvm/IR/Instruction.h"
#include "pass/key_table.h"
#include "pass/unit.h"

namespace blackout {

class SiteWriter {
 public:
  SiteWriter(llvm::Module& m, const Unit& unit);

  // To be called before the rows of a function's instructions are made, and before it is changed.
  void enterFunction(const llvm::Function& f) { sources_.enterFunction(f); }

  // The row of one instruction.
  llvm::GlobalVariable* row(const llvm::Instruction& i, blackout_site_kind kind, std::uint64_t size, bool atomic,
                            std::uint32_t element = 0);

 private:
  std::string typeOf(const std::vector<SourceChain>& sources, std::uint64_t size) const;
  llvm::Constant* text(const std::string& s);
  llvm::Constant* relative(llvm::Constant* target, llvm::GlobalVariable* from, llvm::ArrayRef<unsigned> field);

  llvm::Module& module_;
  Sources sources_;
  const KeyTable& keys_;
  std::map<std::string, llvm::Constant*> texts_;
  llvm::StructType* placeType_;
  llvm::StructType* siteType_;
};

}  // namespace blackout
