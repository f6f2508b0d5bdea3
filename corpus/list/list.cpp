// A sorted, singly linked persistent list of records.
//
//   list POOL [OPERATIONS]
//
// A node is two lines: key, pointer and the record's words. It is made durable before the one store that links it in,
// and taken out by one store too; an update links a new node in place of the old one. Nodes come from an array. Which
// of them are free is not in persistent memory: recovery walks the list, and what it doesn't meet is free.
//
// BUG=1..6 each bring in one mistake.
#include "steps.hpp"

namespace {

constexpr uint64_t kMagic = 0x7473696c;
constexpr size_t kPoolSize = size_t{1} << 18;
constexpr unsigned kWords = 12;

// A record is as many words, all made from one number, so that a torn one shows.
uint64_t wordOf(uint64_t value, unsigned i) { return value << 8 | i; }

struct alignas(PM_LINE) Node {
  uint64_t key;
  Node* next;
  uint64_t record[kWords];
};

struct Root {
  uint64_t magic;  // written last
  alignas(PM_LINE) Node* first;
  Node node[];
};

constexpr uint64_t kNodes = (kPoolSize - sizeof(Root)) / sizeof(Node);

// What the workload has reached; volatile memory.
struct {
  unsigned first, middle, last, updates, removes, reuses;
} reached;

class List {
 public:
  void create(const char* path) {
    map(path);
    if (root_->magic == kMagic) pm_die("the pool holds a list already: remove it first");
    format();
    recover();
  }

  void open(const char* path) {
    map(path);
    if (root_->magic != kMagic) format();
    recover();
  }

  void put(uint64_t key, uint64_t value) {
    Node** link = linkTo(key);
    Node* old = *link && (*link)->key == key ? *link : nullptr;
    ++(old ? reached.updates : link == &root_->first ? reached.first : *link ? reached.middle : reached.last);
#if BUG == 6
    // ATOM, not atomic: the record is updated in place. A crash leaves a mixture of both.
    if (old) {
      for (unsigned i = 0; i < kWords; ++i) old->record[i] = wordOf(value, i);  // @LOST 6
      return pm_persist(old->record, sizeof old->record);
    }
#endif
    Node* node = takeFree();
    node->key = key;
    node->next = old ? old->next : *link;
    for (unsigned i = 0; i < kWords; ++i) node->record[i] = wordOf(value, i);  // @LOST 1 @LOST 2 @LOST 3
#if BUG == 1
    // ID, missing flush: a node spans two lines, and the size of the pointer covers the first only.
    pm_persist(node, sizeof node);
#elif BUG == 2
    // ID, wrong order: the node is linked before it is durable. A crash may find the link and not the node.
    PM_PUBLISH(*link, node);
    pm_persist(node, sizeof *node);
#elif BUG == 3
    // ID, missing fence: the node's write-back has only begun when it is linked.
    pm_flush(node, sizeof *node);
#else
    pm_persist(node, sizeof *node);
#endif
#if BUG != 2
    PM_PUBLISH(*link, node);
#endif
    pm_persist(link, sizeof *link);
    if (old) release(old);
  }

  void remove(uint64_t key) {
    Node** link = linkTo(key);
    Node* node = *link;
    if (!node || node->key != key) return;
    ++reached.removes;
    Node* next = node->next;
#if BUG == 5
    // UD, wrong order: the node is cleared while it is still linked. A crash in between cuts off the rest of the list.
    node->next = nullptr;  // @LOST 5
    pm_persist(&node->next, sizeof node->next);
#endif
    PM_PUBLISH(*link, next);  // @LOST 4
#if BUG == 4
    // ID, missing flush: the link that skips the node stays in the caches. After a crash the node is in the list again,
    // perhaps with what its next user has written into it.
#else
    pm_persist(link, sizeof *link);
#endif
    release(node);
  }

  // Walks everything, checks that it is a list, and returns what is in it.
  Contents contents() const {
    Contents found;
    uint64_t before = 0;
    for (const Node* node = root_->first; node; node = node->next) {
      pm_expect(isNode(node), "every link leads to a node");
      pm_expect(node->key > before, "the keys ascend");
      before = node->key;
      const uint64_t value = node->record[0] >> 8;
      for (unsigned i = 0; i < kWords; ++i) pm_expect(node->record[i] == wordOf(value, i), "every record is whole");
      found.emplace(node->key, value);
    }
    return found;
  }

 private:
  void map(const char* path) { root_ = static_cast<Root*>(pm_map(path, kPoolSize)); }

  // A new file is zeros, which is an empty list.
  void format() {
    PM_PUBLISH(root_->magic, kMagic);
    pm_persist(&root_->magic, sizeof root_->magic);
  }

  // Frees what is not in the list. Changes nothing that is persistent.
  void recover() {
    std::vector<bool> used(kNodes);
    for (const Node* node = root_->first; node; node = node->next) {
      pm_expect(isNode(node) && !used[node - root_->node], "the list is one");
      used[node - root_->node] = true;
    }
    free_.clear();
    for (uint64_t i = kNodes; i-- > 0;)
      if (!used[i]) free_.push_back(&root_->node[i]);
  }

  bool isNode(const Node* node) const {
    const auto offset = reinterpret_cast<uintptr_t>(node) - reinterpret_cast<uintptr_t>(root_->node);
    return offset < kNodes * sizeof(Node) && offset % sizeof(Node) == 0;
  }

  // Where the pointer stands that leads to the first node with this key or a greater one.
  Node** linkTo(uint64_t key) {
    Node** link = &root_->first;
    while (*link && (*link)->key < key) link = &(*link)->next;
    return link;
  }

  Node* takeFree() {
    if (free_.empty()) pm_die("the pool is full");
    Node* node = free_.back();
    free_.pop_back();
    reached.reuses += node->key != 0;
    return node;
  }

  void release(Node* node) { free_.push_back(node); }

  Root* root_ = nullptr;
  std::vector<Node*> free_;  // the last one is taken next
};

// In every five: a new key at each place of the list, an update, a remove; the keys of later rounds are greater.
std::vector<Step> workload(uint64_t operations) {
  std::vector<Step> steps;
  for (uint64_t i = 0; i < operations; ++i) {
    const uint64_t low = i / 5 * 4;
    switch (i % 5) {
      case 0:
        steps.push_back({Step::Put, low + 3, 1000 + i});
        break;
      case 1:
        steps.push_back({Step::Put, low + 1, 1000 + i});
        break;
      case 2:
        steps.push_back({Step::Put, low + 2, 1000 + i});
        break;
      case 3:
        steps.push_back({Step::Put, low + 1, 1000 + i});
        break;
      case 4:
        steps.push_back({Step::Remove, low + 2, 0});
    }
  }
  return steps;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 2) pm_die("usage: list POOL [OPERATIONS]");
  const std::vector<Step> steps = workload(argc > 2 ? std::strtoull(argv[2], nullptr, 10) : 10);
  List list;
  auto setup = [&] { list.create(argv[1]); };
  auto operations = [&] {
    runSteps(steps, list);
    if (steps.size() >= 6)
      pm_expect(reached.first && reached.middle && reached.last && reached.updates && reached.removes && reached.reuses,
                "the workload reaches everything");
  };
  auto recover = [&] { list.open(argv[1]); };
  auto verify = [&] { expectStepsDone(steps, list.contents()); };
  return blackout_test(setup, operations, recover, verify);
}
