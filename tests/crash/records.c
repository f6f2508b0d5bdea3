// Records of many lines that a crash may have lost in any combination, read by one loop. Which of them are checksummed
// is told by what restarts do with the combinations; others are explored one by one, as far as that goes, and it is
// said where it does not.
//
// RUN: %cc -O1 -g -I%S/../record %s -o %t && rm -rf %t.img %t.dir && mkdir %t.dir && cd %t.dir
//
// A checksum over 20 lines: all combinations but one are refused alike. That is said, and to take it for a checksum is up to the user.
// RUN: %blackout check --detect=none --pm %t.img -- %t %t.img checksum > %t.out 2>&1; test $? -eq 3 && FileCheck %s --check-prefix=MAYBE < %t.out
// MAYBE: The record at records.c:[[#]] may be checksummed, and only [[#]] of about 10^6 combinations of its lines were tried. If it is, say so with --assume checksums or blackout_checksum().
// MAYBE: SUMMARY: blackout: inconclusive, nothing found; {{.*}}; assumed: the record at records.c:[[#]] is checksummed;
// RUN: rm -f %t.img && %blackout check --detect=none --assume checksums --pm %t.img -- %t %t.img checksum > %t.out 2>&1 && FileCheck %s --check-prefix=SUM < %t.out
// SUM: assumed: {{ *}}the record at records.c:[[#]] is checksummed: it has up to 20 lines that a crash may have lost, at 1 point; [[#]] of about 10^6 combinations were tried, and --assume checksums says so.
// SUM: if what was assumed holds
// SUM: SUMMARY: blackout: no findings; {{.*}}; assumed: the record at records.c:[[#]] is checksummed;
//
// The same without a checksum: three of the lines decide whether the restart fails, in an eighth of the states.
// RUN: not %blackout check --detect=none --pm %t.img -- %t %t.img snapshot > %t.out 2>&1 && FileCheck %s --check-prefix=SHOT < %t.out
// SHOT: exits with 3
// SHOT-NOT: assumed:
// SHOT: SUMMARY: blackout: inconclusive, 1 shown
//
// Two copies of a superblock and nine entries, nothing flushed: of 2,048 combinations one in 512 fails, which samples
// miss. So many are tried one by one.
// RUN: not %blackout check --detect=none --pm %t.img -- %t %t.img blocks > %t.out 2>&1 && FileCheck %s --check-prefix=BLOCKS < %t.out
// BLOCKS: exits with 3
// BLOCKS-NOT: assumed:
// BLOCKS: SUMMARY: blackout: {{(inconclusive, )?}}1 shown
//
// 20 lines that are told apart: too many to try, and said so, with the read; unless that is allowed.
// RUN: %blackout check --detect=none --pm %t.img -- %t %t.img table > %t.out 2>&1; test $? -eq 3 && FileCheck %s --check-prefix=TABLE < %t.out
// TABLE: At 1 point restarts differ in so many ways that only some of them were explored: at event [[#]], 20 lines that may be lost are read at records.c:[[#]], and {{[0-9,]+}} states were tried.
// TABLE: SUMMARY: blackout: inconclusive, nothing found; {{.*}} of [[#]] points explored
// RUN: %blackout check --detect=none --assume checksums --pm %t.img -- %t %t.img table > %t.out 2>&1 && FileCheck %s --check-prefix=ALLOWED < %t.out
// ALLOWED: assumed: {{.*}}--assume checksums says so, though they did not all lead to the same.
//
// RUN: not %blackout check --assume nothing --pm %t.img -- %t %t.img table 2>&1 | FileCheck %s --check-prefix=WHAT
// WHAT: --assume
#include "Inputs/pool.h"

static int is(char** argv, const char* mode) { return strcmp(argv[2], mode) == 0; }

int main(int argc, char** argv) {
  (void)argc;
  int made = access(argv[1], F_OK) == 0;
  volatile uint64_t* pool = mapPool(argv[1], 4096);
  unsigned lines = is(argv, "blocks") ? 11 : 20;
  if (!made) {
    for (unsigned i = 0; i < lines; ++i) pool[8 * i] = i + 1;
    return 0;
  }
  uint64_t sum = 0, decide = 0, bits = 0;
  for (unsigned i = 0; i < lines; ++i) {
    uint64_t entry = pool[8 * i];
    sum += entry;
    decide += i % 7 == 3 && entry == 0;
    bits |= (uint64_t)(entry != 0) << i;
  }
  if (is(argv, "checksum") && sum == 210) puts("whole");
  if (is(argv, "snapshot") && decide == 3 && bits != 0) return 3;
  if (is(argv, "blocks") && (bits >> 2) == 0x155) return 3;
  if (is(argv, "table")) return bits % 8 == 5 ? puts("five") < 0 : 0;
  return 0;
}
