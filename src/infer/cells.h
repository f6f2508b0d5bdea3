// Scalars in memory made into registers: a *cell* is a scalar member of one object, as a function sees it. Its loads
// become what was stored last, on every way, so that "the count, now" is a value like any other and LLVM's analysis of
// loops speaks of it. What may change it (a store to the same field of another object, a call of a function that does)
// gives it a value of which nothing is known.
//
// By the keys of the fields: a store to another field changes nothing, one without a key everything. A function that
// has no code here changes only what it is given, and other threads nothing: what is inferred so is likely, not
// certain.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <set>
#include <vector>

#include "infer/array_levels.h"
#include "infer/program_code.h"

namespace blackout {

// What functions change, with all that they call.
class Changes {
 public:
  explicit Changes(const ProgramCode& code);
  struct Of {
    std::set<KeyNo> keys;
    std::set<const llvm::GlobalVariable*> variables;
    bool anything = false;  // also what can't be told
  };
  const Of& of(FunctionNo f) const { return all_[f]; }
  // Whether an object of the first struct may have one of the second inside.
  bool contains(KeyNo outer, KeyNo inner) const;
  // Whether a write under these keys may change a field of those.
  bool overlap(const Keys& written, const Keys& cell) const;

 private:
  const ProgramCode& code_;
  IdVector<FunctionNo, Of> all_;
  std::map<KeyNo, std::set<KeyNo>> parts_;
};

// A scalar that somebody wants to know the value of at an instruction: a member at `address`, of this type.
struct WantedCell {
  llvm::Instruction* at = nullptr;
  UsedAddress address;
  llvm::Type* type = nullptr;
  Keys keys;
  // The answer: a call whose argument is the value. Null: it is not known what object that is.
  llvm::CallInst* note = nullptr;
};

// A value that stands for memory, and what it is.
struct CellValue {
  Keys keys;
  bool unknown = false;  // something changed it; false: as it was when the function first saw the object
};

class CellValues {
 public:
  const CellValue* of(const llvm::Value* v) const {
    auto at = values_.find(v);
    return at == values_.end() ? nullptr : &at->second;
  }
  void add(const llvm::Value* v, CellValue value) { values_[v] = std::move(value); }

 private:
  std::map<const llvm::Value*, CellValue> values_;
};

// Rewrites the function. Accesses stay where they are; the values of loads are replaced.
void makeCellsRegisters(llvm::Function& f, ProgramCode& code, const Changes& changes, std::vector<WantedCell>& wanted,
                        CellValues& values);

}  // namespace blackout
