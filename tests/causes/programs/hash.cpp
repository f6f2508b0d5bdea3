// A hash table with overflow buckets, in C++. A bucket is one line. A key is stored after its value; a new bucket is
// durable before the full one leads to it. The number of keys is counted again at every start. A restart prints the
// table, which must be that before a put or that after it, and expects of each bucket that it is one.
#include "blackout/harness.hpp"
#include "pm.h"

static constexpr uint64_t kMagic = 0x68736168;
static constexpr uint64_t kBucket = 0x74656b637562;

struct alignas(PM_LINE) Bucket {
  volatile uint64_t kind;  // kBucket
  volatile uint64_t values[3];
  volatile uint64_t keys[3];   // 0: none
  volatile uint64_t overflow;  // from 1
};

struct Table {
  volatile uint64_t magic;  // written last
  alignas(PM_LINE) volatile uint64_t size;
  alignas(PM_LINE) volatile uint64_t given;  // overflow buckets
  Bucket first[2];
  Bucket overflow[4];
};

class Map {
 public:
  void create(const char* path) {
    table_ = static_cast<Table*>(pm_map(path, sizeof(Table)));
    for (Bucket& bucket : table_->first) bucket.kind = kBucket;
    pm_persist(table_->first, sizeof table_->first);
    table_->magic = kMagic;
    persist(table_->magic);
  }

  bool open(const char* path) {
    table_ = static_cast<Table*>(pm_map(path, sizeof(Table)));
    if (table_->magic != kMagic) return false;
#if BUG != 3
    uint64_t size = 0;
    for (const Bucket& first : table_->first)
      for (const Bucket* bucket = &first; bucket; bucket = next(*bucket))
        for (int i = 0; i < 3; ++i) size += bucket->keys[i] != 0;
    table_->size = size;
    persist(table_->size);
#endif
    return true;
  }

  void put(uint64_t key, uint64_t value) {
    blackout::Operation op("put", key);
    Bucket* bucket = &table_->first[key % 2];
    while (Bucket* more = next(*bucket)) bucket = more;
    int i = 0;
    while (i < 3 && bucket->keys[i]) ++i;
    if (i < 3) {
      bucket->values[i] = value;
      bucket->keys[i] = key;  // (update 3)
      persist(*bucket);
    } else {
      append(bucket, key, value);
    }
    table_->size = table_->size + 1;  // (update 3)
    persist(table_->size);
  }

  void print() const {
    printf("%lu keys\n", table_->size);
    for (const Bucket& first : table_->first)
      for (const Bucket* bucket = &first; bucket; bucket = next(*bucket)) {
        pm_expect(bucket->kind == kBucket, "what is linked is a bucket");
        for (int i = 0; i < 3; ++i)
          if (bucket->keys[i]) printf("%lu: %lu\n", bucket->keys[i], bucket->values[i]);
      }
  }

 private:
  template <class T>
  static void persist(const T& what) {
    pm_persist(const_cast<const void*>(static_cast<const volatile void*>(&what)), sizeof what);
  }

  Bucket* next(const Bucket& bucket) const {
    return bucket.overflow ? &table_->overflow[bucket.overflow - 1] : nullptr;
  }

  void append(Bucket* full, uint64_t key, uint64_t value) {
    const uint64_t number = table_->given + 1;
    table_->given = number;
    persist(table_->given);
    Bucket* fresh = &table_->overflow[number - 1];
#if BUG == 1
    full->overflow = number;  // (relies 1)
    persist(*full);
#endif
    fresh->kind = kBucket;     // (lost 1, 2)
    fresh->values[0] = value;  // (lost 2)
    fresh->keys[0] = key;      // (lost 2)
#if BUG == 2
    persist(*full);
#else
    persist(*fresh);
#endif
#if BUG != 1
    full->overflow = number;  // (relies 2)
    persist(*full);
#endif
  }

  Table* table_ = nullptr;
};

int main(int argc, char** argv) {
  if (argc < 2) pm_die("usage: hash POOL");
  Map map;
  return blackout_test([&] { map.create(argv[1]); },
                       [&] {
                         for (uint64_t key = 1; key <= 8; ++key) map.put(key, 100 + key);
                       },
                       [&] { return map.open(argv[1]); }, [&] { map.print(); });
}
