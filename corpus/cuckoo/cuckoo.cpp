// A persistent cuckoo hash table that grows (after Pagh and Rodler).
//
//   cuckoo POOL [OPERATIONS]
//
// A key is in one of two slots. Where both are taken, one of those that are there moves to its other slot, and so on:
// from the end of this path on, each is durable in its new slot before its old one is freed, so a crash leaves it in
// both at the most, and opening frees one. A slot becomes visible by the store of its key, after its value.
//
// A table is an array of slots and its capacity, a power of two: neither is right without the other. So there are two
// descriptions of a table, each on a line of its own, and a word that says which counts: growing fills an array of
// twice the size aside, describes it in the one that does not count, and then the word is turned over.
//
// BUG=1..4 each bring in one mistake.
#include "steps.hpp"

namespace {

constexpr uint64_t kMagic = 0x6375636b6f6f;
constexpr size_t kPoolSize = size_t{1} << 20;
constexpr uint64_t kFirst = 4;
constexpr unsigned kLongest = 4;  // path

struct Slot {
  uint64_t key;  // 0: free
  uint64_t value;
};

struct alignas(PM_LINE) Table {
  Slot* slots;
  uint64_t capacity;  // a power of two

  uint64_t place(uint64_t key, unsigned which) const {
    return (key * (which == 0 ? 0x9e3779b97f4a7c15 : 0xc2b2ae3d27d4eb4f) >> 32) & (capacity - 1);
  }
};

struct Root {
  uint64_t magic;    // written last
  char* top;         // of the allocator
  uint64_t current;  // which of the two counts
  Table table[2];
};

// The keys that a walk has met: an array and a count that no crash can part, because they are in volatile memory.
struct Met {
  uint64_t count = 0;
  uint64_t keys[256];
};

struct {
  unsigned updates, removes, moves, growths;
} reached;

class Cuckoo {
 public:
  void open(const char* path) {
    pool_ = static_cast<char*>(pm_map(path, kPoolSize));
    root_ = reinterpret_cast<Root*>(pool_);
    if (root_->magic != kMagic) return format();
    Table& table = now();
    for (uint64_t i = 0; i < table.capacity; ++i) {
      Slot& slot = table.slots[i];
      if (slot.key == 0 || table.place(slot.key, 0) == i) continue;
      if (table.slots[table.place(slot.key, 0)].key == slot.key) freeSlot(slot);
    }
  }

  void put(uint64_t key, uint64_t value) {
    if (Slot* slot = find(key)) {
      ++reached.updates;
      PM_PUBLISH(slot->value, value);
      pm_persist(&slot->value, sizeof slot->value);
      return;
    }
    Slot* free = room(now(), key, true);
    if (free == nullptr) {
      grow();
      free = room(now(), key, true);
      if (free == nullptr) pm_die("no room in a table of twice the size");
    }
    free->value = value;
    PM_PUBLISH(free->key, key);
    pm_persist(free, sizeof *free);
  }

  void remove(uint64_t key) {
    Slot* slot = find(key);
    if (slot == nullptr) return;
    ++reached.removes;
    freeSlot(*slot);
  }

  Contents contents() {
    const Table& table = now();
    pm_expect(table.capacity >= kFirst && (table.capacity & (table.capacity - 1)) == 0,
              "the capacity is a power of two");
    const char* slots = reinterpret_cast<const char*>(table.slots);
    pm_expect(slots >= pool_ && slots + table.capacity * sizeof(Slot) <= root_->top, "the table is allocated");
    Met met;
    for (uint64_t i = 0; i < table.capacity && met.count < 256; ++i)
      if (table.slots[i].key != 0) met.keys[met.count++] = table.slots[i].key;
    Contents found;
    for (uint64_t i = 0; i < met.count; ++i) {
      const Slot* slot = find(met.keys[i]);
      pm_expect(slot != nullptr, "a key is in one of its slots");
      pm_expect(found.count(met.keys[i]) == 0, "a key is there once");
      found[met.keys[i]] = slot->value;
    }
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

  static void freeSlot(Slot& slot) {
    PM_PUBLISH(slot.key, uint64_t{0});
    pm_persist(&slot.key, sizeof slot.key);
  }

  Slot* find(uint64_t key) {
    Table& table = now();
    for (unsigned w = 0; w < 2; ++w) {
      Slot& slot = table.slots[table.place(key, w)];
      if (slot.key == key) return &slot;
    }
    return nullptr;
  }

  // A free slot for the key, made by moving others; null: there is none. A table that does not count yet needs no
  // care.
  static Slot* room(Table& table, uint64_t key, bool counts) {
    for (unsigned w = 0; w < 2; ++w) {
      Slot* path[kLongest];
      unsigned n = 0;
      path[n++] = &table.slots[table.place(key, w)];
      while (path[n - 1]->key != 0 && n < kLongest) {
        const uint64_t other = path[n - 1]->key;
        Slot* first = &table.slots[table.place(other, 0)];
        Slot* next = first == path[n - 1] ? &table.slots[table.place(other, 1)] : first;
        bool again = false;
        for (unsigned i = 0; i < n; ++i) again |= path[i] == next;
        if (again) break;
        path[n++] = next;
      }
      if (path[n - 1]->key != 0) continue;
      for (; n > 1; --n) move(*path[n - 2], *path[n - 1], counts);
      return path[0];
    }
    return nullptr;
  }

  static void move(Slot& from, Slot& to, bool counts) {
    if (!counts) {
      to = from;
      from.key = 0;
      return;
    }
    ++reached.moves;
    to.value = from.value;         // @LOST 4
    PM_PUBLISH(to.key, from.key);  // @LOST 4
#if BUG != 4
    // BUG 4: ID, missing flush: the old slot is freed while the new one may not be there.
    pm_persist(&to, sizeof to);
#endif
    freeSlot(from);
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
      if (old.slots[i].key == 0) continue;
      Slot* free = room(fresh, old.slots[i].key, false);
      if (free == nullptr) pm_die("no room in a table of twice the size");
      *free = old.slots[i];
    }
    flushUsed(fresh);
    pm_fence();
    Table& next = root_->table[1 - root_->current];
#if BUG == 1
    // ATOM, the array and its capacity are replaced one after the other: a crash in between leaves the new array with
    // the old capacity, in which keys are looked for in the wrong slots.
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
    PM_PUBLISH(root_->current, 1 - root_->current);
    pm_persist(&root_->current, sizeof root_->current);
#endif
  }

  char* pool_ = nullptr;
  Root* root_ = nullptr;
};

}  // namespace

int main(int argc, char** argv) {
  if (argc < 2) pm_die("usage: cuckoo POOL [OPERATIONS]");
  const int keys[] = {1, 2, 3, 2, -1, 4, 5, 6, 7, 8};
  const std::vector<Step> steps = stepsOf(keys, argc > 2 ? std::strtoull(argv[2], nullptr, 10) : 10);
  Cuckoo map;
  auto open = [&] { map.open(argv[1]); };
  auto operations = [&] {
    runSteps(steps, map);
    if (steps.size() >= 10)
      pm_expect(reached.updates && reached.removes && reached.moves && reached.growths,
                "the workload reaches everything");
  };
  auto verify = [&] { expectStepsDone(steps, map.contents()); };
  return blackout_test(open, operations, open, verify);
}
