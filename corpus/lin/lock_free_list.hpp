// A sorted lock-free list after Harris, made durable as NVTraverse does it: what a node holds is durable before the
// compare-and-swap that links it in, and each such swap is made durable before the operation returns. A remove marks
// the node by the lowest bit of its link and then leads past it; whoever meets a marked node leads past it too. A node
// is two lines.
//
// Used by one thread here. BUG=1..5 each bring in one mistake.
#pragma once

#include <cstdint>
#include <optional>

#include "pm.h"

namespace lockfree {

struct alignas(PM_LINE) Node {
  std::uint64_t key;
  std::uint64_t next;                    // of the next node; lowest bit: this one is removed
  alignas(PM_LINE) std::uint64_t value;  // in a line of its own
};

constexpr std::size_t kPoolSize = std::size_t{1} << 20;
constexpr std::uint64_t kMagic = 0x6c6f636b66726565;

inline bool isMarked(std::uint64_t link) { return (link & 1) != 0; }
inline Node* nodeAt(std::uint64_t link) { return reinterpret_cast<Node*>(link & ~std::uint64_t{1}); }
inline std::uint64_t linkTo(const Node* node) { return reinterpret_cast<std::uint64_t>(node); }

inline bool swapLink(std::uint64_t* link, std::uint64_t from, std::uint64_t to) {
  return __atomic_compare_exchange_n(link, &from, to, false, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST);  // @LOST 3 @LOST 5
}

// Lists whose heads are the caller's.
class Lists {
 public:
  explicit Lists(char** top, char* end) : top_(top), end_(end) {}

  bool insert(std::uint64_t* head, std::uint64_t key, std::uint64_t value) {
    for (;;) {
      Place p = find(head, key);
      if (p.node != nullptr && p.node->key == key) return false;
      auto* node = static_cast<Node*>(pm_bump(top_, end_, sizeof(Node)));
      node->key = key;
      node->value = value;  // @LOST 1
#if BUG == 4
      // UD, wrong order: the node is linked before it leads on. A crash in between cuts off all that follow.
      node->next = 0;
#else
      node->next = linkTo(p.node);
#endif
#if BUG == 1
      // ID, missing flush: a node is two lines, and only the first is flushed. After a crash the key is there with what
      // the memory held before.
      pm_persist(node, PM_LINE);
#elif BUG == 2
      // ID, missing fence: flushed, but no fence before the swap publishes it. A mistake only where locked instructions
      // do not complete flushes (rmw-fences=off).
      pm_flush(node, sizeof *node);
#else
      pm_persist(node, sizeof *node);
#endif
      if (!swapLink(p.link, linkTo(p.node), linkTo(node))) continue;
      blackout_lp();
#if BUG == 3
      // ID, missing flush: what the swap stored stays in the caches. An insert that has returned is lost.
#else
      pm_persist(p.link, sizeof *p.link);
#endif
#if BUG == 4
      PM_PUBLISH(node->next, linkTo(p.node));  // @LOST 4
      pm_persist(&node->next, sizeof node->next);
#endif
      return true;
    }
  }

  bool update(std::uint64_t* head, std::uint64_t key, std::uint64_t value) {
    Place p = find(head, key);
    if (p.node == nullptr || p.node->key != key) return false;
    PM_PUBLISH(p.node->value, value);
    blackout_lp();
    pm_persist(&p.node->value, sizeof value);
    return true;
  }

  bool remove(std::uint64_t* head, std::uint64_t key) {
    for (;;) {
      Place p = find(head, key);
      if (p.node == nullptr || p.node->key != key) return false;
      std::uint64_t next = p.node->next;
      if (!swapLink(&p.node->next, next, next | 1)) continue;
      blackout_lp();
#if BUG == 5
      // ID, missing flush: the mark stays in the caches, and so does the link past the node. A remove that has returned
      // is undone.
      swapLink(p.link, linkTo(p.node), next);
#else
      pm_persist(&p.node->next, sizeof next);
      if (swapLink(p.link, linkTo(p.node), next)) pm_persist(p.link, sizeof next);
#endif
      return true;
    }
  }

  std::optional<std::uint64_t> get(std::uint64_t* head, std::uint64_t key) {
    Place p = find(head, key);
    if (p.node == nullptr || p.node->key != key) return std::nullopt;
    return p.node->value;
  }

 private:
  struct Place {
    std::uint64_t* link;
    Node* node;  // the first whose key is not smaller; null: there is none
  };

  // Leads past nodes that are marked: a crash may have left them linked.
  Place find(std::uint64_t* head, std::uint64_t key) {
    std::uint64_t* link = head;
    for (Node* node = nodeAt(*link); node != nullptr; node = nodeAt(*link)) {
      if (isMarked(node->next)) {
        if (swapLink(link, linkTo(node), node->next & ~std::uint64_t{1})) pm_persist(link, sizeof *link);
        continue;
      }
      if (node->key >= key) return {link, node};
      link = &node->next;
    }
    return {link, nullptr};
  }

  char** top_;
  char* end_;
};

// A pool with this many lists.
template <unsigned kLists>
class Pool {
 public:
  static Pool* open(const char* path) {
    auto* root = static_cast<Root*>(pm_map(path, kPoolSize));
    if (root->magic != kMagic) {
      root->top = reinterpret_cast<char*>(root + 1);
      pm_persist(&root->top, sizeof root->top);
      PM_PUBLISH(root->magic, kMagic);
      pm_persist(&root->magic, sizeof root->magic);
    }
    return new Pool(root);
  }
  bool insert(std::uint64_t key, std::uint64_t value) { return lists_.insert(listOf(key), key, value); }
  bool update(std::uint64_t key, std::uint64_t value) { return lists_.update(listOf(key), key, value); }
  bool remove(std::uint64_t key) { return lists_.remove(listOf(key), key); }
  std::optional<std::uint64_t> get(std::uint64_t key) { return lists_.get(listOf(key), key); }

 private:
  struct Root {
    std::uint64_t magic;  // written last
    alignas(PM_LINE) char* top;
    alignas(PM_LINE) std::uint64_t head[kLists];
  };
  explicit Pool(Root* root) : root_(root), lists_(&root->top, reinterpret_cast<char*>(root) + kPoolSize) {}
  std::uint64_t* listOf(std::uint64_t key) { return &root_->head[key % kLists]; }

  Root* root_;
  Lists lists_;
};

}  // namespace lockfree
