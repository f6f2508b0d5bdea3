// blackout.h: of what a program does in parts that it trusts, and behind the completion, trace detectors say nothing. Each
// mistake is found where the condition doesn't hold.
//
// RUN: %cc -O1 -g -mclwb -I%S/../record %s -o %t && rm -f %t.img
// RUN: for m in trusted complete; do \
// RUN:   %blackout check --no-explore --fail-on=perf --pm %t.img -- %t %t.img $m 1 > %t.out 2>&1 || { cat %t.out; exit 1; }; \
// RUN:   not %blackout check --no-explore --fail-on=perf --pm %t.img -- %t %t.img $m 0 2>&1 | FileCheck %s || { echo $m; exit 1; }; done
// CHECK-DAG: [never-persisted]
// CHECK-DAG: [repeated-flush]
// CHECK-DAG: [idle-fence]
// What is of the other stage, of another thread, or over is no excuse.
// RUN: for m in post thread ended; do \
// RUN:   not %blackout check --no-explore --fail-on=perf --pm %t.img -- %t %t.img $m 1 2>&1 | FileCheck %s || { echo $m; exit 1; }; done
#include <blackout/blackout.h>
#include <immintrin.h>
#include <pthread.h>

#include "Inputs/pool.h"

static void* trusts(void* unused) {
  blackout_skip_detection_begin(1, BLACKOUT_STAGE_PRE);
  return unused;
}

int main(int argc, char** argv) {
  volatile uint64_t* pool = (volatile uint64_t*)mapPool(argv[1], 4096);
  const char* mode = argv[2];
  int condition = argc > 3 ? atoi(argv[3]) : 0;
  int ended = strcmp(mode, "ended") == 0;
  if (strcmp(mode, "trusted") == 0 || ended) blackout_skip_detection_begin(condition, BLACKOUT_STAGE_BOTH);
  if (ended) blackout_skip_detection_end(condition, BLACKOUT_STAGE_PRE);
  if (strcmp(mode, "complete") == 0) blackout_complete(condition, BLACKOUT_STAGE_PRE);
  if (strcmp(mode, "post") == 0) {
    blackout_skip_detection_begin(condition, BLACKOUT_STAGE_POST);
    blackout_complete(condition, BLACKOUT_STAGE_POST);
  }
  if (strcmp(mode, "thread") == 0) {
    pthread_t thread;
    pthread_create(&thread, NULL, trusts, NULL);
    pthread_join(thread, NULL);
  }
  pool[0] = 1;
  _mm_clwb((void*)pool);
  _mm_clwb((void*)pool);
  _mm_sfence();
  _mm_sfence();
  pool[8] = 1;
  return 0;
}
