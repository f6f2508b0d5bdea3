// Which object in memory an access touches, and from which objects one gets there: so that a test of one object is
// not taken for a guard of every other object that happens to be read after it.
//
// An *object* is where an address begins, before the steps to members and elements: an argument, a variable, a
// pointer that was read from a place of another object, what a call returned, one of several (phi). Two reads of the
// same place are the same object. *Above* an object are those that one passes on the way to it: the node that held
// the pointer, the table that held the node. A *spot* is the object that an access touches with the indices that it
// uses there.
#pragma once

#include <cstdint>
#include <map>
#include <tuple>
#include <vector>

#include "infer/ids.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/IR/Module.h"

namespace blackout {

class Objects {
 public:
  explicit Objects(const llvm::Module& m);

  SpotNo spotOf(const llvm::Value* pointer);
  // What a spot of a callee is for its caller: the objects that it got as arguments and that are above the spot, or
  // those of the whole program. `actuals` by number of the argument.
  SpotNo inCaller(SpotNo spot, const llvm::Function& callee, const std::vector<SpotNo>& actuals);
  // Numbers of the arguments from which one gets to the spot.
  std::vector<unsigned> argumentsAbove(SpotNo spot);
  // Null: it is one for all functions (a global variable's), or unknown.
  const llvm::Function* functionOf(SpotNo spot) const { return spots_[spot].function; }

  bool isSameObject(SpotNo a, SpotNo b) const;
  // Whether one gets from the object of `test` to that of `read`, or both use one index; spots of different
  // functions, and unknown ones, can't be told apart.
  bool isRelated(SpotNo read, SpotNo test);

 private:
  struct Object {
    const llvm::Value* value = nullptr;  // the first that was met
    std::vector<ObjectNo> parents;
    std::vector<ObjectNo> above;  // with itself, in order; filled when asked for
    ObjectNo same = 0;            // the object that it turned out to be; itself, if none
    bool open = false;            // where it comes from is not known
    bool closed = false;          // `above` is filled
  };
  struct Spot {
    std::vector<ObjectNo> bases, indices;  // in order
    const llvm::Function* function = nullptr;
    bool any = false;
    bool below = false;  // somewhere below the bases: a callee's, in the terms
                         // of its caller
    bool operator<(const Spot& o) const {
      return std::tie(function, bases, indices, any, below) < std::tie(o.function, o.bases, o.indices, o.any, o.below);
    }
  };
  // A place in an object: a constant offset and what is added to it.
  using Place = std::tuple<ObjectNo, std::int64_t, std::vector<std::pair<ObjectNo, std::uint64_t>>>;

  ObjectNo objectOf(const llvm::Value* v);
  ObjectNo same(ObjectNo no) const;
  ObjectNo make(const llvm::Value* v, bool open);
  ObjectNo madeOf(const llvm::Value* v, const std::vector<const llvm::Value*>& parts);
  struct Address {
    const llvm::Value* base = nullptr;
    std::int64_t offset = 0;
    std::vector<std::pair<const llvm::Value*, std::uint64_t>> indices;  // with their scales
  };
  Address addressOf(const llvm::Value* pointer) const;
  const std::vector<ObjectNo>& above(ObjectNo no);
  bool reaches(SpotNo from, ObjectNo to);
  SpotNo intern(Spot spot);

  const llvm::DataLayout& dl_;
  llvm::DenseMap<const llvm::Value*, ObjectNo> numbers_;
  std::map<Place, ObjectNo> places_;
  IdVector<ObjectNo, Object> objects_;
  IdVector<SpotNo, Spot> spots_;
  std::map<Spot, SpotNo> spotNumbers_;
  int depth_ = 0;  // of objectOf
};

}  // namespace blackout
