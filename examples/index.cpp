// A persistent hash map in a mapped file, as small as it can be and still crash-consistent: the
// program that `make demo` checks.
//
//   index POOL [KEYS]     puts KEYS keys (60), one after the other, from where an earlier run was interrupted
//
// A bucket is one line of 64 bytes with three entries; what doesn't fit goes to a chain of overflow
// buckets. Entries and buckets become visible by one 8-byte store each, made after what they
// lead to is durable, so a crash at any moment leaves a map with a prefix of the puts.
//
// AS_FIRST_WRITTEN=1 brings back three mistakes of the first version, one of them serious. All of them
// pass every test that doesn't pull the plug.
#include <fcntl.h>
#include <immintrin.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>

#ifndef AS_FIRST_WRITTEN
#define AS_FIRST_WRITTEN 0
#endif

constexpr uint64_t kMagic = 0x7865646e49;
constexpr unsigned kBuckets = 16;
constexpr unsigned kOverflow = 64;
constexpr unsigned kEntries = 3;

struct alignas(64) Bucket {
  uint64_t keys[kEntries];  // 0: free
  uint64_t values[kEntries];
  uint64_t next;  // number of the overflow bucket that follows, from 1; 0: none
};

struct alignas(64) Header {
  uint64_t magic;
  uint64_t used;  // overflow buckets handed out
};

struct Pool {
  Header header;
  Bucket buckets[kBuckets];
  Bucket overflow[kOverflow];
};

static void flush(const void* p) {
#ifdef __CLWB__
  _mm_clwb(const_cast<void*>(p));
#else
  _mm_clflushopt(const_cast<void*>(p));
#endif
}

static void fence() { _mm_sfence(); }

// The line of p is durable when it returns.
static void persist(const void* p) {
  flush(p);
  fence();
}

class Index {
 public:
  explicit Index(Pool* pool) : pool_(pool) {
    if (pool_->header.magic == kMagic) return;
    // A new file is all zeros, which is an empty map.
    pool_->header.magic = kMagic;
    persist(&pool_->header);
  }

  void put(uint64_t key, uint64_t value) {
#if AS_FIRST_WRITTEN
    fence();  // "to be sure": what was put before is durable already
#endif
    Bucket* bucket = &pool_->buckets[hash(key) % kBuckets];
    for (;; bucket = &pool_->overflow[bucket->next - 1]) {
      for (unsigned i = 0; i < kEntries; ++i) {
        if (bucket->keys[i] != 0 && bucket->keys[i] != key) continue;
        // The value first: stores to one line reach memory in their order, so one flush will do.
        bucket->values[i] = value;
        bucket->keys[i] = key;
        persist(bucket);
        return;
      }
      if (bucket->next == 0) break;
    }
    append(bucket, key, value);
  }

  const uint64_t* get(uint64_t key) const {
    const Bucket* bucket = &pool_->buckets[hash(key) % kBuckets];
    for (;; bucket = &pool_->overflow[bucket->next - 1]) {
      for (unsigned i = 0; i < kEntries; ++i)
        if (bucket->keys[i] == key) return &bucket->values[i];
      if (bucket->next == 0) return nullptr;
    }
  }

 private:
  static uint64_t hash(uint64_t key) { return key * 0x9e3779b97f4a7c15 >> 32; }

  // A new overflow bucket with this entry at the end of the chain.
  void append(Bucket* last, uint64_t key, uint64_t value) {
    const uint64_t number = pool_->header.used + 1;
    if (number > kOverflow) {
      std::fprintf(stderr, "index: the pool is full\n");
      std::exit(1);
    }
    pool_->header.used = number;
    persist(&pool_->header);  // a crash after this leaks a bucket, nothing worse

    Bucket* fresh = &pool_->overflow[number - 1];
    fresh->values[0] = value;
    fresh->keys[0] = key;
#if AS_FIRST_WRITTEN
    persist(last);  // the wrong bucket: a clean line is flushed, and the new one is not
#else
    persist(fresh);
#endif
    last->next = number;
    persist(last);
  }

  Pool* pool_;
};

int main(int argc, char** argv) {
  if (argc < 2) {
    std::fprintf(stderr, "usage: index POOL [KEYS]\n");
    return 2;
  }
  const int file = open(argv[1], O_RDWR | O_CREAT, 0644);
  if (file < 0 || ftruncate(file, sizeof(Pool)) != 0) {
    std::perror(argv[1]);
    return 1;
  }
  void* memory = mmap(nullptr, sizeof(Pool), PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  close(file);
  if (memory == MAP_FAILED) {
    std::perror("mmap");
    return 1;
  }
  Index index(static_cast<Pool*>(memory));
  const uint64_t keys = argc > 2 ? std::strtoull(argv[2], nullptr, 10) : 60;
  // What an earlier run has put is there, up to where it was interrupted.
  uint64_t done = 0;
  while (done < keys && index.get(done + 1)) ++done;
  for (uint64_t key = 1; key <= keys; ++key) {
    const uint64_t* value = index.get(key);
    if (key <= done ? *value != key * key : value != nullptr) {
      std::printf("key %lu is lost or wrong\n", static_cast<unsigned long>(key <= done ? key : done + 1));
      return 1;
    }
  }
  for (uint64_t key = done + 1; key <= keys; ++key) index.put(key, key * key);
  std::printf("%lu keys, %lu of them from before\n", static_cast<unsigned long>(keys),
              static_cast<unsigned long>(done));
  return 0;
}
