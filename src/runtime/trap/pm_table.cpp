#include "runtime/trap/pm_table.h"

#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "events/address_map.h"

namespace blackout::rt {

uint8_t* pmTable = nullptr;

bool preparePmTable() {
  if (pmTable != nullptr) return true;
  long p = syscall(SYS_mmap, kPmTableBase, kPmTableSpan, PROT_READ | PROT_WRITE,
                   MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED_NOREPLACE, -1L, 0L);
  if (p == -1) return false;
  // A huge page of it would be cleared for one byte.
  syscall(SYS_madvise, p, kPmTableSpan, MADV_NOHUGEPAGE);
  pmTable = reinterpret_cast<uint8_t*>(p);
  return true;
}

void notePm(uintptr_t begin, uintptr_t end) {
  if (pmTable == nullptr || begin >= end) return;
  for (uintptr_t n = begin >> kStretchBits; n <= (end - 1) >> kStretchBits; ++n)
    __atomic_store_n(&pmTable[n], uint8_t{1}, __ATOMIC_RELEASE);
}

}  // namespace blackout::rt
