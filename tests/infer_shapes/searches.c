// A loop that ends where it has found something: what it tested guards what is read of that afterwards. An object that is
// checked by a helper that doesn't return; and an index instead of a pointer.
// RUN: %guardians %cc %blackout %t %s | FileCheck %s
#include <stdint.h>
#include <stdlib.h>

#include "../infer_command/Inputs/persist.h"

struct Slot {
  uint64_t used, value;
};
struct Link {
  struct Link* next;
  uint64_t removed, value;
};
struct Head {
  uint64_t magic, size;
};

uint64_t byIndex(struct Slot* s) {
  int i;
  for (i = 0; i < 8; i++)
    if (s[i].used) break;
  if (i == 8) return 0;
  return s[i].value;
}

uint64_t byPointer(struct Slot* p, struct Slot* end) {
  while (p != end && !p->used) ++p;
  return p == end ? 0 : p->value;
}

uint64_t inList(struct Link* l) {
  while (l && l->removed) l = l->next;
  return l ? l->value : 0;
}

static void need(struct Head* h) {
  if (h->magic != 77) exit(3);
}
uint64_t size(struct Head* h, struct Head* other) {
  need(h);
  return h->size;
}

void set(struct Slot* s, struct Link* l, struct Head* h) {
  s->value = 1;
  persist(s, sizeof *s);
  s->used = 1;
  persist(s, sizeof *s);
  l->value = 1;
  l->removed = 0;
  persist(l, sizeof *l);
  h->size = 1;
  persist(h, sizeof *h);
  h->magic = 77;
  persist(h, sizeof *h);
}

// CHECK: searches.c:39 tests Head.magic before searches.c:43 reads Head.size (flag)
// CHECK-NEXT: searches.c:34 tests Link.next before searches.c:34 reads Link.removed (null check)
// CHECK-NEXT: searches.c:34 tests Link.next before searches.c:35 reads Link.value (null check)
// CHECK-NEXT: searches.c:34 tests Link.removed before searches.c:34 reads Link.next (flag)
// CHECK-NEXT: searches.c:34 tests Link.removed before searches.c:35 reads Link.value (flag)
// CHECK-NEXT: searches.c:23 tests Slot.used before searches.c:25 reads Slot.value (flag)
// CHECK-NEXT: searches.c:29 tests Slot.used before searches.c:30 reads Slot.value (flag)
