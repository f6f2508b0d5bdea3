// A record is linked before its second line is durable: the size of the pointer was flushed, not that of the record. The fix is tried, printed as a
// patch, applied with patch, and the program is clean.
//
// RUN: rm -rf %t.dir && mkdir %t.dir && cp %s %t.dir/log.c && cd %t.dir
// RUN: cd %t.dir && %cc -g -O1 -I%S/../../corpus -I%include log.c -o log
// RUN: cd %t.dir && not %blackout check --findings found --json one.json --pm pool -- ./log pool > out 2>&1
// RUN: FileCheck %s --check-prefix=REPORT -D#LOST=62 -D#LINK=63 < %t.dir/out
// RUN: cd %t.dir && %blackout check --baseline one.json --findings known --pm pool -- ./log pool > out 2>&1 && FileCheck %s --check-prefix=KNOWN < out
// RUN: cd %t.dir && for i in 1 2; do not %blackout check --quiet --out runs --pm pool -- ./log pool > out 2>&1 && FileCheck %s --check-prefix=QUIET < out || exit 1; done
// RUN: cd %t.dir && test $(readlink runs/latest) = 2 && %blackout report runs/latest && ls runs/2 | FileCheck %s --check-prefix=KEPT
// RUN: cd %t.dir && %blackout fix found/finding-1.blackout > fix.patch 2> said && FileCheck %s --check-prefix=SAID < said
// RUN: cd %t.dir && patch -p1 -s < fix.patch && %cc -g -O1 -I%S/../../corpus -I%include log.c -o log
// RUN: cd %t.dir && %blackout check --pm pool --sarif out.sarif --junit out.xml -- ./log pool > clean 2>&1
// RUN: FileCheck %s --check-prefix=CLEAN < %t.dir/clean
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
// KEPT: finding-1.blackout
// KEPT-NEXT: report.html
// KEPT-NEXT: report.json
// KEPT-NEXT: report.txt
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
