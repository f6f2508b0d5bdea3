// Which reads stand under which tests, and whose addresses depend on which reads: within a function by control
// dependence, and across calls, since all that a function reads stands under the tests of its callers. A field that
// is tested before it is set together with others (`if (pool->magic != MAGIC) format(pool);`) decides over what later
// reads of those get.
#pragma once

#include <functional>
#include <map>
#include <set>
#include <tuple>
#include <vector>

#include "infer/resolve.h"

namespace blackout {

struct GuardKey {
  KeyNo guardian = 0, guarded = 0;
  AccessSite read = 0;
  auto operator<=>(const GuardKey&) const = default;
};

// The most telling test of a guardian over a read.
struct GuardExample {
  Shape shape{};
  ReadNo test = 0;
  bool sameObject = false;  // some test of the guardian and the read are of one object
};

// Per function and block, resolved.
struct BlockTests {
  SetNo condition = 0;  // of the block's own branch
  SetNo above = 0;      // of all branches that decide over the block
};

class GuardSearch {
 public:
  GuardSearch(const ProgramCode& code, ProgramFacts& facts, Resolver& resolver);

  const std::vector<std::pair<GuardKey, GuardExample>>& guards() const { return list_; }  // in order
  const IdVector<ReadNo, char>& deciding() const { return deciding_; }                    // it decides over something
  std::size_t volatileFields() const { return volatiles_.size(); }
  const IdVector<FunctionNo, IdVector<BlockNo, BlockTests>>& tests() const { return tests_; }
  // Fields that a function and what it calls read in objects to which its argument leads; one past the last argument:
  // in others.
  const Keys& readBelow(FunctionNo f, std::size_t argument) const { return below_[f][argument]; }
  bool before(const GuardExample& a, const GuardExample& b) const;
  // The tests above an access or a call of a block.
  SetNo above(FunctionNo f, BlockNo block, const Deciding& deciding) const;

 private:
  enum class Filter { Related, SameObject, Tested, None };
  void findTests(const FunctionFacts& f, IdVector<BlockNo, BlockTests>& tests);
  IdVector<FunctionNo, Keys> writtenBelow() const;
  void fromCallees(const std::function<bool(FunctionNo, const CallFact&)>& add) const;
  SpotNo actualOf(const CallFact& call, std::size_t argument) const;
  void findSetUps();
  void findBelow();
  void findFromCallers();
  void addGuards(const ReadFact& read, SetNo by, Filter filter);
  void add(KeyNo guarded, AccessSite read, SpotNo spot, const Origin& by);
  SetNo onePerField(SetNo set) const;
  SetNo related(SetNo tests, SpotNo to);
  std::vector<std::size_t> rootsOf(FunctionNo f, SpotNo spot) const;

  const ProgramCode& code_;
  ProgramFacts& facts_;
  Resolver& resolver_;
  IdVector<FunctionNo, IdVector<BlockNo, BlockTests>> tests_;
  IdVector<FunctionNo, std::vector<Keys>> below_;   // by function and argument
  IdVector<FunctionNo, std::vector<SetNo>> entry_;  // by function and argument: tests of callers
  std::unordered_map<std::uint64_t, SetNo> related_;
  IdVector<ReadNo, char> deciding_;
  std::set<KeyNo> volatiles_;
  struct Hash {
    std::size_t operator()(const GuardKey& k) const {
      std::uint64_t h = bothOf(k.guardian, k.guarded) * 0x9e3779b97f4a7c15u;
      return (h ^ k.read.value()) * 0xff51afd7ed558ccdu >> 7;
    }
  };
  std::unordered_map<GuardKey, GuardExample, Hash> guards_;
  std::vector<std::pair<GuardKey, GuardExample>> list_;
};

// In order of the place that a report shows.
bool placedBefore(const Source& a, const Source& b);

}  // namespace blackout
