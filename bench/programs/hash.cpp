// An insert-heavy persistent hash table: buckets of one line with three entries and linear probing
// over buckets; an entry is one flush and one fence.
//
//   hash POOL [INSERTS]
#include "measure.h"

namespace {

using measure::fence;
using measure::flush;

constexpr unsigned kEntries = 3;

struct alignas(64) Bucket {
  uint64_t values[kEntries];
  uint64_t keys[kEntries];  // 0: free
  uint64_t count;
};

class Table {
 public:
  Table(Bucket* buckets, uint64_t size) : buckets_(buckets), mask_(size - 1) {}

  void insert(uint64_t key, uint64_t value) {
    for (uint64_t b = hash(key);; ++b) {
      Bucket& bucket = buckets_[b & mask_];
      for (unsigned i = 0; i < kEntries; ++i) {
        if (bucket.keys[i] != 0) continue;
        // One line: its stores reach memory in order, and the key makes the entry valid.
        bucket.values[i] = value;
        bucket.keys[i] = key;
        bucket.count += 1;
        flush(&bucket);
        fence();
        return;
      }
    }
  }

  uint64_t find(uint64_t key) const {
    for (uint64_t b = hash(key);; ++b) {
      const Bucket& bucket = buckets_[b & mask_];
      for (unsigned i = 0; i < kEntries; ++i) {
        if (bucket.keys[i] == key) return bucket.values[i];
        if (bucket.keys[i] == 0) return 0;
      }
    }
  }

 private:
  static uint64_t hash(uint64_t key) { return key * 0x9e3779b97f4a7c15 >> 20; }

  Bucket* buckets_;
  uint64_t mask_;
};

}  // namespace

int main(int argc, char** argv) {
  if (argc < 2) return 2;
  const uint64_t inserts = argc > 2 ? std::strtoull(argv[2], nullptr, 10) : 1'000'000;
  uint64_t buckets = 1;
  while (buckets * kEntries < inserts * 3 / 2) buckets *= 2;
  Table table(static_cast<Bucket*>(measure::mapPool(argv[1], buckets * sizeof(Bucket))), buckets);
  measure::perOperation(inserts, [&] {
    measure::Random random{1};
    for (uint64_t i = 1; i <= inserts; ++i) table.insert(random() | 1, i);
  });
  measure::Random random{1};
  for (uint64_t i = 1; i <= inserts; ++i)
    if (table.find(random() | 1) != i) return 1;
  return 0;
}
