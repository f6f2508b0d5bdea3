// A persistent hash table of two levels that expands and shrinks (after level hashing, OSDI'18).
//
//   level POOL [OPERATIONS]
//
// A key has two buckets on the top level and two on the bottom level, which has half as many. To expand, a level of
// twice the top's size becomes the top, the top becomes the bottom, and what was in the bottom moves up. To shrink, the
// bottom becomes the top, and what was in the top moves down into a new bottom. A table is two arrays and the capacity
// of the larger: none of the three is right without the others. So there are two descriptions of it, each on a line of
// its own, and a word that says which counts.
//
// BUG=1..4 each bring in one mistake.
#include "steps.hpp"

namespace {

constexpr uint64_t kMagic = 0x6c6576656c;
constexpr size_t kPoolSize = size_t{1} << 20;
constexpr uint64_t kFirst = 2;
constexpr unsigned kSlots = 2;

struct Slot {
  uint64_t key;  // 0: free
  uint64_t value;
};
struct alignas(PM_LINE) Bucket {
  Slot slot[kSlots];
};

struct alignas(PM_LINE) Levels {
  Bucket* top;
  Bucket* bottom;
  uint64_t capacity;  // buckets of the top level; the bottom has half as many
};

struct Root {
  uint64_t magic;    // written last
  char* top;         // of the allocator
  uint64_t current;  // which of the two counts
  Levels levels[2];
};

struct {
  unsigned updates, removes, expands, shrinks;
} reached;

uint64_t hashOf(uint64_t key, unsigned which) {
  return (key * (which == 0 ? 0x9e3779b97f4a7c15 : 0xc2b2ae3d27d4eb4f)) >> 33;
}

class LevelHash {
 public:
  void open(const char* path) {
    pool_ = static_cast<char*>(pm_map(path, kPoolSize));
    root_ = reinterpret_cast<Root*>(pool_);
    if (root_->magic != kMagic) format();
  }

  void put(uint64_t key, uint64_t value) {
    if (Slot* slot = find(now(), key)) {
      ++reached.updates;
      PM_PUBLISH(slot->value, value);
      pm_persist(&slot->value, sizeof slot->value);
      return;
    }
    Slot* free = freeFor(now(), key);
    while (free == nullptr) {
      expand();
      free = freeFor(now(), key);
    }
    free->value = value;
    PM_PUBLISH(free->key, key);
    pm_persist(free, sizeof *free);
  }

  void remove(uint64_t key) {
    Slot* slot = find(now(), key);
    if (slot == nullptr) return;
    ++reached.removes;
    PM_PUBLISH(slot->key, uint64_t{0});
    pm_persist(&slot->key, sizeof slot->key);
    if (now().capacity > kFirst && count() * 2 < now().capacity) shrink();
  }

  const uint64_t* get(uint64_t key) {
    Slot* slot = find(now(), key);
    return slot == nullptr ? nullptr : &slot->value;
  }

  Contents contents() {
    Contents found;
    const Levels& l = now();
    pm_expect(l.capacity >= kFirst && (l.capacity & (l.capacity - 1)) == 0, "the capacity is a power of two");
    expectAllocated(l.top, l.capacity);
    expectAllocated(l.bottom, l.capacity / 2);
    for (uint64_t b = 0; b < l.capacity; ++b) collect(l.top[b], found);
    for (uint64_t b = 0; b < l.capacity / 2; ++b) collect(l.bottom[b], found);
    return found;
  }

 private:
  void format() {
    // Of a pool that was left unfinished nothing but zeros is used again.
    root_->top = pool_ + sizeof(Root);
    Levels& l = root_->levels[0];
    l.top = allocate(kFirst);
    l.bottom = allocate(kFirst / 2);
    l.capacity = kFirst;
    pm_persist(&l, sizeof l);
    PM_PUBLISH(root_->magic, kMagic);
    pm_persist(&root_->magic, sizeof root_->magic);
  }

  Bucket* allocate(uint64_t n) {
    return static_cast<Bucket*>(pm_bump(&root_->top, pool_ + kPoolSize, n * sizeof(Bucket)));
  }
  Levels& now() { return root_->levels[root_->current & 1]; }

  void expectAllocated(const Bucket* buckets, uint64_t n) {
    const char* begin = reinterpret_cast<const char*>(buckets);
    pm_expect(begin >= pool_ && begin + n * sizeof(Bucket) <= root_->top, "a level is allocated");
  }

  static void collect(const Bucket& bucket, Contents& found) {
    for (const Slot& slot : bucket.slot)
      if (slot.key != 0) {
        pm_expect(found.count(slot.key) == 0, "a key is there once");
        found[slot.key] = slot.value;
      }
  }

  static Slot* findIn(Bucket& bucket, uint64_t key) {
    for (Slot& slot : bucket.slot)
      if (slot.key == key) return &slot;
    return nullptr;
  }

  static Slot* find(const Levels& l, uint64_t key) {
    for (unsigned w = 0; w < 2; ++w) {
      if (Slot* slot = findIn(l.top[hashOf(key, w) & (l.capacity - 1)], key)) return slot;
      if (Slot* slot = findIn(l.bottom[hashOf(key, w) & (l.capacity / 2 - 1)], key)) return slot;
    }
    return nullptr;
  }

  static Slot* freeFor(const Levels& l, uint64_t key) {
    for (unsigned w = 0; w < 2; ++w)
      if (Slot* slot = findIn(l.top[hashOf(key, w) & (l.capacity - 1)], 0)) return slot;
    for (unsigned w = 0; w < 2; ++w)
      if (Slot* slot = findIn(l.bottom[hashOf(key, w) & (l.capacity / 2 - 1)], 0)) return slot;
    return nullptr;
  }

  uint64_t count() {
    uint64_t n = 0;
    const Levels& l = now();
    for (uint64_t b = 0; b < l.capacity; ++b)
      for (const Slot& slot : l.top[b].slot) n += slot.key != 0;
    for (uint64_t b = 0; b < l.capacity / 2; ++b)
      for (const Slot& slot : l.bottom[b].slot) n += slot.key != 0;
    return n;
  }

  // Puts all that is in `from` into free places of a new level. What is there already finds room by the rules.
  static bool moveAll(const Bucket* from, uint64_t buckets, Bucket* to, uint64_t capacity) {
    for (uint64_t b = 0; b < buckets; ++b)
      for (const Slot& slot : from[b].slot) {
        if (slot.key == 0) continue;
        Slot* free = findIn(to[hashOf(slot.key, 0) & (capacity - 1)], 0);
        if (free == nullptr) free = findIn(to[hashOf(slot.key, 1) & (capacity - 1)], 0);
        if (free == nullptr) return false;
        *free = slot;
      }
    return true;
  }

  static void persistUsed(const Bucket* buckets, uint64_t n) {
    bool any = false;
    for (uint64_t b = 0; b < n; ++b) {
      if (buckets[b].slot[0].key == 0) continue;  // filled from the first on
      pm_flush(&buckets[b], sizeof(Bucket));
      any = true;
    }
    if (any) pm_fence();
  }

  void expand() {
    ++reached.expands;
    const Levels old = now();
    Bucket* fresh = allocate(old.capacity * 2);
    if (!moveAll(old.bottom, old.capacity / 2, fresh, old.capacity * 2)) pm_die("no room in a level of twice the size");
    persistUsed(fresh, old.capacity * 2);
#if BUG == 1
    // ATOM, the capacity is doubled before the new level is there: the old one is read beyond its end.
    now().capacity = old.capacity * 2;  // @LOST 1
    pm_persist(&now().capacity, sizeof now().capacity);
    now().bottom = old.top;
    now().top = fresh;  // @LOST 1
    pm_persist(&now(), sizeof now());
#elif BUG == 2
    // ATOM, the levels are exchanged before the capacity: with the old one keys of the new level are not found.
    now().top = fresh;  // @LOST 2
    pm_persist(&now().top, sizeof now().top);
    now().bottom = old.top;             // @LOST 2
    now().capacity = old.capacity * 2;  // @LOST 2
    pm_persist(&now(), sizeof now());
#else
    change({fresh, old.top, old.capacity * 2});
#endif
  }

  void shrink() {
    const Levels old = now();
    Bucket* fresh = allocate(old.capacity / 4 == 0 ? 1 : old.capacity / 4);
    // The bottom becomes the top: there must be room for all of the old top below it.
    if (!moveAll(old.top, old.capacity, fresh, old.capacity / 4 == 0 ? 1 : old.capacity / 4)) return;
    ++reached.shrinks;
    persistUsed(fresh, old.capacity / 4 == 0 ? 1 : old.capacity / 4);
#if BUG == 3
    // ATOM, the fields are exchanged one by one: in between the capacity is that of a level that is gone.
    now().top = old.bottom;  // @LOST 3
    pm_persist(&now().top, sizeof now().top);
    now().bottom = fresh;  // @LOST 3
    pm_persist(&now().bottom, sizeof now().bottom);
    now().capacity = old.capacity / 2;  // @LOST 3
    pm_persist(&now().capacity, sizeof now().capacity);
#else
    change({old.bottom, fresh, old.capacity / 2});
#endif
  }

  void change(const Levels& to) {
    Levels& next = root_->levels[1 - root_->current];
    next = to;  // @LOST 4
#if BUG != 4
    // BUG 4: ID, missing flush: the word is turned over to a description that may not be there.
    pm_persist(&next, sizeof next);
#endif
    PM_PUBLISH(root_->current, 1 - root_->current);
    pm_persist(&root_->current, sizeof root_->current);
  }

  char* pool_ = nullptr;
  Root* root_ = nullptr;
};

}  // namespace

int main(int argc, char** argv) {
  if (argc < 2) pm_die("usage: level POOL [OPERATIONS]");
  const int keys[] = {1, 2, 3, 2, 4, 5, 6, 7, -1, -2, -3, -4, -5, -6};
  const std::vector<Step> steps = stepsOf(keys, argc > 2 ? std::strtoull(argv[2], nullptr, 10) : 14);
  LevelHash map;
  auto open = [&] { map.open(argv[1]); };
  auto operations = [&] {
    runSteps(steps, map);
    if (steps.size() >= 14)
      pm_expect(reached.updates && reached.removes && reached.expands && reached.shrinks,
                "the workload reaches everything");
  };
  auto verify = [&] {
    const Contents found = map.contents();
    for (const auto& [key, value] : found) {
      const uint64_t* got = map.get(key);
      pm_expect(got && *got == value, "get finds every key");
    }
    expectStepsDone(steps, found);
  };
  return blackout_test(open, operations, open, verify);
}
