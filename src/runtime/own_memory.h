// Memory of the runtime's own, away from the program's (events/address_map.h): so what the program maps lies where it
// lies in every other run, whatever the runtime has needed by then.
#pragma once

#include <stddef.h>
#include <stdint.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "events/address_map.h"

namespace blackout::rt {

inline constinit uintptr_t nextOwnMemory = kOwnBase;

// `size` bytes of zeros, at the beginning of a page; null: there are none. Async-signal-safe.
inline void* takeMemory(size_t size, int protection = PROT_READ | PROT_WRITE, int sharing = MAP_PRIVATE) {
  constexpr size_t kPage = 4096;
  size = (size + kPage - 1) & -kPage;
  uintptr_t at = __atomic_fetch_add(&nextOwnMemory, size + kPage, __ATOMIC_RELAXED);
  if (at + size > kOwnBase + kOwnSpan) return nullptr;
  long p =
      syscall(SYS_mmap, at, size, protection, sharing | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED_NOREPLACE, -1L, 0L);
  return p == -1 ? nullptr : reinterpret_cast<void*>(p);
}

}  // namespace blackout::rt
