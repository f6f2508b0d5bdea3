// A bounded queue whose operations are undo transactions (tx.h), as PMDK's example: the items and where they begin and
// end change together.
//
// BUG=1..3 each bring in one mistake.
#include <blackout/lin.hpp>

#include "tx.h"

namespace {

#ifdef CORPUS_LARGE
constexpr std::uint64_t kCapacity = 480;  // of one block
#else
constexpr std::uint64_t kCapacity = 24;
#endif

struct Items {
  TX_ALIGNED std::uint64_t front;  // of the first item, counted for ever
  TX_ALIGNED std::uint64_t back;   // after the last
  TX_ALIGNED std::uint64_t item[kCapacity];
};

class Queue {
 public:
  static Queue* open(const char* path) {
    auto* queue = new Queue;
    queue->pool_ = tx_open(path);
    if (queue->pool_->root == nullptr) {
      tx_begin();
      tx_add(&queue->pool_->root, sizeof queue->pool_->root);
      queue->pool_->root = tx_alloc(sizeof(Items));
      tx_commit();
    }
    queue->items_ = static_cast<Items*>(queue->pool_->root);
    return queue;
  }

  void enqueue(std::uint64_t value) {
    if (items_->back - items_->front == kCapacity) pm_die("the queue is full");
    std::uint64_t* place = &items_->item[items_->back % kCapacity];
#if BUG == 1
    // UD, outside of the transaction: where the queue ends changes before it begins. A crash leaves an item too many.
    PM_PUBLISH(items_->back, items_->back + 1);  // @LOST 1
    pm_persist(&items_->back, sizeof items_->back);
    tx_begin();
    tx_add(place, sizeof *place);
    *place = value;  // @LOST 1
    tx_commit();
#elif BUG == 2
    // ID, not added: the item is stored in the transaction, which does not make it durable.
    tx_begin();
    *place = value;  // @LOST 2
    tx_add(&items_->back, sizeof items_->back);
    ++items_->back;
    tx_commit();
#else
    tx_begin();
    tx_add(place, sizeof *place);
    *place = value;
    tx_add(&items_->back, sizeof items_->back);
    ++items_->back;
    tx_commit();
#endif
  }

  std::optional<std::uint64_t> dequeue() {
    if (items_->back == items_->front) return std::nullopt;
    std::uint64_t value = items_->item[items_->front % kCapacity];
#if BUG == 3
    // ID, missing flush: where the queue begins is stored outside of a transaction, and nobody flushes it.
    PM_PUBLISH(items_->front, items_->front + 1);  // @LOST 3
#else
    tx_begin();
    tx_add(&items_->front, sizeof items_->front);
    ++items_->front;
    tx_commit();
#endif
    return value;
  }

 private:
  tx_pool* pool_ = nullptr;
  Items* items_ = nullptr;
};

}  // namespace

BLACKOUT_QUEUE(Queue)
