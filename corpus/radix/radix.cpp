// An adaptive radix tree: Leis et al., "The Adaptive Radix Tree" (ICDE'13), made persistent as P-ART of Lee et al.,
// "RECIPE" (SOSP'19). Keys of four bytes, one byte per level; a node has room for 4, 16, 48 or 256 children and is
// replaced by a copy of the next kind when it is full or has become too empty. Lazy expansion: a leaf hangs as high
// as its key is unique.
//
// Every change becomes visible by one store of at most 8 bytes: the count in a node of 4 or 16, the index in a node
// of 48, the child in a node of 256, the parent's child where a node is replaced. Counts of the larger kinds follow
// afterwards, and a node is locked by a bit beside the count while it changes, so a restart counts again and
// unlocks. Allocation is volatile, see line_heap.hpp.
#include <algorithm>
#include <cstring>
#include <optional>

#include "blackout/harness.hpp"
#include "line_heap.hpp"
#include "pm.h"
#include "steps.hpp"

namespace {

constexpr std::uint64_t Magic = 0x7869646172;
constexpr std::size_t PoolSize = 1 << 20;
constexpr unsigned KeyBytes = 4;

unsigned byteOf(std::uint64_t key, unsigned depth) { return key >> 8 * (KeyBytes - 1 - depth) & 0xff; }

using Child = std::uint64_t;  // address of a node; of a leaf, with the lowest bit set; 0: none

using Children = std::vector<std::pair<unsigned, Child>>;  // with their bytes

struct alignas(PM_LINE) Leaf {
  std::uint64_t key;
  std::uint64_t value;
};

// The head of a node is one word, so that a change of the count and the release of the lock are one store.
constexpr std::uint64_t Locked = 1 << 16, KindUnit = 1 << 24;
enum Kind : unsigned { Of4, Of16, Of48, Of256 };
struct Node {
  std::uint64_t head;  // count, Locked, kind
};

struct alignas(PM_LINE) Node4 : Node {
  static constexpr unsigned Capacity = 4;
  std::uint8_t bytes[8];
  Child children[Capacity];
};

struct alignas(PM_LINE) Node16 : Node {
  static constexpr unsigned Capacity = 16;
  std::uint8_t bytes[Capacity];
  Child children[Capacity];
};

struct alignas(PM_LINE) Node48 : Node {
  static constexpr unsigned Capacity = 48;
  std::uint8_t index[256];  // of a byte's child, plus 1; 0: none
  Child children[Capacity];
};

struct alignas(PM_LINE) Node256 : Node {
  static constexpr unsigned Capacity = 256;
  Child children[Capacity];
};

struct alignas(PM_LINE) Pool {
  std::uint64_t magic;
  Child root;
  std::uint64_t tried;  // the check has begun to change the tree: what is in it no longer tells what was done
};

constexpr unsigned Capacities[] = {Node4::Capacity, Node16::Capacity, Node48::Capacity, Node256::Capacity};
constexpr std::size_t Sizes[] = {sizeof(Node4), sizeof(Node16), sizeof(Node48), sizeof(Node256)};

bool isLeaf(Child child) { return child & 1; }
Leaf* leafAt(Child child) { return reinterpret_cast<Leaf*>(child - 1); }
Node* nodeAt(Child child) { return reinterpret_cast<Node*>(child); }
Child linkTo(const Leaf* leaf) { return reinterpret_cast<Child>(leaf) + 1; }
Child linkTo(const Node* node) { return reinterpret_cast<Child>(node); }

bool onOneLine(const void* a, const void* b) {
  return reinterpret_cast<std::uintptr_t>(a) / PM_LINE == reinterpret_cast<std::uintptr_t>(b) / PM_LINE;
}

Kind kindOf(const Node* node) { return static_cast<Kind>(node->head / KindUnit); }
unsigned countOf(const Node* node) { return node->head & 0xffff; }
std::uint64_t headOf(Kind kind, unsigned count) { return kind * KindUnit + count; }

// Calls use with the node as what it is.
template <class Use>
auto withKind(Node* node, Use use) {
  switch (kindOf(node)) {
    case Of4:
      return use(*static_cast<Node4*>(node));
    case Of16:
      return use(*static_cast<Node16*>(node));
    case Of48:
      return use(*static_cast<Node48*>(node));
    case Of256:
      return use(*static_cast<Node256*>(node));
  }
  pm_die("a node has a kind");
  std::abort();
}

// Where the child for a byte is, or null. In the small kinds the count is the end of the used places, and a place whose
// child was removed stays used until the node is copied.
template <class Small>
Child* find(Small& node, unsigned byte) {
  for (unsigned i = 0; i < countOf(&node); ++i)
    if (node.bytes[i] == byte && node.children[i] != 0) return &node.children[i];
  return nullptr;
}
Child* find(Node48& node, unsigned byte) {
  return node.index[byte] == 0 ? nullptr : &node.children[node.index[byte] - 1];
}
Child* find(Node256& node, unsigned byte) { return node.children[byte] == 0 ? nullptr : &node.children[byte]; }
Child* findChild(Node* node, unsigned byte) {
  return withKind(node, [&](auto& n) { return find(n, byte); });
}

// Calls use(byte, child) for each child.
template <class Small, class Use>
void forEach(Small& node, Use use) {
  for (unsigned i = 0; i < countOf(&node); ++i)
    if (node.children[i] != 0) use(node.bytes[i], node.children[i]);
}
template <class Use>
void forEach(Node48& node, Use use) {
  for (unsigned byte = 0; byte < 256; ++byte)
    if (node.index[byte] != 0) use(byte, node.children[node.index[byte] - 1]);
}
template <class Use>
void forEach(Node256& node, Use use) {
  for (unsigned byte = 0; byte < 256; ++byte)
    if (node.children[byte] != 0) use(byte, node.children[byte]);
}
template <class Use>
void forEachChild(Node* node, Use use) {
  withKind(node, [&](auto& n) { forEach(n, use); });
}

// Counted, not as the node says.
unsigned childrenOf(Node* node) {
  unsigned n = 0;
  forEachChild(node, [&](unsigned, Child) { ++n; });
  return n;
}

// Waits for the lock, which is held for the length of one change and durable only by chance.
void lock(Node* node) {
  while (__atomic_load_n(&node->head, __ATOMIC_ACQUIRE) & Locked) {
  }
  PM_PUBLISH(node->head, node->head | Locked);  // @LOST 7
}

void unlock(Node* node, unsigned count) {
  PM_PUBLISH(node->head, headOf(kindOf(node), count));  // @LOST 1, @LOST 4, @LOST 7
#if BUG == 1
  // ATOM, the slot of a node of 4 is persisted but its count isn't: the child is gone after the crash.
  if (kindOf(node) == Of4) return;
#endif
  pm_persist(&node->head, sizeof node->head);
}

// Adds a child for a byte that has none; false: there is no room.
template <class Small>
bool add(Small& node, unsigned byte, Child child) {
  unsigned i = countOf(&node);
  if (i == Small::Capacity) return false;
  lock(&node);
#if BUG == 2
  // ATOM, the count of a node of 16 is persisted before its slot: if only one line of the slot survives, the child
  // is found under byte 0.
  if (kindOf(&node) == Of16) unlock(&node, i + 1);
#endif
  node.bytes[i] = static_cast<std::uint8_t>(byte);  // @LOST 2
  node.children[i] = child;
  pm_flush(&node.bytes[i], sizeof node.bytes[i]);
  if (!onOneLine(&node.bytes[i], &node.children[i])) pm_flush(&node.children[i], sizeof(Child));
  pm_fence();
#if BUG == 2
  if (kindOf(&node) != Of16)
#endif
    unlock(&node, i + 1);
  return true;
}

bool add(Node48& node, unsigned byte, Child child) {
  if (countOf(&node) == Node48::Capacity) return false;
  lock(&node);
  bool used[Node48::Capacity] = {};  // by the index: a removed child is only taken out of that
  for (std::uint8_t place : node.index)
    if (place != 0) used[place - 1] = true;
  unsigned i = 0;
  while (used[i]) ++i;
#if BUG == 3
  // ATOM, the index of a node of 48 is persisted before the slot: it leads to no child, or to a removed one.
  PM_PUBLISH(node.index[byte], static_cast<std::uint8_t>(i + 1));
  pm_persist(&node.index[byte], sizeof node.index[byte]);
#endif
  node.children[i] = child;  // @LOST 3
  pm_persist(&node.children[i], sizeof(Child));
#if BUG != 3
  PM_PUBLISH(node.index[byte], static_cast<std::uint8_t>(i + 1));
  pm_persist(&node.index[byte], sizeof node.index[byte]);
#endif
  unlock(&node, countOf(&node) + 1);
  return true;
}

bool add(Node256& node, unsigned byte, Child child) {
  lock(&node);
  PM_PUBLISH(node.children[byte], child);  // @LOST 4
  pm_persist(&node.children[byte], sizeof(Child));
  unlock(&node, countOf(&node) + 1);
  return true;
}

// Takes out the child of a byte that has one.
template <class Direct>
void erase(Direct& node, unsigned byte) {
  lock(&node);
  Child* place = find(node, byte);
  PM_PUBLISH(*place, 0);
  pm_persist(place, sizeof *place);
  unlock(&node, kindOf(&node) == Of256 ? countOf(&node) - 1 : countOf(&node));
}
void erase(Node48& node, unsigned byte) {
  lock(&node);
  PM_PUBLISH(node.index[byte], 0);
  pm_persist(&node.index[byte], sizeof node.index[byte]);
  unlock(&node, countOf(&node) - 1);
}

// Child number i of a node that nobody sees yet.
template <class Small>
void fill(Small& node, unsigned i, unsigned byte, Child child) {
  node.bytes[i] = static_cast<std::uint8_t>(byte);
  node.children[i] = child;
}
void fill(Node48& node, unsigned i, unsigned byte, Child child) {
  node.index[byte] = static_cast<std::uint8_t>(i + 1);
  node.children[i] = child;  // @LOST 5
}
void fill(Node256& node, unsigned, unsigned byte, Child child) { node.children[byte] = child; }

class Tree {
 public:
  // What the workload has reached, by kind where it matters, so that one that no longer does fails.
  struct Reached {
    unsigned added[4], grown[4], shrunk[4], expanded, collapsed, updated;
  };
  Reached reached = {};

  // A pool that was never finished is made (again), with `first` in it; any other is repaired after a crash.
  Tree(const char* path, const Contents& first, bool anew)
      : pool_(static_cast<Pool*>(pm_map(path, PoolSize))), heap_(pool_ + 1, PoolSize - sizeof(Pool)) {
    if (pool_->magic != Magic || anew)
      create(first);
    else if (pool_->root != 0)
      recover(pool_->root);
  }

  std::uint64_t get(std::uint64_t key) const {
    Child child = pool_->root;
    for (unsigned depth = 0; child != 0 && !isLeaf(child); ++depth) {
      const Child* place = findChild(nodeAt(child), byteOf(key, depth));
      child = place == nullptr ? 0 : *place;
    }
    return child != 0 && leafAt(child)->key == key ? leafAt(child)->value : 0;
  }

  void put(std::uint64_t key, std::uint64_t value) {
    Node* owner = nullptr;  // of the place
    Child* place = &pool_->root;
    unsigned depth = 0;
    for (; *place != 0 && !isLeaf(*place); ++depth) {
      Child* next = findChild(nodeAt(*place), byteOf(key, depth));
      if (next == nullptr) {
        Child leaf = newLeaf(key, value);
#if BUG != 6
        // ID, a new leaf is flushed, but no fence completes that before a plain store publishes it in a node of 256.
        pm_fence();
#endif
        addChild(owner, place, byteOf(key, depth), leaf);
        return;
      }
      owner = nodeAt(*place);
      place = next;
    }
    if (*place == 0) {
      Child leaf = newLeaf(key, value);
      pm_fence();
      publish(owner, place, leaf);
    } else if (Leaf* leaf = leafAt(*place); leaf->key == key) {
      PM_PUBLISH(leaf->value, value);
      pm_persist(&leaf->value, sizeof leaf->value);
      ++reached.updated;
    } else {
      publish(owner, place, expand(depth, *place, newLeaf(key, value)));
      ++reached.expanded;
    }
  }

  void remove(std::uint64_t key) {
    Child* path[KeyBytes + 1];  // the place of the node at each depth, then of the leaf
    unsigned depth = 0;
    for (path[0] = &pool_->root; path[depth] != nullptr && !isLeaf(*path[depth]); ++depth) {
      if (*path[depth] == 0) return;
      path[depth + 1] = findChild(nodeAt(*path[depth]), byteOf(key, depth));
    }
    if (path[depth] == nullptr || leafAt(*path[depth])->key != key) return;
    Leaf* leaf = leafAt(*path[depth]);
    unlink(path, depth, key);
    heap_.free(leaf, sizeof *leaf);
    while (depth > 0 && shrink(path, --depth, key)) {
    }
  }

  // Everything in the tree, checked on the way, and a key of each node that has leaves.
  Contents contents(std::vector<std::uint64_t>& probes) const {
    Contents found;
    if (pool_->root != 0) visit(pool_->root, 0, 0, found, probes);
    return found;
  }

  bool tried() const { return pool_->tried != 0; }

  // Changes each node: what a crash left must not only look right, it must work.
  void tryOut(const std::vector<std::uint64_t>& probes) {
    PM_PUBLISH(pool_->tried, 1);
    pm_persist(&pool_->tried, sizeof pool_->tried);
    for (std::uint64_t key : probes) {
      std::uint64_t value = get(key);
      remove(key);
      pm_expect(get(key) == 0, "a removed key is gone");
      put(key, value);
      pm_expect(get(key) == value, "a key that was put is there");
    }
  }

 private:
  void create(const Contents& first) {
    if (pool_->magic != 0) {
      PM_PUBLISH(pool_->magic, 0);
      pm_persist(&pool_->magic, sizeof pool_->magic);
    }
    pool_->tried = 0;
    pool_->root = first.empty() ? 0 : build(first.begin(), first.end(), 0);
    pm_fence();
    PM_PUBLISH(pool_->magic, Magic);  // the root is on the same line, so the order of the stores is enough
    pm_persist(pool_, sizeof *pool_);
  }

  // A tree with all that from first to last, whose keys share everything up to this depth.
  Child build(Contents::const_iterator first, Contents::const_iterator last, unsigned depth) {
    if (std::next(first) == last) return newLeaf(first->first, first->second);
    Children children;
    while (first != last) {
      unsigned byte = byteOf(first->first, depth);
      auto end = std::find_if(first, last, [&](auto& item) { return byteOf(item.first, depth) != byte; });
      children.emplace_back(byte, build(first, end, depth + 1));
      first = end;
    }
    Node* node = newNode(children);
    pm_flush(node, Sizes[kindOf(node)]);
    return linkTo(node);
  }

  // The caller completes the flush.
  Child newLeaf(std::uint64_t key, std::uint64_t value) {
    Leaf* leaf = static_cast<Leaf*>(heap_.allocate(sizeof(Leaf)));
    leaf->key = key;      // @LOST 6
    leaf->value = value;  // @LOST 6
    pm_flush(leaf, sizeof *leaf);
    return linkTo(leaf);
  }

  // A node with these children, not flushed.
  Node* newNode(const Children& children) {
    unsigned kind = Of4;
    while (Capacities[kind] < children.size()) ++kind;
    Node* node = static_cast<Node*>(heap_.allocate(Sizes[kind]));
    std::memset(static_cast<void*>(node), 0, Sizes[kind]);
    node->head = headOf(static_cast<Kind>(kind), static_cast<unsigned>(children.size()));
    withKind(node, [&](auto& n) {
      for (unsigned i = 0; i < children.size(); ++i) fill(n, i, children[i].first, children[i].second);
    });
    return node;
  }

  // The one store by which a child is seen that is durable.
  void publish(Node* owner, Child* place, Child child) {
    if (owner != nullptr) lock(owner);
    PM_PUBLISH(*place, child);  // @LOST 7
    pm_persist(place, sizeof *place);
    if (owner != nullptr) unlock(owner, countOf(owner));
  }

  void addChild(Node* owner, Child* place, unsigned byte, Child child) {
    Node* node = nodeAt(*place);
    Kind kind = kindOf(node);
    if (withKind(node, [&](auto& n) { return add(n, byte, child); })) {
      ++reached.added[kind];
      return;
    }
    replace(owner, place, {{byte, child}});
    ++reached.grown[kind];
  }

  // Puts a copy in a node's place, of the kind that fits its children and those that come with it.
  void replace(Node* owner, Child* place, Children children) {
    Node* node = nodeAt(*place);
    forEachChild(node, [&](unsigned byte, Child child) { children.emplace_back(byte, child); });
    Node* copy = newNode(children);
#if BUG == 5
    // ID, flushes the size of the node that it replaces: of a node of 48 that was one of 16 most children are not
    // durable when it is published.
    pm_persist(copy, Sizes[kindOf(node)]);
#else
    pm_persist(copy, Sizes[kindOf(copy)]);
#endif
    publish(owner, place, linkTo(copy));
    heap_.free(node, Sizes[kindOf(node)]);
  }

  // The nodes that tell two leaves apart which share everything up to this depth, and perhaps more.
  Child expand(unsigned depth, Child a, Child b) {
    unsigned differ = depth;
    while (byteOf(leafAt(a)->key, differ) == byteOf(leafAt(b)->key, differ)) ++differ;
    Node* node = newNode({{byteOf(leafAt(a)->key, differ), a}, {byteOf(leafAt(b)->key, differ), b}});
    pm_flush(node, Sizes[kindOf(node)]);
    while (differ > depth) {
      node = newNode({{byteOf(leafAt(a)->key, --differ), linkTo(node)}});
      pm_flush(node, Sizes[kindOf(node)]);
    }
    pm_fence();
    return linkTo(node);
  }

  // Takes what is at path[depth] out of its node, or out of the root.
  void unlink(Child* const* path, unsigned depth, std::uint64_t key) {
    if (depth == 0)
      publish(nullptr, path[0], 0);
    else
      withKind(nodeAt(*path[depth - 1]), [&](auto& n) { erase(n, byteOf(key, depth - 1)); });
  }

  // After a child of the node at path[depth] has gone. Whether the node is gone too.
  bool shrink(Child* const* path, unsigned depth, std::uint64_t key) {
    Node* owner = depth == 0 ? nullptr : nodeAt(*path[depth - 1]);
    Node* node = nodeAt(*path[depth]);
    Kind kind = kindOf(node);
    Child last = 0;
    forEachChild(node, [&](unsigned, Child child) { last = child; });
    unsigned children = kind == Of48 || kind == Of256 ? countOf(node) : childrenOf(node);
    if (children == 0) {
      unlink(path, depth, key);
    } else if (children == 1 && isLeaf(last)) {
      publish(owner, path[depth], last);
      ++reached.collapsed;
    } else {
      if (kind == Of4 || children >= Capacities[kind - 1]) return false;
      replace(owner, path[depth], {});
      ++reached.shrunk[kind];
      return false;
    }
    heap_.free(node, Sizes[kind]);
    return true;
  }

  // What a crash may leave: locks that are set, and counts of the larger kinds that don't know the last change.
  void recover(Child child) {
    if (isLeaf(child)) {
      heap_.mark(leafAt(child), sizeof(Leaf));
      return;
    }
    Node* node = nodeAt(child);
    heap_.mark(node, Sizes[kindOf(node)]);
    unsigned count = countOf(node);
    if (kindOf(node) == Of48) count = childrenOf(node);
#if BUG != 4
    // ATOM, slot and count of a node of 256 are two stores, and nobody counts again when only one of them survived.
    if (kindOf(node) == Of256) count = childrenOf(node);
#endif
    std::uint64_t head = headOf(kindOf(node), count);
#if BUG == 7
    // UD, a lock that was durable by chance is never released: the next change waits for ever.
    head |= node->head & Locked;
#endif
    if (node->head != head) {
      PM_PUBLISH(node->head, head);
      pm_persist(&node->head, sizeof node->head);
    }
    forEachChild(node, [&](unsigned, Child below) { recover(below); });
  }

  void visit(Child child, unsigned depth, std::uint64_t prefix, Contents& found,
             std::vector<std::uint64_t>& probes) const {
    if (isLeaf(child)) {
      const Leaf* leaf = leafAt(child);
      pm_expect(leaf->key >> 8 * (KeyBytes - depth) == prefix, "a leaf's key begins with the way to it");
      pm_expect(leaf->value != 0, "a leaf has a value");
      found[leaf->key] = leaf->value;
      return;
    }
    pm_expect(depth < KeyBytes, "the tree is no deeper than its keys are long");
    Node* node = nodeAt(child);
    if (kindOf(node) == Of48 || kindOf(node) == Of256)
      pm_expect(countOf(node) == childrenOf(node), "a node's count is the number of its children");
    bool probed = false;
    forEachChild(node, [&](unsigned byte, Child below) {
      visit(below, depth + 1, prefix << 8 | byte, found, probes);
      if (!probed && isLeaf(below)) probes.push_back(leafAt(below)->key);
      probed = probed || isLeaf(below);
    });
  }

  Pool* pool_;
  LineHeap heap_;
};

// Child number i of group 1, 2 or 3, each a node right below the root.
std::uint64_t keyOf(unsigned group, unsigned i) { return group << 24 | i << 16; }

// Before the first operation each group is one short of being full: a node of 4, of 16 and of 48.
Contents firstContents() {
  Contents first;
  for (unsigned group : {1, 2, 3})
    for (unsigned i = 0; i + 1 < Capacities[group - 1]; ++i) first[keyOf(group, i)] = keyOf(group, i) + 1;
  return first;
}

// Rounds in which each group is filled, grows, and shrinks again; a leaf is expanded, updated and collapsed; and
// one key gets another value in every round.
constexpr std::size_t DefaultOperations = 18;
std::vector<Step> workload(std::size_t operations) {
  std::vector<Step> steps;
  const std::uint64_t below = keyOf(1, 0) + 9, alone = 5 << 24;
  while (steps.size() < operations) {
    for (std::uint64_t key : {keyOf(1, 3), keyOf(1, 4), below, below, keyOf(2, 15), keyOf(2, 16), keyOf(3, 47),
                              keyOf(3, 48), keyOf(3, 49), alone})
      steps.push_back({Step::Put, key, steps.size() + 1});
    for (std::uint64_t key :
         {below, keyOf(1, 4), keyOf(1, 3), keyOf(2, 16), keyOf(2, 15), keyOf(3, 49), keyOf(3, 48), keyOf(3, 47)})
      steps.push_back({Step::Remove, key, 0});
  }
  steps.resize(operations);
  return steps;
}

void expectReached(const Tree::Reached& reached) {
  for (Kind kind : {Of4, Of16, Of48, Of256}) pm_expect(reached.added[kind] > 0, "adding to every kind is reached");
  for (Kind kind : {Of4, Of16, Of48}) pm_expect(reached.grown[kind] > 0, "growing of every kind is reached");
  for (Kind kind : {Of16, Of48, Of256}) pm_expect(reached.shrunk[kind] > 0, "shrinking of every kind is reached");
  pm_expect(reached.expanded > 0 && reached.collapsed > 0, "expanding and collapsing is reached");
  pm_expect(reached.updated > 0, "updates are reached");
}

void verify(Tree& tree, const Contents& first, const std::vector<Step>& steps) {
  std::vector<std::uint64_t> probes;
  Contents found = tree.contents(probes);
  for (auto [key, value] : found) pm_expect(tree.get(key) == value, "every key is found");
  bool triedBefore = tree.tried();
  tree.tryOut(probes);
  if (triedBefore) return;
  for (auto [key, value] : first) {
    pm_expect(found[key] == value, "what was there before the operations is there");
    found.erase(key);
  }
  expectStepsDone(steps, found);
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 2) pm_die("usage: radix POOL [OPERATIONS]");
  std::vector<Step> steps = workload(argc > 2 ? std::strtoul(argv[2], nullptr, 10) : DefaultOperations);
  Contents first = firstContents();
  std::optional<Tree> tree;
  auto operations = [&] {
    runSteps(steps, *tree);
    if (steps.size() >= DefaultOperations) expectReached(tree->reached);
  };
  return blackout_test([&] { tree.emplace(argv[1], first, true); }, operations,
                       [&] { tree.emplace(argv[1], first, false); }, [&] { verify(*tree, first, steps); });
}
