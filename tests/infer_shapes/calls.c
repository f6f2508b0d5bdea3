// Guards through calls: what is tested, and what is read, in other functions.
//
// RUN: %guardians %cc %blackout %t %s | FileCheck %s
#include <stdbool.h>
#include <string.h>

#include "Inputs/pm.h"

#define OUTSIDE __attribute__((noinline))

struct Slot {
  uint64_t data;
  uint64_t used;
  uint64_t flags;
  uint64_t mark;
  uint64_t state;
  uint64_t size;
  uint64_t depth;
  uint64_t turn;
  uint64_t kept;
  uint64_t hooked;
  uint64_t named;
  char name[16];
  struct Slot* child;
};
void persist_slot(struct Slot* s) { persist(&s->used); }

/* The test stands in a function that says yes or no. */
OUTSIDE bool is_used(const struct Slot* s) { return s->used != 0; }
uint64_t by_result(struct Slot* s) { return is_used(s) ? s->data : 0; }

/* Two in one answer. */
OUTSIDE bool is_ready(const struct Slot* s) { return s->flags != 0 && s->mark == 7; }
uint64_t by_both(struct Slot* s) {
  if (!is_ready(s)) return 0;
  return s->data;
}

/* The value is passed to the function that tests it. */
OUTSIDE uint64_t if_set(const struct Slot* s, uint64_t state) { return state == 3 ? s->data : 0; }
uint64_t by_argument(struct Slot* s) { return if_set(s, s->state); }

/* The read stands in a function that is called under the test, two calls below. */
OUTSIDE uint64_t read_data(const struct Slot* s) { return s->data; }
OUTSIDE uint64_t read_below(const struct Slot* s) { return read_data(s) + 1; }
uint64_t by_callee(struct Slot* s) {
  if (s->size > 4) return read_below(s);
  return 0;
}

/* Recursion. */
OUTSIDE uint64_t descend(const struct Slot* s) {
  if (s->depth == 0) return s->data;
  return descend(s->child) + 1;
}

/* Mutual recursion. */
OUTSIDE uint64_t pong(const struct Slot* s, int n);
OUTSIDE uint64_t ping(const struct Slot* s, int n) { return n == 0 ? s->turn : pong(s, n - 1); }
OUTSIDE uint64_t pong(const struct Slot* s, int n) { return n == 0 ? s->turn : ping(s, n - 1); }
uint64_t by_recursion(const struct Slot* s) { return ping(s, 9) != 0 ? s->data : 0; }

/* Through a variable of the program. */
static uint64_t last;
OUTSIDE void remember(const struct Slot* s) { last = s->kept; }
uint64_t by_variable(const struct Slot* s) {
  remember(s);
  return last == 1 ? s->data : 0;
}

/* Through a volatile struct. */
struct Cursor {
  uint64_t hooked;
};
OUTSIDE void hook(struct Cursor* c, const struct Slot* s) { c->hooked = s->hooked; }
uint64_t by_struct(struct Cursor* c, const struct Slot* s) {
  hook(c, s);
  return c->hooked ? s->data : 0;
}

/* Through an argument that points to a variable of the caller. */
OUTSIDE void get_named(const struct Slot* s, uint64_t* out) { *out = s->named; }
uint64_t by_out(const struct Slot* s) {
  uint64_t named = 0;
  get_named(s, &named);
  return named ? s->data : 0;
}

/* By a function of the library. */
uint64_t by_text(const struct Slot* s, const char* name) { return strcmp(s->name, name) == 0 ? s->data : 0; }

/* Nobody knows what is called. */
uint64_t by_pointer(const struct Slot* s, uint64_t (*f)(const struct Slot*)) { return f(s) ? s->data : 0; }

// CHECK: calls.c:54 follows Slot.child before calls.c:53 reads Slot.data (pointer)
// CHECK-NEXT: calls.c:54 follows Slot.child before calls.c:53 reads Slot.depth (pointer)
// CHECK-NEXT: calls.c:53 tests Slot.depth before calls.c:54 reads Slot.child (flag)
// CHECK-NEXT: calls.c:53 tests Slot.depth before calls.c:53 reads Slot.data (flag)
// CHECK-NEXT: calls.c:33 tests Slot.flags before calls.c:36 reads Slot.data (flag)
// CHECK-NEXT: calls.c:33 tests Slot.flags before calls.c:33 reads Slot.mark (flag)
// CHECK-NEXT: calls.c:75 tests Slot.hooked before calls.c:78 reads Slot.data (flag)
// CHECK-NEXT: calls.c:65 tests Slot.kept before calls.c:68 reads Slot.data (flag)
// CHECK-NEXT: calls.c:33 tests Slot.mark before calls.c:36 reads Slot.data (flag)
// CHECK-NEXT: calls.c:90 compares Slot.name[] before calls.c:90 reads Slot.data (comparison)
// CHECK-NEXT: calls.c:82 tests Slot.named before calls.c:86 reads Slot.data (flag)
// CHECK-NEXT: calls.c:47 tests Slot.size before calls.c:44 reads Slot.data (flag)
// CHECK-NEXT: calls.c:41 tests Slot.state before calls.c:40 reads Slot.data (flag)
// CHECK-NEXT: calls.c:59 tests Slot.turn before calls.c:61 reads Slot.data (flag)
// CHECK-NEXT: calls.c:29 tests Slot.used before calls.c:30 reads Slot.data (flag)
// CHECK-NEXT: Slot.flags and Slot.mark guard Slot.data together calls.c:33
// CHECK-NEXT: 12 guardians; 1 more field decides over reads, but nothing shows that it is persistent (--all)
// CHECK-NOT: {{.}}
