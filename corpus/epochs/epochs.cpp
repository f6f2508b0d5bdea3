// Lists of what can be freed after an epoch has passed: an array of arrays of a fixed size, each with its count (as the
// deletion lists of P-ART's epochs).
//
//   epochs POOL [OPERATIONS]
//
// An entry is durable before the count of its array says that it is there. Full arrays are followed by others. What has
// gone through each array is also in a filter of bits beside it, with a count of its own: that is in volatile memory,
// made anew whenever somebody asks, and no crash can harm it.
//
// BUG=1..3 each bring in one mistake.
#include <vector>

#include "blackout/harness.hpp"
#include "pm.h"

namespace {

constexpr uint64_t kMagic = 0x65706f6368;
constexpr size_t kPoolSize = size_t{1} << 16;
constexpr uint64_t kEntries = 3;
constexpr uint64_t kArrays = 4;

struct Entry {
  uint64_t object;
  uint64_t check;  // the object's, so that an entry that is not there is told from one that is
};

struct alignas(PM_LINE) Array {
  uint64_t count;
  alignas(PM_LINE) Entry entries[kEntries];
};

struct Pool {
  uint64_t magic;  // written last
  Array arrays[kArrays];
};

// Volatile: which objects are in an array, perhaps, and how many bits are set.
struct Filter {
  uint64_t count = 0;
  uint64_t bits[8] = {};

  void add(uint64_t object) {
    bits[count] = object % 61;
    count++;
  }
  bool mayHave(uint64_t object) const {
    for (uint64_t i = 0; i < count; ++i)
      if (bits[i] == object % 61) return true;
    return false;
  }
};

Pool* pool;

void open(const char* path) {
  pool = static_cast<Pool*>(pm_map(path, kPoolSize));
  if (pool->magic == kMagic) return;
  // A pool is made again only if it has nothing but zeros.
  PM_PUBLISH(pool->magic, kMagic);
  pm_persist(&pool->magic, sizeof pool->magic);
}

void add(Array& array, uint64_t object) {
#if BUG == 1
  // ATOM, counted before it is there: after a crash in between the list has an entry of nothing.
  PM_PUBLISH(array.count, array.count + 1);
  pm_persist(&array.count, sizeof array.count);
  Entry& entry = array.entries[array.count - 1];
#else
  Entry& entry = array.entries[array.count];
#endif
  entry.object = object;  // @LOST 1, @LOST 3
  entry.check = ~object;  // @LOST 1, @LOST 3
#if BUG != 3
  // BUG 3: ATOM, the entry is left to the cache: it may come after its count, or never.
  pm_persist(&entry, sizeof entry);
#endif
#if BUG != 1
  PM_PUBLISH(array.count, array.count + 1);  // @LOST 2
#if BUG != 2
  // BUG 2: ATOM, the count is left to the cache: entries of operations that have ended are not counted.
  pm_persist(&array.count, sizeof array.count);
#endif
#endif
}

void addAnywhere(uint64_t object) {
  for (Array& array : pool->arrays)
    if (array.count < kEntries) return add(array, object);
  pm_die("the lists are full");
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 2) pm_die("usage: epochs POOL [OPERATIONS]");
  const uint64_t operations = argc > 2 ? std::strtoull(argv[2], nullptr, 10) : 5;
  auto setup = [&] { open(argv[1]); };
  auto run = [&] {
    for (uint64_t i = 0; i < operations; ++i) {
      blackout::Operation operation("add", i + 1);
      addAnywhere(i + 1);
    }
  };
  auto verify = [&] {
    std::vector<uint64_t> found;
    for (const Array& array : pool->arrays) {
      pm_expect(array.count <= kEntries, "a list is not longer than its array");
      Filter filter;
      for (uint64_t i = 0; i < array.count; ++i) {
        pm_expect(array.entries[i].check == ~array.entries[i].object, "every entry that is counted is there");
        filter.add(array.entries[i].object);
      }
      for (uint64_t i = 0; i < array.count; ++i)
        pm_expect(filter.mayHave(array.entries[i].object), "the filter knows what was added");
      for (uint64_t i = 0; i < array.count; ++i) found.push_back(array.entries[i].object);
    }
    for (uint64_t i = 0; i < found.size(); ++i) pm_expect(found[i] == i + 1, "entries are in order");
    pm_expect(pm_done(found.size(), operations), "every entry that was added is there, and no other");
  };
  return blackout_test(setup, run, setup, verify);
}
