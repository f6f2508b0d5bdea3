// A lock-free external search tree, as NVTraverse's: keys are in leaves, inner nodes lead to them. An insert makes a
// leaf and an inner node, durable, and a compare-and-swap of one edge publishes both; a remove swaps the edge above the
// leaf's parent to the sibling. A leaf is two lines.
//
// Used by one thread here. BUG=1..3 each bring in one mistake.
#include <blackout/lin.hpp>

#include "lin/pool.hpp"

namespace {

struct alignas(PM_LINE) Node {
  std::uint64_t key;  // of an inner node: keys below it are on the left
  Node* child[2];     // none: it is a leaf
  alignas(PM_LINE) std::uint64_t value;
};
struct Root {
  Node* top;
};

bool isLeaf(const Node* node) { return node->child[0] == nullptr; }

class Tree {
 public:
  static Tree* open(const char* path) { return new Tree(path); }

  std::optional<std::uint64_t> get(std::uint64_t key) {
    Node* leaf = *find(key).edge;
    return leaf == nullptr || leaf->key != key ? std::nullopt : std::optional(leaf->value);
  }

  bool insert(std::uint64_t key, std::uint64_t value) {
    Place p = find(key);
    Node* there = *p.edge;
    if (there != nullptr && there->key == key) return false;
    auto* leaf = pool_.take<Node>();
    leaf->key = key;
    leaf->value = value;  // @LOST 1 @LOST 2
    Node* fresh = leaf;
    if (there != nullptr) {
      fresh = pool_.take<Node>();
      bool right = key > there->key;
      fresh->key = right ? key : there->key;
      fresh->child[right] = leaf;
      fresh->child[!right] = there;
      pm_flush(fresh, PM_LINE);
    }
#if BUG == 1
    // ID, missing flush: a leaf is two lines, and only the first is flushed.
    pm_persist(leaf, PM_LINE);
#elif BUG == 2
    // ID, wrong order: the leaf is flushed after it is published.
#else
    pm_persist(leaf, sizeof *leaf);
#endif
    if (!swing(p.edge, there, fresh)) pm_die("somebody else was here");
#if BUG == 2
    pm_persist(leaf, sizeof *leaf);
#endif
    return true;
  }

  bool remove(std::uint64_t key) {
    Place p = find(key);
    Node* leaf = *p.edge;
    if (leaf == nullptr || leaf->key != key) return false;
    if (p.above == nullptr) return swing(p.edge, leaf, nullptr);
    Node* parent = *p.above;
    return swing(p.above, parent, parent->child[parent->child[0] == leaf]);
  }

 private:
  explicit Tree(const char* path)
      : pool_(path, [](BumpPool<Root>& pool) {
          pool.root().top = nullptr;
          pm_persist(&pool.root(), sizeof(Root));
        }) {}

  struct Place {
    Node** above;  // the edge to the leaf's parent; null: it has none
    Node** edge;   // to the leaf
  };
  Place find(std::uint64_t key) {
    Place p{nullptr, &pool_.root().top};
    while (*p.edge != nullptr && !isLeaf(*p.edge)) p = {p.edge, &(*p.edge)->child[key >= (*p.edge)->key]};
    return p;
  }

  static bool swing(Node** edge, Node* from, Node* to) {
    if (!__atomic_compare_exchange_n(edge, &from, to, false, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST))  // @LOST 3
      return false;
    blackout_lp();
#if BUG == 3
    // ID, missing flush: what the swap stored stays in the caches.
#else
    pm_persist(edge, sizeof *edge);
#endif
    return true;
  }

  BumpPool<Root> pool_;
};

}  // namespace

BLACKOUT_MAP(Tree)
