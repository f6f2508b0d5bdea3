// A record is linked before its second line is durable: the size of the pointer was flushed, not that of the record. The fix is tried, printed as a
// patch, applied with patch, and the program is clean.
//
// RUN: rm -rf %t.dir && mkdir %t.dir && cp %s %t.dir/log.c && cd %t.dir
// RUN: cd %t.dir && %cc -g -O1 -I%S/../../corpus -I%include log.c -o log
// RUN: cd %t.dir && not %blackout check --findings found --json one.json --pm pool -- ./log pool > out 2>&1
// RUN: FileCheck %s --check-prefix=REPORT -D#LOST=88 -D#LINK=89 < %t.dir/out
// RUN: cd %t.dir && %blackout check --baseline one.json --findings known --pm pool -- ./log pool > out 2>&1 && FileCheck %s --check-prefix=KNOWN < out
// RUN: cd %t.dir && for i in 1 2; do not %blackout check --quiet --out runs --pm pool -- ./log pool > out 2>&1 && FileCheck %s --check-prefix=QUIET < out || exit 1; done
// RUN: cd %t.dir && test $(readlink runs/latest) = 2 && %blackout report runs/latest && ls runs/2 runs/2/finding-1 | FileCheck %s --check-prefix=KEPT
// RUN: cd %t.dir && cmp runs/1/finding-1/pools/pool runs/2/finding-1/pools/pool && not %blackout replay runs/2/finding-1/finding.blackout --keep-pool again > replayed 2>&1 && cmp again runs/2/finding-1/pools/pool
// RUN: cd %t.dir && %blackout report runs | FileCheck %s --check-prefix=LIST && %blackout diff runs/1 runs/2 | FileCheck %s --check-prefix=SAME
// RUN: cd %t.dir && %blackout fix found/finding-1.blackout > fix.patch 2> said && FileCheck %s --check-prefix=SAID < said
// RUN: cd %t.dir && patch -p1 -s < fix.patch && %cc -g -O1 -I%S/../../corpus -I%include log.c -o log
// RUN: cd %t.dir && %blackout check --pm pool --sarif out.sarif --junit out.xml -- ./log pool > clean 2>&1
// RUN: FileCheck %s --check-prefix=CLEAN < %t.dir/clean
// RUN: cd %t.dir && %blackout check --quiet --out runs --keep-runs 2 --pm pool -- ./log pool 2>&1 | FileCheck %s --check-prefix=REMOVED && %blackout diff runs | FileCheck %s --check-prefix=GONE
// RUN: cd %t.dir && not %blackout diff runs/3 runs/2 | FileCheck %s --check-prefix=NEW
// RUN: cd %t.dir && not %blackout merge --quiet --out sums runs/2 runs/3 2>&1 | FileCheck %s --check-prefix=SUM
// RUN: cd %t.dir && rm -rf runs && not %blackout replay sums/latest/finding-1/finding.blackout
// RUN: FileCheck %s --check-prefix=JUNIT < %t.dir/out.xml
//
// REPORT: {{^}}blackout: findings: 1 shown
// REPORT-NEXT: {{^}}log.c:[[# LOST]]:{{[0-9]+}}: error: record.words[], stored here, is never flushed: a crash can lose it while {{.*}} stored at log.c:[[# LINK]], survives
// REPORT: {{^}}shown: flush missing [missing-flush]
// REPORT: fix: Tried in the simulation, on everything that was explored: with a flush of what is stored at log.c:[[# LOST]], and a fence, before log.c:[[# LINK]]
// REPORT: 'blackout fix found/finding-1.blackout' prints it as a patch.
//
// KNOWN: {{^}}blackout: clean ({{[1-9]}} in the baseline): crashes at
// KNOWN: note: --baseline has {{[1-9]}} finding{{s?}} of this run, which
// KNOWN-NOT: Whatever a crash in this run leaves behind
//
// QUIET: {{^}}blackout: findings: 1 shown
// QUIET-NEXT: log.c:{{.*}}: error:
// QUIET-NOT: {{^}}shown:
// QUIET: SUMMARY
//
// KEPT: finding-1
// KEPT-NEXT: report.html
// KEPT-NEXT: report.json
// KEPT-NEXT: report.kept
// KEPT-NEXT: report.txt
// KEPT: finding.blackout
// KEPT-NEXT: finding.json
// KEPT-NEXT: finding.txt
// KEPT-NEXT: pools
//
// LIST: 1 {{.*}} ./log pool; findings: 1 shown
// LIST-NEXT: 2 {{.*}} ./log pool; findings: 1 shown; as run 1
//
// SAME: 0 new, 0 not found any more, 1 still there
// SAME-NEXT: still: log.c:{{[0-9]+}}:{{[0-9]+}}: error: record.words[], stored here, is never flushed
//
// REMOVED: blackout check: runs: run 1 was removed
// GONE: 0 new, 1 not found any more, 0 still there
// GONE-NEXT: gone:  log.c
// NEW: 1 new, 0 not found any more, 0 still there
// NEW-NEXT: new:   log.c
//
// SUM: {{^}}blackout: findings: 1 shown
// SUM-NEXT: log.c:{{.*}}: error:
//
// SAID: missing-flush: record.words[], stored at (1), is never flushed
// SAID: all {{[0-9]+}} crash states of this finding can't come about any more; the recorded run gets {{[0-9]+}} flushes and {{[0-9]+}} fences more.
//
// CLEAN: {{^}}blackout: clean: crashes at
// JUNIT: <testsuite name="blackout" tests="1" failures="0" errors="0">
#include "pm.h"

#define WORDS 12

struct record {
  struct record* next;
  uint64_t words[WORDS];
} __attribute__((aligned(64)));

struct pool {
  uint64_t made;
  struct record* first __attribute__((aligned(64)));
  char* top;
  struct record space[8] __attribute__((aligned(64)));
};

static void append(struct pool* pool, unsigned number) {
  struct record* record = &pool->space[number];
  record->next = pool->first;
  pm_persist(record, sizeof record);
  for (unsigned i = 0; i < WORDS; ++i) record->words[i] = number + i + 1;
  PM_PUBLISH(pool->first, record);
  pm_persist(&pool->first, sizeof pool->first);
}

int main(int argc, char** argv) {
  struct pool* pool = (struct pool*)pm_map(argc > 1 ? argv[1] : "pool", sizeof(struct pool));
  for (struct record* r = pool->first; r; r = r->next)
    for (unsigned i = 1; i < WORDS; ++i)
      if (r->words[i] != r->words[0] + i) pm_die("a record is not whole");
  if (!blackout_recovering())
    for (unsigned n = 0; n < 3; ++n) append(pool, n);
  return 0;
}
