#include "runtime/trap/single_step.h"

#include <string.h>
#include <sys/mman.h>

#include "events/contract.h"
#include "runtime/access.h"
#include "runtime/recorder.h"
#include "runtime/trap/pages.h"

namespace blackout::rt {

namespace {

struct Step {
  uint32_t tid = 0;  // 0: nobody steps
  uintptr_t begin;
  uintptr_t end;
  uint32_t where;
  uint8_t before[2 * kPage];
};
Step stepping;
constexpr greg_t kTrapFlag = 0x100;

}  // namespace

void beginStep(ucontext_t& context, uintptr_t address, uint32_t where) {
  const Region* r = pageRegion(address);
  stepping.begin = roundDown(address);
  stepping.end = stepping.begin + 2 * kPage < roundUp(r->end) ? stepping.begin + 2 * kPage : roundUp(r->end);
  stepping.where = where;
  memcpy(stepping.before, reinterpret_cast<void*>(stepping.begin + uintptr_t(r->alias)), stepping.end - stepping.begin);
  if (r->pages != nullptr) {
    // Another memory: it gets the content for the step.
    protect(stepping.begin, stepping.end, PROT_READ | PROT_WRITE);
    memcpy(reinterpret_cast<void*>(stepping.begin), stepping.before, stepping.end - stepping.begin);
  }
  protect(stepping.begin, stepping.end, r->protection);
  stepping.tid = self.tid;
  context.uc_mcontext.gregs[REG_EFL] |= kTrapFlag;
}

bool endStep(ucontext_t& context) {
  if (stepping.tid == 0 || stepping.tid != self.tid) return false;
  stepping.tid = 0;
  context.uc_mcontext.gregs[REG_EFL] &= ~kTrapFlag;
  Region* r = pageRegion(stepping.begin);
  if (r != nullptr) {
    const auto* now = reinterpret_cast<const uint8_t*>(stepping.begin + uintptr_t(r->alias));
    size_t size = stepping.end - stepping.begin;
    if (r->pages != nullptr) {
      writeThrough(stepping.begin, reinterpret_cast<void*>(stepping.begin), size);
      protect(stepping.begin, stepping.end, PROT_NONE);
    }
    {
      Pieces pieces(BLACKOUT_EV_Store, stepping.where);
      for (size_t from = 0; from < size; ++from) {
        if (now[from] == stepping.before[from]) continue;
        size_t to = from;
        while (to < size && now[to] != stepping.before[to]) ++to;
        pieces.add(reinterpret_cast<void*>(stepping.begin + from), now + from, to - from);
        from = to;
      }
    }
    if (r->pages == nullptr) guardAgain(*r);
  }
  Scope::leave();
  return true;
}

}  // namespace blackout::rt
