// The source of prepared.test: what the metadata says of arguments, flushes, copies, pointers that may lead to several
// members, scopes that are left early, and types. In the order of the lines of prepared_keys.py.
#include <immintrin.h>

#include <cstring>

struct Record { long key, value; };
struct Node {
  long count;
  Node *next, *other;
  Record records[4];
  Record *more;
  unsigned long *keys;
  char name[16];
};
void outside(const void *, long *, int);
static inline void flush(const void *p) { _mm_clflush(p); }

// CHECK-DAG: arguments:{{.*}} call arguments=!{!{!"Node"}, !{!"Node.count"}, null}
void arguments(Node *n) { outside(n, &n->count, 3); }
// CHECK-DAG: arguments_inner:{{.*}} call arguments=!{!{!"Record"}, !{!"Record.key"}, null}
void arguments_inner(Node *n) { outside(&n->records[2], &n->records[1].key, 3); }
// CHECK-DAG: flush:{{.*}} < flushes:{{.*}} call field=!{!"Node.count"}
// CHECK-DAG: flush:{{.*}} < flushes:{{.*}} call field=!{!"Node"}
void flushes(Node *n) { flush(&n->count); flush(n); }
// CHECK-DAG: copies:{{.*}} call field=!{!"Node.name[]"} source=!{!"Node.name[]"}
void copies(Node *n, Node *m) { std::memcpy(n->name, m->name, 16); }
// CHECK-DAG: copies_struct:{{.*}} call field=!{!"Record"} source=!{!"Record"}
void copies_struct(Node *n, Node *m) { n->records[0] = m->more[1]; }
// CHECK-DAG: compares:{{.*}} call field=!{!"Node.name[]"} source=!{!"Node.keys[]"}
int compares(Node *n, Node *m) { return std::memcmp(n->name, m->keys, 16); }
// CHECK-DAG: either:{{.*}} store field=!{!"Node.next", !"Node.other"}
void either(Node *n, Node *m, bool b) {
  Node **link = b ? &n->next : &n->other;
  *link = m;
}
// CHECK-DAG: returned:{{.*}} ret field=!{!"Node.keys[]"}
unsigned long *returned(Node *n) { return n->keys + 2; }
// CHECK-DAG: returned_object:{{.*}} ret field=!{!"Node"}
Node *returned_object(Node *n) { return n->next; }
// A local copy is taken apart: only the member that is tested is read.
// CHECK-DAG: local_copy:{{.*}} load field=!{!"Record.key"}
// CHECK-DAG: local_copy:{{.*}} load field=!{!"Node.count"}
long local_copy(Node *n) {
  Record r = n->records[1];
  if (r.key == 0) return 0;
  return n->count;
}
// Scopes that are left early with variables in them.
long scopes(Node *n, long key) {
  while (n != nullptr) {
    long count = n->count;
    for (long i = 0; i < count; ++i) {
      Record *r = &n->records[i];
      long found = r->key;
      if (found == key) return r->value;
      if (found > key) break;
      if (found == 0) continue;
      std::strlen(n->name);
    }
    Node *next = n->next;
    if (next == n) break;
    n = next;
  }
  return -1;
}
// CHECK-DAG: type !{!"Node", !"next", !"*Node"}
// CHECK-DAG: type !{!"Node", !"records", !"Record"}
// CHECK-DAG: type !{!"Node", !"more", !"*Record"}
// CHECK-DAG: type !{!"Node", !"keys", !""}
// CHECK-DAG: type !{!"Record", !"value", !""}
