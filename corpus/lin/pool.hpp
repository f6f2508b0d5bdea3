// What the structures of this folder share: a pool with a root of theirs and memory that is only ever taken.
#pragma once

#include <cstdint>

#include "pm.h"

template <class Root>
class BumpPool {
 public:
  // `make` fills the root of a new pool, all but durable; a pool that was left unfinished is made again.
  template <class Make>
  BumpPool(const char* path, Make make) : head_(static_cast<Head*>(pm_map(path, kSize))) {
    if (head_->magic == kMagic) return;
    head_->top = reinterpret_cast<char*>(head_ + 1);
    pm_persist(&head_->top, sizeof head_->top);
    make(*this);
    PM_PUBLISH(head_->magic, kMagic);
    pm_persist(&head_->magic, sizeof head_->magic);
  }
  Root& root() { return head_->root; }
  template <class T>
  T* take() {
    return static_cast<T*>(pm_bump(&head_->top, reinterpret_cast<char*>(head_) + kSize, sizeof(T)));
  }

 private:
  static constexpr std::size_t kSize = std::size_t{1} << 20;
  static constexpr std::uint64_t kMagic = 0x62756d70706f6f6c;
  struct Head {
    std::uint64_t magic;  // written last
    alignas(PM_LINE) char* top;
    alignas(PM_LINE) Root root;
  };
  Head* head_;
};
