// A hash table with chains whose operations are undo transactions (tx.h), and that is rebuilt larger or smaller in one
// transaction.
//
//   tx_hash POOL [OPERATIONS]
//
// The hash function is (a * key + b) >> 32, with odd a and b drawn from a seed when the table is made. An entry is a
// line, the array of chains one. More than two entries to a chain double the array, less than half an entry
// halves it: a new array is filled by moving every entry, and the old one is freed. Every entry counts its updates, and
// the map counts those of all.
//
// BUG=1..15 each bring in one mistake.
#include <iterator>

#include "steps.hpp"
#include "tx.h"

namespace {

constexpr uint64_t kSeed = 20;
constexpr uint64_t kFirstChains = 2;

struct Entry {
  uint64_t key;
  uint64_t value;
  uint64_t updates;
  Entry* next;
};

struct Map {
  uint64_t seed;
  uint64_t a, b;
  Entry** chain;
  uint64_t chains;
  uint64_t count;
  uint64_t updates;  // of the entries that are there
};
static_assert(sizeof(Map) <= PM_LINE);

uint64_t mix(uint64_t x) {
  x = (x ^ x >> 31) * 0x9e3779b97f4a7c15u;
  return x ^ x >> 29;
}

// What the workload has reached; volatile memory.
struct {
  unsigned firsts, chained, updates, headRemoves, laterRemoves, updatedRemoves, growths, moves, shrinks, aborts;
} reached;

class Hash {
 public:
  void open(const char* path) {
    pool_ = tx_open(path);
    if (!pool_->root) create();
    map_ = static_cast<Map*>(pool_->root);
  }

  void put(uint64_t key, uint64_t value) {
    tx_begin();
    Entry** head = chainOf(key);
    for (Entry* entry = *head; entry; entry = entry->next)
      if (entry->key == key) {
        update(entry, value);
        tx_commit();
        return;
      }
    ++(*head ? reached.chained : reached.firsts);
    auto* entry = static_cast<Entry*>(tx_alloc(sizeof(Entry)));
    entry->key = key;
    entry->value = value;
    entry->next = *head;
#if BUG == 1
    // RACE, not added: the head of the chain. Put back, the chain leads to an entry that was never made.
#elif BUG == 2
    // RACE, another range added: the head of the first chain, whichever chain it is.
    tx_add(map_->chain, sizeof *head);
#else
    tx_add(head, sizeof *head);
#endif
    *head = entry;  // @LOST 1, @LOST 2
#if BUG == 3
    // RACE, not added: the number of entries. An insert that is put back leaves it one too high.
#else
    tx_add(&map_->count, sizeof map_->count);
#endif
    ++map_->count;  // @LOST 3
    if (map_->count > 2 * map_->chains) {
      ++reached.growths;
      rebuild(2 * map_->chains);
    }
    tx_commit();
  }

  void remove(uint64_t key) {
    tx_begin();
#if BUG == 4
    // RACE, added in part: the number of entries, but not that of their updates.
    tx_add(&map_->count, sizeof map_->count);
#else
    tx_add(&map_->count, 2 * sizeof(uint64_t));  // and updates
#endif
    --map_->count;
    Entry** link = chainOf(key);
    while (*link && (*link)->key != key) link = &(*link)->next;
    Entry* entry = *link;
    if (!entry) {
      ++reached.aborts;
      tx_abort();
      return;
    }
    reached.updatedRemoves += entry->updates > 0;
    map_->updates -= entry->updates;  // @LOST 4
    if (link == chainOf(key)) {
      ++reached.headRemoves;
#if BUG == 5
      // RACE, not added: the head of the chain that loses its first entry.
#else
      tx_add(link, sizeof *link);
#endif
      *link = entry->next;  // @LOST 5
    } else {
      ++reached.laterRemoves;
#if BUG == 6
      // RACE, added after the change: the log keeps the new link between two entries as the old one.
      *link = entry->next;  // @LOST 6
      tx_add(link, sizeof *link);
#else
      tx_add(link, sizeof *link);
      *link = entry->next;
#endif
    }
#if BUG == 14
    // PERF, added and not written: the entry is only freed.
    tx_add(entry, sizeof *entry);  // @LOST 14
#endif
    tx_free(entry, sizeof *entry);
    if (map_->chains > kFirstChains && 2 * map_->count < map_->chains) {
      ++reached.shrinks;
      rebuild(map_->chains / 2);
    }
    tx_commit();
  }

  const uint64_t* get(uint64_t key) const {
    for (const Entry* entry = *chainOf(key); entry; entry = entry->next)
      if (entry->key == key) return &entry->value;
    return nullptr;
  }

  // Walks everything, checks that it is a hash table, and returns what is in it.
  Contents contents() const {
    Contents found;
    uint64_t updates = 0;
    pm_expect(tx_is_allocated(map_, sizeof *map_), "the map is allocated");
    pm_expect(map_->seed == kSeed && map_->a == (mix(kSeed) | 1) && map_->b == (mix(kSeed + 1) | 1),
              "the hash function is that of the seed");
    pm_expect(map_->chains >= kFirstChains && map_->chains <= 64 && (map_->chains & (map_->chains - 1)) == 0,
              "the number of chains is a power of two");
    pm_expect(tx_is_allocated(map_->chain, map_->chains * sizeof(Entry*)), "the array of chains is allocated");
    unsigned lines = tx_lines(sizeof(Map)) + tx_lines(map_->chains * sizeof(Entry*));
    for (uint64_t i = 0; i < map_->chains; ++i)
      for (const Entry* entry = map_->chain[i]; entry; entry = entry->next) {
        pm_expect(tx_is_allocated(entry, sizeof *entry), "what is reachable is allocated");
        lines += tx_lines(sizeof *entry);
        pm_expect(chainOf(entry->key) == &map_->chain[i], "every key is in its own chain");
        pm_expect(found.emplace(entry->key, entry->value).second, "no key is there twice");
        updates += entry->updates;
      }
    pm_expect(found.size() == map_->count, "the entries are as many as counted");
    pm_expect(updates == map_->updates, "the updates of all entries are as many as counted");
    pm_expect(lines == tx_allocated_lines(), "nothing else is allocated");
    return found;
  }

 private:
  static Entry** newChains(uint64_t chains) { return static_cast<Entry**>(tx_alloc(chains * sizeof(Entry*))); }

  void create() {
    tx_begin();
    auto* map = static_cast<Map*>(tx_alloc(sizeof(Map)));
    map->chain = newChains(kFirstChains);
    map->chains = kFirstChains;
    tx_add(&pool_->root, sizeof pool_->root);
    pool_->root = map;
#if BUG == 7
    // SEM, after the transaction: the hash function of a table that is there already. After a crash in between it is
    // 0.
    tx_commit();
    setFunction(map);
    pm_persist(map, sizeof *map);
#elif BUG == 8
    // SEM, after the transaction and not flushed: the hash function may be lost as long as nothing else in its
    // line is flushed.
    tx_commit();
    setFunction(map);
#else
    setFunction(map);
    tx_commit();
#endif
  }

  static void setFunction(Map* map) {
    map->seed = kSeed;            // @LOST 7, @LOST 8
    map->a = mix(kSeed) | 1;      // @LOST 7, @LOST 8
    map->b = mix(kSeed + 1) | 1;  // @LOST 7, @LOST 8
  }

  uint64_t indexOf(uint64_t key, uint64_t chains) const { return (map_->a * key + map_->b) >> 32 & (chains - 1); }
  Entry** chainOf(uint64_t key) const { return &map_->chain[indexOf(key, map_->chains)]; }

  void update(Entry* entry, uint64_t value) {
    ++reached.updates;
#if BUG == 9
    // RACE, added in part: the value, but not the number of updates behind it.
    tx_add(&entry->value, sizeof entry->value);
#else
    tx_add(&entry->value, 2 * sizeof(uint64_t));  // and updates
#endif
    entry->value = value;
    ++entry->updates;  // @LOST 9
#if BUG == 10
    // RACE, not added: the number of the updates of all.
#else
    tx_add(&map_->updates, sizeof map_->updates);
#endif
    ++map_->updates;  // @LOST 10
  }

  void rebuild(uint64_t chains) {
    tx_begin();
    Entry** fresh = newChains(chains);
    for (uint64_t i = 0; i < map_->chains; ++i)
      for (Entry *entry = map_->chain[i], *next; entry; entry = next) {
        next = entry->next;
        Entry** head = &fresh[indexOf(entry->key, chains)];
        reached.moves += chains > map_->chains && head != &fresh[i] && !tx_is_in(tx.fresh, tx.fresh_count, entry, 1);
#if BUG == 11
      // RACE, not added: the links of the entries that are moved. Put back, the old chains go on in the new ones.
#elif BUG == 15
        // PERF, added twice: the new entry, or the link that a remove has just changed, is the transaction's already.
        tx_add(&entry->next, sizeof entry->next);  // @LOST 15
#else
        tx_add_once(&entry->next, sizeof entry->next);
#endif
        entry->next = *head;  // @LOST 11
        *head = entry;
      }
    tx_free(map_->chain, map_->chains * sizeof(Entry*));
#if BUG == 12
    // RACE, not added: the pointer to the array. It is flushed with the count, but not put back.
    tx_add(&map_->chains, sizeof map_->chains);
#elif BUG == 13
    // RACE, not added: the number of chains. It is flushed with the count, but not put back.
    tx_add(&map_->chain, sizeof map_->chain);
#else
    tx_add(&map_->chain, 2 * sizeof(uint64_t));  // and their number
#endif
    map_->chain = fresh;    // @LOST 12
    map_->chains = chains;  // @LOST 13
    tx_commit();
  }

  tx_pool* pool_ = nullptr;
  Map* map_ = nullptr;
};

// See stepsOf().
constexpr int kSteps[] = {12, 8, 8, 14, 10, 11, -11, -12, -6, -8, -10};

}  // namespace

int main(int argc, char** argv) {
  if (argc < 2) pm_die("usage: tx_hash POOL [OPERATIONS]");
  const std::vector<Step> steps = stepsOf(kSteps, argc > 2 ? std::strtoull(argv[2], nullptr, 10) : std::size(kSteps));
  Hash hash;
  auto setup = [&] { hash.open(argv[1]); };
  auto operations = [&] {
    runSteps(steps, hash);
    if (steps.size() >= std::size(kSteps))
      pm_expect(reached.firsts && reached.chained && reached.updates && reached.headRemoves && reached.laterRemoves &&
                    reached.updatedRemoves && reached.growths && reached.moves && reached.shrinks && reached.aborts,
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
