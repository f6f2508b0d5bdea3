#include "runtime/trap/known_stacks.h"

#include "runtime/options.h"
#include "runtime/own_memory.h"
#include "runtime/recorder.h"
#include "runtime/role.h"
#include "runtime/trap/frame_entry.h"

namespace blackout::rt {

namespace {

struct Known {
  uintptr_t pc;  // 0: none
  uintptr_t sp;
  uintptr_t rbp;
  const blackout_site* site;
  bool usesRbp;
  uint64_t generation;  // of tables and sites
  uint32_t where;
  int count;
  Trail::Word words[Trail::kMost];
};
constexpr size_t kMost = 8192;
Known* known = nullptr;

// Ways to come to one place with the same stack pointer: so many are kept, the latest first.
constexpr size_t kWays = 4;
uint8_t latest[kMost / kWays];

size_t setOf(uintptr_t pc, uintptr_t sp) { return ((pc ^ sp * 31) * 0x9e3779b97f4a7c15u) >> 53; }
static_assert(kMost / kWays == size_t{1} << (64 - 53));
Known& entryOf(size_t set, size_t way) { return known[set * kWays + way % kWays]; }

uint64_t generation() { return tablesGeneration() << 16 | sitesGeneration(); }

}  // namespace

uint32_t knownWhere(uintptr_t pc, uintptr_t sp, uintptr_t rbp, const blackout_site* site) {
  if (known == nullptr) return 0;
  size_t set = setOf(pc, sp);
  for (size_t n = 0; n < kWays; ++n) {
    size_t way = (latest[set] + n) % kWays;
    const Known& k = entryOf(set, way);
    if (k.pc != pc || k.sp != sp || k.site != site || (k.usesRbp && k.rbp != rbp) || k.generation != generation())
      continue;
    // Of a stack that was higher, before it was given to another thread.
    if (k.count > 0 && k.words[k.count - 1].address >= self.stackTop) continue;
    int same = 0;
    while (same < k.count && *reinterpret_cast<const uintptr_t*>(k.words[same].address) == k.words[same].value) ++same;
    if (same < k.count) continue;
    latest[set] = uint8_t(way);
    return k.where;
  }
  return 0;
}

void keepWhere(const Frame& from, const Trail& trail, uint32_t where, const blackout_site* site) {
  if (where == 0 || !trail.complete) return;
  if (known == nullptr) {
    known = static_cast<Known*>(takeMemory(kMost * sizeof(Known)));
    if (known == nullptr) return;
  }
  size_t set = setOf(from.pc, from.sp);
  latest[set] = uint8_t((latest[set] + kWays - 1) % kWays);
  Known& k = entryOf(set, latest[set]);
  k.pc = from.pc;
  k.sp = from.sp;
  k.rbp = from.rbp;
  k.site = site;
  k.usesRbp = trail.usesRbp;
  k.generation = generation();
  k.where = where;
  k.count = trail.count;
  for (int n = 0; n < trail.count; ++n) k.words[n] = trail.words[n];
}

uint32_t whereCalled(blackout_site* site, const void* frame) {
  auto at = reinterpret_cast<uintptr_t>(frame);
  Stack stack;
  if (options.patches == 0 || !plainCode || site == nullptr || self.trapped != nullptr || at < self.stackLow ||
      at >= self.stackTop) {
    walkStack(stack, frame);
    return whereOf(site, stack);
  }
  const auto* words = static_cast<const uintptr_t*>(frame);
  Frame caller{};
  caller.pc = words[1] - 1;  // the call
  caller.sp = at + 16;
  caller.rbp = words[0];
  if (uint32_t where = knownWhere(caller.pc, caller.sp, caller.rbp, site)) return where;
  Trail trail;
  walkFrom(stack, caller, &trail);
  uint32_t where = whereOf(site, stack);
  keepWhere(caller, trail, where, site);
  return where;
}

}  // namespace blackout::rt
