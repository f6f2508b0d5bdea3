// A persistent hash table with linear probing that grows.
//
//   probing POOL [OPERATIONS]
//
// A slot becomes visible by the store of its key, after its value. A table is an array of slots and its capacity, a
// power of two: neither is right without the other. So there are two descriptions of a table, each on a line of its
// own, and a word that says which counts: growing fills an array of twice the size aside, describes it in the one that
// does not count, and then the word is turned over.
//
// BUG=1..4 each bring in one mistake.
#include "steps.hpp"

namespace {

constexpr uint64_t kMagic = 0x70726f6265;
constexpr size_t kPoolSize = size_t{1} << 20;
constexpr uint64_t kFirst = 4;

struct Slot {
  uint64_t key;  // 0: free
  uint64_t value;
};

struct alignas(PM_LINE) Table {
  Slot* slots;
  uint64_t capacity;  // a power of two

  uint64_t home(uint64_t key) const { return (key * 0x9e3779b97f4a7c15 >> 32) & (capacity - 1); }
};

struct Root {
  uint64_t magic;    // written last
  char* top;         // of the allocator
  uint64_t current;  // which of the two counts
  Table table[2];
};

struct {
  unsigned updates, removes, growths, wraps;
} reached;

class Probing {
 public:
  void open(const char* path) {
    pool_ = static_cast<char*>(pm_map(path, kPoolSize));
    root_ = reinterpret_cast<Root*>(pool_);
    if (root_->magic != kMagic) format();
  }

  void put(uint64_t key, uint64_t value) {
    for (;;) {
      Table& table = now();
      uint64_t used = 0;
      Slot* free = nullptr;
      for (uint64_t n = 0; n < table.capacity; ++n) {
        Slot& slot = table.slots[(table.home(key) + n) & (table.capacity - 1)];
        if (slot.key == key) {
          ++reached.updates;
          PM_PUBLISH(slot.value, value);
          pm_persist(&slot.value, sizeof slot.value);
          return;
        }
        if (slot.key == 0) {
          free = &slot;
          reached.wraps += table.home(key) + n >= table.capacity;
          break;
        }
        ++used;
      }
      if (free != nullptr && used + 1 < table.capacity && count() * 4 < table.capacity * 3) {
        free->value = value;
        PM_PUBLISH(free->key, key);
        pm_persist(free, sizeof *free);
        return;
      }
      grow();
    }
  }

  // Leaves no hole in what a search goes through.
  void remove(uint64_t key) {
    Table& table = now();
    for (uint64_t n = 0; n < table.capacity; ++n) {
      Slot& slot = table.slots[(table.home(key) + n) & (table.capacity - 1)];
      if (slot.key != key) continue;
      ++reached.removes;
      PM_PUBLISH(slot.value, uint64_t{0});  // the key stays as a mark; 0 is no value
      pm_persist(&slot.value, sizeof slot.value);
      return;
    }
  }

  const uint64_t* get(uint64_t key) {
    Table& table = now();
    for (uint64_t n = 0; n < table.capacity; ++n) {
      const Slot& slot = table.slots[(table.home(key) + n) & (table.capacity - 1)];
      if (slot.key == 0) return nullptr;
      if (slot.key == key) return slot.value == 0 ? nullptr : &slot.value;
    }
    return nullptr;
  }

  Contents contents() {
    Contents found;
    Table& table = now();
    pm_expect(table.capacity >= kFirst && (table.capacity & (table.capacity - 1)) == 0,
              "the capacity is a power of two");
    char* slots = reinterpret_cast<char*>(table.slots);
    pm_expect(slots >= pool_ && slots + table.capacity * sizeof(Slot) <= root_->top, "the table is allocated");
    for (uint64_t i = 0; i < table.capacity; ++i)
      if (table.slots[i].key != 0 && table.slots[i].value != 0) found[table.slots[i].key] = table.slots[i].value;
    return found;
  }

 private:
  void format() {
    // Of a pool that was left unfinished nothing but zeros is used again.
    root_->top = pool_ + sizeof(Root);
    root_->table[0].slots = allocate(kFirst);
    root_->table[0].capacity = kFirst;
    pm_persist(&root_->table[0], sizeof root_->table[0]);
    PM_PUBLISH(root_->magic, kMagic);
    pm_persist(&root_->magic, sizeof root_->magic);
  }

  Slot* allocate(uint64_t n) { return static_cast<Slot*>(pm_bump(&root_->top, pool_ + kPoolSize, n * sizeof(Slot))); }
  Table& now() { return root_->table[root_->current & 1]; }

  uint64_t count() {
    uint64_t n = 0;
    for (uint64_t i = 0; i < now().capacity; ++i) n += now().slots[i].key != 0;
    return n;
  }

  // The lines in which there is a key.
  static void flushUsed(const Table& table) {
    constexpr uint64_t kInLine = PM_LINE / sizeof(Slot);
    for (uint64_t i = 0; i < table.capacity; i += kInLine) {
      bool used = false;
      for (uint64_t n = i; n < i + kInLine; ++n) used |= table.slots[n].key != 0;
      if (used) pm_flush(&table.slots[i], PM_LINE);
    }
  }

  void grow() {
    ++reached.growths;
    const Table old = now();
    Table fresh{allocate(old.capacity * 2), old.capacity * 2};
    for (uint64_t i = 0; i < old.capacity; ++i) {
      if (old.slots[i].key == 0 || old.slots[i].value == 0) continue;
      uint64_t at = fresh.home(old.slots[i].key);
      while (fresh.slots[at].key != 0) at = (at + 1) & (fresh.capacity - 1);
      fresh.slots[at] = old.slots[i];
    }
    flushUsed(fresh);
    pm_fence();
    Table& next = root_->table[1 - root_->current];
#if BUG == 1
    // ATOM, the array and its capacity are replaced one after the other: a crash in between leaves the new array with
    // the old capacity, in which half of the keys are not found.
    now().slots = fresh.slots;  // @LOST 1
    pm_persist(&now().slots, sizeof now().slots);
    PM_PUBLISH(now().capacity, fresh.capacity);  // @LOST 1
    pm_persist(&now().capacity, sizeof now().capacity);
    (void)next;
#elif BUG == 2
    // ATOM, the other way round: the old array with the new capacity goes beyond its end.
    now().capacity = fresh.capacity;  // @LOST 2
    pm_persist(&now().capacity, sizeof now().capacity);
    PM_PUBLISH(now().slots, fresh.slots);  // @LOST 2
    pm_persist(&now().slots, sizeof now().slots);
    (void)next;
#else
    next.slots = fresh.slots;        // @LOST 3
    next.capacity = fresh.capacity;  // @LOST 3
#if BUG != 3
    // BUG 3: ID, missing flush: the word is turned over to a description that may not be there.
    pm_persist(&next, sizeof next);
#endif
#if BUG == 4
    // ATOM, the word is turned over and only then the capacity of the new description is set right.
    next.capacity = old.capacity;
    pm_persist(&next, sizeof next);
#endif
    PM_PUBLISH(root_->current, 1 - root_->current);  // @LOST 4
    pm_persist(&root_->current, sizeof root_->current);
#if BUG == 4
    PM_PUBLISH(next.capacity, fresh.capacity);  // @LOST 4
    pm_persist(&next.capacity, sizeof next.capacity);
#endif
#endif
  }

  char* pool_ = nullptr;
  Root* root_ = nullptr;
};

}  // namespace

int main(int argc, char** argv) {
  if (argc < 2) pm_die("usage: probing POOL [OPERATIONS]");
  const int keys[] = {1, 2, 3, 2, -1, 4, 5, 6, 7, 8};
  const std::vector<Step> steps = stepsOf(keys, argc > 2 ? std::strtoull(argv[2], nullptr, 10) : 10);
  Probing map;
  auto open = [&] { map.open(argv[1]); };
  auto operations = [&] {
    runSteps(steps, map);
    if (steps.size() >= 10)
      pm_expect(reached.updates && reached.removes && reached.growths > 1, "the workload reaches everything");
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
