// A persistent hash table with chaining, after P-CLHT (RECIPE, SOSP'19).
//
//   hash POOL [OPERATIONS]
//
// A bucket is one line with three entries; what doesn't fit goes to an overflow bucket behind it. An entry becomes
// visible by the store of its key, an overflow bucket by the store of the pointer to it. A chain that would need a
// third bucket makes the table grow: a table of twice the size is filled aside, made durable, and one pointer is
// swapped. The old table is garbage then, and so is what a crash leaves half made.
//
// BUG=1..7 each bring in one mistake.
#include "steps.hpp"

namespace {

constexpr uint64_t kMagic = 0x68736168;
constexpr size_t kPoolSize = size_t{1} << 20;
constexpr unsigned kEntries = 3;
constexpr unsigned kMaxChain = 2;
constexpr uint64_t kFirstBuckets = 2;

struct alignas(PM_LINE) Bucket {
  uint64_t key[kEntries];  // 0: free
  uint64_t value[kEntries];
  Bucket* next;
};

struct alignas(PM_LINE) Table {
  Bucket* buckets;
  uint64_t count;  // a power of two

  Bucket* chain(uint64_t key) const { return &buckets[key & (count - 1)]; }
};

struct Root {
  uint64_t magic;  // written last
  char* top;       // of the allocator
  alignas(PM_LINE) Table* table;
};

// What the workload has reached; volatile memory.
struct {
  unsigned updates, removes, reuses, overflows, growths, overflowsInGrowth;
} reached;

class Hash {
 public:
  void create(const char* path) {
    map(path);
    if (root_->magic == kMagic) pm_die("the pool holds a table already: remove it first");
    format();
  }

  // Needs to fix nothing: every state that a crash can leave is a table.
  void open(const char* path) {
    map(path);
    if (root_->magic != kMagic) format();
  }

  void put(uint64_t key, uint64_t value) {
    for (;;) {
      Bucket* last = nullptr;
      Bucket* free = nullptr;
      unsigned freeEntry = 0;
      unsigned length = 0;
      for (Bucket* bucket = root_->table->chain(key); bucket; bucket = bucket->next) {
        last = bucket;
        ++length;
        for (unsigned i = 0; i < kEntries; ++i) {
          if (bucket->key[i] == key) return update(bucket, i, key, value);
          if (bucket->key[i] == 0 && !free) {
            free = bucket;
            freeEntry = i;
          }
        }
      }
      if (free) {
        reached.reuses += freeEntry + 1 < kEntries && free->key[freeEntry + 1] != 0;
        fill(free, freeEntry, key, value);
        pm_persist(free, sizeof *free);
        return;
      }
      if (length < kMaxChain) {
        ++reached.overflows;
        Bucket* fresh = newBuckets(1);
        fill(fresh, 0, key, value);
        pm_persist(fresh, sizeof *fresh);
        PM_PUBLISH(last->next, fresh);
        pm_persist(&last->next, sizeof last->next);
        return;
      }
      grow();
    }
  }

  void remove(uint64_t key) {
    for (Bucket* bucket = root_->table->chain(key); bucket; bucket = bucket->next)
      for (unsigned i = 0; i < kEntries; ++i)
        if (bucket->key[i] == key) {
          ++reached.removes;
#if BUG == 4
          // UD, wrong order: the value goes before the key. A crash in between leaves the key with the value 0.
          bucket->value[i] = 0;
#endif
          PM_PUBLISH(bucket->key[i], uint64_t{0});  // @LOST 4
          pm_persist(&bucket->key[i], sizeof bucket->key[i]);
          return;
        }
  }

  const uint64_t* get(uint64_t key) const {
    for (const Bucket* bucket = root_->table->chain(key); bucket; bucket = bucket->next)
      for (unsigned i = 0; i < kEntries; ++i)
        if (bucket->key[i] == key) return &bucket->value[i];
    return nullptr;
  }

  // Walks everything, checks that it is a table, and returns what is in it.
  Contents contents() const {
    Contents found;
    const Table* table = root_->table;
    expectAllocated(table, sizeof *table);
    pm_expect(table->count >= kFirstBuckets && (table->count & (table->count - 1)) == 0,
              "the number of buckets is a power of two");
    expectAllocated(table->buckets, table->count * sizeof(Bucket));
    for (uint64_t b = 0; b < table->count; ++b) {
      unsigned length = 0;
      for (const Bucket* bucket = &table->buckets[b]; bucket; bucket = bucket->next) {
        pm_expect(++length <= kMaxChain, "no chain is longer than allowed");
        expectAllocated(bucket, sizeof *bucket);
        for (unsigned i = 0; i < kEntries; ++i) {
          if (bucket->key[i] == 0) continue;
          pm_expect(table->chain(bucket->key[i]) == &table->buckets[b], "every key is in its own chain");
          pm_expect(found.emplace(bucket->key[i], bucket->value[i]).second, "no key is there twice");
        }
      }
    }
    return found;
  }

 private:
  void map(const char* path) {
    pool_ = static_cast<char*>(pm_map(path, kPoolSize));
    root_ = reinterpret_cast<Root*>(pool_);
  }

  void format() {
    root_->top = pool_ + sizeof(Root);
    root_->table = newTable(kFirstBuckets);
    pm_persist(&root_->table, sizeof root_->table);
    PM_PUBLISH(root_->magic, kMagic);
    pm_persist(&root_->magic, sizeof root_->magic);
  }

  Bucket* newBuckets(uint64_t count) {
    return static_cast<Bucket*>(pm_bump(&root_->top, pool_ + kPoolSize, count * sizeof(Bucket)));
  }

  Table* newTable(uint64_t count) {
    auto* table = static_cast<Table*>(pm_bump(&root_->top, pool_ + kPoolSize, sizeof(Table)));
    table->buckets = newBuckets(count);  // all free: a new block is zeros
    table->count = count;                // @LOST 2
#if BUG == 2
    // ID, missing flush: the constructor leaves the table object to the caches, and the root points to it. After a
    // crash the table has no buckets.
#else
    pm_persist(table, sizeof *table);
#endif
    return table;
  }

  // The key is what makes the entry valid. Both are in one line, whose stores reach memory in their order.
  static void fill(Bucket* bucket, unsigned i, uint64_t key, uint64_t value) {
#if BUG == 5
    // ID, wrong order: the key becomes visible before its value. A crash in between leaves the key with what
    // the entry held before.
    PM_PUBLISH(bucket->key[i], key);
    PM_PUBLISH(bucket->value[i], value);  // @LOST 5
#else
    bucket->value[i] = value;
    PM_PUBLISH(bucket->key[i], key);  // @LOST 1 @LOST 6
#endif
  }

  void update(Bucket* bucket, unsigned i, uint64_t key, uint64_t value) {
    ++reached.updates;
#if BUG == 7
    // UD, not atomic: an update is a remove and a put. A crash in between loses a key that was there all the time.
    bucket->key[i] = 0;  // @LOST 7
    pm_persist(&bucket->key[i], sizeof bucket->key[i]);
    put(key, value);
#else
    (void)key;
    PM_PUBLISH(bucket->value[i], value);
    pm_persist(&bucket->value[i], sizeof bucket->value[i]);
#endif
  }

  void grow() {
    ++reached.growths;
    const Table* old = root_->table;
    Table* fresh = newTable(old->count * 2);
    for (uint64_t b = 0; b < old->count; ++b)
      for (const Bucket* bucket = &old->buckets[b]; bucket; bucket = bucket->next)
        for (unsigned i = 0; i < kEntries; ++i)
          if (bucket->key[i] != 0) copy(fresh, bucket->key[i], bucket->value[i]);
    for (uint64_t b = 0; b < fresh->count; ++b) flushChain(&fresh->buckets[b]);
#if BUG == 6
    // ID, missing fence: the write-back of the new buckets has only begun when the root leads to them. A
    // crash may find the new root and not the entries.
#else
    pm_fence();
#endif
    PM_PUBLISH(root_->table, fresh);  // @LOST 3
#if BUG == 3
    // ID, missing flush: flushes the local copy of the pointer, not the field. The old table comes back after a crash,
    // without what was put into the new one.
    pm_persist(&fresh, sizeof fresh);
#else
    pm_persist(&root_->table, sizeof root_->table);
#endif
  }

  // Into a table that nobody sees yet: grow() flushes it as a whole. A chain of the new table is part of one of
  // the old, so it is never too long.
  void copy(Table* table, uint64_t key, uint64_t value) {
    for (Bucket* bucket = table->chain(key);; bucket = bucket->next) {
      for (unsigned i = 0; i < kEntries; ++i)
        if (bucket->key[i] == 0) return fill(bucket, i, key, value);
      if (!bucket->next) {
        ++reached.overflowsInGrowth;
        bucket->next = newBuckets(1);  // @LOST 6
      }
    }
  }

  static void flushChain(const Bucket* first) {
    if (first->key[0] == 0) return;  // nothing was copied here: still the durable zeros of a new block
    for (const Bucket *bucket = first, *next = nullptr; bucket; bucket = next) {
      pm_flush(bucket, sizeof *bucket);
#if BUG == 1
      // ID, missing flush: the loop follows its own cursor and not the bucket's pointer, so it ends after the first
      // bucket. The overflow buckets of the new table are lost in a crash.
      next = next ? next->next : nullptr;
#else
      next = bucket->next;
#endif
    }
  }

  void expectAllocated(const void* block, size_t size) const {
    auto* begin = static_cast<const char*>(block);
    pm_expect(begin >= pool_ + sizeof(Root) && begin < root_->top && size <= static_cast<size_t>(root_->top - begin),
              "what is reachable is allocated");
  }

  char* pool_ = nullptr;
  Root* root_ = nullptr;
};

// In every six: four new keys, an update, a remove. All keys have the same low bits, so that chains overflow, and do so
// in a new table too.
std::vector<Step> workload(uint64_t operations) {
  std::vector<Step> steps;
  auto keyOf = [](uint64_t n) { return 4 * n + 1; };
  for (uint64_t i = 0; i < operations; ++i) {
    uint64_t round = i / 6;
    switch (i % 6) {
      case 4:
        steps.push_back({Step::Put, keyOf(4 * round), 1000 + i});
        break;
      case 5:
        steps.push_back({Step::Remove, keyOf(4 * round + 1), 0});
        break;
      default:
        steps.push_back({Step::Put, keyOf(4 * round + i % 6), 1000 + i});
    }
  }
  return steps;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 2) pm_die("usage: hash POOL [OPERATIONS]");
  const std::vector<Step> steps = workload(argc > 2 ? std::strtoull(argv[2], nullptr, 10) : 12);
  Hash hash;
  auto setup = [&] { hash.create(argv[1]); };
  auto operations = [&] {
    runSteps(steps, hash);
    if (steps.size() >= 10)
      pm_expect(reached.updates && reached.removes && reached.reuses && reached.overflows && reached.growths &&
                    reached.overflowsInGrowth,
                "the workload reaches everything");
  };
  auto recover = [&] { hash.open(argv[1]); };
  auto verify = [&] {
    const Contents found = hash.contents();
    for (const auto& [key, value] : found) {
      const uint64_t* got = hash.get(key);
      pm_expect(got && *got == value, "get finds every key");
    }
    expectStepsDone(steps, found);
  };
  return blackout_test(setup, operations, recover, verify);
}
