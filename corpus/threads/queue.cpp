// A lock-free queue for several threads, after Michael and Scott, durable as Friedman et al. have it: a node is durable
// before it is linked, and whoever goes past a link or a head that another thread has changed makes that durable first
// (helping), so that nobody is told what a crash may take back.
//
// BUG=1..3 each bring in one mistake; 1 and 2 leave the helping out and need two threads to show.
#include <blackout/lin.hpp>

#include "pool.hpp"

namespace {

struct alignas(PM_LINE) Node {
  std::uint64_t value;
  std::atomic<Node*> next;
};

struct Root {
  std::atomic<Node*> head;                   // its node has been taken out
  alignas(PM_LINE) std::atomic<Node*> tail;  // the last node, or one before it
};

class Queue {
 public:
  static Queue* open(const char* path) {
    auto* queue = new Queue(path);
    // The tail is a hint, and need not be durable: it begins anew behind the head.
    Root& root = queue->pool_.root();
    blackout_ignore(&root.tail, sizeof root.tail);
    root.tail.store(root.head.load());
    return queue;
  }

  void enqueue(std::uint64_t value) {
    Node* node = newNode(value);
    Root& root = pool_.root();
    for (;;) {
      Node* last = root.tail;
      Node* next = last->next;
      if (next != nullptr) {
#if BUG != 1
        // VND: without this somebody's node hangs behind a link that a crash may take back, and goes with it.
        pm_persist(&last->next, sizeof last->next);
#endif
        root.tail.compare_exchange_strong(last, next);
        continue;
      }
      if (!last->next.compare_exchange_strong(next, node)) continue;
      pm_persist(&last->next, sizeof last->next);
      root.tail.compare_exchange_strong(last, node);
#if BUG == 3
      pm_persist(node, sizeof *node);
#endif
      return;
    }
  }

  std::optional<std::uint64_t> dequeue() {
    Root& root = pool_.root();
    for (;;) {
      Node* head = root.head;
      Node* next = head->next;
      if (next == nullptr) {
#if BUG != 2
        // VND: without this the queue is told to be empty, though a crash may bring the last value back.
        pm_persist(&root.head, sizeof root.head);
#endif
        return std::nullopt;
      }
      Node* last = root.tail;
      if (head == last) {
        pm_persist(&last->next, sizeof last->next);
        root.tail.compare_exchange_strong(last, next);
        continue;
      }
      std::uint64_t value = next->value;
      if (!root.head.compare_exchange_strong(head, next)) continue;
      pm_persist(&root.head, sizeof root.head);
      return value;
    }
  }

 private:
  explicit Queue(const char* path)
      : pool_(path, [](SharedPool<Root>& pool) {
          pool.root().head.store(pool.take<Node>());
          pm_persist(&pool.root().head, sizeof pool.root().head);
        }) {}
  Node* newNode(std::uint64_t value) {
    Node* node = pool_.take<Node>();
    node->value = value;
#if BUG != 3
    // ID, wrong order: without this the node is linked before it is durable.
    pm_persist(node, sizeof *node);
#endif
    return node;
  }

  SharedPool<Root> pool_;
};

}  // namespace

BLACKOUT_QUEUE(Queue)
