// The source of ids.test: what optimisers do to accesses. Inlining, templates, static functions, loops that
// become memset and memcpy or vectors, stores merged out of branches, hoisted and sunk accesses, struct copies, atomics
// that become others, adjacent stores that become one.
#include <atomic>
#include <cstring>

struct Entry {
  int key, value;
  int state, check;
};
struct Table {
  long count;
  Entry entries[64];
  char name[32];
  Table* next;
};

static void setEntry(Entry* e, int key, int value) {
  e->key = key;
  e->value = value;
}
template <class T>
static T* twice(T* p, T v) {
  p[0] = v;
  p[1] = v + 1;
  return p + 2;
}
inline long bump(Table* t) { return ++t->count; }

long insert(Table* t, int key, int value) {
  Entry* e = &t->entries[key & 63];
  setEntry(e, key, value);
  if (value > 5) {
    e->state = value;
  } else {
    e->state = key;
  }
  return bump(t);
}
void clear(Table* t, int n) {
  for (int i = 0; i < n; ++i) t->name[i] = 0;
}
void copy(int* to, const int* from, int n) {
  for (int i = 0; i < n; ++i) to[i] = from[i];
}
void scale(float* p, int n) {
  for (int i = 0; i < n; ++i) p[i] = p[i] * 2.5f;
}
void whole(Entry* to, const Entry* from) { *to = *from; }
void reset(Entry* e) {
  e->key = 0;
  e->value = 0;
  e->state = 0;
  e->check = 0;
}
void fill(Entry* e, int a, int b, int c, int d) {
  e->key = a;
  e->value = b;
  e->state = c;
  e->check = d;
}
long sum(const Table* t, const long* step, int n) {
  long s = 0;
  for (int i = 0; i < n; ++i) s += t->entries[i & 63].value * *step;
  return s;
}
void count(Table* t, const int* p, int n) {
  for (int i = 0; i < n; ++i)
    if (p[i] > 0) t->count += p[i];
}
void atomics(std::atomic<long>* a, long v) {
  a->store(v, std::memory_order_release);
  a->store(v + 1);
  a->exchange(v, std::memory_order_release);
  a->fetch_or(0);
  long old = v;
  a->compare_exchange_strong(old, v + 2);
}
void text(char* p) {
  std::strcpy(p, "hello w");
  std::memcpy(p + 8, "12345678", 8);
  std::memset(p + 16, 0, 4);
}
int* pairs(int* p, long* q, int n) {
  twice(q, 4L);
  for (int i = 0; i < n; ++i) p = twice(p, i);
  return p;
}
int choose(Table* t, int n) {
  switch (n) {
    case 1: t->next = t; return t->entries[0].key;
    case 2: t->next = nullptr; return t->entries[1].key;
    default: t->next = t->next->next; return t->entries[2].key;
  }
}
void lambda(Table* t, int n) {
  auto set = [&](int k) { t->entries[k & 63].state = n; };
  for (int k = 0; k < 8; ++k) set(k * 3);
}
void order(Table* t, int n) {
  if (n > 5) {
    t->count = n;
    __atomic_thread_fence(__ATOMIC_SEQ_CST);
  } else {
    t->name[0] = 1;
    __atomic_thread_fence(__ATOMIC_SEQ_CST);
  }
}
