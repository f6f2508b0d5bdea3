// The maps of the corpus as harnesses of <blackout/lin.hpp>: the same sources with the same seeded bugs, but
// operations, checks after the crash and judgement are Blackout's.
//
//   blackout-clang++ -g -O1 -DBUG=3 -DSOURCE='"hash/hash.cpp"' -DSTRUCTURE=Hash -I corpus -I include
//   corpus/lin/harness.cpp && blackout lin --pm pool -- ./a.out pool
//
// corpus/lin.py builds and judges all of them.
#define main corpusMain
#define Step CorpusStep  // both have one
#include SOURCE
#undef Step
#undef main

#include <memory>
#include <optional>

#include "blackout/lin.hpp"

namespace {

using Structure = STRUCTURE;

// However the structure is opened, or made if it is not there.
template <class Map>
auto opened(const char* pool, int) -> decltype(std::declval<Map&>().open(pool), std::unique_ptr<Map>()) {
  auto map = std::make_unique<Map>();
  map->open(pool);
  return map;
}
template <class Map>
auto opened(const char* pool, long) -> decltype(Map(pool, false), std::unique_ptr<Map>()) {
  return std::make_unique<Map>(pool, false);
}
template <class Map>
auto opened(const char* pool, long) -> decltype(Map(pool, Contents(), false), std::unique_ptr<Map>()) {
  return std::make_unique<Map>(pool, Contents(), false);
}
template <class Map>
auto opened(const char* pool, long)
    -> decltype(std::declval<Map&>().store.emplace(pool, false), std::unique_ptr<Map>()) {
  auto map = std::make_unique<Map>();
  map->store.emplace(pool, false);
  return map;
}

// By the structure's own get(), a place or a number (0: none), if it has one; otherwise by reading it whole, once after
// each change.
using Whole = std::optional<Contents>;
template <class Map>
auto found(const Map& map, Whole&, uint64_t key, int) -> decltype(std::optional<uint64_t>(*map.get(key))) {
  const auto* at = map.get(key);
  return at == nullptr ? std::nullopt : std::optional<uint64_t>(*at);
}
template <class Map>
auto found(const Map& map, Whole&, uint64_t key, int) -> decltype(std::optional<uint64_t>(map.get(key) + 0)) {
  uint64_t value = map.get(key);
  return value == 0 ? std::nullopt : std::optional<uint64_t>(value);
}
template <class Map>
std::optional<uint64_t> found(const Map& map, Whole& whole, uint64_t key, long) {
  if (!whole) whole = map.contents();
  auto at = whole->find(key);
  return at == whole->end() ? std::nullopt : std::optional<uint64_t>(at->second);
}

struct Index {
  std::unique_ptr<Structure> map;
  Whole whole = {};

  static Index* open(const char* pool) { return new Index{opened<Structure>(pool, 0)}; }
  bool insert(uint64_t key, uint64_t value) {
    if (get(key)) return false;
    whole.reset();
    map->put(key, value);
    return true;
  }
  bool update(uint64_t key, uint64_t value) {
    if (!get(key)) return false;
    whole.reset();
    map->put(key, value);
    return true;
  }
  bool remove(uint64_t key) {
    if (!get(key)) return false;
    whole.reset();
    map->remove(key);
    return true;
  }
  std::optional<uint64_t> get(uint64_t key) { return found(*map, whole, key, 0); }
};

}  // namespace

BLACKOUT_MAP(Index)
