// Exactly the events of the source, once each and in its order, at every level.
// RUN: %plain-cc -O1 -I%inputs/../../../src -c %inputs/all_pm.c -o %t.all_pm.o
// RUN: for o in 0 1 2 3; do %plain-cc -O$o -g -fpass-plugin=%pass %s %t.all_pm.o -o %t$o && env ALL_PM=1 EVENTS=1 %t$o | FileCheck %s || exit 1; done
#include <emmintrin.h>
#include <stdlib.h>
#include <string.h>
struct record { long value; int size; short kind; char valid; char name[25]; };
__attribute__((noinline)) void update(struct record *r, const char *name) {
  // CHECK: event [[@LINE+1]]: store 8
  r->value = 7;
  // CHECK-NEXT: event [[@LINE+1]]: string-write 0
  strcpy(r->name, name);
  // CHECK-NEXT: event [[@LINE+1]]: clflush 0
  __asm__ volatile("clflush %0" : "+m"(*(volatile char *)r));
  // CHECK-NEXT: event [[@LINE+1]]: sfence 0
  _mm_sfence();
  // CHECK-NEXT: event [[@LINE+1]]: store 1
  *(volatile char *)&r->valid = 1;
  // CHECK-NEXT: event [[@LINE+1]]: rmw 4
  __atomic_fetch_add(&r->size, 1, __ATOMIC_RELAXED);
  // CHECK-NEXT: event [[@LINE+1]]: cmpxchg failed 2
  short expected = 5; __atomic_compare_exchange_n(&r->kind, &expected, 6, 0, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST);
  // CHECK-NEXT: event [[@LINE+1]]: rmw 2
  __atomic_store_n(&r->kind, 9, __ATOMIC_SEQ_CST);
  // CHECK-NEXT: event [[@LINE+1]]: store-nt 8
  _mm_stream_si64((long long *)&r->value, 3);
  // CHECK-NEXT: event [[@LINE+1]]: mfence 0
  __sync_synchronize();
}
int main(void) {
  struct record *r = calloc(1, sizeof *r);
  update(r, "a name");
  // CHECK-NEXT: event [[@LINE+1]]: load 8
  return (int)*(volatile long *)&r->value - 3;
}
