// What a value depends on: sets of *origins*. An origin is a read of a persistent field, or stands for what is known
// only elsewhere: an argument (its callers know), or memory that is followed (its stores know). Each comes with its
// *stage*: what was made of the value on the way. Equal sets are one number, and a union is computed once.
#pragma once

#include <cstdint>
#include <functional>
#include <unordered_map>
#include <vector>

#include "infer/guardians.h"
#include "infer/ids.h"

namespace blackout {

// As it was read; with some bits cut out; computed with other values; summed up in a loop or by a call; and, from
// kTested on, tested, in the shape that follows.
enum Stage : std::uint8_t { kRaw, kMasked, kComputed, kAccumulated, kTested };
constexpr Stage tested(Shape shape) { return static_cast<Stage>(kTested + static_cast<int>(shape)); }
constexpr bool isTested(Stage s) { return s >= kTested; }
constexpr Shape shapeOf(Stage s) { return static_cast<Shape>(s - kTested); }

struct Origin {
  enum Kind : std::uint8_t { Read, Argument, Memory };
  Kind kind = Read;
  Stage stage = kRaw;
  std::uint32_t no = 0;    // of the read, of the argument among all of the program, of the memory
  SpotNo spot = kAnySpot;  // of a read: where (objects.h), in the terms of the function that the set belongs to
  KeyNo key = 0;           // of a read: the field's number, which follows from `no`
  static Origin ofRead(ReadNo read, Stage stage, SpotNo spot, KeyNo key) {
    return {Read, stage, read.value(), spot, key};
  }
  // Only of a read.
  ReadNo read() const { return ReadNo(no); }
  auto operator<=>(const Origin& o) const {
    // Of the same origin the most telling shape comes first.
    if (auto c = kind <=> o.kind; c != 0) return c;
    if (auto c = no <=> o.no; c != 0) return c;
    if (auto c = stage <=> o.stage; c != 0) return c;
    return spot <=> o.spot;
  }
  bool operator==(const Origin&) const = default;
};

// The stage of a value that was at `inner` where a function got it, and that the function brought to `outer`.
Stage compose(Stage inner, Stage outer);

class ValueSets {
 public:
  ValueSets();
  const std::vector<Origin>& of(SetNo no) const { return sets_[no]; }
  SetNo one(Origin o) { return intern({o}); }
  SetNo intern(std::vector<Origin> origins);
  SetNo unite(SetNo a, SetNo b);
  SetNo map(SetNo set, const std::function<Stage(const Origin&)>& stage);
  // Work is counted in steps: unions that are asked for, and what is copied. Beyond the budget no more unions are made,
  // so that whoever waits for sets to stop growing comes to an end.
  void limit(std::uint64_t steps) { mostSteps_ = steps; }
  bool exhausted() const { return steps_ > mostSteps_; }
  // Sets that became too large to keep every read of a field.
  std::size_t thinnedOut() const { return thinnedOut_; }

 private:
  struct Hash {
    std::size_t operator()(const std::vector<Origin>& v) const;
  };
  std::unordered_map<std::vector<Origin>, SetNo, Hash> numbers_;
  IdVector<SetNo, std::vector<Origin>> sets_;
  std::unordered_map<std::uint64_t, SetNo> unions_;
  std::size_t thinnedOut_ = 0;
  std::uint64_t mostSteps_ = UINT64_MAX;
  std::uint64_t steps_ = 0;
};

}  // namespace blackout
