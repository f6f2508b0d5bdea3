#include "runtime/trap/known_stacks.h"

#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "runtime/recorder.h"
#include "runtime/trap/frame_entry.h"

namespace blackout::rt {

namespace {

struct Known {
  uintptr_t pc;  // 0: none
  uintptr_t sp;
  uintptr_t rbp;
  bool usesRbp;
  uint64_t generation;  // of tables and sites
  uint32_t where;
  int count;
  Trail::Word words[Trail::kMost];
};
constexpr size_t kMost = 8192;
Known* known = nullptr;

Known& entryOf(uintptr_t pc, uintptr_t sp) { return known[((pc ^ sp * 31) * 0x9e3779b97f4a7c15u) >> 51]; }
static_assert(kMost == size_t{1} << (64 - 51));

uint64_t generation() { return tablesGeneration() << 16 | sitesGeneration(); }

}  // namespace

uint32_t knownWhere(uintptr_t pc, uintptr_t sp, uintptr_t rbp) {
  if (known == nullptr) return 0;
  const Known& k = entryOf(pc, sp);
  if (k.pc != pc || k.sp != sp || (k.usesRbp && k.rbp != rbp) || k.generation != generation()) return 0;
  for (int n = 0; n < k.count; ++n)
    if (*reinterpret_cast<const uintptr_t*>(k.words[n].address) != k.words[n].value) return 0;
  return k.where;
}

void keepWhere(const Frame& from, const Trail& trail, uint32_t where) {
  if (where == 0 || !trail.complete) return;
  if (known == nullptr) {
    long p = syscall(SYS_mmap, nullptr, kMost * sizeof(Known), PROT_READ | PROT_WRITE,
                     MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1L, 0L);
    if (p == -1) return;
    known = reinterpret_cast<Known*>(p);
  }
  Known& k = entryOf(from.pc, from.sp);
  k.pc = from.pc;
  k.sp = from.sp;
  k.rbp = from.rbp;
  k.usesRbp = trail.usesRbp;
  k.generation = generation();
  k.where = where;
  k.count = trail.count;
  for (int n = 0; n < trail.count; ++n) k.words[n] = trail.words[n];
}

}  // namespace blackout::rt
