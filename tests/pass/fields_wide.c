// Stores to several fields that the optimiser made one: it is to the struct, not to the field whose place it kept.
// RUN: %plain-cc -O2 -g -fpass-plugin=%pass -shared -fPIC %s -o %t.so
// RUN: %blackout sites %t.so | FileCheck %s
struct in {
  long key[2], tag;
};
// CHECK: fill 24 in{{$}}
// CHECK-NEXT: fields_wide.c:{{.*}} in clear{{$}}
void clear(struct in *d) {
  for (int i = 0; i < 2; i++) d->key[i] = 0;
  d->tag = 0;
}
// CHECK: store 8 in.tag{{$}}
// CHECK-NEXT: fields_wide.c:{{.*}} in mark{{$}}
void mark(struct in *d) { d->tag = 1; }
