// The field keys of a unit's accesses by their places in the source, for the rows of the site table: an instruction of
// the optimised code has the key of the accesses of the prepared copy that it stands for.
#pragma once

#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "ir/accesses.h"
#include "ir/sources.h"
#include "llvm/IR/Instruction.h"
#include "pass/fields.h"

namespace blackout {

class KeyTable {
 public:
  // An access of the prepared copy; more or fewer than one key: it can't be told.
  void add(const llvm::Instruction& i, const std::vector<Access>& accesses, const std::vector<Field>& keys);

  // Of an instruction of `size` bytes that comes from a source. Those at its place count that were inlined on the same
  // way, of these the ones of the same size, if there are any, of these the ones that share most of the way; empty if
  // they don't agree.
  std::string at(const SourceChain& source, std::uint64_t size) const;

 private:
  struct Entry {
    std::vector<SourcePlace> chain;
    std::uint64_t size;
    std::string key;     // empty: unknown
    std::string object;  // the struct of the key
    auto operator<=>(const Entry&) const = default;
  };
  std::map<std::pair<SourcePlace, SiteClass>, std::set<Entry>> entries_;
};

}  // namespace blackout
