// A program whose flushes and fences are nothing but pmemcheck's client requests: what it announces is believed, what it
// forgets to announce is found, and the answers that it gets are those of the recorded run.
//
// RUN: %cc -O1 -g -mclwb -I%S/../record %s -o %t && rm -rf %t.img %t.dir && mkdir %t.dir && cd %t.dir
// RUN: %blackout check --fail-on=perf --pm %t.img -- %t %t.img right 2>&1 | FileCheck %s --check-prefix=RIGHT
// RIGHT: SUMMARY: blackout: no findings
// RUN: not %blackout check --pm %t.img -- %t %t.img flush 2>&1 | FileCheck %s --check-prefix=FLUSH
// FLUSH: shown: flush missing [missing-flush]
// RUN: not %blackout check --pm %t.img -- %t %t.img fence 2>&1 | FileCheck %s --check-prefix=FENCE
// FENCE: shown: fence missing [missing-fence]
// Registered memory is found again by the restart, by the same request.
// RUN: %blackout check --fail-on=perf --pm %t.img -- %t %t.img memory 2>&1 | FileCheck %s --check-prefix=RIGHT
// RUN: not %blackout check --pm %t.img -- %t %t.img memory-flush 2>&1 | FileCheck %s --check-prefix=FLUSH
//
// Beside real instructions the requests cost nothing and make nothing look idle, on either side of them; what the
// instructions waste is told as ever.
// RUN: %blackout check --fail-on=perf --pm %t.img -- %t %t.img beside 2>&1 | FileCheck %s --check-prefix=RIGHT
// RUN: not %blackout check --no-explore --fail-on=perf --pm %t.img -- %t %t.img waste 2>&1 | FileCheck %s --check-prefix=WASTE --implicit-check-not=idle-fence
// WASTE: [repeated-flush]
// WASTE: flushed again here: {{.*}}client_requests.c:[[# @LINE + 1]]
static void again(void* p) { __builtin_ia32_clwb(p); }
#include <blackout/blackout.h>
#include <immintrin.h>
#include <valgrind/valgrind.h>

#include "Inputs/pool.h"

#define ASK(number, a, b) VALGRIND_DO_CLIENT_REQUEST_EXPR(0, 0x50430000u + (number), a, b, 0, 0, 0)
#define FLUSH(p, n) ASK(5, p, n)
#define FENCE() ASK(6, 0, 0)

struct Pool {
  uint64_t valid __attribute__((aligned(64)));
  uint64_t value __attribute__((aligned(64)));
};

int main(int argc, char** argv) {
  const char* mode = argc > 2 ? argv[2] : "";
  struct Pool* pool = (struct Pool*)mapPool(argv[1], 4096);
  char onStack;
  if (strncmp(mode, "memory", 6) == 0) {
    pool = (struct Pool*)mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    ASK(0, pool, 4096);
  }
  if (blackout_active() && (ASK(3, pool, 4096) != 1 || ASK(3, (char*)pool + 4095, 2) != 2 || ASK(3, &onStack, 1) != 0))
    return 4;
  if (blackout_recovering()) return pool->valid == 1 && pool->value != 42 ? 3 : 0;
  int beside = strcmp(mode, "beside") == 0;
  pool->value = 42;
  if (strcmp(mode, "waste") == 0) {
    _mm_clwb(&pool->value);
    FLUSH(&pool->value, 8);
    again(&pool->value);
  }
  if (beside) _mm_clwb(&pool->value);
  if (strcmp(mode, "flush") != 0 && strcmp(mode, "memory-flush") != 0) FLUSH(&pool->value, 8);
  if (beside) _mm_sfence();
  if (strcmp(mode, "fence") != 0) FENCE();
  pool->valid = 1;
  FLUSH(&pool->valid, 8);
  if (beside) _mm_clwb(&pool->valid);
  FENCE();
  if (beside) _mm_sfence();
  return 0;
}
