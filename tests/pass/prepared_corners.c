// Code that can't be inlined, copied or promoted as usual: its prepared copy is valid all the same, at every level and with any
// amount of debug information, and the program compiles as ever.
// REQUIRES: full
// RUN: rm -rf %t && mkdir %t && cd %t
// RUN: for g in -g -g1 -g0 '-g -fsanitize=address,undefined' '-g -finstrument-functions'; do for o in 0 2; do \
// RUN:   %plain-cc -w -O$o $g -fpass-plugin=%pass -c %s -o x.o && %python %inputs/kept_bitcode.py x.o units >name && opt -passes=verify -disable-output units/0.bc || exit 1; done || exit 1; done
// RUN: %plain-cc -w -O2 -g -fpass-plugin=%pass -c %s -o x.o && %python %inputs/kept_bitcode.py x.o units && opt -S units/0.bc | FileCheck %s
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
struct S { long a, b; struct S *next; };
__asm__(".globl of_module_asm\nof_module_asm: ret");
void of_module_asm(void);

static long (*resolve(void))(struct S *);
long chosen(struct S *s) __attribute__((ifunc("resolve")));
static long one(struct S *s) { return s->a; }
static long (*resolve(void))(struct S *) { return one; }

static jmp_buf jump;
static inline long jumps(struct S *s) { if (setjmp(jump)) return s->a; s->b = 1; return 0; }
// CHECK-LABEL: define{{.*}} @calls_jumps(
// CHECK: call {{.*}} @jumps(
long calls_jumps(struct S *s) { return jumps(s) + chosen(s); }

static long sum(struct S *s, int n, ...) { va_list l; va_start(l, n); long r = s->a + va_arg(l, int); va_end(l); return r; }
long variadic(struct S *s) { of_module_asm(); return sum(s, 1, 2); }

static long even(struct S *s);
static long odd(struct S *s) { return s == 0 ? 0 : even(s->next); }
static long even(struct S *s) { return s == 0 ? 1 : odd(s->next); }
long recursive(struct S *s) { return even(s); }

long tail(struct S *s);
long to_tail(struct S *s) { __attribute__((musttail)) return tail(s->next); }
long through_tail(struct S *s) { return to_tail(s); }

static inline long labels(struct S *s, int n) {
  static void *const where[] = {&&first, &&second};
  goto *where[n];
first: return s->a;
second: return s->b;
}
long computed(struct S *s, int n) { return labels(s, n); }
long go(struct S *s) { __asm__ goto("" : : : : out); return s->a; out: return s->b; }
long sized(struct S *s, int n) { long v[n]; v[0] = s->a; return v[n - 1]; }
struct Large { long v[64]; };
struct Large large(struct Large l, struct S *s) { l.v[3] = s->a; return l; }
long takes(struct S *s) { struct Large l = {{0}}; return large(l, s).v[3]; }
static inline __attribute__((always_inline)) void always(struct S *s) { s->b = 2; }
// CHECK-LABEL: define{{.*}} @calls_always(
// CHECK-NEXT: getelementptr
// CHECK-NEXT: store i64 2
void calls_always(struct S *s) { always(s); }
extern inline __attribute__((gnu_inline)) long elsewhere(struct S *s) { return s->a; }
// CHECK: declare{{.*}} @elsewhere(
long calls_elsewhere(struct S *s) { return elsewhere(s); }
__attribute__((weak)) long weak(struct S *s) { return s->a; }
// CHECK-LABEL: define{{.*}} @calls_weak(
// CHECK: call {{.*}} @weak(
long calls_weak(struct S *s) { return weak(s); }
_Thread_local struct S local;
long thread_local_one(void) { return local.a++; }
// Deep, and long.
#define FOUR(x) x x x x
#define STEP if (s->a) { s = s->next; if (!s) return 1; s->b++; }
long huge(struct S *s) { FOUR(FOUR(FOUR(FOUR(STEP)))) return s->a; }
