// Field keys as small numbers, and what the preparation (ir/prepared.h) says of an instruction in metadata.
// Metadata of another shape than expected says nothing.
#pragma once

#include <string>
#include <unordered_map>
#include <vector>

#include "infer/guardians.h"
#include "infer/ids.h"
#include "ir/prepared.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/Metadata.h"

namespace blackout {

using Keys = std::vector<KeyNo>;  // sorted, without doubles

class FieldTable {
 public:
  KeyNo of(const std::string& key);
  const FieldKey& key(KeyNo no) const { return keys_[no]; }
  KeyNo structOf(KeyNo no) const { return structs_[no]; }
  bool isStruct(KeyNo no) const { return structs_[no] == no; }
  std::size_t size() const { return keys_.size(); }

  Keys in(const llvm::Metadata* list);
  Keys in(const llvm::Instruction& i, const char* kind) { return in(i.getMetadata(kind)); }
  // What the argument of a call points to.
  Keys argument(const llvm::CallBase& call, unsigned number);

 private:
  std::unordered_map<std::string, KeyNo> numbers_;
  IdVector<KeyNo, FieldKey> keys_;
  IdVector<KeyNo, KeyNo> structs_;
};

// Adds the keys of `more`.
void addKeys(Keys& keys, const Keys& more);

}  // namespace blackout
