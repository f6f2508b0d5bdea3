// One of PMDK's maps as its author would test it.
#include <blackout/lin.hpp>

#include "map_adapter.h"

struct Map {
  static Map* open(const char* pool) { return adapter_open(pool) != 0 ? new Map : nullptr; }
  bool insert(std::uint64_t key, std::uint64_t value) {
    return adapter_has(key) == 0 && adapter_insert(key, value) != 0;
  }
  std::optional<std::uint64_t> get(std::uint64_t key) {
    if (adapter_has(key) == 0) return std::nullopt;
    return adapter_get(key);
  }
  bool remove(std::uint64_t key) {
    if (adapter_has(key) == 0) return false;
    adapter_remove(key);
    return true;
  }
};

BLACKOUT_MAP(Map)
