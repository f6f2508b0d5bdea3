// PMDK's queue as its author would test it.
#include <blackout/lin.hpp>

#include "queue_adapter.h"

struct Queue {
  static Queue* open(const char* pool) { return adapter_open(pool) != 0 ? new Queue : nullptr; }
  void enqueue(std::uint64_t value) {
    if (adapter_enqueue(value) == 0) blackout::lin::stop("the queue is full");
  }
  std::optional<std::uint64_t> dequeue() {
    std::uint64_t value = 0;
    if (adapter_dequeue(&value) == 0) return std::nullopt;
    return value;
  }
};

BLACKOUT_QUEUE(Queue)
