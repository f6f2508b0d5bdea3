// A hash table with chains and without transactions: blocks are made by constructors and published by one store (tx.h).
//
//   atomic_hash POOL [OPERATIONS]
//
// An entry is two lines. A put makes a new entry and publishes it by the head of its chain, or in the place of the
// entry that it replaces; a remove leads past an entry and frees it. The number of entries can't change with the
// chains, so it has a flag: `dirty` is set before the chains change and cleared after the count has followed, each
// durable before the next, and a restart that finds the flag counts again. A growth fills a second array by moving
// entry after entry, each move at once; a restart goes on with it. The hash function is (a * key + b) >> 32, with odd a
// and b drawn from a seed by the constructor of the map.
//
// BUG=1..23 each bring in one mistake.
#include <iterator>

#include "steps.hpp"
#include "tx.h"

namespace {

constexpr uint64_t kSeed = 20;
constexpr uint64_t kFirstChains = 2;
constexpr unsigned kWords = 10;

struct Entry {
  uint64_t key;
  Entry* next;
  uint64_t word[kWords];
};

struct Chains {
  uint64_t size;
  Entry* head[];

  static size_t bytes(uint64_t size) { return sizeof(Chains) + size * sizeof(Entry*); }
};

struct Map {
  uint64_t seed;
  uint64_t a, b;
  Chains* chains;
  Chains* grown;  // NULL but for a growth: where the entries go
  alignas(PM_LINE) uint64_t count;
  alignas(PM_LINE) uint64_t dirty;  // the count is not to be trusted
};

uint64_t mix(uint64_t x) {
  x = (x ^ x >> 31) * 0x9e3779b97f4a7c15u;
  return x ^ x >> 29;
}

uint64_t wordOf(uint64_t value, unsigned i) { return value << 8 | i; }

void** slotOf(Entry** link) { return reinterpret_cast<void**>(link); }

// What the workload has reached; volatile memory.
struct {
  unsigned firsts, chained, updates, headRemoves, laterRemoves, growths, moves;
} reached;

class Hash {
 public:
  void open(const char* path) {
    pool_ = tx_open(path);
    if (!pool_->root) create();
    map_ = static_cast<Map*>(pool_->root);
    if (!map_->chains) makeChains();
    if (map_->grown) grow();
#if BUG == 19
    // SEM, the flag is taken the wrong way round: a count that is to be trusted is counted again, one that is not is
    // believed.
    if (!map_->dirty) countAgain();
#else
    if (map_->dirty) countAgain();
#endif
  }

  void put(uint64_t key, uint64_t value) {
    Entry** head = chainOf(key);
    New fresh{key, value, *head};
    for (Entry** link = head; *link; link = &(*link)->next)
      if ((*link)->key == key) {
        ++reached.updates;
#if BUG == 10
        // RACE, not atomic: a value of more than one word is changed in place. A crash leaves half of it.
        setWords(*link, value);
        pm_persist(*link, sizeof **link);
#else
        fresh.next = (*link)->next;
        tx_replace_atomic(slotOf(link), sizeof(Entry), constructEntry, &fresh);
#endif
        return;
      }
    ++(*head ? reached.chained : reached.firsts);
#if BUG == 17
    // SEM, the flag too late: a crash before it leaves an entry that is not counted, and nobody counts again.
    tx_alloc_atomic(slotOf(head), sizeof(Entry), constructEntry, &fresh);  // @LOST 17
    setDirty();
#elif BUG == 20
    // SEM, the count too early: it is changed before the flag is set. A crash in between leaves one too many.
    addToCount(1);
    setDirty();
    tx_alloc_atomic(slotOf(head), sizeof(Entry), constructEntry, &fresh);
#elif BUG == 15
    // RACE, not flushed: a crash may lose the flag, and keep an entry that is not counted.
    map_->dirty = 1;  // @LOST 15
    tx_alloc_atomic(slotOf(head), sizeof(Entry), constructEntry, &fresh);
#else
    setDirty();
    tx_alloc_atomic(slotOf(head), sizeof(Entry), constructEntry, &fresh);
#endif
#if BUG == 21
    // PERF, flushed again: the constructor has made the entry durable.
    pm_persist(*head, sizeof **head);  // @LOST 21
#endif
#if BUG == 16
    // SEM, the flag too early: it is cleared before the count has followed.
    clearDirty();
    addToCount(1);
#elif BUG == 12
    // RACE, not flushed: a crash may lose the new count, and find the flag cleared.
    PM_PUBLISH(map_->count, map_->count + 1);  // @LOST 12
    clearDirty();
#elif BUG == 20
    clearDirty();
#else
    addToCount(1);
    clearDirty();
#endif
    if (map_->count > 2 * map_->chains->size) {
      ++reached.growths;
      New unused{2 * map_->chains->size, 0, nullptr};
      tx_alloc_atomic(reinterpret_cast<void**>(&map_->grown), Chains::bytes(unused.key), constructChains, &unused.key);
      grow();
    }
  }

  void remove(uint64_t key) {
    Entry** link = chainOf(key);
    while (*link && (*link)->key != key) link = &(*link)->next;
    if (!*link) return;
    ++(link == chainOf(key) ? reached.headRemoves : reached.laterRemoves);
#if BUG == 18
    // SEM, no flag: a crash between the chain and the count leaves one too many, and nobody counts again.
    tx_free_atomic(slotOf(link), sizeof(Entry), (*link)->next);
    addToCount(-1);  // @LOST 18
#elif BUG == 14
    // SEM, wrong order: the flag is cleared before the count is durable.
    setDirty();
    tx_free_atomic(slotOf(link), sizeof(Entry), (*link)->next);
    PM_PUBLISH(map_->count, map_->count - 1);  // @LOST 14
    clearDirty();
    pm_persist(&map_->count, sizeof map_->count);
#elif BUG == 23
    // RACE, missing fence: the count is only being written back when the flag is cleared.
    setDirty();
    tx_free_atomic(slotOf(link), sizeof(Entry), (*link)->next);
    PM_PUBLISH(map_->count, map_->count - 1);  // @LOST 23
    pm_flush(&map_->count, sizeof map_->count);
    clearDirty();
#else
    setDirty();
    tx_free_atomic(slotOf(link), sizeof(Entry), (*link)->next);
    addToCount(-1);
    clearDirty();
#endif
#if BUG == 22
    // PERF, a fence too many: everything is durable already.
    pm_fence();  // @LOST 22
#endif
  }

  const Entry* get(uint64_t key) const {
    for (const Entry* entry = *chainOf(key); entry; entry = entry->next)
      if (entry->key == key) return entry;
    return nullptr;
  }

  static bool isWhole(const Entry* entry, uint64_t value) {
    for (unsigned i = 0; i < kWords; ++i)
      if (entry->word[i] != wordOf(value, i)) return false;
    return true;
  }

  // Walks everything, checks that it is a hash table, and returns what is in it.
  Contents contents() const {
    Contents found;
    pm_expect(tx_is_allocated(map_, sizeof *map_), "the map is allocated");
    pm_expect(map_->seed == kSeed && map_->a == (mix(kSeed) | 1) && map_->b == (mix(kSeed + 1) | 1),
              "the hash function is that of the seed");
    const Chains* chains = map_->chains;
    pm_expect(map_->grown == nullptr, "no growth is left half done");
    pm_expect(tx_is_allocated(chains, sizeof *chains), "the array of chains is allocated");
    pm_expect(chains->size >= kFirstChains && chains->size <= 64 && (chains->size & (chains->size - 1)) == 0,
              "the number of chains is a power of two");
    unsigned lines = tx_lines(sizeof(Map)) + tx_lines(Chains::bytes(chains->size));
    for (uint64_t i = 0; i < chains->size; ++i)
      for (const Entry* entry = chains->head[i]; entry; entry = entry->next) {
        pm_expect(tx_is_allocated(entry, sizeof *entry), "what is reachable is allocated");
        lines += tx_lines(sizeof *entry);
        pm_expect(chainOf(entry->key) == &chains->head[i], "every key is in its own chain");
        pm_expect(isWhole(entry, entry->word[0] >> 8), "every value is whole");
        pm_expect(found.emplace(entry->key, entry->word[0] >> 8).second, "no key is there twice");
      }
    pm_expect(map_->dirty == 0, "the count is to be trusted");
    pm_expect(found.size() == map_->count, "the entries are as many as counted");
    pm_expect(lines == tx_allocated_lines(), "nothing else is allocated");
    return found;
  }

 private:
  struct New {
    uint64_t key, value;
    Entry* next;
  };

  // ---- Constructors: the memory of a block holds whatever it was used for before.

  static void setFunction(Map* map) {
    map->seed = kSeed;            // @LOST 4, @LOST 5
    map->a = mix(kSeed) | 1;      // @LOST 4, @LOST 5
    map->b = mix(kSeed + 1) | 1;  // @LOST 4, @LOST 5
  }

  static void constructMap(void* block, void*) {
    auto* map = static_cast<Map*>(block);
#if BUG == 4 || BUG == 5
    map->seed = map->a = map->b = 0;
#else
    setFunction(map);
#endif
    map->chains = nullptr;  // @LOST 1
    map->grown = nullptr;   // @LOST 1
#if BUG != 3
    map->count = 0;  // @LOST 1, @LOST 2
#endif
    map->dirty = 0;  // @LOST 1
#if BUG == 1
    // RACE, a constructor without persist: the pool leads to a map of which nothing is sure.
#elif BUG == 2
    // RACE, persisted in part: the first line of the map, and the flag, but not the count.
    pm_flush(map, offsetof(Map, count));
    pm_persist(&map->dirty, sizeof map->dirty);
#elif BUG == 3
    pm_flush(map, offsetof(Map, count));
    pm_persist(&map->dirty, sizeof map->dirty);
#else
    pm_persist(map, sizeof *map);
#endif
  }

  static void constructChains(void* block, void* size) {
    auto* chains = static_cast<Chains*>(block);
    chains->size = *static_cast<uint64_t*>(size);                           // @LOST 6
    for (uint64_t i = 0; i < chains->size; ++i) chains->head[i] = nullptr;  // @LOST 6
#if BUG == 6
    // RACE, a constructor without persist: the heads of the chains are not sure to be empty.
#else
    pm_persist(chains, Chains::bytes(chains->size));
#endif
  }

  static void setWords(Entry* entry, uint64_t value) {
    for (unsigned i = 0; i < kWords; ++i) entry->word[i] = wordOf(value, i);  // @LOST 7, @LOST 9, @LOST 10
  }

  static void constructEntry(void* block, void* argument) {
    auto* entry = static_cast<Entry*>(block);
    auto* fresh = static_cast<New*>(argument);
    entry->key = fresh->key;  // @LOST 7
    setWords(entry, fresh->value);
#if BUG == 8
    // RACE, persisted too early: the link to the rest of the chain comes after the flush.
    pm_persist(entry, sizeof *entry);
    PM_PUBLISH(entry->next, fresh->next);  // @LOST 8
#else
    entry->next = fresh->next;  // @LOST 7
#endif
#if BUG == 7
    // RACE, a constructor without persist: the chain leads to an entry of which nothing is sure.
#elif BUG == 9
    // RACE, persisted in part: the size of a pointer, and not of the entry. The second line may be lost.
    pm_persist(entry, sizeof entry);
#elif BUG != 8
    pm_persist(entry, sizeof *entry);
#endif
  }

  // ---- What a restart may have to do too.

  void create() {
    useMemory();
    tx_alloc_atomic(&pool_->root, sizeof(Map), constructMap, nullptr);
#if BUG == 3
    // RACE, after the publication: a crash leaves a map whose count was never written, and is read.
    auto* map = static_cast<Map*>(pool_->root);
    map->count = 0;  // @LOST 3
    pm_persist(&map->count, sizeof map->count);
#elif BUG == 4
    // RACE, after the publication: the hash function of a map that is there already.
    setFunction(static_cast<Map*>(pool_->root));
    pm_persist(pool_->root, offsetof(Map, count));
#elif BUG == 5
    // RACE, after the publication and not flushed: seed and coefficients are lost if nothing else of their line is
    // flushed.
    setFunction(static_cast<Map*>(pool_->root));
#endif
  }

  // The pool has served other ends before: its memory is not zeros.
  static void useMemory() {
    constexpr size_t kUsed = 24 * PM_LINE;
    tx_begin();
    void* block = tx_alloc(kUsed);
    memset(block, 0x5a, kUsed);
    tx_free(block, kUsed);
    tx_commit();
  }

  void makeChains() {
    uint64_t size = kFirstChains;
    tx_alloc_atomic(reinterpret_cast<void**>(&map_->chains), Chains::bytes(size), constructChains, &size);
  }

  void countAgain() {
    uint64_t count = 0;
    for (uint64_t i = 0; i < map_->chains->size; ++i)
      for (const Entry* entry = map_->chains->head[i]; entry; entry = entry->next) ++count;
    map_->count = count;  // @LOST 13
#if BUG == 13
    // SEM, wrong order: the restart clears the flag before the count is durable. Shows with a crash in the restart.
    clearDirty();
#endif
    pm_persist(&map_->count, sizeof map_->count);
#if BUG != 13
    clearDirty();
#endif
  }

  // Every entry goes to the other array, by three stores at once; then that array takes the place of the old one.
  void grow() {
    Chains* from = map_->chains;
    Chains* to = map_->grown;
    if (from != to) {
      for (uint64_t i = 0; i < from->size; ++i)
        while (Entry* entry = from->head[i]) {
          Entry** head = &to->head[indexOf(entry->key, to->size)];
          ++reached.moves;
#if BUG == 11
          // RACE, not atomic: the three stores one after the other. After a crash an entry leads into both arrays.
          Entry* next = entry->next;
          PM_PUBLISH(entry->next, *head);  // @LOST 11
          pm_persist(&entry->next, sizeof entry->next);
          PM_PUBLISH(*head, entry);  // @LOST 11
          pm_persist(head, sizeof *head);
          PM_PUBLISH(from->head[i], next);  // @LOST 11
          pm_persist(&from->head[i], sizeof from->head[i]);
#else
          tx_redo_set(reinterpret_cast<uint64_t*>(&from->head[i]), reinterpret_cast<uint64_t>(entry->next));
          tx_redo_set(reinterpret_cast<uint64_t*>(&entry->next), reinterpret_cast<uint64_t>(*head));
          tx_redo_set(reinterpret_cast<uint64_t*>(head), reinterpret_cast<uint64_t>(entry));
          tx_redo_commit();
#endif
        }
      tx_free_atomic(reinterpret_cast<void**>(&map_->chains), Chains::bytes(from->size), to);
    }
    map_->grown = nullptr;
    pm_persist(&map_->grown, sizeof map_->grown);
  }

  // ---- Count and flag.

  void setDirty() {
    PM_PUBLISH(map_->dirty, uint64_t{1});  // @LOST 17, @LOST 19
    pm_persist(&map_->dirty, sizeof map_->dirty);
  }

  void clearDirty() {
    PM_PUBLISH(map_->dirty, uint64_t{0});  // @LOST 16, @LOST 19
    pm_persist(&map_->dirty, sizeof map_->dirty);
  }

  void addToCount(int64_t difference) {
    PM_PUBLISH(map_->count, map_->count + uint64_t(difference));  // @LOST 16, @LOST 18, @LOST 20
    pm_persist(&map_->count, sizeof map_->count);
  }

  uint64_t indexOf(uint64_t key, uint64_t size) const { return (map_->a * key + map_->b) >> 32 & (size - 1); }
  Entry** chainOf(uint64_t key) const { return &map_->chains->head[indexOf(key, map_->chains->size)]; }

  tx_pool* pool_ = nullptr;
  Map* map_ = nullptr;
};

// See stepsOf().
constexpr int kSteps[] = {6, 8, 2, 9, 2, 12, -9, -12};

}  // namespace

int main(int argc, char** argv) {
  if (argc < 2) pm_die("usage: atomic_hash POOL [OPERATIONS]");
  const std::vector<Step> steps = stepsOf(kSteps, argc > 2 ? std::strtoull(argv[2], nullptr, 10) : std::size(kSteps));
  Hash hash;
  auto setup = [&] { hash.open(argv[1]); };
  auto operations = [&] {
    runSteps(steps, hash);
    if (steps.size() >= std::size(kSteps))
      pm_expect(reached.firsts && reached.chained && reached.updates && reached.headRemoves && reached.laterRemoves &&
                    reached.growths && reached.moves,
                "the workload reaches everything");
  };
  auto recover = [&] { hash.open(argv[1]); };
  auto verify = [&] {
    const Contents found = hash.contents();
    for (const auto& [key, value] : found) {
      const Entry* got = hash.get(key);
      pm_expect(got && Hash::isWhole(got, value), "get finds every key");
    }
    expectStepsDone(steps, found);
  };
  return blackout_test(setup, operations, recover, verify);
}
