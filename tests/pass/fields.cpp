// Field keys in C++: namespaces, inheritance, templates, anonymous namespaces, classes of one name in two namespaces, and
// types of the standard library, which are seen through. The same at every level.
// RUN: for o in 0 1 2 3; do %plain-cxx -std=c++20 -O$o -g -fstandalone-debug -fpass-plugin=%pass -shared -fPIC %s -o %t$o.so && %blackout sites %t$o.so | FileCheck %s || exit 1; done
#include <array>
#include <atomic>
#include <cstdint>
#include <optional>
#include <tuple>
#include <utility>
namespace a {
struct Node { long key; Node *next; };
}  // namespace a
namespace b {
struct Node { int before; long key; };
}  // namespace b
struct Base { long in_base; virtual ~Base(); };
struct Second { int in_second; };
struct Derived : Base, Second { int in_derived; };
struct Virtual : virtual Second { long in_virtual; };
template <class T>
struct Cell { T value; bool full; };
template <class T>
struct Tree {
  struct Node { T key; Node *left; };
  Node *root;
};
namespace {
struct Hidden { int before; int field; };
}  // namespace
struct Slot {
  std::atomic<long> valid;
  std::atomic<a::Node *> head;
  std::atomic<bool> flag;
  std::array<long, 4> list;
  std::array<Hidden, 4> structs;
  std::pair<int, long> entry;
  std::pair<int, long> entries[2];
  std::tuple<long, int> both;
  std::optional<long> maybe;
  long plain;
};
// CHECK: store 8 a::Node.next{{$}}
// CHECK-NEXT: fields.cpp:{{.*}} in set_a(
void set_a(a::Node *n) { n->next = n; }
// CHECK: store 8 b::Node.key{{$}}
// CHECK-NEXT: fields.cpp:{{.*}} in set_b(
void set_b(b::Node *n) { n->key = 1; }
// A type of a function's own has none of its scopes.
// CHECK: store 8 Local.field{{$}}
// CHECK-NEXT: fields.cpp:{{.*}} in a::set_local(
namespace a {
void set_local(void *p) {
  struct Local { int before; long field; };
  static_cast<Local *>(p)->field = 1;
}
}  // namespace a
// CHECK: store 4 Derived.in_derived{{$}}
// CHECK-NEXT: fields.cpp:{{.*}} in derived(
void derived(Derived *d) { d->in_derived = 1; }
// CHECK: store 4 Second.in_second{{$}}
// CHECK-NEXT: fields.cpp:{{.*}} in second(
void second(Derived *d) { d->in_second = 1; }
// CHECK: store 8 Base.in_base{{$}}
// CHECK-NEXT: fields.cpp:{{.*}} in base(
void base(Derived *d) { d->in_base = 1; }
// CHECK: store 4 Second.in_second{{$}}
// CHECK-NEXT: fields.cpp:{{.*}} in virtual_base(
void virtual_base(Virtual *v) { v->in_second = 1; }
// CHECK: store 8 Virtual.in_virtual{{$}}
// CHECK-NEXT: fields.cpp:{{.*}} in of_virtual(
void of_virtual(Virtual *v) { v->in_virtual = 1; }
// CHECK: store 4 Cell<int>.value{{$}}
// CHECK-NEXT: fields.cpp:{{.*}} in cell_int(
void cell_int(Cell<int> *c) { c->value = 1; }
// Instances of the same size.
// CHECK: store 8 Cell<long>.value{{$}}
// CHECK-NEXT: fields.cpp:{{.*}} in cell_long(
void cell_long(Cell<long> *c) { c->value = 1; }
// CHECK: store 1 Cell<unsigned long>.full{{$}}
// CHECK-NEXT: fields.cpp:{{.*}} in cell_unsigned(
void cell_unsigned(Cell<unsigned long> *c) { c->full = true; }
// CHECK: store 8 Tree<long>::Node.left{{$}}
// CHECK-NEXT: fields.cpp:{{.*}} in of_template(
void of_template(Tree<long> *t) { t->root->left = nullptr; }
// CHECK: store 8 Tree<unsigned long>::Node.left{{$}}
// CHECK-NEXT: fields.cpp:{{.*}} in of_other(
void of_other(Tree<unsigned long> *t) { t->root->left = nullptr; }
// CHECK: store 4 Hidden.field{{$}}
// CHECK-NEXT: fields.cpp:{{.*}} in hidden(
void hidden(void *p) {
  Hidden *h = static_cast<Hidden *>(p);
  h->field = 1;
}
// CHECK: store atomic 8 Slot.valid{{$}}
// CHECK: fields.cpp:{{.*}} in atomic(
void atomic(Slot *s) { s->valid.store(1, std::memory_order_release); }
// CHECK: rmw atomic 8 Slot.valid{{$}}
// CHECK: fields.cpp:{{.*}} in atomic_operator(
void atomic_operator(Slot *s) { s->valid = 1; }
// CHECK: rmw atomic 8 Slot.valid{{$}}
// CHECK: fields.cpp:{{.*}} in atomic_add(
void atomic_add(Slot *s) { ++s->valid; }
// CHECK: load atomic 8 Slot.head{{$}}
// CHECK: fields.cpp:{{.*}} in atomic_pointer(
// CHECK: load 8 a::Node.key{{$}}
// CHECK: fields.cpp:{{.*}} in atomic_pointer(
long atomic_pointer(Slot *s) { return s->head.load()->key; }
// CHECK: cmpxchg atomic 8 Slot.head{{$}}
// CHECK: fields.cpp:{{.*}} in swap(
bool swap(Slot *s, a::Node *n) { a::Node *old = nullptr; return s->head.compare_exchange_strong(old, n); }
// CHECK: load atomic 1 Slot.flag{{$}}
// CHECK: fields.cpp:{{.*}} in atomic_bool(
bool atomic_bool(Slot *s) { return s->flag; }
// CHECK: store 8 Slot.list[]{{$}}
// CHECK-NEXT: fields.cpp:{{.*}} in array(
void array(Slot *s, int k) { s->list[k] = 1; }
// CHECK: store 4 Hidden.field{{$}}
// CHECK-NEXT: fields.cpp:{{.*}} in array_of_structs(
void array_of_structs(Slot *s, int k) { s->structs[k].field = 1; }
// CHECK: store 4 Slot.entry.first{{$}}
// CHECK-NEXT: fields.cpp:{{.*}} in pair(
void pair(Slot *s) { s->entry.first = 1; }
// CHECK: store 8 Slot.entries[].second{{$}}
// CHECK-NEXT: fields.cpp:{{.*}} in pairs(
void pairs(Slot *s, int k) { s->entries[k].second = 1; }
// CHECK: store 8 Slot.both{{$}}
// CHECK-NEXT: fields.cpp:{{.*}} in tuple(
void tuple(Slot *s) { std::get<0>(s->both) = 1; }
// CHECK: store 8 Slot.maybe{{$}}
// CHECK-NEXT: fields.cpp:{{.*}} in optional(
void optional(Slot *s) { *s->maybe = 1; }
// Nobody around it knows better.
// CHECK: rmw atomic 8 std::atomic<long>{{$}}
// CHECK: fields.cpp:{{.*}} in alone(
void alone(std::atomic<long> *p) { p->store(1); }
