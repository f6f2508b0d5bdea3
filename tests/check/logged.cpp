// What transactions log for nothing, told by pmemcheck's requests: bytes that were logged already, and a range that is not
// written. A detector that is switched off finds nothing, so each of the FOUND lines fails when its detector is gone.
//
// RUN: for o in 0 2; do %cxx -O$o -g -mclwb -I%S/../record %s -o %t && rm -f %t.img && \
// RUN:   not %blackout check --no-explore --fail-on=perf --pm %t.img -- %t %t.img > %t.report 2>&1 || exit 1; \
// RUN:   FileCheck %s --check-prefix=FOUND < %t.report || exit 1; \
// RUN:   for d in logged-twice logged-unused; do %blackout check --no-explore --detect=-$d --fail-on=shown --pm %t.img -- %t %t.img > %t.off 2>&1 || exit 1; ! grep "\[$d\]" %t.off || exit 1; done; \
// RUN:   %blackout check --no-explore --detect=-logged-twice,-logged-unused --fail-on=perf --pm %t.img -- %t %t.img || exit 1; done
#include <immintrin.h>
#include <valgrind/valgrind.h>

#include "Inputs/pool.h"

// The numbers of pmemcheck.h, which Debian does not have.
static const unsigned kBase = VG_USERREQ_TOOL_BASE('P', 'C');
static void begin() { VALGRIND_DO_CLIENT_REQUEST_STMT(kBase + 18, 0, 0, 0, 0, 0); }
static void end() { VALGRIND_DO_CLIENT_REQUEST_STMT(kBase + 20, 0, 0, 0, 0, 0); }
// One instruction logs for all: who called it makes the difference.
__attribute__((noinline)) static void add(void* p, size_t size) {
  VALGRIND_DO_CLIENT_REQUEST_STMT(kBase + 22, p, size, 0, 0, 0);
}

static void set(uint64_t* p) {
  *p = 1;
  _mm_clwb(p);
  _mm_sfence();
}

int main(int, char** argv) {
  auto* pool = static_cast<uint64_t*>(mapPool(argv[1], 4096));
  for (int i = 0; i < 3; ++i) {
    begin();
    // FOUND: [logged-twice]
    // FOUND: 16 bytes were added to a transaction that had them already.
    // FOUND: added again here: {{.*}} in add(
    // FOUND: called from {{.*}}logged.cpp:[[# @LINE + 5]]:{{.*}} in main
    // FOUND: first added here:
    // FOUND: called from {{.*}}logged.cpp:[[# @LINE + 1]]:{{.*}} in main
    add(pool, 32);
    set(pool);
    add(pool + 2, 64);
    set(pool + 8);
    // FOUND: costs: {{ *}}48 of 480 logged bytes (10.0%)
    // FOUND: [logged-unused]
    // FOUND: In none of its 3 transactions was anything stored
    // FOUND: added here: {{.*}} in add(
    // FOUND: called from {{.*}}logged.cpp:[[# @LINE + 3]]:{{.*}} in main
    // FOUND: count: {{ *}}3 times, of 9 executions
    // FOUND: costs: {{ *}}192 of 480 logged bytes (40.0%)
    add(pool + 64, 64);
    end();
  }
}
