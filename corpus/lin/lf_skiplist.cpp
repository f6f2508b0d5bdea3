// A lock-free skip list, as NVTraverse's: the bottom list says what is there, the lists above it are short cuts. A node
// is durable before a compare-and-swap links it into the bottom list; the short cuts follow. A remove marks the node in
// its bottom link; searches lead past marked nodes in every list. A node is two lines.
//
// Used by one thread here. BUG=1..3 each bring in one mistake.
#include <blackout/lin.hpp>

#include "lin/pool.hpp"

namespace {

constexpr unsigned kLevels = 3;

struct alignas(PM_LINE) Node {
  std::uint64_t key;
  std::uint64_t next[kLevels];  // lowest bit of the first: this node is removed
  alignas(PM_LINE) std::uint64_t value;
};
struct Root {
  std::uint64_t head[kLevels];
};

Node* nodeAt(std::uint64_t link) { return reinterpret_cast<Node*>(link & ~std::uint64_t{1}); }
std::uint64_t linkTo(const Node* node) { return reinterpret_cast<std::uint64_t>(node); }
bool isRemoved(const Node* node) { return (node->next[0] & 1) != 0; }
// The same in every run: a quarter of the keys at each further level.
unsigned heightOf(std::uint64_t key) {
  std::uint64_t mixed = key * 0x9e3779b97f4a7c15u >> 40;
  return mixed % 16 == 0 ? 3 : mixed % 4 == 0 ? 2 : 1;
}

class SkipList {
 public:
  static SkipList* open(const char* path) { return new SkipList(path); }

  std::optional<std::uint64_t> get(std::uint64_t key) {
    Node* node = nodeAt(*find(key).link[0]);
    return node == nullptr || node->key != key ? std::nullopt : std::optional(node->value);
  }

  bool insert(std::uint64_t key, std::uint64_t value) {
    Place p = find(key);
    Node* after = nodeAt(*p.link[0]);
    if (after != nullptr && after->key == key) return false;
    auto* node = pool_.take<Node>();
    node->key = key;
    node->value = value;  // @LOST 1 @LOST 3
    for (unsigned level = 0; level < heightOf(key); ++level) node->next[level] = *p.link[level] & ~std::uint64_t{1};
#if BUG == 1
    // ID, missing flush: a node is two lines, and only the first is flushed.
    pm_persist(node, PM_LINE);
#elif BUG == 3
    // ID, wrong order: the value's line is flushed after the node is published.
    pm_persist(node, PM_LINE);
#else
    pm_persist(node, sizeof *node);
#endif
    if (!swap(p.link[0], linkTo(after), linkTo(node))) pm_die("somebody else was here");
    blackout_lp();
#if BUG == 2
    // ID, missing flush: the link of the bottom list stays in the caches; those above it are flushed.
#else
    pm_persist(p.link[0], sizeof(std::uint64_t));
#endif
#if BUG == 3
    pm_persist(&node->value, sizeof node->value);
#endif
    for (unsigned level = 1; level < heightOf(key); ++level)
      if (swap(p.link[level], node->next[level], linkTo(node))) pm_persist(p.link[level], sizeof(std::uint64_t));
    return true;
  }

  bool remove(std::uint64_t key) {
    Node* node = nodeAt(*find(key).link[0]);
    if (node == nullptr || node->key != key) return false;
    if (!swap(&node->next[0], node->next[0], node->next[0] | 1)) pm_die("somebody else was here");
    blackout_lp();
    pm_persist(&node->next[0], sizeof(std::uint64_t));
    find(key);  // leads past it
    return true;
  }

 private:
  explicit SkipList(const char* path)
      : pool_(path, [](BumpPool<Root>& pool) {
          for (std::uint64_t& head : pool.root().head) head = 0;
          pm_persist(&pool.root(), sizeof(Root));
        }) {}

  struct Place {
    std::uint64_t* link[kLevels];  // to the first node of each list whose key is not smaller
  };
  Place find(std::uint64_t key) {
    Place p;
    Node* before = nullptr;
    for (unsigned level = kLevels; level-- > 0;) {
      std::uint64_t* link = before == nullptr ? &pool_.root().head[level] : &before->next[level];
      for (Node* node = nodeAt(*link); node != nullptr; node = nodeAt(*link)) {
        if (isRemoved(node)) {
          if (swap(link, linkTo(node), node->next[level] & ~std::uint64_t{1})) pm_persist(link, sizeof *link);
          continue;
        }
        if (node->key >= key) break;
        before = node;
        link = &node->next[level];
      }
      p.link[level] = link;
    }
    return p;
  }

  static bool swap(std::uint64_t* link, std::uint64_t from, std::uint64_t to) {
    return __atomic_compare_exchange_n(link, &from, to, false, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST);  // @LOST 2
  }

  BumpPool<Root> pool_;
};

}  // namespace

BLACKOUT_MAP(SkipList)
