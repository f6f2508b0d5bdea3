// blackout.h: where crashes and findings are wanted, and what commits what (XFDetector, table 2). The stage of a call
// says of which run it speaks. BLACKOUT_STAGE_PRE: of a run in which the power will fail, so it becomes an event of the
// trace; that is the recorded run, and a traced restart too, because a further crash comes in it.
// BLACKOUT_STAGE_POST: of a restart, so it changes what the restart's observations say of themselves.

#include "runtime/stages.h"

#include <stdio.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "events/contract.h"
#include "events/linearization_mark.h"
#include "runtime/options.h"
#include "runtime/real.h"
#include "runtime/recorder.h"
#include "runtime/recovery.h"
#include "runtime/regions.h"

using namespace blackout::rt;

namespace {

constexpr int kPre = 1;
constexpr int kPost = 2;

uint32_t region = 0;  // BLACKOUT_QUERY_INSIDE or _OUTSIDE once a region of interest has begun

void mark(uint8_t kind, uint8_t len = 0) {
  if (!recordsEvents()) return;
  Scope scope;
  if (!scope.nested) append(kind, len, 0, 0, 0);
}

// Whether the call is one at all; ends the program if its stage is none.
bool called(int condition, int stage, const char* name) {
  if (condition == 0 || !inRun()) return false;
  if (stage >= kPre && stage <= (kPre | kPost)) return true;
  char text[160];
  snprintf(text, sizeof text,
           "%s: %d is not a stage; use BLACKOUT_STAGE_PRE, BLACKOUT_STAGE_POST or BLACKOUT_STAGE_BOTH", name, stage);
  stop(text, nullptr, 2);
}

bool before(int stage) { return (stage & kPre) != 0; }
bool after(int stage) { return (stage & kPost) != 0 && isRestart(); }

[[noreturn]] void notPm(const char* name) {
  char text[160];
  snprintf(text, sizeof text, "%s: not persistent memory; name its pool with --pm, or call blackout_pm_register first",
           name);
  stop(text, nullptr, 2);
}

// The PM address of [p, p + size) if all of it lies in one region. Inside a Scope.
bool pmRange(const void* p, size_t size, uint64_t& address) {
  auto a = reinterpret_cast<uintptr_t>(p);
  const Region* r = findRegion(p);
  if (r == nullptr || size > r->end - a) return false;
  address = pmAddressOf(*r, a);
  return true;
}

}  // namespace

namespace blackout::rt {

uint32_t stageFlags() { return region | (self.trusted != 0 ? BLACKOUT_QUERY_SKIPPED : 0); }

}  // namespace blackout::rt

BLACKOUT_EXPORT void blackout_roi_begin_if(int condition, int stage) {
  if (!called(condition, stage, "blackout_roi_begin_if")) return;
  if (before(stage)) mark(BLACKOUT_EV_RoiBegin);
  if (after(stage)) region = BLACKOUT_QUERY_INSIDE;
}

BLACKOUT_EXPORT void blackout_roi_end_if(int condition, int stage) {
  if (!called(condition, stage, "blackout_roi_end_if")) return;
  if (before(stage)) mark(BLACKOUT_EV_RoiEnd);
  if (!after(stage)) return;
  if (region == BLACKOUT_QUERY_INSIDE)
    region = BLACKOUT_QUERY_OUTSIDE;
  else
    note("A restart called blackout_roi_end_if outside a region of interest, which does nothing.", nullptr);
}

BLACKOUT_EXPORT void blackout_roi_begin() { blackout_roi_begin_if(1, kPre); }
BLACKOUT_EXPORT void blackout_roi_end() { blackout_roi_end_if(1, kPre); }

BLACKOUT_EXPORT void blackout_complete(int condition, int stage) {
  if (!called(condition, stage, "blackout_complete")) return;
  if (before(stage)) mark(BLACKOUT_EV_Complete);
  if (!after(stage)) return;
  fflush(nullptr);
  syscall(SYS_exit_group, 0);
}

BLACKOUT_EXPORT void blackout_skip_failures_begin(int condition) {
  if (condition != 0) mark(BLACKOUT_EV_SkipPointsBegin);
}
BLACKOUT_EXPORT void blackout_skip_failures_end(int condition) {
  if (condition != 0) mark(BLACKOUT_EV_SkipPointsEnd);
}
BLACKOUT_EXPORT void blackout_failure_point(int condition) {
  if (condition != 0) mark(BLACKOUT_EV_ExtraPoint);
}

BLACKOUT_EXPORT void blackout_lp() { mark(BLACKOUT_EV_ExtraPoint, BLACKOUT_POINT_LP); }

BLACKOUT_EXPORT void blackout_skip_detection_begin(int condition, int stage) {
  if (!called(condition, stage, "blackout_skip_detection_begin")) return;
  if (before(stage)) mark(BLACKOUT_EV_SkipDetectionBegin);
  if (after(stage)) ++self.trusted;
}

BLACKOUT_EXPORT void blackout_skip_detection_end(int condition, int stage) {
  if (!called(condition, stage, "blackout_skip_detection_end")) return;
  if (before(stage)) mark(BLACKOUT_EV_SkipDetectionEnd);
  if (!after(stage)) return;
  if (self.trusted != 0)
    --self.trusted;
  else
    note("A restart called blackout_skip_detection_end without a begin of the same thread, which does nothing.",
         nullptr);
}

BLACKOUT_EXPORT void blackout_commit_var(const void* variable, size_t size) {
  if (!isRecording() || size == 0) return;
  Stack stack;
  walkCallers(stack, BLACKOUT_FRAME());
  Scope scope;
  if (scope.nested) return;
  uint64_t address;
  if (!pmRange(variable, size, address)) notPm("blackout_commit_var");
  append(BLACKOUT_EV_CommitVar, 0, whereOf(librarySite("blackout_commit_var"), stack), address, size);
}

BLACKOUT_EXPORT void blackout_commit_range(const void* variable, const void* p, size_t size) {
  if (!isRecording() || size == 0) return;
  Stack stack;
  walkCallers(stack, BLACKOUT_FRAME());
  Scope scope;
  if (scope.nested) return;
  uint64_t of, address;
  if (!pmRange(variable, 1, of) || !pmRange(p, size, address)) notPm("blackout_commit_range");
  uint64_t payload[2] = {size, of};
  appendBlob(BLACKOUT_EV_CommitRange, 0, address, payload, sizeof payload,
             whereOf(librarySite("blackout_commit_range"), stack));
}
