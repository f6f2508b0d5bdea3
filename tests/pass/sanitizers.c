// Together with ASan and UBSan: they still find what is theirs, and the site table is not torn by red zones.
// RUN: %plain-cc -O1 -I%inputs/../../../src -c %inputs/all_pm.c -o %t.all_pm.o
// RUN: %plain-cc -O1 -g -fsanitize=address,undefined -fpass-plugin=%pass %s %t.all_pm.o -o %t
// RUN: %blackout sites %t | FileCheck %s --check-prefix=SITES
// SITES: store 4
// SITES-NEXT: sanitizers.c:{{.*}} in main
// RUN: env ALL_PM=0 %t
// RUN: env ALL_PM=1 %t
// RUN: not env ALL_PM=0 %t over 2>&1 | FileCheck %s --check-prefix=ASAN
// ASAN: heap-buffer-overflow
// RUN: env ALL_PM=0 %t over over 2>&1 | FileCheck %s --check-prefix=UBSAN
// UBSAN: signed integer overflow
#include <limits.h>
#include <stdlib.h>
int main(int argc, char **argv) {
  int *p = malloc(16);
  int k = argc == 2 ? 4 : 3;
  __asm__ volatile("" : "+r"(k));
  p[k] = 1;
  if (argc == 3) p[0] = INT_MAX - 2 + argc + p[3];
  int result = p[3];
  free(p);
  return result != 1 && argc == 1;
}
