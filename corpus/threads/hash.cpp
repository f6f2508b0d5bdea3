// A hash table with a lock per bucket for those who change it and none for those who read (as P-CLHT): a bucket is one
// line of three entries, and further ones hang behind it. An entry's value is durable before its key appears. Locks are
// in ordinary memory.
//
// BUG=1..4 each bring in one mistake; 1 to 3 need two threads to show.
#include <atomic>
#include <blackout/lin.hpp>
#include <mutex>

#include "pm.h"

namespace {

constexpr std::size_t kPoolSize = std::size_t{1} << 20;
constexpr std::uint64_t kMagic = 0x7468726561646564;
constexpr unsigned kBuckets = 4, kEntries = 3;

struct alignas(PM_LINE) Bucket {
  std::atomic<std::uint64_t> key[kEntries];  // 0: free
  std::atomic<std::uint64_t> value[kEntries];
  std::atomic<Bucket*> next;
};

struct Root {
  std::uint64_t magic;                               // written last
  alignas(PM_LINE) std::atomic<std::uint64_t> used;  // bytes behind the root
  Bucket bucket[kBuckets];
};

class Hash {
 public:
  static Hash* open(const char* path) {
    auto* hash = new Hash;
    hash->root_ = static_cast<Root*>(pm_map(path, kPoolSize));
    if (hash->root_->magic != kMagic) {
      PM_PUBLISH(hash->root_->magic, kMagic);
      pm_persist(&hash->root_->magic, sizeof kMagic);
    }
    return hash;
  }

  bool insert(std::uint64_t key, std::uint64_t value) {
    std::unique_lock lock(locks_[key % kBuckets]);
    Bucket* place = nullptr;
    unsigned free = 0;
    Bucket* last = nullptr;
    for (Bucket* b = &root_->bucket[key % kBuckets]; b != nullptr; b = b->next) {
      last = b;
      for (unsigned i = 0; i < kEntries; ++i) {
        if (b->key[i] == key) return false;
        if (b->key[i] == 0 && place == nullptr) place = b, free = i;
      }
    }
    if (place == nullptr) {
      place = newBucket();
      place->value[0].store(value, std::memory_order_relaxed);
      place->key[0].store(key, std::memory_order_relaxed);
      pm_persist(place, sizeof *place);
      last->next.store(place, std::memory_order_release);
      pm_persist(&last->next, sizeof last->next);
      return true;
    }
    place->value[free].store(value, std::memory_order_relaxed);
    pm_persist(&place->value[free], sizeof value);
    place->key[free].store(key, std::memory_order_release);
#if BUG == 2
    // VND: the key is flushed after the critical section. Whoever finds it there, under the lock or not, relies on
    // something that a crash may take back.
    lock.unlock();
#endif
#if BUG != 4
    // ID, missing flush: without this an insert that has returned is lost.
    pm_persist(&place->key[free], sizeof key);
#endif
    return true;
  }

  bool remove(std::uint64_t key) {
    std::unique_lock lock(locks_[key % kBuckets]);
    for (Bucket* b = &root_->bucket[key % kBuckets]; b != nullptr; b = b->next)
      for (unsigned i = 0; i < kEntries; ++i)
        if (b->key[i] == key) {
          b->key[i].store(0, std::memory_order_release);
          pm_persist(&b->key[i], sizeof key);
          return true;
        }
    return false;
  }

  std::optional<std::uint64_t> get(std::uint64_t key) {
    for (Bucket* b = &root_->bucket[key % kBuckets]; b != nullptr; b = b->next) {
      for (unsigned i = 0; i < kEntries; ++i) {
        std::uint64_t found = b->key[i].load(std::memory_order_acquire);
        std::uint64_t value = b->value[i].load(std::memory_order_acquire);
        if (found != key || b->key[i].load(std::memory_order_acquire) != key) continue;
#if BUG != 1
        // VND: without this a value is returned that its insert has not flushed yet.
        pm_persist(b, sizeof *b);
#endif
        return value;
      }
#if BUG != 3
      // VND: without this a key is told to be gone whose removal is not flushed yet.
      pm_persist(b, sizeof *b);
#endif
    }
    return std::nullopt;
  }

 private:
  Bucket* newBucket() {
    std::uint64_t at = root_->used.fetch_add(sizeof(Bucket));
    if (sizeof(Root) + at + sizeof(Bucket) > kPoolSize) pm_die("the pool is full");
    pm_persist(&root_->used, sizeof at);
    return reinterpret_cast<Bucket*>(reinterpret_cast<char*>(root_ + 1) + at);
  }

  Root* root_ = nullptr;
  std::mutex locks_[kBuckets];
};

}  // namespace

BLACKOUT_MAP(Hash)
