// A radix tree for several threads with optimistic locks (as ART): a node has a version, odd while somebody changes it.
// Whoever reads remembers it, reads, and begins again if it has changed; so what is changed and made durable under the
// lock is never seen halfway. A key is six pieces of four bits; a leaf hangs where the way to it is its own.
//
// BUG=1..4 each bring in one mistake; 1 to 3 need two threads to show.
#include <blackout/lin.hpp>

#include "pool.hpp"

namespace {

constexpr unsigned kWays = 16, kBits = 4, kLevels = 6;

struct alignas(PM_LINE) Leaf {
  std::uint64_t key;
  std::uint64_t value;
};
constexpr std::uint64_t kIsLeaf = 1;

// VND: whoever changes the tree and asks no version acts on a child that is not durable yet.
constexpr bool kAsks = BUG != 3;

struct alignas(PM_LINE) Node {
  std::atomic<std::uint64_t> version;  // odd: locked
  alignas(PM_LINE) std::atomic<std::uint64_t> child[kWays];
};
struct Root {
  Node node;
};

unsigned wayOf(std::uint64_t key, unsigned level) { return key >> (kBits * (kLevels - 1 - level)) & (kWays - 1); }
Leaf* leafAt(std::uint64_t child) {
  return (child & kIsLeaf) != 0 ? reinterpret_cast<Leaf*>(child - kIsLeaf) : nullptr;
}
Node* nodeAt(std::uint64_t child) { return reinterpret_cast<Node*>(child); }

class Radix {
 public:
  static Radix* open(const char* path) {
    auto* radix = new Radix(path);
#if BUG != 4
    // UD: without this what was locked when the power failed stays so.
    radix->unlockAll(&radix->pool_.root().node);
#endif
    return radix;
  }

  bool insert(std::uint64_t key, std::uint64_t value) {
    if (key >> (kBits * kLevels) != 0) pm_die("keys have 24 bits");
    for (;;) {
      Place p = find(key, kAsks);
      Leaf* there = leafAt(p.found);
      if (there != nullptr && there->key == key) return false;
      auto* leaf = pool_.take<Leaf>();
      leaf->key = key;
      leaf->value = value;
      pm_persist(leaf, sizeof *leaf);
      std::uint64_t child = reinterpret_cast<std::uint64_t>(leaf) | kIsLeaf;
      if (there != nullptr) child = parted(there, leaf, p.level + 1);
      if (!lock(p)) continue;
      p.slot->store(child, std::memory_order_release);
#if BUG == 1
      // VND: the lock is given back before what it kept others from is durable.
      unlock(p);
      pm_persist(p.slot, sizeof *p.slot);
#else
      pm_persist(p.slot, sizeof *p.slot);
      unlock(p);
#endif
      return true;
    }
  }

  bool remove(std::uint64_t key) {
    for (;;) {
      Place p = find(key, kAsks);
      Leaf* there = leafAt(p.found);
      if (there == nullptr || there->key != key) return false;
      if (!lock(p)) continue;
      p.slot->store(0, std::memory_order_release);
      pm_persist(p.slot, sizeof *p.slot);
      unlock(p);
      return true;
    }
  }

  std::optional<std::uint64_t> get(std::uint64_t key) {
#if BUG == 2
    // VND: a lookup that asks no version returns a child that is not durable yet.
    Place p = find(key, false);
#else
    Place p = find(key);
#endif
    Leaf* there = leafAt(p.found);
    if (there == nullptr || there->key != key) return std::nullopt;
    return there->value;
  }

 private:
  struct Place {
    Node* node;
    std::uint64_t version;
    std::atomic<std::uint64_t>* slot;
    std::uint64_t found;
    unsigned level;
  };

  explicit Radix(const char* path) : pool_(path, [](SharedPool<Root>&) {}) {}

  // The last node on the way, and what its slot held while it had that version.
  Place find(std::uint64_t key, bool careful = true) {
    for (;;) {
      Node* node = &pool_.root().node;
      for (unsigned level = 0;; ++level) {
        std::uint64_t version = node->version.load(std::memory_order_acquire);
        while (careful && version % 2 != 0) {
          __builtin_ia32_pause();
          version = node->version.load(std::memory_order_acquire);
        }
        std::atomic<std::uint64_t>* slot = &node->child[wayOf(key, level)];
        std::uint64_t found = slot->load(std::memory_order_acquire);
        if (careful && node->version.load(std::memory_order_acquire) != version) break;
        if (found == 0 || leafAt(found) != nullptr) return {node, version, slot, found, level};
        node = nodeAt(found);
      }
    }
  }

  static bool lock(Place& p) {
    return p.version % 2 == 0 && p.node->version.compare_exchange_strong(p.version, p.version + 1);
  }
  static void unlock(const Place& p) { p.node->version.store(p.version + 2, std::memory_order_release); }

  // Nodes that tell two leaves apart, durable before anything leads to them.
  std::uint64_t parted(Leaf* a, Leaf* b, unsigned level) {
    auto* node = pool_.take<Node>();
    unsigned wayA = wayOf(a->key, level), wayB = wayOf(b->key, level);
    if (wayA == wayB) {
      node->child[wayA].store(parted(a, b, level + 1), std::memory_order_relaxed);
    } else {
      node->child[wayA].store(reinterpret_cast<std::uint64_t>(a) | kIsLeaf, std::memory_order_relaxed);
      node->child[wayB].store(reinterpret_cast<std::uint64_t>(b) | kIsLeaf, std::memory_order_relaxed);
    }
    pm_persist(node, sizeof *node);
    return reinterpret_cast<std::uint64_t>(node);
  }

  void unlockAll(Node* node) {
    if (node->version % 2 != 0) {
      node->version.store(0);
      pm_persist(&node->version, sizeof node->version);
    }
    for (auto& child : node->child)
      if (child != 0 && leafAt(child) == nullptr) unlockAll(nodeAt(child));
  }

  SharedPool<Root> pool_;
};

}  // namespace

BLACKOUT_MAP(Radix)
