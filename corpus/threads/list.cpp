// A sorted lock-free list for several threads, after Harris, durable as "link and persist" has it (David et al.): a
// link carries a mark while it is not known to be durable, and whoever relies on such a link makes it durable first and
// takes the mark away. So nobody returns what a crash may take back.
//
// BUG=1 and 2 each bring in one mistake, which needs two threads to show.
#include <atomic>
#include <blackout/lin.hpp>

#include "pm.h"

namespace {

constexpr std::size_t kPoolSize = std::size_t{1} << 20;
constexpr std::uint64_t kMagic = 0x6c696e6b6e706572;

// The two lowest bits of a link: the node that it belongs to is removed; the link may not be durable.
constexpr std::uint64_t kRemoved = 1, kFresh = 2, kBits = 3;

struct alignas(PM_LINE) Node {
  std::uint64_t key;
  std::uint64_t value;
  std::atomic<std::uint64_t> next;
};

struct Root {
  std::uint64_t magic;                               // written last
  alignas(PM_LINE) std::atomic<std::uint64_t> used;  // bytes behind the root
  alignas(PM_LINE) std::atomic<std::uint64_t> head;
};

class List {
 public:
  static List* open(const char* path) {
    auto* list = new List;
    list->root_ = static_cast<Root*>(pm_map(path, kPoolSize));
    if (list->root_->magic != kMagic) {
      PM_PUBLISH(list->root_->magic, kMagic);
      pm_persist(&list->root_->magic, sizeof kMagic);
    }
    return list;
  }

  bool insert(std::uint64_t key, std::uint64_t value) {
    for (;;) {
      Place p = find(key);
      if (p.node != nullptr && p.node->key == key) {
#if BUG != 2
        // VND: without this "it is there" is said of a node whose link is not durable.
        makeDurable(p.link);
#endif
        return false;
      }
      Node* node = newNode();
      node->key = key;
      node->value = value;
      node->next.store(linkTo(p.node), std::memory_order_relaxed);
      pm_persist(node, sizeof *node);
      makeDurable(p.link);
      std::uint64_t from = linkTo(p.node);
      if (!p.link->compare_exchange_strong(from, linkTo(node) | kFresh)) continue;
      makeDurable(p.link);
      return true;
    }
  }

  bool remove(std::uint64_t key) {
    for (;;) {
      Place p = find(key);
      if (p.node == nullptr || p.node->key != key) return false;
      std::uint64_t next = p.node->next;
      if ((next & kRemoved) != 0) continue;
      makeDurable(&p.node->next);
      next &= ~kFresh;
      if (!p.node->next.compare_exchange_strong(next, next | kRemoved | kFresh)) continue;
      makeDurable(&p.node->next);
      unlink(p.link, p.node);
      return true;
    }
  }

  std::optional<std::uint64_t> get(std::uint64_t key) {
    Place p = find(key);
    if (p.node == nullptr || p.node->key != key) return std::nullopt;
#if BUG != 1
    // VND: without this a value is returned whose link is not durable.
    makeDurable(p.link);
#endif
    return p.node->value;
  }

 private:
  struct Place {
    std::atomic<std::uint64_t>* link;
    Node* node;  // the first whose key is not smaller; null: there is none
  };
  static Node* nodeAt(std::uint64_t link) { return reinterpret_cast<Node*>(link & ~kBits); }
  static std::uint64_t linkTo(const Node* node) { return reinterpret_cast<std::uint64_t>(node); }

  static void makeDurable(std::atomic<std::uint64_t>* link) {
    std::uint64_t found = *link;
    if ((found & kFresh) == 0) return;
    pm_persist(link, sizeof *link);
    link->compare_exchange_strong(found, found & ~kFresh);
  }

  // Leads past a node that is removed, which is durable by then.
  static bool unlink(std::atomic<std::uint64_t>* link, Node* node) {
    std::uint64_t from = *link;
    if (nodeAt(from) != node || (from & kRemoved) != 0) return false;
    makeDurable(link);
    from &= ~kFresh;
    if (!link->compare_exchange_strong(from, (node->next & ~kBits) | kFresh)) return false;
    makeDurable(link);
    return true;
  }

  Place find(std::uint64_t key) {
    std::atomic<std::uint64_t>* link = &root_->head;
    for (;;) {
      Node* node = nodeAt(*link);
      if (node == nullptr) return {link, nullptr};
      if ((node->next & kRemoved) != 0) {
        makeDurable(&node->next);
        // From the beginning, if somebody else changed the link.
        if (!unlink(link, node)) link = &root_->head;
        continue;
      }
      if (node->key >= key) return {link, node};
      link = &node->next;
    }
  }
  Node* newNode() {
    std::uint64_t at = root_->used.fetch_add(sizeof(Node));
    if (sizeof(Root) + at + sizeof(Node) > kPoolSize) pm_die("the pool is full");
    pm_persist(&root_->used, sizeof at);
    return reinterpret_cast<Node*>(reinterpret_cast<char*>(root_ + 1) + at);
  }

  Root* root_ = nullptr;
};

}  // namespace

BLACKOUT_MAP(List)
