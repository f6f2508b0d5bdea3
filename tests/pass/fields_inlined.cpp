// A helper for fields of two structs: where it is inlined it is known whose field it sets; alone, one site stands for both.
// A helper that is only called for one field has that field's key at every level.
// RUN: %plain-cxx -O0 -g -fpass-plugin=%pass -shared -fPIC %s -o %t0.so && %blackout sites %t0.so | FileCheck --check-prefixes=CHECK,ALONE %s
// RUN: for o in 1 2 3; do %plain-cxx -O$o -g -fpass-plugin=%pass -shared -fPIC %s -o %t$o.so && %blackout sites %t$o.so | FileCheck --check-prefixes=CHECK,INLINED %s || exit 1; done
struct Slot { long before, valid; };
struct Node { long before, between, key; Node *next; };
static void only(long *p) { *p = 2; }
static void set(long *p) { *p = 1; }
// CHECK-DAG: store 8 Slot.before{{$}}
void use_only(Slot *s) { only(&s->before); }
// ALONE-DAG: store 8{{$}}
// INLINED-DAG: store 8 Slot.valid{{$}}
// INLINED-DAG: store 8 Node.key{{$}}
void use_slot(Slot *s) { set(&s->valid); }
void use_node(Node *n) { set(&n->key); }
// A helper that is always inlined knows it even without optimisation.
__attribute__((always_inline)) inline void always(long *p) { *p = 3; }
// CHECK-DAG: store 8 Slot.valid{{$}}
void always_slot(Slot *s) { always(&s->valid); }
// CHECK-DAG: store 8 Node.between{{$}}
void always_node(Node *n) { always(&n->between); }
