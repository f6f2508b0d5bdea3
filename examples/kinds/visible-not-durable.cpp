// What get() finds may still be on its way to persistent memory: its answer can be lost after somebody relied on it.
// check: blackout lin --operations 6 --threads 2 --schedules 2 --pm pool -- ./program pool
#include <atomic>
#include <blackout/lin.hpp>
#include <mutex>
#include <span>
extern "C" {
#include "pool.h"
}

struct Slot {
  std::atomic<uint64_t> key;  // + 2; 0: free, 1: removed
  uint64_t value;
};

struct Map {
  std::span<Slot> slots;
  std::mutex one;  // writer at a time

  static Map* open(const char* path) { return new Map{{static_cast<Slot*>(open_pool(path)), 256}, {}}; }

  bool insert(uint64_t key, uint64_t value) {
    std::lock_guard lock(one);
    for (Slot& slot : slots) {
      uint64_t there = slot.key.load();
      if (there == key + 2) return false;
      if (there != 0) continue;
      slot.value = value;
      persist(&slot.value);
      slot.key.store(key + 2);  // from here on get() finds it
      persist(&slot.key);
      return true;
    }
    return false;
  }

  std::optional<uint64_t> get(uint64_t key) {
    for (Slot& slot : slots) {
      if (slot.key.load() != key + 2) continue;
#ifdef FIXED
      persist(&slot.key);
#endif
      return slot.value;
    }
    return std::nullopt;
  }

  bool remove(uint64_t key) {
    std::lock_guard lock(one);
    for (Slot& slot : slots) {
      if (slot.key.load() != key + 2) continue;
      slot.key.store(1);
      persist(&slot.key);
      return true;
    }
    return false;
  }
};
BLACKOUT_MAP(Map)
