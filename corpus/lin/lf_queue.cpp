// A lock-free queue after Michael and Scott, made durable as Friedman et al. do it: a node is durable before it is
// linked, the link before the enqueue returns, the head before a dequeue returns. The tail is only a hint: a restart
// finds the last node by itself.
//
// Used by one thread here. BUG=1..4 each bring in one mistake.
#include <blackout/lin.hpp>

#include "pm.h"

namespace {

constexpr std::size_t kPoolSize = std::size_t{1} << 20;
constexpr std::uint64_t kMagic = 0x6c665f7175657565;

struct alignas(PM_LINE) Node {
  std::uint64_t value;
  Node* next;
};

struct Root {
  std::uint64_t magic;  // written last
  alignas(PM_LINE) char* top;
  alignas(PM_LINE) Node* head;  // its node has been taken out
  alignas(PM_LINE) Node* tail;  // the last node, or one before it
};

template <class T>
bool swapPointer(T** at, T* from, T* to) {
  return __atomic_compare_exchange_n(at, &from, to, false, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST);  // @LOST 2 @LOST 4
}

class Queue {
 public:
  static Queue* open(const char* path) {
    auto* queue = new Queue;
    queue->root_ = static_cast<Root*>(pm_map(path, kPoolSize));
    Root& root = *queue->root_;
    if (root.magic != kMagic) {
      root.top = reinterpret_cast<char*>(&root + 1);
      pm_persist(&root.top, sizeof root.top);
      root.head = root.tail = queue->newNode(0);
      pm_flush(&root.tail, sizeof root.tail);
      pm_persist(&root.head, sizeof root.head);
      PM_PUBLISH(root.magic, kMagic);
      pm_persist(&root.magic, sizeof root.magic);
    }
#if BUG != 3
    // UD, the tail is not recovered: without this an enqueue after a restart overwrites the link of a node in the
    // middle, and what follows it is lost.
    while (root.tail->next != nullptr) {
      PM_PUBLISH(root.tail, root.tail->next);
      pm_persist(&root.tail, sizeof root.tail);
    }
#endif
    return queue;
  }

  void enqueue(std::uint64_t value) {
    Node* node = newNode(value);
    Node* last = root_->tail;
#if BUG == 3
    PM_PUBLISH(last->next, node);  // @LOST 3
#else
    if (!swapPointer<Node>(&last->next, nullptr, node)) pm_die("the tail is not the last node");
#endif
    blackout_lp();
#if BUG == 2
    // ID, missing flush: the link stays in the caches. What was enqueued is lost.
#else
    pm_persist(&last->next, sizeof last->next);
#endif
#if BUG == 1
    pm_persist(node, sizeof *node);
#endif
    PM_PUBLISH(root_->tail, node);  // @LOST 3
    pm_persist(&root_->tail, sizeof root_->tail);
  }

  std::optional<std::uint64_t> dequeue() {
    Node* first = root_->head->next;
    if (first == nullptr) return std::nullopt;
    std::uint64_t value = first->value;
    if (!swapPointer(&root_->head, root_->head, first)) pm_die("somebody else took it");
    blackout_lp();
#if BUG == 4
    // ID, missing flush: the head stays in the caches. What was dequeued comes again.
#else
    pm_persist(&root_->head, sizeof root_->head);
#endif
    return value;
  }

 private:
  Node* newNode(std::uint64_t value) {
    auto* node = static_cast<Node*>(pm_bump(&root_->top, reinterpret_cast<char*>(root_) + kPoolSize, sizeof(Node)));
    node->value = value;  // @LOST 1
    node->next = nullptr;
#if BUG == 1
    // ID, wrong order: the node is made durable only after it is linked.
#else
    pm_persist(node, sizeof *node);
#endif
    return node;
  }

  Root* root_ = nullptr;
};

}  // namespace

BLACKOUT_QUEUE(Queue)
