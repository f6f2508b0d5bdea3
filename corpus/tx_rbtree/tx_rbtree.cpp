// A red-black tree whose operations are undo transactions (tx.h): a node is one line.
//
//   tx_rbtree POOL [OPERATIONS]
//
// As in the textbook: an insert hangs a red node below a leaf's place and then recolours upwards or rotates; a remove
// of a node with two children moves its successor's key and value up and takes the successor's node out instead; if
// that node was black, the missing black is moved up or made good by rotations. A node is added to the transaction as a
// whole before its first change.
//
// BUG=1..14 each bring in one mistake.
#include <iterator>

#include "steps.hpp"
#include "tx.h"

namespace {

struct Node {
  uint64_t key;
  uint64_t value;
  uint64_t red;
  Node* parent;
  Node* child[2];
};
static_assert(sizeof(Node) <= PM_LINE);

struct Map {
  Node* root;
  uint64_t count;
};

// What the workload has reached; volatile memory.
struct {
  unsigned updates, recolours, innerRotations, outerRotations, rootRotations, successors, redSiblings, blackNephews,
      nearNephews, farNephews, lasts, aborts;
} reached;

bool isRed(const Node* node) { return node && node->red; }

// A node that is going to be changed.
void change(Node* node) { tx_add_once(node, sizeof *node); }

class RBTree {
 public:
  void open(const char* path) {
    pool_ = tx_open(path);
    if (!pool_->root) create();
    map_ = static_cast<Map*>(pool_->root);
  }

  void put(uint64_t key, uint64_t value) {
    tx_begin();
    Node* parent = nullptr;
    unsigned side = 0;
    for (Node* node = map_->root; node; node = node->child[side]) {
      if (node->key == key) {
        ++reached.updates;
#if BUG == 1
        // RACE, not added: the value of an update. It is never flushed either.
#else
        tx_add(&node->value, sizeof node->value);
#endif
        node->value = value;  // @LOST 1
        tx_commit();
        return;
      }
      parent = node;
      side = node->key < key;
    }
    auto* fresh = static_cast<Node*>(tx_alloc(sizeof(Node)));
    fresh->key = key;
    fresh->value = value;
    fresh->red = 1;
    fresh->parent = parent;
    if (parent) {
#if BUG == 2
      // RACE, not added: the link to the new node. Put back, the tree leads to a node that was never made.
#else
      change(parent);
#endif
      parent->child[side] = fresh;  // @LOST 2
    } else {
      setRoot(fresh);
    }
    afterInsert(fresh);
#if BUG == 3
    // RACE, added after the change: the log keeps the new number of nodes as the old one.
    ++map_->count;  // @LOST 3
    tx_add(&map_->count, sizeof map_->count);
#else
    tx_add(&map_->count, sizeof map_->count);
    ++map_->count;
#endif
    tx_commit();
  }

  void remove(uint64_t key) {
    tx_begin();
    tx_add(&map_->count, sizeof map_->count);
    --map_->count;
    Node* node = map_->root;
    while (node && node->key != key) node = node->child[node->key < key];
    if (!node) {
      ++reached.aborts;
      tx_abort();
      return;
    }
    if (node->child[0] && node->child[1]) {
      ++reached.successors;
      Node* next = node->child[1];
      while (next->child[0]) next = next->child[0];
#if BUG == 4
      // RACE, not added: the node that takes over its successor's key and value.
#else
      change(node);
#endif
      node->key = next->key;      // @LOST 4
      node->value = next->value;  // @LOST 4
      node = next;
    }
    Node* below = node->child[node->child[0] == nullptr];  // the only child, or none
    Node* parent = node->parent;
#if BUG == 13
    // PERF, added and not written: the node that is taken out is only freed.
    tx_add(node, sizeof *node);  // @LOST 13
#endif
    replace(node, below);
    if (!node->red) {
      if (isRed(below)) {
        change(below);
        below->red = 0;
      } else if (parent) {
        afterRemove(parent, parent->child[0] != nullptr);  // it had a sibling
      } else {
        ++reached.lasts;
      }
    }
    tx_free(node, sizeof *node);
    tx_commit();
  }

  const uint64_t* get(uint64_t key) const {
    const Node* node = map_->root;
    while (node && node->key != key) node = node->child[node->key < key];
    return node ? &node->value : nullptr;
  }

  // Walks everything, checks that it is a red-black tree, and returns what is in it.
  Contents contents() const {
    Contents found;
    unsigned lines = tx_lines(sizeof(Map));
    pm_expect(tx_is_allocated(map_, sizeof *map_), "the map is allocated");
    pm_expect(!isRed(map_->root), "the root is black");
    walk(map_->root, nullptr, 0, UINT64_MAX, 1, found, lines);
    pm_expect(found.size() == map_->count, "the nodes are as many as counted");
    pm_expect(lines == tx_allocated_lines(), "nothing else is allocated");
    return found;
  }

 private:
  void create() {
    tx_begin();
    tx_add(&pool_->root, sizeof pool_->root);
    pool_->root = tx_alloc(sizeof(Map));
    tx_commit();
  }

  __attribute__((noinline)) void setRoot(Node* node) {
#if BUG == 5
    // RACE, not added: the pointer to the root. It shares its line with the count and is flushed with it, but it is
    // not put back.
#else
    tx_add_once(&map_->root, sizeof map_->root);
#endif
    map_->root = node;  // @LOST 5
  }

  // What led to `node` leads to `other`.
  void replace(Node* node, Node* other) {
    if (!node->parent) {
      setRoot(other);
    } else {
#if BUG == 6
      // RACE, not added: the link above a node that is taken out, or rotated down.
#else
      change(node->parent);
#endif
      node->parent->child[node->parent->child[1] == node] = other;  // @LOST 6
    }
    if (other) {
      change(other);
      other->parent = node->parent;
    }
  }

  // `node` goes down to this side, its child of the other side comes up.
  void rotate(Node* node, unsigned side) {
    reached.rootRotations += !node->parent;
    Node* up = node->child[1 - side];
    Node* across = up->child[side];
    replace(node, up);
    change(up);
    change(node);
#if BUG == 14
    // PERF, added twice: the node that goes down is in the log already.
    tx_add(node, sizeof *node);  // @LOST 14
#endif
    node->child[1 - side] = across;
    if (across) {
#if BUG == 10
      // RACE, not added: the subtree that changes sides does not get its new parent with the others.
#else
      change(across);
#endif
      across->parent = node;  // @LOST 10
    }
    up->child[side] = node;
    node->parent = up;
  }

  static void colour(Node* node, uint64_t red) {
    if (node->red == red) return;
    change(node);
    node->red = red;
  }

  void afterInsert(Node* node) {
    while (isRed(node->parent)) {
      Node* parent = node->parent;
      Node* top = parent->parent;
      const unsigned side = top->child[1] == parent;
      Node* uncle = top->child[1 - side];
      if (isRed(uncle)) {
        ++reached.recolours;
        colour(parent, 0);
#if BUG == 11
        // RACE, not added: the uncle gets its colour outside of the log.
        uncle->red = 0;  // @LOST 11
#else
        colour(uncle, 0);
#endif
        colour(top, 1);
        node = top;
        continue;
      }
      if (parent->child[1 - side] == node) {
        ++reached.innerRotations;
        rotate(parent, side);
        node = parent;
        parent = node->parent;
      } else {
        ++reached.outerRotations;
      }
      colour(parent, 0);
#if BUG == 7
      // RACE, added after the change: the rotation adds the node, and the log keeps its new colour as the old one.
      top->red = 1;  // @LOST 7
#else
      colour(top, 1);
#endif
      rotate(top, 1 - side);
    }
    colour(map_->root, 0);
  }

  // Below `parent`, on this side, a black node is missing.
  void afterRemove(Node* parent, unsigned side) {
    for (;;) {
      Node* sibling = parent->child[1 - side];
      if (isRed(sibling)) {
        ++reached.redSiblings;
#if BUG == 8
        // RACE, added after the change: the rotation adds the sibling, and the log keeps its new colour as the old one.
        sibling->red = 0;  // @LOST 8
#else
        colour(sibling, 0);
#endif
        colour(parent, 1);
        rotate(parent, side);
        sibling = parent->child[1 - side];
      }
      if (isRed(sibling->child[0]) || isRed(sibling->child[1])) {
        if (!isRed(sibling->child[1 - side])) {
          ++reached.nearNephews;
          colour(sibling->child[side], 0);
          colour(sibling, 1);
          rotate(sibling, 1 - side);
          sibling = parent->child[1 - side];
        } else {
          ++reached.farNephews;
        }
        colour(sibling, parent->red);
        colour(parent, 0);
#if BUG == 9
        // RACE, not added: the nephew gets its colour outside of the log.
        sibling->child[1 - side]->red = 0;  // @LOST 9
#else
        colour(sibling->child[1 - side], 0);
#endif
        rotate(parent, side);
        return;
      }
      ++reached.blackNephews;
#if BUG == 12
      // RACE, not added: the sibling gets its colour outside of the log.
      sibling->red = 1;  // @LOST 12
#else
      colour(sibling, 1);
#endif
      if (isRed(parent)) return colour(parent, 0);
      if (!parent->parent) return;
      side = parent->parent->child[1] == parent;
      parent = parent->parent;
    }
  }

  // Returns the number of black nodes down to a leaf.
  static unsigned walk(const Node* node, const Node* parent, uint64_t low, uint64_t high, unsigned depth,
                       Contents& found, unsigned& lines) {
    if (!node) return 0;
    pm_expect(depth <= 32, "the tree has an end");
    pm_expect(tx_is_allocated(node, sizeof *node), "what is reachable is allocated");
    lines += tx_lines(sizeof *node);
    pm_expect(node->parent == parent, "a node leads back to its parent");
    pm_expect(node->red <= 1 && !(node->red && isRed(parent)), "no red node has a red parent");
    pm_expect(node->key > low && node->key < high, "keys are in order");
    const unsigned left = walk(node->child[0], node, low, node->key, depth + 1, found, lines);
    pm_expect(found.emplace(node->key, node->value).second, "no key is there twice");
    const unsigned right = walk(node->child[1], node, node->key, high, depth + 1, found, lines);
    pm_expect(left == right, "every way down has as many black nodes");
    return left + !node->red;
  }

  tx_pool* pool_ = nullptr;
  Map* map_ = nullptr;
};

// See stepsOf().
constexpr int kSteps[] = {15, 21, 25, 12, 19, 3, 2, -18, 2, 7, 10, 14, -7, -2, -25, -12, -21, -10, -19, -15, -3, -14};

}  // namespace

int main(int argc, char** argv) {
  if (argc < 2) pm_die("usage: tx_rbtree POOL [OPERATIONS]");
  const std::vector<Step> steps = stepsOf(kSteps, argc > 2 ? std::strtoull(argv[2], nullptr, 10) : std::size(kSteps));
  RBTree tree;
  auto setup = [&] { tree.open(argv[1]); };
  auto operations = [&] {
    runSteps(steps, tree);
    if (steps.size() >= std::size(kSteps))
      pm_expect(reached.updates && reached.recolours && reached.innerRotations && reached.outerRotations &&
                    reached.rootRotations && reached.successors && reached.redSiblings && reached.blackNephews &&
                    reached.nearNephews && reached.farNephews && reached.lasts && reached.aborts,
                "the workload reaches everything");
  };
  auto recover = [&] { tree.open(argv[1]); };
  auto verify = [&] {
    const Contents found = tree.contents();
    for (const auto& [key, value] : found) {
      const uint64_t* got = tree.get(key);
      pm_expect(got && *got == value, "get finds every key");
    }
    expectStepsDone(steps, found);
  };
  return blackout_test(setup, operations, recover, verify);
}
