// The last bytes of an object through a pointer that stands at its end: `*--end` and `end[-1]` are
// accesses of the object though `end` is outside.
// RUN: %plain-cc -O2 -I%inputs/../../../src -c %inputs/all_pm.c -o %t.all_pm.o
// RUN: %plain-cc -O2 -g -fpass-plugin=%pass %s %t.all_pm.o -o %t
// RUN: env EVENTS=1 %t | FileCheck %s
#include <stddef.h>
char object[64];
void all_pm_stores(void *, size_t);
__attribute__((noinline)) void keep(char *p) { __asm__ volatile("" ::"r"(p) : "memory"); }
int main(void) {
  // Exactly the object, as the runtime has it for a pool that ends where its mapping ends.
  all_pm_stores(object, sizeof object);
  char *end = object + sizeof object;
  __asm__("" : "+r"(end));
  // CHECK: event [[@LINE+1]]: store 1
  end[-1] = 1;
  keep(end);
  // CHECK: event [[@LINE+1]]: store 1
  *--end = 2;
  keep(end);
  return 0;
}
