// From sets in a function's own terms to the reads behind them: an argument is what all callers pass, followed memory
// what is stored into it anywhere.
#pragma once

#include "infer/slices.h"

namespace blackout {

class Resolver {
 public:
  Resolver(const ProgramCode& code, ProgramFacts& facts);
  // Reads, and the followed memory of volatile fields.
  SetNo resolve(SetNo set);
  // Arguments and memory that depend on more reads than are followed.
  std::size_t cutOff() const { return cutOff_; }

 private:
  SetNo substituted(SetNo set) const;

  ProgramFacts& facts_;
  std::size_t cutOff_ = 0;
  std::uint32_t arguments_ = 0;
  std::vector<SetNo> values_;  // of arguments, then of memory
  std::unordered_map<SetNo, SetNo> resolved_;
};

}  // namespace blackout
