// An extendible hash table for several threads, after CCEH: whoever changes it takes a lock, whoever reads takes none.
// The first bits of a hash choose an entry of the directory, the last bits where to begin in the segment that it leads
// to; a key is in one of the kProbes slots from there on. A full segment is split into two new ones, which are durable
// before the directory leads to them; a directory that is too small is made anew, twice as large. So what a reader has
// in its hand stays as it was.
//
// BUG=1..4 each bring in one mistake; all but 3 need two threads to show.
#include <blackout/lin.hpp>
#include <mutex>

#include "pool.hpp"

namespace {

constexpr unsigned kSlots = 8, kProbes = 5;  // so that a search may move on to the second line
constexpr unsigned kMostDepth = 10;

struct Slot {
  std::atomic<std::uint64_t> key;  // 0: free
  std::atomic<std::uint64_t> value;
};
struct alignas(PM_LINE) Segment {
  Slot slot[kSlots];
  std::uint64_t depth;  // of the bits that its keys agree in
};
struct alignas(PM_LINE) Directory {
  std::uint64_t depth;
  std::atomic<Segment*> entry[1 << kMostDepth];
};
struct Root {
  std::atomic<Directory*> directory;
};

std::uint64_t hashOf(std::uint64_t key) {
  key = (key ^ key >> 33) * 0xff51afd7ed558ccd;
  return key ^ key >> 29;
}
std::uint64_t prefixOf(std::uint64_t hash, std::uint64_t bits) { return bits == 0 ? 0 : hash >> (64 - bits); }

class Extendible {
 public:
  static Extendible* open(const char* path) { return new Extendible(path); }

  bool insert(std::uint64_t key, std::uint64_t value) {
    std::unique_lock lock(change_);
    std::uint64_t hash = hashOf(key);
    for (;;) {
      Segment* segment = segmentOf(hash);
      if (find(segment, hash, key) != nullptr) return false;
      Slot* free = find(segment, hash, 0);
      if (free == nullptr) {
        split(segment);
        continue;
      }
      free->value.store(value, std::memory_order_relaxed);
      pm_persist(&free->value, sizeof free->value);
      free->key.store(key, std::memory_order_release);
#if BUG == 2
      // VND: the key is flushed after the critical section, and whoever has the lock next finds it there.
      lock.unlock();
#endif
#if BUG == 3
      // ID: the line where the search began is flushed, not the one to which it has moved on.
      pm_persist(&segment->slot[hash % kSlots], sizeof(Slot));
#else
      pm_persist(&free->key, sizeof free->key);
#endif
      return true;
    }
  }

  bool remove(std::uint64_t key) {
    std::unique_lock lock(change_);
    std::uint64_t hash = hashOf(key);
    Slot* slot = find(segmentOf(hash), hash, key);
    if (slot == nullptr) return false;
    slot->key.store(0, std::memory_order_release);
    pm_persist(&slot->key, sizeof slot->key);
    return true;
  }

  std::optional<std::uint64_t> get(std::uint64_t key) {
    std::uint64_t hash = hashOf(key);
    for (;;) {
      Directory* directory = pool_.root().directory;
      Segment* segment = directory->entry[prefixOf(hash, directory->depth)];
      if (Slot* slot = find(segment, hash, key)) {
        std::uint64_t value = slot->value.load(std::memory_order_acquire);
        if (slot->key.load(std::memory_order_acquire) != key) continue;
#if BUG != 1
        // VND: without this a value is returned whose key is not durable yet.
        pm_persist(slot, sizeof *slot);
#endif
        return value;
      }
      if (segmentOf(hash) != segment) continue;  // it was split meanwhile
#if BUG != 4
      // VND: without this a key is told to be gone whose removal is not durable yet.
      pm_persist(segment->slot, sizeof segment->slot);
#endif
      return std::nullopt;
    }
  }

 private:
  explicit Extendible(const char* path)
      : pool_(path, [](SharedPool<Root>& pool) {
          auto* directory = pool.take<Directory>();
          directory->entry[0].store(pool.take<Segment>());
          pm_persist(directory, sizeof *directory);
          pool.root().directory.store(directory);
          pm_persist(&pool.root(), sizeof(Root));
        }) {}

  Segment* segmentOf(std::uint64_t hash) {
    Directory* directory = pool_.root().directory;
    return directory->entry[prefixOf(hash, directory->depth)];
  }
  static Slot* find(Segment* segment, std::uint64_t hash, std::uint64_t key) {
    for (unsigned n = 0; n < kProbes; ++n) {
      Slot& slot = segment->slot[(hash + n) % kSlots];
      if (slot.key.load(std::memory_order_acquire) == key) return &slot;
    }
    return nullptr;
  }

  // Two new segments take what the old one holds, and a new directory leads to them: one store changes everything.
  void split(Segment* old) {
    Directory* from = pool_.root().directory;
    if (old->depth == kMostDepth) pm_die("the directory is full");
    Segment* half[2];
    for (Segment*& h : half) {
      h = pool_.take<Segment>();
      h->depth = old->depth + 1;
    }
    for (Slot& slot : old->slot) {
      std::uint64_t key = slot.key;
      if (key == 0) continue;
      Slot* to = find(half[prefixOf(hashOf(key), old->depth + 1) & 1], hashOf(key), 0);
      if (to == nullptr) pm_die("no room in an empty segment");
      to->value.store(slot.value);
      to->key.store(key);
    }
    for (Segment* h : half) pm_persist(h, sizeof *h);
    auto* directory = pool_.take<Directory>();
    directory->depth = std::max(from->depth, old->depth + 1);
    for (std::uint64_t i = 0; i < std::uint64_t{1} << directory->depth; ++i) {
      Segment* segment = from->entry[i >> (directory->depth - from->depth)];
      if (segment == old) segment = half[(i >> (directory->depth - old->depth - 1)) & 1];
      directory->entry[i].store(segment);
    }
    pm_persist(directory, offsetof(Directory, entry) + (sizeof directory->entry[0] << directory->depth));
    pool_.root().directory.store(directory, std::memory_order_release);
    pm_persist(&pool_.root(), sizeof(Root));
  }

  SharedPool<Root> pool_;
  std::mutex change_;
};

}  // namespace

BLACKOUT_MAP(Extendible)
