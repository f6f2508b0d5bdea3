// rep movsb stores 8 aligned bytes at a time, or byte by byte with --rep-bytes: a program that takes 8 bytes of it for
// whole is right in one and wrong in the other. rep movsq stores 8 bytes in both.
//
// RUN: %cc -O1 -g -I%S/../record %s -o %t.compiled && %plain-cc -O1 -g -I%S/../record %s -o %t.plain
// RUN: rm -rf %t.img %t.dir && mkdir %t.dir && cd %t.dir
//
// RUN: %blackout check --detect=none --pm %t.img -- %t.compiled %t.img bytes > %t.out 2>&1
// RUN: %blackout check --detect=none --pm %t.img -- %t.plain %t.img bytes > %t.out 2>&1
// RUN: not %blackout check --rep-bytes --detect=none --pm %t.img -- %t.compiled %t.img bytes > %t.out 2>&1
// RUN: FileCheck %s < %t.out
// RUN: not %blackout check --rep-bytes --detect=none --pm %t.img -- %t.plain %t.img bytes > %t.out 2>&1
// RUN: FileCheck %s < %t.out
// CHECK: exits with 3
// CHECK: SUMMARY: blackout: 1 shown
//
// RUN: %blackout check --rep-bytes --detect=none --pm %t.img -- %t.compiled %t.img words > %t.out 2>&1
// RUN: %blackout check --rep-bytes --detect=none --pm %t.img -- %t.plain %t.img words > %t.out 2>&1
//
// The pieces, which are one wide store; an element of 2 bytes over the end of a unit is two of them.
// RUN: %blackout record --rep-bytes --pm %t.img -o %t.trace -- %t.compiled %t.img pieces
// RUN: %blackout trace %t.trace | FileCheck %s --check-prefix=PIECES
// RUN: %blackout record --rep-bytes --pm %t.img -o %t.trace -- %t.plain %t.img pieces
// RUN: %blackout trace %t.trace | FileCheck %s --check-prefix=PIECES
// PIECES: store 1:0x45 2 bytes = 0x101 (and on)
// PIECES-NEXT: store 1:0x47 1 byte = 0x1 (and on)
// PIECES-NEXT: store 1:0x48 1 byte = 0x1 {{[^(]*$}}
// RUN: %blackout record --pm %t.img -o %t.trace -- %t.compiled %t.img pieces
// RUN: %blackout trace %t.trace | FileCheck %s --check-prefix=WHOLE
// RUN: %blackout record --pm %t.img -o %t.trace -- %t.plain %t.img pieces
// RUN: %blackout trace %t.trace | FileCheck %s --check-prefix=WHOLE
// WHOLE: store 1:0x45 3 bytes = 0x10101 (and on)
// WHOLE-NEXT: store 1:0x48 1 byte = 0x1 {{[^(]*$}}
#include "Inputs/pool.h"

static int is(char** argv, const char* mode) { return strcmp(argv[2], mode) == 0; }

int main(int argc, char** argv) {
  (void)argc;
  int made = access(argv[1], F_OK) == 0;
  char* pool = mapPool(argv[1], 4096);
  if (made) {
    uint64_t word = *(volatile uint64_t*)pool;
    return word == 0 || word == 0x0101010101010101 ? 0 : 3;
  }
  char ones[16];
  memset(ones, 1, sizeof ones);
  char* to = pool;
  const char* from = ones;
  if (is(argv, "bytes")) {
    size_t n = 16;
    __asm__ volatile("rep movsb" : "+D"(to), "+S"(from), "+c"(n)::"memory");
  } else if (is(argv, "words")) {
    size_t n = 2;
    __asm__ volatile("rep movsq" : "+D"(to), "+S"(from), "+c"(n)::"memory");
  } else {
    to += 0x45;
    size_t n = 2;
    __asm__ volatile("rep movsw" : "+D"(to), "+S"(from), "+c"(n)::"memory");
  }
  return 0;
}
