// Sites of code that has no site table: one row per instruction, made when it is first met. A row has no place, only
// an id from which the tool finds it in the debug info.

#include "runtime/trap/sites.h"

#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "events/trapped_id.h"
#include "runtime/own_memory.h"
#include "runtime/recorder.h"
#include "runtime/trap/access_patches.h"
#include "runtime/trap/frame_entry.h"
#include "runtime/trap/loaded.h"

namespace blackout::rt {

namespace {

uint64_t trappedIdOf(uintptr_t pc, blackout_site_kind kind) {
  uint32_t name = 0;
  uintptr_t bias = 0;
  bool known = locate(pc, name, bias);
  return blackout_trapped_id(uint8_t(kind), known ? name : 0, known ? pc - bias : pc);
}

struct Row {
  uint64_t id;  // 0: free
  blackout_site site;
};
constexpr size_t kRows = size_t{1} << 20;
Row* rows = nullptr;
size_t rowCount = 0;

// The latest that were asked for, by their place.
struct Recent {
  uintptr_t pc;
  uint64_t generation;
  blackout_site* site;
};
Recent recent[1024];

blackout_site* siteAt(uintptr_t pc, blackout_site_kind kind, uint32_t size) {
  if (rows == nullptr) {
    rows = static_cast<Row*>(takeMemory(kRows * sizeof(Row)));
    if (rows == nullptr) return nullptr;
  }
  uint64_t id = trappedIdOf(pc, kind);
  size_t i = (id * 0x9e3779b97f4a7c15ull) >> 44;
  for (; rows[i].id != 0; i = (i + 1) & (kRows - 1))
    if (rows[i].id == id) return &rows[i].site;
  if (rowCount > kRows / 4 * 3) return nullptr;
  ++rowCount;
  rows[i].id = id;
  rows[i].site.id = id;
  rows[i].site.size = size > 0xffff ? 0 : uint16_t(size);
  rows[i].site.kind = uint8_t(kind);
  rows[i].site.flags = BLACKOUT_SITE_TRAPPED;
  return &rows[i].site;
}

}  // namespace

blackout_site* trappedSite(uintptr_t pc, blackout_site_kind kind, uint32_t size) {
  Recent& r = recent[(pc * 0x9e3779b97f4a7c15u) >> 54];
  uint64_t generation = tablesGeneration() << 16 | sitesGeneration();
  if (r.pc == pc && r.generation == generation && r.site->kind == uint8_t(kind)) return r.site;
  blackout_site* site = siteAt(pc, kind, size);
  // Of code in no file it is not told when another takes its place.
  uint32_t name = 0;
  uintptr_t bias = 0;
  if (site != nullptr && locate(pc, name, bias)) r = {pc, generation, site};
  return site;
}

uint64_t trappedId(uintptr_t pc, blackout_site_kind kind) { return trappedIdOf(pc, kind); }

Frame frameOf(const ucontext_t& context) {
  const auto& g = context.uc_mcontext.gregs;
  return {programPlace(uintptr_t(g[REG_RIP])),
          uintptr_t(g[REG_RSP]),
          uintptr_t(g[REG_RBP]),
          uintptr_t(g[REG_RBX]),
          uintptr_t(g[REG_R12]),
          uintptr_t(g[REG_R13]),
          uintptr_t(g[REG_R14]),
          uintptr_t(g[REG_R15]),
          uintptr_t(g[REG_R10])};
}

blackout_site* callerSite(const char* function, blackout_site_kind kind, const void* returnAddress) {
  if (!inRun()) return nullptr;
  if (!plainCode) return librarySite(function);
  Scope scope;
  return scope.nested ? nullptr : trappedSite(reinterpret_cast<uintptr_t>(returnAddress) - 1, kind, 0);
}

}  // namespace blackout::rt
