// Field keys in C: the innermost struct and its member, from the front end's code, so the same at every level. Members
// that share bytes have one key. At the end what has none, or several.
// RUN: for o in 0 1 2 3; do %plain-cc -O$o -g -fpass-plugin=%pass -shared -fPIC %s -o %t$o.so && %blackout sites %t$o.so | FileCheck %s || exit 1; done
typedef unsigned long u64;
struct inner { short s; int i; };
typedef struct { long key; long value; } entry;
typedef struct { int count; float ratio; } other;
struct outer {
  long first;
  struct inner in;
  struct { int anonymous; };
  union { int as_int; float as_float; struct { short lower, upper; }; };
  union { int one; float two; } named;
  struct { int of_unnamed; } member;
  unsigned low : 3, high : 20;
  int array[4];
  int grid[2][3];
  entry entries[3];
  struct outer *next;
  u64 *keys;
  entry *more;
  void *data;
  char **rows;
  struct outer **table;
  _Atomic long atomic;
  volatile long spin;
  long tail[];
};
// CHECK: store 8 outer.first{{$}}
// CHECK-NEXT: fields.c:{{.*}} in first{{$}}
void first(struct outer *o) { o->first = 1; }
// CHECK: store 4 inner.i{{$}}
// CHECK-NEXT: fields.c:{{.*}} in nested{{$}}
void nested(struct outer *o) { o->in.i = 1; }
// CHECK: store 2 inner.s{{$}}
// CHECK-NEXT: fields.c:{{.*}} in nested_first{{$}}
void nested_first(struct outer *o) { o->in.s = 1; }
// CHECK: store 4 outer.anonymous{{$}}
// CHECK-NEXT: fields.c:{{.*}} in anonymous{{$}}
void anonymous(struct outer *o) { o->anonymous = 1; }
// CHECK: store 4 outer.as_int/as_float/lower/upper{{$}}
// CHECK-NEXT: fields.c:{{.*}} in in_union{{$}}
void in_union(struct outer *o) { o->as_int = 1; }
// CHECK: store 4 outer.as_int/as_float/lower/upper{{$}}
// CHECK-NEXT: fields.c:{{.*}} in other_of_union{{$}}
void other_of_union(struct outer *o) { o->as_float = 1; }
// CHECK: store 4 outer.named{{$}}
// CHECK-NEXT: fields.c:{{.*}} in in_named_union{{$}}
void in_named_union(struct outer *o) { o->named.two = 1; }
// CHECK: store 4 outer.member.of_unnamed{{$}}
// CHECK-NEXT: fields.c:{{.*}} in unnamed_type{{$}}
void unnamed_type(struct outer *o) { o->member.of_unnamed = 1; }
// CHECK: store 4 outer.low/high{{$}}
// CHECK-NEXT: fields.c:{{.*}} in bits{{$}}
void bits(struct outer *o) { o->high = 5; }
// CHECK: store 4 outer.array[]{{$}}
// CHECK-NEXT: fields.c:{{.*}} in array{{$}}
void array(struct outer *o, int k) { o->array[k] = 1; }
// CHECK: store 4 outer.array[]{{$}}
// CHECK-NEXT: fields.c:{{.*}} in array_first{{$}}
void array_first(struct outer *o) { *o->array = 1; }
// CHECK: store 4 outer.grid[]{{$}}
// CHECK-NEXT: fields.c:{{.*}} in grid{{$}}
void grid(struct outer *o, int k) { o->grid[1][k] = 1; }
// CHECK: store 8 entry.value{{$}}
// CHECK-NEXT: fields.c:{{.*}} in element{{$}}
void element(struct outer *o, int k) { o->entries[k].value = 1; }
// CHECK: store 8 entry.key{{$}}
// CHECK-NEXT: fields.c:{{.*}} in typedefed{{$}}
void typedefed(entry *e) { e->key = 1; }
// CHECK: store 4 other.ratio{{$}}
// CHECK-NEXT: fields.c:{{.*}} in typedefed_other{{$}}
void typedefed_other(other *e) { e->ratio = 1; }
// CHECK: store 8 outer.next{{$}}
// CHECK-NEXT: fields.c:{{.*}} in chained{{$}}
void chained(struct outer *o) { o->next = o; }
// CHECK: load 8 outer.keys{{$}}
// CHECK-NEXT: fields.c:{{.*}} in pointed{{$}}
// CHECK: store 8 outer.keys[]{{$}}
// CHECK-NEXT: fields.c:{{.*}} in pointed{{$}}
void pointed(struct outer *o, int k) { o->keys[k] = 1; }
// CHECK: store 8 outer.keys[]{{$}}
// CHECK-NEXT: fields.c:{{.*}} in pointed_variable{{$}}
void pointed_variable(struct outer *o) { u64 *p = o->keys; ++p; *p = 1; }
// CHECK: store 8 entry.value{{$}}
// CHECK-NEXT: fields.c:{{.*}} in pointed_struct{{$}}
void pointed_struct(struct outer *o, int k) { o->more[k].value = 1; }
// CHECK: load 8 outer.rows[]{{$}}
// CHECK-NEXT: fields.c:{{.*}} in rows{{$}}
// CHECK: store 1 outer.rows[][]{{$}}
// CHECK-NEXT: fields.c:{{.*}} in rows{{$}}
void rows(struct outer *o, int k) { o->rows[k][1] = 1; }
// CHECK: load 8 outer.table[]{{$}}
// CHECK-NEXT: fields.c:{{.*}} in table{{$}}
// CHECK: store 8 outer.first{{$}}
// CHECK-NEXT: fields.c:{{.*}} in table{{$}}
void table(struct outer *o, int k) { o->table[k]->first = 1; }
// CHECK: store 8 outer.tail[]{{$}}
// CHECK-NEXT: fields.c:{{.*}} in flexible{{$}}
void flexible(struct outer *o, int k) { o->tail[k] = 1; }
// CHECK: rmw atomic 8 outer.atomic{{$}}
// CHECK-NEXT: fields.c:{{.*}} in atomic{{$}}
void atomic(struct outer *o) { o->atomic = 1; }
// CHECK: store 8 outer.spin{{$}}
// CHECK-NEXT: fields.c:{{.*}} in is_volatile{{$}}
void is_volatile(struct outer *o) { o->spin = 1; }
// CHECK: 16 entry{{$}}
// CHECK-NEXT: fields.c:{{.*}} in whole{{$}}
void whole(entry *e, entry *f) { *e = *f; }
// CHECK: 16 entry{{$}}
// CHECK-NEXT: fields.c:{{.*}} in whole_element{{$}}
void whole_element(struct outer *o, int k, entry *f) { o->entries[k] = *f; }
// CHECK: copy{{.*}} outer.data[]{{$}}
// CHECK-NEXT: fields.c:{{.*}} in behind_void{{$}}
void behind_void(struct outer *o, void *p, u64 n) { __builtin_memcpy(o->data, p, n); }
// One place, two stores.
#define BOTH(o) ((o)->first = 1, (o)->next = 0)
// CHECK: store 8{{$}}
// CHECK-NEXT: fields.c:{{.*}} in both{{$}}
void both(struct outer *o) { BOTH(o); }
// A first member through a cast: the other accesses of the pointer, or the variable's type, say what it is.
// CHECK: store 8 outer.first{{$}}
// CHECK-NEXT: fields.c:{{.*}} in cast{{$}}
void cast(struct outer *o) { *(long *)o = 1; }
// CHECK: store 8 entry.key{{$}}
// CHECK-NEXT: fields.c:{{.*}} in cast_void{{$}}
void cast_void(void *p) { *(long *)p = 1; __asm__ volatile("" ::: "memory"); ((entry *)p)->value = 2; }
// Either of two, or nothing at all.
// CHECK: store 8{{$}}
// CHECK-NEXT: fields.c:{{.*}} in one_of_two{{$}}
void one_of_two(struct outer *o, entry *e, int k) { long *p = k ? &o->first : &e->key; *p = 1; }
// CHECK: store 4{{$}}
// CHECK-NEXT: fields.c:{{.*}} in none{{$}}
void none(int *p) { *p = 1; }
// CHECK: store 8 outer.first{{$}}
// CHECK-NEXT: fields.c:{{.*}} in global{{$}}
struct outer here;
void global(void) { here.first = 1; }
// CHECK: store 4 outer.array[]{{$}}
// CHECK-NEXT: fields.c:{{.*}} in global_element{{$}}
void global_element(int k) { here.array[k] = 1; }
