// One program with one mistake per detector. Each is found at its line; a detector that is switched off
// finds nothing, so each of the DEFAULT lines fails when its detector is gone.
//
// RUN: %cxx -O2 -g -mclwb -mclflushopt -I%S/../record %s -o %t && rm -f %t.img
// RUN: not %blackout check --no-explore --pm %t.img -- %t %t.img > %t.report 2>&1
// RUN: FileCheck %s --check-prefix=DEFAULT --implicit-check-not=overwritten-unpersisted --implicit-check-not=innocent < %t.report
// RUN: not %blackout check --no-explore --detect=overwritten-unpersisted --fail-on=perf --pm %t.img -- %t %t.img 2>&1 | FileCheck %s --check-prefix=OVER
// RUN: for d in never-persisted store-outside clean-flush repeated-flush idle-fence flush-outside; do \
// RUN:   %blackout check --no-explore --detect=-$d --fail-on=shown --pm %t.img -- %t %t.img > %t.off 2>&1 || exit 1; ! grep "\[$d\]" %t.off || exit 1; done
// RUN: %blackout check --no-explore --detect=none --pm %t.img -- %t %t.img
// RUN: %blackout check --no-explore --only %S/../model --pm %t.img -- %t %t.img 2>&1 | FileCheck %s --check-prefix=ONLY
// RUN: not %blackout check --no-explore --only %S --pm %t.img -- %t %t.img
// RUN: %blackout check --no-explore --fail-on=shown --pm %t.img --json %t.json -- %t %t.img && python3 -c "import json,sys; d=json.load(open(sys.argv[1])); assert len(d['findings']) >= 6" %t.json
// RUN: test ! -e %t.img
//
// What is wasted is set against the whole run.
// RUN: FileCheck %s --check-prefix=COSTS < %t.report
// COSTS: [clean-flush]
// COSTS: costs: {{ *}}1 of 9 flushes (11.1%)
// COSTS: [repeated-flush]
// COSTS: costs: {{ *}}1 of 9 flushes (11.1%)
// COSTS: [idle-fence]
// COSTS: costs: {{ *}}1 of 8 fences (12.5%)
// COSTS: [flush-outside]
// COSTS: costs: {{ *}}1 of 9 flushes (11.1%)
//
// OVER: [overwritten-unpersisted]
// ONLY: SUMMARY: blackout: no findings
#include <blackout/blackout.h>
#include <immintrin.h>

#include "Inputs/pool.h"

struct Record {
  uint64_t key;
  uint64_t value;
  uint64_t spare[6];
};

static void persist(void* p) {
  _mm_clwb(p);
  _mm_sfence();
}

__attribute__((noinline)) static void innocent(Record* r) {
  r->key = 1;
  r->value = 2;
  persist(r);
}

// DEFAULT-DAG: suspected: {{.*}}[never-persisted]
// DEFAULT-DAG: written here: {{.*}}detectors.cpp:[[# @LINE + 1]]:{{.*}} in forgets(Record*)
__attribute__((noinline)) static void forgets(Record* r) { r->value = 3; }

__attribute__((noinline)) static void tooLate(Record* r) {
  blackout_op_begin("insert", 4);
  // DEFAULT-DAG: written here: {{.*}}detectors.cpp:[[# @LINE + 1]]:
  r->value = 4;
  blackout_op_end(0);
  persist(r);
}

// DEFAULT-DAG: performance: {{.*}}[clean-flush]
// DEFAULT-DAG: flushed here: {{.*}}detectors.cpp:[[# @LINE + 1]]:{{.*}} in flushesClean
__attribute__((noinline)) static void flushesClean(Record* r) { _mm_clflushopt(r); _mm_sfence(); }

__attribute__((noinline)) static void flushesTwice(Record* r) {
  r->key = 5;
  _mm_clwb(r);
  // DEFAULT-DAG: performance: {{.*}}[repeated-flush]
  // DEFAULT-DAG: flushed again here: {{.*}}detectors.cpp:[[# @LINE + 1]]:
  _mm_clwb(r);
  _mm_sfence();
}

__attribute__((noinline)) static void fencesTwice(Record* r) {
  r->key = 6;
  persist(r);
  // DEFAULT-DAG: performance: {{.*}}[idle-fence]
  // DEFAULT-DAG: fence here: {{.*}}detectors.cpp:[[# @LINE + 1]]:
  _mm_sfence();
}

__attribute__((noinline)) static void flushesVolatile(Record* r) {
  static Record copy;
  copy = *r;
  // DEFAULT-DAG: performance: {{.*}}[flush-outside]
  // DEFAULT-DAG: flushed here: {{.*}}detectors.cpp:[[# @LINE + 1]]:
  _mm_clwb(&copy);
  r->key = 7;
  persist(r);
}

__attribute__((noinline)) static void overwrites(Record* r) {
  *(volatile uint64_t*)&r->key = 1;
  *(volatile uint64_t*)&r->key = 2;
  persist(r);
}

int main(int, char** argv) {
  auto* r = static_cast<Record*>(mapPool(argv[1], 1 << 16));
  innocent(r);
  forgets(r + 1);
  tooLate(r + 2);
  flushesClean(r + 3);
  flushesTwice(r + 4);
  fencesTwice(r + 5);
  flushesVolatile(r + 6);
  overwrites(r + 7);
  // Past the end of a file that does not fill its last page.
  int fd = open(argv[1], O_RDWR);
  if (ftruncate(fd, (1 << 16) - 100) != 0) return 1;
  // DEFAULT-DAG: [store-outside]
  // DEFAULT-DAG: written here: {{.*}}detectors.cpp:[[# @LINE + 1]]:
  *reinterpret_cast<volatile char*>(reinterpret_cast<char*>(r) + (1 << 16) - 50) = 1;
  // Memory whose state can't matter is left alone.
  r[20].key = 1;
  blackout_ignore(&r[20], sizeof *r);
  r[21].key = 1;
  blackout_discard(&r[21], sizeof *r);
}
// DEFAULT: SUMMARY: blackout: {{[0-9]+}} suspected, {{[0-9]+}} performance
