// Addresses of one function as objects and bytes into them. Elements of an array are objects of their own, the same for
// the same index.
#pragma once

#include <cstdint>
#include <map>
#include <tuple>
#include <utility>
#include <vector>

#include "llvm/IR/DataLayout.h"
#include "llvm/IR/Value.h"

namespace blackout {

using ObjectId = std::uint32_t;

struct CellPlace {
  ObjectId object = 0;
  std::int64_t offset = 0;
};

class CellObjects {
 public:
  explicit CellObjects(const llvm::DataLayout& dl) : dl_(dl) {}
  CellPlace placeOf(const llvm::Value* pointer);
  // The value that the object is first known by.
  const llvm::Value* root(ObjectId o) const { return roots_[o]; }

 private:
  using Indices = std::vector<std::pair<std::uint64_t, std::int64_t>>;  // an expression and its scale
  std::uint64_t numberOf(const llvm::Value* v, int depth = 0);

  const llvm::DataLayout& dl_;
  std::map<const llvm::Value*, ObjectId> values_;
  std::map<std::tuple<ObjectId, std::int64_t, Indices>, ObjectId> elements_;
  std::vector<const llvm::Value*> roots_;
  ObjectId nextObject_ = 0;
  std::map<std::vector<std::uint64_t>, std::uint64_t> expressions_;
  std::map<const llvm::Value*, std::uint64_t> plain_;
  std::uint64_t nextNumber_ = 0;
};

}  // namespace blackout
