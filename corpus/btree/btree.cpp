// A B+-tree whose nodes are kept sorted by shifting records in place, without any log: Hwang et al., "Endurable
// Transient Inconsistency in Byte-Addressable Persistent B+-Tree" (FAST'18).
//
// FAST: a record is moved by stores of 8 bytes in an order in which every prefix of them leaves at most one record
// that repeats the link of its left neighbour, and readers skip such a record. A line is durable before the shift goes
// on in the next. FAIR: a split links the new sibling, cuts the node and attaches the sibling to the parent, one
// after the other; each node knows its lowest key, so a restart can finish from any step. A merge is a split run
// backwards, and is undone by the same restart. Allocation is volatile, see line_heap.hpp.
#include <optional>

#include "blackout/harness.hpp"
#include "line_heap.hpp"
#include "pm.h"
#include "steps.hpp"

namespace {

constexpr std::uint64_t Magic = 0x6565727462;
constexpr std::size_t PoolSize = 1 << 20;
constexpr unsigned Slots = 4;  // of a node; the last used one is followed by one with link 0, the terminator
constexpr unsigned Capacity = Slots - 1;
constexpr std::uint64_t Anchor = 1;  // left neighbour of a leaf's first record; no value is 1, and values are unique

struct Record {
  std::uint64_t key;
  std::uint64_t link;  // a leaf's value, or the child with the keys from `key` on; 0: no record from here on
};

struct alignas(PM_LINE) Node {
  std::uint64_t leftmost;  // the child with the keys below those of all records; Anchor in a leaf
  std::uint64_t sibling;   // the node to the right on the same level
  std::uint64_t low;       // the lowest key that belongs here
  std::uint64_t level;     // 0: leaf
  Record records[Slots];   // the first two are on the header's line, the others on the next
};

struct alignas(PM_LINE) Pool {
  std::uint64_t magic;
  std::uint64_t root;
  std::uint64_t tried;  // the check has begun to empty the tree: what is in it no longer tells what was done
};

Node* nodeAt(std::uint64_t link) { return reinterpret_cast<Node*>(link); }
std::uint64_t linkTo(const Node* node) { return reinterpret_cast<std::uint64_t>(node); }

std::uint64_t linkBefore(const Node* node, unsigned i) { return i == 0 ? node->leftmost : node->records[i - 1].link; }
bool isValid(const Node* node, unsigned i) { return node->records[i].link != linkBefore(node, i); }
bool startsLine(const Record& record) { return reinterpret_cast<std::uintptr_t>(&record) % PM_LINE == 0; }
bool endsLine(const Record& record) { return reinterpret_cast<std::uintptr_t>(&record + 1) % PM_LINE == 0; }

// Records up to the terminator, a repeated one included.
unsigned count(const Node* node) {
  unsigned n = 0;
  while (node->records[n].link != 0) ++n;
  return n;
}

class Tree {
 public:
  // What the workload has reached, so that one that no longer does fails.
  struct Reached {
    unsigned rightShiftsOverLines, leftShiftsOverLines, leafSplits, innerSplits, rootSplits, leafMerges, innerMerges,
        rootCollapses, updates;
  };
  Reached reached = {};

  // A pool that was never finished is made (again); any other is brought from what a crash left to a whole tree.
  Tree(const char* path, bool anew)
      : pool_(static_cast<Pool*>(pm_map(path, PoolSize))), heap_(pool_ + 1, PoolSize - sizeof(Pool)) {
    if (pool_->magic == Magic && !anew)
      recover();
    else
      create();
  }

  std::uint64_t get(std::uint64_t key) const {
    const Node* leaf = descend(key, 0);
    for (unsigned i = 0; leaf->records[i].link != 0; ++i)
      if (leaf->records[i].key == key && isValid(leaf, i)) return leaf->records[i].link;
    return 0;
  }

  void put(std::uint64_t key, std::uint64_t value) {
    Node* leaf = descend(key, 0);
    dropRepeated(leaf);
    for (unsigned i = 0; leaf->records[i].link != 0; ++i) {
      if (leaf->records[i].key != key) continue;
      PM_PUBLISH(leaf->records[i].link, value);
      pm_persist(&leaf->records[i].link, sizeof(std::uint64_t));
      ++reached.updates;
      return;
    }
    insert(leaf, key, value);
  }

  void remove(std::uint64_t key) {
    Node* leaf = descend(key, 0);
#if BUG != 2
    // UD, delete does not tolerate what a crashed insert leaves: without this line the shift brings the repeated
    // record's copy of the key to the place of the removed one, and the key is still there.
    dropRepeated(leaf);
#endif
    for (unsigned i = 0; leaf->records[i].link != 0; ++i) {
      if (leaf->records[i].key != key || !isValid(leaf, i)) continue;
      shiftLeft(leaf, i);
      merge(leaf);
      return;
    }
  }

  // Everything in the tree; on the way, what must hold for every node.
  Contents contents() const {
    Contents found;
    const Node* first = root();
    pm_expect(first->sibling == 0, "the root has no sibling");
    for (;; first = nodeAt(first->leftmost)) {
      std::vector<std::uint64_t> children;
      for (const Node* node = first; node != nullptr; node = nodeAt(node->sibling)) {
        checkNode(node, first->level);
        if (node->level == 0) {
          for (unsigned i = 0; node->records[i].link != 0; ++i)
            if (isValid(node, i)) found[node->records[i].key] = node->records[i].link;
        } else {
          children.push_back(node->leftmost);
          for (unsigned i = 0; node->records[i].link != 0; ++i)
            if (isValid(node, i)) children.push_back(node->records[i].link);
        }
      }
      if (first->level == 0) return found;
      const Node* child = nodeAt(first->leftmost);
      for (std::uint64_t link : children) {
        pm_expect(link == linkTo(child), "the nodes of a level are the children of the level above");
        child = nodeAt(child->sibling);
      }
      pm_expect(child == nullptr, "every node has a parent");
    }
  }

  bool tried() const { return pool_->tried != 0; }

  // Removes everything: what a crash left must not only look right, it must work.
  void tryOut(const Contents& found) {
    PM_PUBLISH(pool_->tried, 1);
    pm_persist(&pool_->tried, sizeof pool_->tried);
    for (auto [key, value] : found) {
      remove(key);
      pm_expect(get(key) == 0, "a removed key is gone");
    }
    pm_expect(contents().empty(), "nothing is left when every key was removed");
  }

 private:
  Node* root() const { return nodeAt(pool_->root); }

  void create() {
    if (pool_->magic != 0) {
      PM_PUBLISH(pool_->magic, 0);
      pm_persist(&pool_->magic, sizeof pool_->magic);
    }
    Node* leaf = newNode(0, 0, Anchor);
    pm_persist(leaf, sizeof *leaf);
    pool_->root = linkTo(leaf);
    pool_->tried = 0;
    PM_PUBLISH(pool_->magic, Magic);  // after everything else: on one line the order of stores is enough
    pm_persist(pool_, sizeof *pool_);
  }

  // A node without records; the caller makes it durable.
  Node* newNode(std::uint64_t level, std::uint64_t low, std::uint64_t leftmost) {
    Node* node = static_cast<Node*>(heap_.allocate(sizeof(Node)));
    node->leftmost = leftmost;
    node->sibling = 0;
    node->low = low;
    node->level = level;  // @LOST 5
    for (Record& record : node->records) record = {0, 0};
    return node;
  }

  Node* descend(std::uint64_t key, std::uint64_t level) const {
    Node* node = root();
    while (node->level > level) {
      std::uint64_t child = node->leftmost;
      for (unsigned i = 0; node->records[i].link != 0; ++i)
        if (isValid(node, i) && node->records[i].key <= key) child = node->records[i].link;
      node = nodeAt(child);
    }
    return node;
  }

  // FAST, to the right: there must be room, and no repeated record.
  void shiftRight(Node* node, std::uint64_t key, std::uint64_t link) {
    Record* records = node->records;
    unsigned i = count(node);
    if (records[i + 1].link != 0) {  // left over from before a split; the terminator moves there
      PM_PUBLISH(records[i + 1].link, 0);
      if (startsLine(records[i + 1])) pm_persist(&records[i + 1], sizeof(Record));
    }
    for (; i > 0 && records[i - 1].key > key; --i) {
      PM_PUBLISH(records[i].link, records[i - 1].link);  // link first: from here on repeated, so the key is nobody's
      PM_PUBLISH(records[i].key, records[i - 1].key);    // @LOST 2
      if (startsLine(records[i])) pm_persist(&records[i], sizeof(Record));
      reached.rightShiftsOverLines += startsLine(records[i]);
    }
    PM_PUBLISH(records[i].link, linkBefore(node, i));  // @LOST 2, @LOST 4
    PM_PUBLISH(records[i].key, key);
    PM_PUBLISH(records[i].link, link);  // @LOST 2, @LOST 4
    pm_persist(&records[i], sizeof(Record));
  }

  // FAST, to the left, over record i.
  void shiftLeft(Node* node, unsigned i) {
    Record* records = node->records;
    PM_PUBLISH(records[i].link, linkBefore(node, i));  // @LOST 1, @LOST 4: gone for readers
    for (; records[i + 1].link != 0; ++i) {
      PM_PUBLISH(records[i].key, records[i + 1].key);
      PM_PUBLISH(records[i].link, records[i + 1].link);  // @LOST 1: now the right one is repeated
#if BUG == 1
      // ID, the test for a shift to the right: a shift to the left leaves a line at its end, so the line that it came
      // from is never flushed, and a record that was moved out of the next line is lost.
      if (startsLine(records[i])) pm_persist(&records[i], sizeof(Record));
#else
      if (endsLine(records[i])) pm_persist(&records[i], sizeof(Record));
#endif
      reached.leftShiftsOverLines += endsLine(records[i]);
    }
    PM_PUBLISH(records[i].link, 0);  // @LOST 4
    pm_persist(&records[i], sizeof(Record));
  }

  // What a crash in a shift has left is taken out by the next one who changes the node.
  void dropRepeated(Node* node) {
    for (unsigned i = 0; node->records[i].link != 0;)
      if (isValid(node, i))
        ++i;
      else
        shiftLeft(node, i);
  }

  void insert(Node* node, std::uint64_t key, std::uint64_t link) {
    dropRepeated(node);
    if (count(node) == Capacity) {
      Node* right = split(node);
      if (key >= right->low) node = right;
    }
    shiftRight(node, key, link);
  }

  // FAIR: moves the upper half of the records to a new sibling.
  Node* split(Node* node) {
    Record* middle = &node->records[Capacity / 2];
    bool isLeaf = node->level == 0;
    Node* right = newNode(node->level, middle->key, isLeaf ? Anchor : middle->link);
    Record* to = right->records;
    for (const Record* from = isLeaf ? middle : middle + 1; from->link != 0; ++from) *to++ = *from;  // @LOST 3
    right->sibling = node->sibling;
#if BUG == 6
    // UD, cut before the sibling is linked: a crash between the two loses the upper half.
    PM_PUBLISH(middle->link, 0);  // @LOST 6
    pm_persist(&middle->link, sizeof middle->link);
#endif
#if BUG != 3
    pm_persist(right, sizeof *right);
#endif
    PM_PUBLISH(node->sibling, linkTo(right));  // @LOST 4, @LOST 6
    pm_persist(&node->sibling, sizeof node->sibling);
#if BUG == 3
    // ID, the sibling is linked before its content is durable: the restart finds an empty or half-filled sibling.
    pm_persist(right, sizeof *right);
#endif
#if BUG != 6
    PM_PUBLISH(middle->link, 0);
    pm_persist(&middle->link, sizeof middle->link);  // @LOST 4
#endif
    ++(isLeaf ? reached.leafSplits : reached.innerSplits);
    attach(right);
    return right;
  }

  // Makes the level above know a sibling that a split has linked.
  void attach(Node* child) {
    if (root()->level > child->level) {
      insert(descend(child->low, child->level + 1), child->low, linkTo(child));
      return;
    }
    Node* top = newNode(child->level + 1, 0, pool_->root);
    top->records[0] = {child->low, linkTo(child)};
#if BUG != 5
    // ID, a node's constructor without a flush: the root leads to a node that was never written back.
    pm_persist(top, sizeof *top);
#endif
    PM_PUBLISH(pool_->root, linkTo(top));  // @LOST 4
    pm_persist(&pool_->root, sizeof pool_->root);
    ++reached.rootSplits;
  }

  // After a remove: unites the node with a neighbour under the same parent if both fit in one and leave room.
  void merge(Node* node) {
    if (node == root()) {
      if (node->level == 0 || count(node) > 0) return;
      PM_PUBLISH(pool_->root, node->leftmost);
      pm_persist(&pool_->root, sizeof pool_->root);
      heap_.free(node, sizeof *node);
      ++reached.rootCollapses;
      return;
    }
    Node* parent = descend(node->low, node->level + 1);
    dropRepeated(parent);
    unsigned place = 0;  // of the right one of the two among the parent's records
    while (parent->records[place].link != 0 && linkBefore(parent, place) != linkTo(node)) ++place;
    if (parent->records[place].link == 0) {
      if (place == 0) return;  // an only child
      --place;
    }
    Node* left = nodeAt(linkBefore(parent, place));
    Node* right = nodeAt(parent->records[place].link);
    bool isLeaf = node->level == 0;
    dropRepeated(left);
    dropRepeated(right);
    if (count(left) + count(right) + (isLeaf ? 0 : 1) >= Capacity) return;

    // Until the right one is unlinked, what it holds counts: a restart cuts the copies off again.
    if (!isLeaf) shiftRight(left, right->low, right->leftmost);
    for (const Record* from = right->records; from->link != 0; ++from) shiftRight(left, from->key, from->link);
    shiftLeft(parent, place);
    PM_PUBLISH(left->sibling, right->sibling);  // @LOST 4
    pm_persist(&left->sibling, sizeof left->sibling);
    heap_.free(right, sizeof *right);
    ++(isLeaf ? reached.leafMerges : reached.innerMerges);
    merge(parent);
  }

  void recover() {
    for (Node* first = root(); first != nullptr; first = first->level == 0 ? nullptr : nodeAt(first->leftmost))
      for (Node* node = first; node != nullptr; node = nodeAt(node->sibling)) heap_.mark(node, sizeof *node);
#if BUG != 4
    // UD, a split that linked the sibling and did not come to the parent (or the new root) is not finished: nobody
    // finds the keys that moved.
    finishSplits();
#endif
  }

  // From the top down, so that the level in which a sibling is missing is itself whole.
  void finishSplits() {
    for (Node* first = root();; first = nodeAt(first->leftmost)) {
      for (Node *node = first, *right; (right = nodeAt(node->sibling)) != nullptr; node = right) {
        for (unsigned i = 0; node->records[i].link != 0; ++i) {
          if (!isValid(node, i) || node->records[i].key < right->low) continue;
          PM_PUBLISH(node->records[i].link, 0);
          pm_persist(&node->records[i].link, sizeof(std::uint64_t));
          break;
        }
        if (descend(right->low, right->level) != right) attach(right);
      }
      if (first->level == 0) return;
    }
  }

  void checkNode(const Node* node, std::uint64_t level) const {
    pm_expect(node->level == level, "the nodes of a level are all on that level");
    pm_expect(level > 0 || node->leftmost == Anchor, "a leaf begins with the anchor");
    const Node* right = nodeAt(node->sibling);
    std::uint64_t least = node->low;
    if (level > 0) {
      pm_expect(nodeAt(node->leftmost)->low == least, "the leftmost child begins where its parent does");
      ++least;
    }
    for (unsigned i = 0; node->records[i].link != 0; ++i) {
      if (!isValid(node, i)) continue;
      const Record& record = node->records[i];
      pm_expect(record.key >= least, "the keys of a node ascend from its lowest");
      pm_expect(right == nullptr || record.key < right->low, "the keys of a node are below its sibling's");
      if (level > 0) pm_expect(nodeAt(record.link)->low == record.key, "a child begins at its key");
      least = record.key + 1;
    }
  }

  Pool* pool_;
  LineHeap heap_;
};

// Rounds of eight puts, an update and three removes, in an order that reaches everything in the first round.
std::vector<Step> workload(std::size_t operations) {
  std::vector<Step> steps;
  for (std::uint64_t first = 0; steps.size() < operations; first += 10) {
    for (unsigned key : {2, 4, 3, 6, 5, 1, 7, 8, 2}) steps.push_back({Step::Put, first + key, (steps.size() + 1) * 8});
    for (unsigned key : {7, 3, 8}) steps.push_back({Step::Remove, first + key, 0});
  }
  steps.resize(operations);
  return steps;
}

constexpr std::size_t DefaultOperations = 12;

void expectReached(const Tree::Reached& reached) {
  pm_expect(reached.rightShiftsOverLines > 0 && reached.leftShiftsOverLines > 0, "shifts over lines are reached");
  pm_expect(reached.leafSplits > 0 && reached.innerSplits > 0 && reached.rootSplits > 1, "splits are reached");
  pm_expect(reached.leafMerges > 0 && reached.innerMerges > 0 && reached.rootCollapses > 0, "merges are reached");
  pm_expect(reached.updates > 0, "updates are reached");
}

void verify(Tree& tree, const std::vector<Step>& steps) {
  Contents found = tree.contents();
  for (auto [key, value] : found) pm_expect(tree.get(key) == value, "every key is found");
  bool triedBefore = tree.tried();
  tree.tryOut(found);
  if (!triedBefore) expectStepsDone(steps, found);
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 2) pm_die("usage: btree POOL [OPERATIONS]");
  std::vector<Step> steps = workload(argc > 2 ? std::strtoul(argv[2], nullptr, 10) : DefaultOperations);
  std::optional<Tree> tree;
  auto operations = [&] {
    runSteps(steps, *tree);
    if (steps.size() >= DefaultOperations) expectReached(tree->reached);
  };
  return blackout_test([&] { tree.emplace(argv[1], true); }, operations, [&] { tree.emplace(argv[1], false); },
                       [&] { verify(*tree, steps); });
}
