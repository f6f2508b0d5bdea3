// A persistent extendible hash table, after CCEH (FAST'19).
//
//   extendible POOL [OPERATIONS]
//
// The first bits of a hash, as many as the directory's depth, choose an entry of the directory; the last bits choose
// where to begin in the segment that the entry leads to. A key is in one of the kProbes slots from there on.
// A segment of depth L owns the 2^(depth - L) neighbouring entries that agree in their first L bits.
//
// Where no slot is left the segment is split: a second one of depth L + 1 gets a copy of the keys of the upper half,
// then the upper half of the directory entries lead to it, and only then the first one's depth is raised, from when on
// what it still holds of the upper half counts as free. A segment of the directory's own depth makes the directory
// double first: a new one is made aside and one pointer is swapped.
//
// A crash inside a split leaves entries of the upper half that lead elsewhere though the first segment's depth says
// that all are its own: recovery finishes the split. A slot that was being written is marked kBusy: recovery
// frees it.
//
// BUG=1..9 each bring in one mistake.
#include "steps.hpp"

namespace {

constexpr uint64_t kMagic = 0x6865656363;
constexpr size_t kPoolSize = size_t{1} << 20;
constexpr unsigned kSlots = 8;   // of a segment: two lines
constexpr unsigned kProbes = 3;  // so that a search may move on to the other line
constexpr uint64_t kFree = ~uint64_t{0};
constexpr uint64_t kBusy = ~uint64_t{1};  // "another thread is writing here"

uint64_t hashOf(uint64_t key) {
  key = (key ^ key >> 33) * 0xff51afd7ed558ccd;
  key = (key ^ key >> 33) * 0xc4ceb9fe1a85ec53;
  return key ^ key >> 33;
}

// The first `bits` bits of a hash.
uint64_t prefixOf(uint64_t hash, uint64_t bits) { return bits == 0 ? 0 : hash >> (64 - bits); }

struct Slot {
  uint64_t key;
  uint64_t value;
};

struct alignas(PM_LINE) Segment {
  uint64_t depth;
  alignas(PM_LINE) Slot slot[kSlots];

  Slot* probe(uint64_t hash, unsigned n) { return &slot[(hash + n) % kSlots]; }
};

struct alignas(PM_LINE) Directory {
  Segment** entries;
  uint64_t depth;  // log2 of their number

  uint64_t count() const { return uint64_t{1} << depth; }
};

struct Root {
  uint64_t magic;  // written last
  char* top;       // of the allocator
  alignas(PM_LINE) Directory* directory;
};

// What the workload has reached; volatile memory.
struct {
  unsigned updates, removes, otherLine, reuses, doublings, severalLed;
} reached;

class Extendible {
 public:
  void create(const char* path) {
    map(path);
    if (root_->magic == kMagic) pm_die("the pool holds a table already: remove it first");
    format();
  }

  void open(const char* path) {
    map(path);
    if (root_->magic == kMagic)
      recover();
    else
      format();
  }

  void put(uint64_t key, uint64_t value) {
    const uint64_t hash = hashOf(key);
    for (;;) {
      Segment* segment = segmentOf(hash);
      Slot* free = nullptr;
      for (unsigned n = 0; n < kProbes; ++n) {
        Slot* slot = segment->probe(hash, n);
        const uint64_t there = keyOf(slot);
        if (there == key) {
          ++reached.updates;
          PM_PUBLISH(slot->value, value);
          pm_persist(&slot->value, sizeof slot->value);
          return;
        }
        const bool stale = there != kFree && prefixOf(hashOf(there), segment->depth) != prefixOf(hash, segment->depth);
        if (!free && (there == kFree || stale)) {
          free = slot;
          reached.reuses += stale;
          reached.otherLine += lineOf(slot) != lineOf(segment->probe(hash, 0));
        }
      }
      if (free) return fill(segment, free, hash, key, value);
      split(hash);
    }
  }

  void remove(uint64_t key) {
    if (Slot* slot = find(key)) {
      ++reached.removes;
      PM_PUBLISH(slot->key, kFree);
      pm_persist(&slot->key, sizeof slot->key);
    }
  }

  const uint64_t* get(uint64_t key) const {
    const Slot* slot = find(key);
    return slot ? &slot->value : nullptr;
  }

  // Walks everything, checks that it is a table, and returns what is in it.
  Contents contents() const {
    Contents found;
    const Directory* directory = root_->directory;
    expectAllocated(directory, sizeof *directory);
    expectAllocated(directory->entries, directory->count() * sizeof(Segment*));
    const Segment* before = nullptr;
    for (uint64_t first = 0; first < directory->count();) {
      Segment* segment = directory->entries[first];
      expectAllocated(segment, sizeof *segment);
      pm_expect(segment != before, "every segment stands in the directory once");
      pm_expect(segment->depth <= directory->depth, "no segment is deeper than the directory");
      const uint64_t owned = uint64_t{1} << (directory->depth - segment->depth);
      pm_expect(first % owned == 0, "a segment owns all entries with its prefix");
      for (uint64_t i = first; i < first + owned; ++i)
        pm_expect(directory->entries[i] == segment, "all entries that a segment owns lead to it");
      for (unsigned s = 0; s < kSlots; ++s) {
        const uint64_t key = keyOf(&segment->slot[s]);
        if (key == kFree || prefixOf(hashOf(key), segment->depth) != first / owned) continue;
        pm_expect((s - hashOf(key)) % kSlots < kProbes, "every key is where a search finds it");
        pm_expect(found.emplace(key, segment->slot[s].value).second, "no key is there twice");
      }
      before = segment;
      first += owned;
    }
    return found;
  }

 private:
  static uintptr_t lineOf(const void* address) { return reinterpret_cast<uintptr_t>(address) / PM_LINE; }

  void map(const char* path) {
    pool_ = static_cast<char*>(pm_map(path, kPoolSize));
    root_ = reinterpret_cast<Root*>(pool_);
  }

  template <class T>
  T* allocate(uint64_t count = 1) {
    return static_cast<T*>(pm_bump(&root_->top, pool_ + kPoolSize, count * sizeof(T)));
  }

  void format() {
    root_->top = pool_ + sizeof(Root);
    Segment* segment = newSegment(0);
#if BUG == 1
    // ID, missing flush: the constructor leaves the first segment to the caches. After a crash its slots are not marked
    // free: there seems to be a key 0.
#else
    pm_persist(segment, sizeof *segment);
#endif
    Segment** entries = allocate<Segment*>();
    entries[0] = segment;  // @LOST 2
#if BUG == 2
    // ID, missing flush: the constructor leaves the directory's array to the caches. After a crash it leads nowhere.
#else
    pm_persist(entries, sizeof *entries);
#endif
    root_->directory = newDirectory(entries, 0);
    pm_persist(&root_->directory, sizeof root_->directory);
    PM_PUBLISH(root_->magic, kMagic);
    pm_persist(&root_->magic, sizeof root_->magic);
  }

  // Not flushed yet.
  Segment* newSegment(uint64_t depth) {
    auto* segment = allocate<Segment>();
    segment->depth = depth;                             // @LOST 8
    for (Slot& slot : segment->slot) slot.key = kFree;  // @LOST 1
    return segment;
  }

  Directory* newDirectory(Segment** entries, uint64_t depth) {
    auto* directory = allocate<Directory>();
    directory->entries = entries;
    directory->depth = depth;
    pm_persist(directory, sizeof *directory);
    return directory;
  }

  Segment* segmentOf(uint64_t hash) const { return root_->directory->entries[prefixOf(hash, root_->directory->depth)]; }

  // Waits for the thread that is writing the slot.
  static uint64_t keyOf(const Slot* slot) {
    uint64_t key;
    do key = __atomic_load_n(&slot->key, __ATOMIC_ACQUIRE);
    while (key == kBusy);
    return key;
  }

  Slot* find(uint64_t key) const {
    const uint64_t hash = hashOf(key);
    Segment* segment = segmentOf(hash);
    for (unsigned n = 0; n < kProbes; ++n)
      if (keyOf(segment->probe(hash, n)) == key) return segment->probe(hash, n);
    return nullptr;
  }

  // All stores are to one line, so they reach memory in their order.
  static void fill(Segment* segment, Slot* slot, uint64_t hash, uint64_t key, uint64_t value) {
    PM_PUBLISH(slot->key, kBusy);  // @LOST 5
    PM_PUBLISH(slot->value, value);
    PM_PUBLISH(slot->key, key);  // @LOST 4 @LOST 5
#if BUG == 4
    // ID, missing flush: flushes the slot where the search began, which is in another line if it has moved on.
    pm_persist(segment->probe(hash, 0), sizeof *slot);
#else
    (void)segment, (void)hash;
    pm_persist(slot, sizeof *slot);
#endif
  }

  void split(uint64_t hash) {
    const Directory* directory = root_->directory;
    Segment* lower = segmentOf(hash);
    const uint64_t owned = uint64_t{1} << (directory->depth - lower->depth);
    const uint64_t first = prefixOf(hash, lower->depth) * owned;

    Segment* upper = newSegment(lower->depth + 1);
    for (unsigned s = 0; s < kSlots; ++s) {
      const Slot& slot = lower->slot[s];
      const bool belongs =
          slot.key != kFree && prefixOf(hashOf(slot.key), lower->depth) == prefixOf(hash, lower->depth);
      if (belongs && prefixOf(hashOf(slot.key), upper->depth) & 1) upper->slot[s] = slot;  // @LOST 8
    }
#if BUG == 8
    // ID, missing fence: the write-back of the new segment has only begun when the directory leads to it.
    pm_flush(upper, sizeof *upper);
#else
    pm_persist(upper, sizeof *upper);
#endif
#if BUG == 3
    // UD, wrong order: the depth is raised while the upper half still leads to the first segment. After a crash in
    // between both halves own it, and each takes the other's keys for free slots.
    PM_PUBLISH(lower->depth, lower->depth + 1);  // @LOST 3
    pm_persist(&lower->depth, sizeof lower->depth);
#endif
    if (owned == 1) {
      doubleDirectory(first, upper);
    } else {
      reached.severalLed += owned > 2;
      lead(directory->entries + first + owned / 2, owned / 2, upper);
    }
#if BUG != 3
    raise(lower);
#endif
  }

  // Makes these directory entries lead to the segment.
  static void lead(Segment** entries, uint64_t count, Segment* segment) {
    for (uint64_t i = 0; i < count; ++i) PM_PUBLISH(entries[i], segment);
    pm_persist(entries, count * sizeof *entries);
  }

  static void raise(Segment* segment) {
    PM_PUBLISH(segment->depth, segment->depth + 1);  // @LOST 9
    pm_persist(&segment->depth, sizeof segment->depth);
  }

  // Twice as many entries, of which the second one made of `split` leads to `upper` at once.
  void doubleDirectory(uint64_t split, Segment* upper) {
    ++reached.doublings;
    Directory* old = root_->directory;
    const uint64_t count = 2 * old->count();
    Segment** entries = allocate<Segment*>(count);
    for (uint64_t i = 0; i < count; ++i) entries[i] = i == 2 * split + 1 ? upper : old->entries[i / 2];  // @LOST 6
#if BUG == 6
    // ID, missing flush: flushes the old array, not the new one.
    pm_persist(old->entries, old->count() * sizeof *old->entries);
#else
    pm_persist(entries, count * sizeof *entries);
#endif
#if BUG == 7
    // ATOM: pointer and depth are updated one by one, in place. After a crash in between the new array is indexed with
    // the old depth.
    old->entries = entries;  // @LOST 7
    pm_persist(&old->entries, sizeof old->entries);
    old->depth = old->depth + 1;
    pm_persist(&old->depth, sizeof old->depth);
#else
    Directory* fresh = newDirectory(entries, old->depth + 1);
    PM_PUBLISH(root_->directory, fresh);
    pm_persist(&root_->directory, sizeof root_->directory);
#endif
  }

  // May be cut short by another crash at any moment: what is done is not found undone the next time.
  void recover() {
    const Directory* directory = root_->directory;
    for (uint64_t first = 0; first < directory->count();) {
      Segment* lower = directory->entries[first];
      pm_expect(lower->depth <= directory->depth, "no segment is deeper than the directory");
      const uint64_t owned = uint64_t{1} << (directory->depth - lower->depth);
      Segment* upper = nullptr;
      uint64_t led = 0;
      for (uint64_t i = first + owned / 2; i < first + owned; ++i)
        if (directory->entries[i] != lower) {
          upper = directory->entries[i];
          ++led;
        }
      if (upper) {
#if BUG == 9
        // UD, wrong order: recovery itself raises the depth too early. Only a second crash, in between, shows it.
        raise(lower);
#endif
        if (led < owned / 2) lead(directory->entries + first + owned / 2, owned / 2, upper);
#if BUG != 9
        raise(lower);
#endif
      }
      first += upper ? owned / 2 : owned;
#if BUG == 5
      // UD, not atomic: slots that were being written stay marked. The first search that meets one waits for ever.
#else
      for (Slot& slot : lower->slot)
        if (slot.key == kBusy) {
          PM_PUBLISH(slot.key, kFree);
          pm_persist(&slot.key, sizeof slot.key);
        }
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

// In every twelve: ten new keys, an update, a remove. All searches begin at the last slot of a segment's first line, so
// that three keys fill a segment and two of them are in its second line.
std::vector<Step> workload(uint64_t operations) {
  std::vector<Step> steps;
  std::vector<uint64_t> keys;
  uint64_t key = 300;  // from here on a dozen operations reach everything
  for (uint64_t i = 0; i < operations; ++i) {
    if (i % 12 == 5) {
      steps.push_back({Step::Put, keys[i / 12 * 10], 1000 + i});
    } else if (i % 12 == 11) {
      steps.push_back({Step::Remove, keys[i / 12 * 10 + 1], 0});
    } else {
      do ++key;
      while (hashOf(key) % kSlots != 3);
      keys.push_back(key);
      steps.push_back({Step::Put, key, 1000 + i});
    }
  }
  return steps;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 2) pm_die("usage: extendible POOL [OPERATIONS]");
  const std::vector<Step> steps = workload(argc > 2 ? std::strtoull(argv[2], nullptr, 10) : 12);
  Extendible table;
  auto setup = [&] { table.create(argv[1]); };
  auto operations = [&] {
    runSteps(steps, table);
    if (steps.size() >= 12)
      pm_expect(reached.updates && reached.removes && reached.otherLine && reached.reuses && reached.doublings &&
                    reached.severalLed,
                "the workload reaches everything");
  };
  auto recover = [&] { table.open(argv[1]); };
  auto verify = [&] {
    const Contents found = table.contents();
    for (const auto& [key, value] : found) {
      const uint64_t* got = table.get(key);
      pm_expect(got && *got == value, "get finds every key");
    }
    expectStepsDone(steps, found);
  };
  return blackout_test(setup, operations, recover, verify);
}
