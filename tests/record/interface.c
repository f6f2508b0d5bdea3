// blackout.h: where crashes and findings are wanted, and what commits what. Each call with a condition that holds and
// with one that doesn't, of each stage; in the recorded run only those of its own stage are events.
//
// RUN: %cc -O1 -g -Wall -Wextra -Werror %s -o %t && rm -f %t.img
// RUN: %blackout record --pm %t.img -o %t.trace -- %t %t.img && %blackout trace --kind marks %t.trace > %t.marks
// RUN: tail -n +3 %t.marks > %t.only
// RUN: FileCheck %s --implicit-check-not=roi --implicit-check-not=skip --implicit-check-not=complete --implicit-check-not=extra --implicit-check-not=commit < %t.only
// Outside of a recording they do nothing, whatever they are given.
// RUN: %t %t.native && %t %t.native stage && %t %t.native var && %t %t.native range && rm %t.native
//
// CHECK: roi-begin{{$}}
// CHECK-NEXT: roi-begin{{$}}
// CHECK-NEXT: roi-end{{$}}
// CHECK-NEXT: roi-end{{$}}
// CHECK-NEXT: roi-begin{{$}}
// CHECK-NEXT: skip-points-begin{{$}}
// CHECK-NEXT: skip-points-end{{$}}
// CHECK-NEXT: extra-point{{$}}
// CHECK-NEXT: skip-detection-begin{{$}}
// CHECK-NEXT: skip-detection-begin{{$}}
// CHECK-NEXT: skip-detection-end{{$}}
// CHECK-NEXT: skip-detection-end{{$}}
// CHECK-NEXT: commit-var    1:0x40 8 bytes blackout_commit_var
// CHECK-NEXT: commit-range  1:0x80 128 bytes by 1:0x40 blackout_commit_range
// CHECK-NEXT: complete{{$}}
// CHECK-NEXT: complete{{$}}
// CHECK-NEXT: roi-end{{$}}
//
// Misuse ends the program with one sentence and exit code 2.
// RUN: %blackout record --pm %t.img -o %t.trace -- %t %t.img stage > %t.out 2>&1; FileCheck %s --check-prefix=STAGE < %t.out
// STAGE: blackout: blackout_skip_detection_begin: 4 is not a stage; use BLACKOUT_STAGE_PRE, BLACKOUT_STAGE_POST or BLACKOUT_STAGE_BOTH
// STAGE: exit{{.*}}2
// RUN: %blackout record --pm %t.img -o %t.trace -- %t %t.img var > %t.out 2>&1; FileCheck %s --check-prefix=VAR < %t.out
// VAR: blackout: blackout_commit_var: not persistent memory; name its pool with --pm
// VAR: exit{{.*}}2
// RUN: %blackout record --pm %t.img -o %t.trace -- %t %t.img range > %t.out 2>&1; FileCheck %s --check-prefix=RANGE < %t.out
// RUN: %blackout record --pm %t.img -o %t.trace -- %t %t.img half > %t.out 2>&1; FileCheck %s --check-prefix=RANGE < %t.out
// RANGE: blackout: blackout_commit_range: not persistent memory
// RANGE: exit{{.*}}2
//
// An end too many is told, and nothing else comes of it.
// RUN: %blackout check --no-explore --detect=none --pm %t.img -- %t %t.img ends 2>&1 | FileCheck %s --check-prefix=ENDS
// ENDS-DAG: blackout_roi_end was called once without a blackout_roi_begin before it, which does nothing.
// ENDS-DAG: blackout_skip_failures_end was called 2 times without a blackout_skip_failures_begin before it
// ENDS-DAG: blackout_skip_detection_end was called once without a blackout_skip_detection_begin of the same thread before it
// RUN: %blackout check --no-explore --detect=none --pm %t.img -- %t %t.img none 2>&1 | FileCheck %s --check-prefix=NONE
// NONE-NOT: without a
// NONE: SUMMARY
//
// A build without Blackout is as if nothing of it were there, in C and C++, and needs no library.
// RUN: %plain-cc -std=c99 -pedantic -Wall -Wextra -Werror -O1 -DNOTHING -I%include -S -emit-llvm %s -o - | FileCheck %s --check-prefix=NOTHING --implicit-check-not=blackout_
// RUN: %plain-cxx -x c++ -std=c++11 -pedantic -Wall -Wextra -Werror -O1 -DNOTHING -I%include -S -emit-llvm %s -o - | FileCheck %s --check-prefix=NOTHING --implicit-check-not=blackout_
// NOTHING: define {{.*}} @nothing(
// NOTHING-NOT: call
// NOTHING: ret void
#include <blackout/blackout.h>

#define PRE BLACKOUT_STAGE_PRE
#define POST BLACKOUT_STAGE_POST
#define BOTH BLACKOUT_STAGE_BOTH

#ifdef NOTHING
#ifdef __cplusplus
extern "C"
#endif
void nothing(void* p, const void* q, int c, int s);
void nothing(void* p, const void* q, int c, int s) {
  blackout_active();
  blackout_pm_register(p, 8, "memory");
  blackout_pm_unregister(p);
  blackout_op_begin("op", 1);
  blackout_op_end(1);
  blackout_roi_begin();
  blackout_roi_end();
  blackout_roi_begin_if(c, s);
  blackout_roi_end_if(c, s);
  blackout_complete(c, s);
  blackout_skip_failures_begin(c);
  blackout_skip_failures_end(c);
  blackout_failure_point(c);
  blackout_skip_detection_begin(c, s);
  blackout_skip_detection_end(c, s);
  blackout_commit_var(q, 8);
  blackout_commit_range(q, p, 8);
  blackout_discard(q, 8);
  blackout_ignore(q, 8);
  blackout_recovering();
  blackout_expect(c, "words");
  blackout_op_begun(1);
  blackout_op_ended(1);
  blackout_value v[] = {blackout_uint(1), blackout_int(-1), blackout_bytes(q, 8), blackout_text("text")};
  blackout_op_begin_values("op", v, 4);
  blackout_op_end_values(v, 4);
  blackout_op_result(1, v, 4);
  blackout_history_begin();
  blackout_checksum(q, 8);
}
#else

#include "Inputs/pool.h"

static void marks(char* pool) {
  blackout_roi_begin_if(0, PRE);
  blackout_roi_begin_if(0, 99);  // no call, so no misuse either
  blackout_roi_begin_if(1, POST);
  blackout_roi_begin_if(1, PRE);
  blackout_roi_begin_if(7, BOTH);
  blackout_roi_end_if(0, BOTH);
  blackout_roi_end_if(1, POST);
  blackout_roi_end_if(1, PRE);
  blackout_roi_end_if(1, BOTH);
  blackout_roi_begin();
  blackout_skip_failures_begin(0);
  blackout_skip_failures_begin(1);
  blackout_skip_failures_end(0);
  blackout_skip_failures_end(1);
  blackout_failure_point(0);
  blackout_failure_point(1);
  blackout_skip_detection_begin(0, PRE);
  blackout_skip_detection_begin(1, POST);
  blackout_skip_detection_begin(1, PRE);
  blackout_skip_detection_begin(1, BOTH);
  blackout_skip_detection_end(0, PRE);
  blackout_skip_detection_end(1, POST);
  blackout_skip_detection_end(1, PRE);
  blackout_skip_detection_end(1, BOTH);
  blackout_commit_var(pool + 64, 8);
  blackout_commit_range(pool + 64, pool + 128, 128);
  blackout_complete(0, PRE);
  blackout_complete(1, POST);
  blackout_complete(1, PRE);
  blackout_complete(1, BOTH);
  blackout_roi_end();
}

int main(int argc, char** argv) {
  char* pool = (char*)mapPool(argv[1], 4096);
  const char* mode = argc > 2 ? argv[2] : "marks";
  char onStack[8];
  if (strcmp(mode, "marks") == 0) marks(pool);
  if (strcmp(mode, "stage") == 0) blackout_skip_detection_begin(1, 4);
  if (strcmp(mode, "var") == 0) blackout_commit_var(onStack, sizeof onStack);
  if (strcmp(mode, "range") == 0) blackout_commit_range(onStack, pool, 8);
  if (strcmp(mode, "half") == 0) blackout_commit_range(pool, pool + 4000, 97);
  if (strcmp(mode, "ends") == 0) {
    blackout_roi_end();
    blackout_skip_failures_end(1);
    blackout_skip_failures_end(1);
    blackout_skip_detection_end(1, PRE);
  }
  return 0;
}
#endif
