// A trie of bits (a crit-bit tree), after the patterns of P-HOT: an inner node has the highest bit in which the keys
// below it differ. An insert makes a leaf and an inner node, durable, and one store into a slot publishes both; a
// remove stores the sibling into the slot of the inner node.
//
// BUG=1..3 each bring in one mistake.
#include <blackout/lin.hpp>

#include "lin/pool.hpp"

namespace {

using Child = std::uint64_t;  // lowest bit: it is a leaf; 0: none

struct alignas(PM_LINE) Leaf {
  std::uint64_t key;
  std::uint64_t value;
};
struct alignas(PM_LINE) Inner {
  std::uint64_t bit;
  Child child[2];
};
struct Root {
  Child top;
};

bool isLeaf(Child c) { return (c & 1) != 0; }
Leaf* leafAt(Child c) { return reinterpret_cast<Leaf*>(c & ~Child{1}); }
Inner* innerAt(Child c) { return reinterpret_cast<Inner*>(c); }

class Trie {
 public:
  static Trie* open(const char* path) { return new Trie(path); }

  std::optional<std::uint64_t> get(std::uint64_t key) {
    Leaf* leaf = find(key);
    return leaf == nullptr || leaf->key != key ? std::nullopt : std::optional(leaf->value);
  }

  bool insert(std::uint64_t key, std::uint64_t value) {
    Leaf* near = find(key);
    if (near != nullptr && near->key == key) return false;
    auto* leaf = pool_.take<Leaf>();
    leaf->key = key;      // @LOST 1
    leaf->value = value;  // @LOST 1
    pm_flush(leaf, sizeof *leaf);
    Child fresh = reinterpret_cast<Child>(leaf) | 1;
    Child* slot = &pool_.root().top;
    if (near != nullptr) {
      unsigned bit = 63 - static_cast<unsigned>(__builtin_clzll(near->key ^ key));
      while (*slot != 0 && !isLeaf(*slot) && innerAt(*slot)->bit > bit) slot = slotOf(innerAt(*slot), key);
      auto* inner = pool_.take<Inner>();
      inner->bit = bit;
      inner->child[key >> bit & 1] = fresh;
      inner->child[~key >> bit & 1] = *slot;
      pm_flush(inner, sizeof *inner);
      fresh = reinterpret_cast<Child>(inner);
    }
#if BUG == 1
    // ID, missing fence: the new node is being written back when a plain store publishes it.
#else
    pm_fence();
#endif
    publish(slot, fresh);
    return true;
  }

  bool update(std::uint64_t key, std::uint64_t value) {
    Leaf* leaf = find(key);
    if (leaf == nullptr || leaf->key != key) return false;
    PM_PUBLISH(leaf->value, value);
    blackout_lp();
    pm_persist(&leaf->value, sizeof value);
    return true;
  }

  bool remove(std::uint64_t key) {
    Child* above = nullptr;
    Child* slot = &pool_.root().top;
    while (*slot != 0 && !isLeaf(*slot)) {
      above = slot;
      slot = slotOf(innerAt(*slot), key);
    }
    if (*slot == 0 || leafAt(*slot)->key != key) return false;
#if BUG == 3
    // UD, wrong order: the value goes before the leaf is cut off. A crash in between leaves the key with no value.
    PM_PUBLISH(leafAt(*slot)->value, std::uint64_t{0});
    pm_persist(&leafAt(*slot)->value, sizeof(std::uint64_t));
#endif
    if (above == nullptr)
      publish(slot, 0);
    else
      publish(above, innerAt(*above)->child[~key >> innerAt(*above)->bit & 1]);
    return true;
  }

 private:
  explicit Trie(const char* path)
      : pool_(path, [](BumpPool<Root>& pool) {
          pool.root().top = 0;
          pm_persist(&pool.root(), sizeof(Root));
        }) {}

  static Child* slotOf(Inner* inner, std::uint64_t key) { return &inner->child[key >> inner->bit & 1]; }

  static void publish(Child* slot, Child child) {
    PM_PUBLISH(*slot, child);  // @LOST 2 @LOST 3
    blackout_lp();
#if BUG == 2
    // ID, missing flush: flushes the address of a local, and not of the slot. What has returned is lost.
    pm_persist(&slot, sizeof slot);
#else
    pm_persist(slot, sizeof *slot);
#endif
  }

  // The leaf that is nearest by the bits that are looked at; null: it is empty.
  Leaf* find(std::uint64_t key) {
    Child child = pool_.root().top;
    while (child != 0 && !isLeaf(child)) child = *slotOf(innerAt(child), key);
    return child == 0 ? nullptr : leafAt(child);
  }

  BumpPool<Root> pool_;
};

}  // namespace

BLACKOUT_MAP(Trie)
