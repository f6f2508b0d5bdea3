// A record is persisted twice: the second call is offered to be taken out, as a diff in the report and in JSON; without it the program is clean. A call that
// is of use once stays.
//
// RUN: rm -rf %t.dir && mkdir %t.dir && cp %s %t.dir/log.c && cd %t.dir
// RUN: cd %t.dir && %cc -g -O1 -I%S/../../corpus -I%include log.c -o log
// RUN: cd %t.dir && %blackout check --json one.json --pm pool -- ./log pool > out 2>&1 && FileCheck %s --check-prefix=REPORT < out
// RUN: cd %t.dir && python3 -c 'import json; [print(f["fix"]["diff"], end="") for f in json.load(open("one.json"))["findings"] if f["fix"]]' > fix.patch && patch -p1 -s < fix.patch
// RUN: cd %t.dir && not grep '^  pm_persist.*AGAIN' log.c && %cc -g -O1 -I%S/../../corpus -I%include log.c -o log
// RUN: cd %t.dir && %blackout check --json two.json --pm pool -- ./log pool > clean 2>&1 && python3 -c 'import json; assert not [f for f in json.load(open("two.json"))["findings"] if f["fix"]]'
//
// REPORT: performance: line flushed again without a store [repeated-flush]
// REPORT: fix: Tried in the simulation: with log.c:[[# @LINE + 13]] taken out, each store of the recorded run is guaranteed from the same moment on, so a crash leaves nothing else; it saves 3 flushes and 3 fences. A run with other input may need them.
// REPORT-NEXT: @@ -{{[0-9]+}},7 +{{[0-9]+}},6 @@
// REPORT-NEXT: -  pm_persist(&pool->value[i], sizeof pool->value[i]); /* AGAIN */
#include "pm.h"

struct pool {
  uint64_t value[64];
  uint64_t count __attribute__((aligned(64)));
};

static void append(struct pool* pool, unsigned i) {
  pool->value[i] = i + 1;
  pm_persist(&pool->value[i], sizeof pool->value[i]);
  pm_persist(&pool->value[i], sizeof pool->value[i]); /* AGAIN */
  pool->count = i / 8 + 1;
  pm_persist(&pool->count, sizeof pool->count);
}

int main(int argc, char** argv) {
  struct pool* pool = (struct pool*)pm_map(argc > 1 ? argv[1] : "pool", sizeof(struct pool));
  for (unsigned i = 0; i < pool->count; ++i)
    if (pool->value[8 * i] != 8 * i + 1) pm_die("a value is missing");
  if (!blackout_recovering())
    for (unsigned i = 0; i < 24; i += 8) append(pool, i);
  return 0;
}
