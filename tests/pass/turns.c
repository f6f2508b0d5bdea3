// Turns of loops are counted, whatever the loop is made of: a for, a goto, a jump into the middle of one. A loop that
// surely ends after a few turns is not. Outside a restart nothing is counted.
// RUN: %plain-cc -O2 -I%inputs/../../../src -c %inputs/all_pm.c -o %t.all_pm.o
// RUN: %plain-cc -O1 -g -fpass-plugin=%pass %s %t.all_pm.o -o %t && env ALL_PM=1 %t && %t none
// RUN: %plain-cc -O0 -g -fpass-plugin=%pass %s %t.all_pm.o -o %t && env ALL_PM=1 %t
#include <stdint.h>
#include <stdio.h>
#include <string.h>
extern int64_t all_pm_turns;
static volatile unsigned wanted = 300, zero = 0;

__attribute__((noinline)) static unsigned counted(void) {
  unsigned n = 0;
  for (unsigned i = 0; i < wanted; ++i) n += zero + 1;
  return n;
}
__attribute__((noinline)) static unsigned jumped(void) {
  unsigned n = 0;
again:
  n += zero + 1;
  if (n < wanted) goto again;
  return n;
}
// Entered at two places: no loop has one header here.
__attribute__((noinline)) static unsigned entered(void) {
  unsigned n = 0;
  if (zero != 0) goto middle;
first:
  n += zero + 1;
middle:
  n += zero + 1;
  if (n < wanted) goto first;
  return n;
}
__attribute__((noinline)) static unsigned nested(void) {
  unsigned n = 0;
  while (n < wanted)
    for (unsigned i = 0; i < 3; ++i) n += zero + 1;
  return n;
}
__attribute__((noinline)) static unsigned few(void) {
  unsigned n = 0;
#pragma clang loop unroll(disable)
  for (unsigned i = 0; i < 9; ++i) n += zero + 1;
  return n;
}

int main(int argc, char** argv) {
  struct {
    const char* name;
    unsigned (*loop)(void);
    int64_t least;
    int64_t most;
  } loops[] = {{"counted", counted, 90, 110}, {"jumped", jumped, 90, 110}, {"entered", entered, 45, 110},
               {"nested", nested, 30, 180},   {"few", few, 0, 4}};
  (void)argv;
  for (unsigned i = 0; i < sizeof loops / sizeof *loops; ++i) {
    int64_t before = all_pm_turns;
    unsigned n = loops[i].loop();
    int64_t turns = all_pm_turns - before;
    if (argc > 1 ? turns == 0 : (turns >= loops[i].least && turns <= loops[i].most && n >= 9)) continue;
    printf("%s: %ld thirds of turns in %u\n", loops[i].name, (long)turns, n);
    return 1;
  }
  return 0;
}
