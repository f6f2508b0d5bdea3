#include "runtime/trap/patched_fence.h"

#include "events/contract.h"
#include "runtime/client_requests.h"
#include "runtime/recorder.h"
#include "runtime/regions.h"
#include "runtime/schedule.h"
#include "runtime/trap/known_stacks.h"
#include "runtime/trap/patched_access.h"

namespace blackout::rt {

namespace {

uint8_t flushEventOf(uint8_t kind) {
  return kind == BLACKOUT_SITE_Clflush      ? BLACKOUT_EV_Clflush
         : kind == BLACKOUT_SITE_Clflushopt ? BLACKOUT_EV_Clflushopt
                                            : BLACKOUT_EV_Clwb;
}

// Inside a Scope. False: it must be done otherwise, and nothing was.
bool record(const Patch& patch, AccessFrame& f) {
  if (!hasRoom(kMostRequestEvents)) return false;
  const auto* args = patch.kind == BLACKOUT_SITE_Request ? reinterpret_cast<const uint64_t*>(f.rax) : nullptr;
  bool placed = args == nullptr || isRecordedWithPlace(args);
  uint32_t where = placed ? knownWhere(patch.pc, f.sp(), f.rbp) : 0;
  if (placed && where == 0) return false;
  switch (patch.kind) {
    case BLACKOUT_SITE_Request:
      if (!isOnlyRecorded(args)) return false;
      recordRequest(args, where);
      return true;
    case BLACKOUT_SITE_Sfence:
    case BLACKOUT_SITE_Mfence:
      append(patch.kind == BLACKOUT_SITE_Sfence ? BLACKOUT_EV_Sfence : BLACKOUT_EV_Mfence, 0, where, 0, 0);
      self.active = false;
      return true;
    default: {
      const Instruction* i = __atomic_load_n(&patch.instruction, __ATOMIC_ACQUIRE);
      if (i == nullptr || i->operandCount != 1 || i->extent != Extent::Line || i->operands[0].address.segment != 0)
        return false;
      uintptr_t address = addressOf(i->operands[0].address, f) & ~uintptr_t{BLACKOUT_LINE - 1};
      const Region* r = findRegion(reinterpret_cast<void*>(address));
      if (r == nullptr) return false;
      append(flushEventOf(patch.kind), 0, where, pmAddressOf(*r, address), 0);
      self.active = true;
      return true;
    }
  }
}

}  // namespace

bool fenceReached(const Patch& patch, AccessFrame& f) {
  if (patch.kind == kPauseKind) return !controlled;
  if (self.busy || self.inStub || controlled) return false;
  if (!recordsEvents())
    return patch.kind != BLACKOUT_SITE_Request || (inRun() && isOnlyRecorded(reinterpret_cast<const uint64_t*>(f.rax)));
  if (!isRecording() || !enterStub()) return false;
  bool done = record(patch, f);
  leaveStub();
  return done;
}

}  // namespace blackout::rt
