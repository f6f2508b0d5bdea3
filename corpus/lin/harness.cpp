// The maps of the corpus as harnesses of <blackout/lin.hpp>: the same sources with the same seeded bugs, but
// operations, checks after the crash and judgement are Blackout's.
//
//   blackout-clang++ -g -O1 -DBUG=3 -DSOURCE='"hash/hash.cpp"' -DSTRUCTURE=Hash -I corpus -I include
//   corpus/lin/harness.cpp blackout lin --pm pool -- ./a.out pool
//
// corpus/lin.py builds and judges all of them.
#define main corpusMain
#include SOURCE
#undef main

#include <optional>

#include "blackout/lin.hpp"

namespace {

// By the structure's own get(), if it leads to a number; otherwise by reading the structure whole.
template <class Map>
auto found(const Map& map, uint64_t key, int) -> decltype(std::optional<uint64_t>(*map.get(key))) {
  const auto* at = map.get(key);
  return at == nullptr ? std::nullopt : std::optional<uint64_t>(*at);
}
template <class Map>
std::optional<uint64_t> found(const Map& map, uint64_t key, long) {
  const Contents all = map.contents();
  auto at = all.find(key);
  return at == all.end() ? std::nullopt : std::optional<uint64_t>(at->second);
}

struct Index {
  STRUCTURE map;

  static Index* open(const char* pool) {
    auto* index = new Index;
    index->map.open(pool);
    return index;
  }
  bool insert(uint64_t key, uint64_t value) {
    if (get(key)) return false;
    map.put(key, value);
    return true;
  }
  bool update(uint64_t key, uint64_t value) {
    if (!get(key)) return false;
    map.put(key, value);
    return true;
  }
  bool remove(uint64_t key) {
    if (!get(key)) return false;
    map.remove(key);
    return true;
  }
  std::optional<uint64_t> get(uint64_t key) { return found(map, key, 0); }
};

}  // namespace

BLACKOUT_MAP(Index)
