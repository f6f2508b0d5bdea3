// blackout.h: where crashes are wanted, and where a restart is over. Each with a condition that holds and with one that
// doesn't: the same program, the same mistake, found or left out.
//
// RUN: %cc -O1 -g -I%S/../record %s -o %t && rm -rf %t.img %t.dir && mkdir %t.dir && cd %t.dir
// RUN: for m in skip complete roi; do \
// RUN:   %blackout check --detect=none --pm %t.img -- %t %t.img $m 1 > %t.out 2>&1 || { echo $m; cat %t.out; exit 1; }; \
// RUN:   FileCheck %s --check-prefix=LEFT < %t.out || { echo $m; exit 1; }; \
// RUN:   not %blackout check --detect=none --pm %t.img -- %t %t.img $m 0 > %t.out 2>&1 || { echo $m; cat %t.out; exit 1; }; \
// RUN:   FileCheck %s --check-prefix=FOUND < %t.out || { echo $m; exit 1; }; done
// RUN: %blackout check --detect=none --pm %t.img -- %t %t.img restart 1 > %t.out 2>&1; test $? = 3 && FileCheck %s --check-prefix=ENDED < %t.out
// RUN: not %blackout check --detect=none --pm %t.img -- %t %t.img restart 0 2>&1 | FileCheck %s --check-prefix=FOUND
// LEFT: SUMMARY: blackout: no findings
// ENDED: inconclusive: No restart read any of
// FOUND: exits with 3
// FOUND: SUMMARY: blackout: 1 shown
//
// One point more, where nothing new can be lost.
// RUN: %blackout check --detect=none --pm %t.img -- %t %t.img extra 0 > %t.out 2>&1; test $? = 3 && FileCheck %s --check-prefix=USUAL < %t.out
// RUN: %blackout check --detect=none --pm %t.img -- %t %t.img extra 1 > %t.out 2>&1; test $? = 3 && FileCheck %s --check-prefix=EXTRA < %t.out
// USUAL: crashes at: {{ *}}3 points
// EXTRA: crashes at: {{ *}}4 points
//
// A stage that is none, in a restart only: nothing can be said of the restart, and the sentence is the reason.
// RUN: not %blackout check --detect=none --pm %t.img -- %t %t.img stage 1 > %t.out 2>&1 && FileCheck %s --check-prefix=STAGE < %t.out
// STAGE: blackout_complete: 0 is not a stage; use BLACKOUT_STAGE_PRE, BLACKOUT_STAGE_POST or BLACKOUT_STAGE_BOTH
// RUN: %blackout check --detect=none --pm %t.img -- %t %t.img stage 0; test $? = 3
//
// Ends too many, in a restart.
// RUN: %blackout check --detect=none --pm %t.img -- %t %t.img ends 1 > %t.out 2>&1; test $? = 3 && FileCheck %s --check-prefix=ENDS < %t.out
// ENDS-DAG: A restart called blackout_roi_end_if outside a region of interest, which does nothing.
// ENDS-DAG: A restart called blackout_skip_detection_end without a begin of the same thread, which does nothing.
//
// The program knows nothing of commit variables in a restart, wherever they are.
// RUN: %blackout check --detect=none --pm %t.img -- %t %t.img commit 1; test $? = 3
#include <blackout/blackout.h>
#include <emmintrin.h>

#include "Inputs/pool.h"

static int is(char** argv, const char* mode) { return strcmp(argv[2], mode) == 0; }

// Two words that must be equal, and are not in between.
static void both(volatile uint64_t* pool, uint64_t value) {
  pool[0] = value;
  _mm_clflush((void*)pool);
  pool[8] = value;
  _mm_clflush((void*)(pool + 8));
}

static int restart(volatile uint64_t* pool, char** argv, int condition) {
  if (is(argv, "stage")) blackout_complete(condition, 0);
  if (is(argv, "ends")) {
    blackout_roi_end_if(condition, BLACKOUT_STAGE_POST);
    blackout_skip_detection_end(condition, BLACKOUT_STAGE_POST);
  }
  if (is(argv, "commit")) blackout_commit_var(argv, 8);
  if (is(argv, "restart")) {
    blackout_complete(1, BLACKOUT_STAGE_PRE);  // of the other run
    blackout_complete(condition, BLACKOUT_STAGE_POST);
  }
  if (is(argv, "skip") || is(argv, "complete") || is(argv, "roi") || is(argv, "restart"))
    return pool[0] == pool[8] ? 0 : 3;
  return 0;
}

int main(int argc, char** argv) {
  volatile uint64_t* pool = (volatile uint64_t*)mapPool(argv[1], 4096);
  int condition = argc > 3 ? atoi(argv[3]) : 0;
  if (blackout_recovering()) return restart(pool, argv, condition);
  if (is(argv, "extra")) {
    pool[0] = 1;
    _mm_clflush((void*)pool);
    blackout_failure_point(condition);
    return 0;
  }
  if (is(argv, "complete")) blackout_complete(condition, BLACKOUT_STAGE_PRE);
  if (is(argv, "skip")) blackout_skip_failures_begin(condition);
  if (is(argv, "roi")) {
    blackout_roi_begin_if(condition, BLACKOUT_STAGE_PRE);
    blackout_roi_end_if(condition, BLACKOUT_STAGE_PRE);
  }
  if (is(argv, "restart")) blackout_complete(1, BLACKOUT_STAGE_POST);  // of the other run
  both(pool, 7);
  if (is(argv, "skip")) blackout_skip_failures_end(condition);
  return 0;
}
