// What structures for several threads share: a pool with a root of theirs, and memory that is only ever taken.
#pragma once

#include <atomic>
#include <cstdint>

#include "pm.h"

template <class Root>
class SharedPool {
 public:
  // `make` fills the root of a new pool, durable when it returns; a pool that was left unfinished is made again.
  template <class Make>
  SharedPool(const char* path, Make make) : head_(static_cast<Head*>(pm_map(path, kSize))) {
    if (head_->magic == kMagic) return;
    make(*this);
    PM_PUBLISH(head_->magic, kMagic);
    pm_persist(&head_->magic, sizeof head_->magic);
  }
  Root& root() { return head_->root; }
  // All zeros.
  template <class T>
  T* take() {
    constexpr std::uint64_t size = (sizeof(T) + PM_LINE - 1) / PM_LINE * PM_LINE;
    std::uint64_t at = head_->used.fetch_add(size);
    if (sizeof(Head) + at + size > kSize) pm_die("the pool is full");
    pm_persist(&head_->used, sizeof head_->used);
    return reinterpret_cast<T*>(reinterpret_cast<char*>(head_ + 1) + at);
  }

 private:
  static constexpr std::size_t kSize = std::size_t{1} << 20;
  static constexpr std::uint64_t kMagic = 0x736861726564706f;
  struct Head {
    std::uint64_t magic;                               // written last
    alignas(PM_LINE) std::atomic<std::uint64_t> used;  // bytes behind the head
    alignas(PM_LINE) Root root;
  };
  Head* head_;
};
