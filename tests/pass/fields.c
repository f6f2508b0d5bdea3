// Names of struct and field in C: at -O0 from the address computation, at -O2 from TBAA. Unions, bit
// fields and accesses that touch more than one field get none.
// RUN: %plain-cc -O0 -g -fpass-plugin=%pass -shared -fPIC %s -o %t0.so
// RUN: %blackout sites %t0.so | FileCheck %s
// RUN: %plain-cc -O2 -g -fpass-plugin=%pass -shared -fPIC %s -o %t2.so
// RUN: %blackout sites %t2.so | FileCheck %s
struct inner { short s; int i; };
typedef struct { long key; long value; } entry;
typedef struct { int count; float ratio; } other;
struct outer {
  long first;
  struct inner in;
  struct { int anonymous; };
  union { int as_int; float as_float; };
  union { int one; float two; } named;
  unsigned low : 3, high : 20;
  int array[4];
  entry entries[3];
  struct outer *next;
};
// CHECK: store 8 outer.first{{$}}
// CHECK-NEXT: fields.c:{{.*}} in first{{$}}
void first(struct outer *o) { o->first = 1; }
// CHECK: store 4 inner.i{{$}}
// CHECK-NEXT: fields.c:{{.*}} in nested{{$}}
void nested(struct outer *o) { o->in.i = 1; }
// CHECK: store 4 outer.anonymous{{$}}
// CHECK-NEXT: fields.c:{{.*}} in anonymous{{$}}
void anonymous(struct outer *o) { o->anonymous = 1; }
// CHECK: store 4{{$}}
// CHECK-NEXT: fields.c:{{.*}} in in_union{{$}}
void in_union(struct outer *o) { o->as_int = 1; }
// CHECK: store 4{{( outer.named)?$}}
// CHECK-NEXT: fields.c:{{.*}} in in_named_union{{$}}
void in_named_union(struct outer *o) { o->named.two = 1; }
// CHECK: store 4{{$}}
// CHECK-NEXT: fields.c:{{.*}} in bits{{$}}
void bits(struct outer *o) { o->high = 5; }
// CHECK: store 4 outer.array{{$}}
// CHECK-NEXT: fields.c:{{.*}} in array{{$}}
void array(struct outer *o, int k) { o->array[k] = 1; }
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
// CHECK: store 4{{$}}
// CHECK-NEXT: fields.c:{{.*}} in none{{$}}
void none(int *p) { *p = 1; }
