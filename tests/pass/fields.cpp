// Names of struct and field in C++: namespaces, inheritance, templates, anonymous namespaces, classes
// of one name in two namespaces.
// RUN: %plain-cxx -O0 -g -fstandalone-debug -fpass-plugin=%pass -shared -fPIC %s -o %t0.so
// RUN: %blackout sites %t0.so | FileCheck %s
// RUN: %plain-cxx -O2 -g -fstandalone-debug -fpass-plugin=%pass -shared -fPIC %s -o %t2.so
// RUN: %blackout sites %t2.so | FileCheck %s
namespace a {
struct Node { long key; Node *next; };
}  // namespace a
namespace b {
struct Node { int before; long key; };
}  // namespace b
struct Base { long in_base; virtual ~Base(); };
struct Second { int in_second; };
struct Derived : Base, Second { int in_derived; };
template <class T>
struct Cell { T value; bool full; };
namespace {
struct Hidden { int before; int field; };
}  // namespace
// CHECK: store 8 Node.next{{$}}
// CHECK-NEXT: fields.cpp:{{.*}} in set_a(
void set_a(a::Node *n) { n->next = n; }
// CHECK: store 8 Node.key{{$}}
// CHECK-NEXT: fields.cpp:{{.*}} in set_b(
void set_b(b::Node *n) { n->key = 1; }
// CHECK: store 4 Derived.in_derived{{$}}
// CHECK-NEXT: fields.cpp:{{.*}} in derived(
void derived(Derived *d) { d->in_derived = 1; }
// CHECK: store 4 Second.in_second{{$}}
// CHECK-NEXT: fields.cpp:{{.*}} in second(
void second(Derived *d) { d->in_second = 1; }
// CHECK: store 8 Base.in_base{{$}}
// CHECK-NEXT: fields.cpp:{{.*}} in base(
void base(Derived *d) { d->in_base = 1; }
// CHECK: store 4 Cell<int>.value{{$}}
// CHECK-NEXT: fields.cpp:{{.*}} in cell_int(
void cell_int(Cell<int> *c) { c->value = 1; }
// CHECK: store 8 Cell<long>.value{{$}}
// CHECK-NEXT: fields.cpp:{{.*}} in cell_long(
void cell_long(Cell<long> *c) { c->value = 1; }
// CHECK: store 4 Hidden.field{{$}}
// CHECK-NEXT: fields.cpp:{{.*}} in hidden(
void hidden(void *p) {
  Hidden *h = static_cast<Hidden *>(p);
  h->field = 1;
}
