// A trie of B+-trees, after the patterns of P-Masstree: each layer is searched by one slice of the key, and an entry
// has a value or, once two keys share its slice, the next layer. A layer is the border nodes of a B-link tree: sorted
// by a word of slot numbers (the permutation), one store of which makes an insert or a remove visible, and linked to
// the right. A split fills the right half, links it and then takes it off the left; who comes after a crash in between
// finds the keys by the link and takes them off. (Interior nodes only make searches shorter and are left out.)
//
// BUG=1..4 each bring in one mistake.
#include <blackout/lin.hpp>

#include "lin/pool.hpp"

namespace {

constexpr unsigned kSlots = 4;
constexpr unsigned kSliceBits = 16;

struct Node;

struct Entry {
  std::uint64_t slice;
  std::uint64_t rest;  // of the key, below the slice; of a layer: not used
  std::uint64_t link;  // twice the value; odd: the next layer's first node
};

// How many entries there are, and which slots they have in the order of their slices: 4 bits each.
class Permutation {
 public:
  explicit Permutation(std::uint64_t word) : word_(word) {}
  static Permutation first(unsigned n) { return Permutation(0x32100 | n); }
  std::uint64_t word() const { return word_; }
  unsigned count() const { return word_ & 15; }
  unsigned slot(unsigned i) const { return word_ >> (4 + 4 * i) & 15; }
  unsigned freeSlot() const {
    for (unsigned s = 0;; ++s) {
      bool used = false;
      for (unsigned i = 0; i < count(); ++i) used |= slot(i) == s;
      if (!used) return s;
    }
  }
  Permutation with(unsigned at, unsigned added) const { return changed(at, count() + 1, added); }
  Permutation without(unsigned at) const { return changed(at, count() - 1, 0); }
  Permutation lower(unsigned n) const { return Permutation((word_ & ~std::uint64_t{15}) | n); }

 private:
  Permutation changed(unsigned at, unsigned n, unsigned added) const {
    std::uint64_t word = n;
    for (unsigned i = 0; i < n; ++i) {
      unsigned from = n > count() ? (i < at ? slot(i) : i == at ? added : slot(i - 1)) : slot(i < at ? i : i + 1);
      word |= std::uint64_t{from} << (4 + 4 * i);
    }
    return Permutation(word);
  }
  std::uint64_t word_;
};

struct alignas(PM_LINE) Node {
  std::uint64_t permutation;
  std::uint64_t low;  // the least slice that belongs here
  Node* next;
  alignas(PM_LINE) Entry entries[kSlots];

  Permutation order() const { return Permutation(permutation); }
};

struct Root {
  Node* first;
};

class Tree {
 public:
  static Tree* open(const char* path) { return new Tree(path); }

  std::optional<std::uint64_t> get(std::uint64_t key) {
    Entry* entry = find(key);
    return entry == nullptr ? std::nullopt : std::optional(entry->link >> 1);
  }

  bool insert(std::uint64_t key, std::uint64_t value) {
    std::uint64_t slice = key >> kSliceBits, rest = key & ((1 << kSliceBits) - 1);
    Entry* entry = entryOf(pool_.root().first, slice);
    if (entry == nullptr) return add(pool_.root().first, {slice, rest, 2 * value});
    if (isLayer(*entry)) {
      if (entryOf(layerOf(*entry), rest) != nullptr) return false;
      return add(layerOf(*entry), {rest, 0, 2 * value});
    }
    if (entry->rest == rest) return false;
    // Two keys share the slice: a layer with both, and one store that puts it in the value's place.
    auto* layer = pool_.take<Node>();
    const Entry old = *entry;
    auto fill = [&] {
      unsigned first = old.rest < rest ? 0 : 1;
      layer->entries[first] = {old.rest, 0, old.link};    // @LOST 4
      layer->entries[1 - first] = {rest, 0, 2 * value};   // @LOST 4
      layer->permutation = Permutation::first(2).word();  // @LOST 4
      persistNew(layer, 2);
    };
    auto publish = [&] {
      PM_PUBLISH(entry->link, reinterpret_cast<std::uint64_t>(layer) | 1);  // @LOST 4
      blackout_lp();
      pm_persist(&entry->link, sizeof entry->link);
    };
#if BUG == 4
    // UD, wrong order: the layer takes the value's place before anything is in it.
    publish();
    fill();
#else
    fill();
    publish();
#endif
    return true;
  }

  bool update(std::uint64_t key, std::uint64_t value) {
    Entry* entry = find(key);
    if (entry == nullptr) return false;
    PM_PUBLISH(entry->link, 2 * value);
    blackout_lp();
    pm_persist(&entry->link, sizeof entry->link);
    return true;
  }

  bool remove(std::uint64_t key) {
    std::uint64_t slice = key >> kSliceBits, rest = key & ((1 << kSliceBits) - 1);
    Entry* entry = entryOf(pool_.root().first, slice);
    if (entry == nullptr) return false;
    if (isLayer(*entry)) return take(layerOf(*entry), rest);
    return entry->rest == rest && take(pool_.root().first, slice);
  }

 private:
  explicit Tree(const char* path)
      : pool_(path, [](BumpPool<Root>& pool) {
          pool.root().first = pool.take<Node>();  // its bytes are 0: nothing is in it
          pm_persist(&pool.root(), sizeof(Root));
        }) {}

  // A node that nobody leads to yet, with its first `n` slots filled.
  static void persistNew(Node* node, unsigned n) {
    pm_flush(node, PM_LINE);
    pm_flush(node->entries, n * sizeof(Entry));
    pm_fence();
  }

  static bool isLayer(const Entry& entry) { return (entry.link & 1) != 0; }
  static Node* layerOf(const Entry& entry) { return reinterpret_cast<Node*>(entry.link & ~std::uint64_t{1}); }

  // The node that a slice belongs to.
  static Node* nodeOf(Node* node, std::uint64_t slice) {
    while (node->next != nullptr && slice >= node->next->low) node = node->next;
    return node;
  }
  static Entry* entryOf(Node* first, std::uint64_t slice) {
    Node* node = nodeOf(first, slice);
    Permutation order = node->order();
    for (unsigned i = 0; i < order.count(); ++i)
      if (Entry& entry = node->entries[order.slot(i)]; entry.slice == slice) return &entry;
    return nullptr;
  }
  Entry* find(std::uint64_t key) {
    std::uint64_t slice = key >> kSliceBits, rest = key & ((1 << kSliceBits) - 1);
    Entry* entry = entryOf(pool_.root().first, slice);
    if (entry != nullptr && isLayer(*entry)) return entryOf(layerOf(*entry), rest);
    return entry != nullptr && entry->rest == rest ? entry : nullptr;
  }

  static void setOrder(Node* node, Permutation order) {
    PM_PUBLISH(node->permutation, order.word());  // @LOST 2 @LOST 3
    blackout_lp();
#if BUG == 2
    // ID, missing flush: what has returned is lost.
#else
    pm_persist(&node->permutation, sizeof node->permutation);
#endif
  }

  bool add(Node* first, const Entry& entry) {
    Node* node = nodeOf(first, entry.slice);
    trim(node);
    if (node->order().count() == kSlots) {
      split(node);
      node = nodeOf(first, entry.slice);
    }
    Permutation order = node->order();
    unsigned slot = order.freeSlot(), at = 0;
    while (at < order.count() && node->entries[order.slot(at)].slice < entry.slice) ++at;
    node->entries[slot] = entry;  // @LOST 1
#if BUG == 1
    // ID, missing flush: the order leads to an entry that may not be there.
#else
    pm_persist(&node->entries[slot], sizeof entry);
#endif
    setOrder(node, order.with(at, slot));
    return true;
  }

  static bool take(Node* first, std::uint64_t slice) {
    Node* node = nodeOf(first, slice);
    Permutation order = node->order();
    for (unsigned i = 0; i < order.count(); ++i)
      if (node->entries[order.slot(i)].slice == slice) {
        setOrder(node, order.without(i));
        return true;
      }
    return false;
  }

  // What a split that a crash cut short has left here and in the next node.
  static void trim(Node* node) {
    Permutation order = node->order();
    unsigned n = order.count();
    while (node->next != nullptr && n > 0 && node->entries[order.slot(n - 1)].slice >= node->next->low) --n;
    if (n != order.count()) setOrder(node, order.lower(n));
  }

  void split(Node* node) {
    Permutation order = node->order();
    constexpr unsigned kHalf = kSlots / 2;
    auto* right = pool_.take<Node>();
    for (unsigned i = kHalf; i < kSlots; ++i) right->entries[i - kHalf] = node->entries[order.slot(i)];
    right->permutation = Permutation::first(kSlots - kHalf).word();
    right->low = right->entries[0].slice;
    right->next = node->next;
    persistNew(right, kSlots - kHalf);
#if BUG == 3
    // UD, wrong order: the upper half is taken off before the right node is linked.
    setOrder(node, order.lower(kHalf));
#endif
    PM_PUBLISH(node->next, right);  // @LOST 3
    pm_persist(&node->next, sizeof node->next);
#if BUG != 3
    setOrder(node, order.lower(kHalf));
#endif
  }

  BumpPool<Root> pool_;
};

}  // namespace

BLACKOUT_MAP(Tree)
