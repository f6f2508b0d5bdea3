// What a counter may say of an array: a power of two, the rest of a constant, some bits of a word; an array of structs,
// of arrays, behind a pointer; a counter in a base class; an index, an array and a count that are arguments.
// RUN: %counting "%cxx -std=c++20" %blackout %t %s | FileCheck %s
#include <cstdint>

#include "../infer_shapes/Inputs/pm.h"

// Two to the power of.
struct Directory {
  std::uint64_t depth;
  std::uint64_t** segments;
};
std::uint64_t* segment(Directory* d, std::uint64_t hash) { return d->segments[hash & ((1ull << d->depth) - 1)]; }
void doubled(Directory* d, std::uint64_t** twice) {
  for (std::uint64_t i = 0; i < 1ull << d->depth; ++i) twice[2 * i] = twice[2 * i + 1] = d->segments[i];
  d->segments = twice;
  persist(&d->segments);
  d->depth++;
  persist(&d->depth);
}

// The rest of a constant: how many are free.
struct Stack {
  std::uint64_t free;
  std::uint64_t item[100];
};
void push(Stack* s, std::uint64_t v) {
  s->item[100 - s->free] = v;
  persist(&s->item[0]);
  s->free--;
  persist(&s->free);
}
std::uint64_t all(const Stack* s) {
  std::uint64_t sum = 0;
  for (std::uint64_t i = 0; i < 100 - s->free; ++i) sum += s->item[i];
  return sum;
}

// A capacity, with a hash that chooses.
struct Slot {
  std::uint64_t key, value;
};
struct Hash {
  Slot* slots;
  std::uint64_t capacity;
};
std::uint64_t get(const Hash* h, std::uint64_t key) {
  for (std::uint64_t n = 0; n < h->capacity; ++n)
    if (h->slots[(key + n) % h->capacity].key == key) return h->slots[(key + n) % h->capacity].value;
  return 0;
}
void resize(Hash* h, Slot* fresh, std::uint64_t capacity) {
  for (std::uint64_t i = 0; i < h->capacity; ++i) fresh[h->slots[i].key % capacity] = h->slots[i];
  h->slots = fresh;
  persist(&h->slots);
  h->capacity = capacity;
  persist(&h->capacity);
}

// The count in a base class, and an array of structs with arrays of their own.
struct Head {
  std::uint64_t used;
};
struct Bucket : Head {
  Slot slot[4];
};
struct Table {
  Bucket bucket[8];
};
std::uint64_t find(const Table* t, std::uint64_t key) {
  for (std::uint64_t i = 0; i < t->bucket[key % 8].used; ++i)
    if (t->bucket[key % 8].slot[i].key == key) return t->bucket[key % 8].slot[i].value;
  return 0;
}
void add(Table* t, std::uint64_t key, std::uint64_t value) {
  Bucket& b = t->bucket[key % 8];
  b.slot[b.used] = {key, value};
  persist(&b.slot[0]);
  b.used++;
  persist(&b.used);
}

// Arguments: the index, the array and the count.
struct Vector {
  std::uint64_t size;
  std::uint64_t data[16];
};
[[gnu::noinline]] static std::uint64_t at(const Vector* v, std::uint64_t i) { return v->data[i]; }
[[gnu::noinline]] static std::uint64_t sum(const std::uint64_t* data, std::uint64_t n) {
  std::uint64_t all = 0;
  for (std::uint64_t i = 0; i < n; ++i) all += data[i];
  return all;
}
static void next(const Vector* v, std::uint64_t* i) {
  if (*i < v->size) ++*i;
}
std::uint64_t both(const Vector* v) {
  std::uint64_t all = sum(v->data, v->size);
  for (std::uint64_t i = 0; i < v->size; next(v, &i)) all += at(v, i);
  return all;
}
void append(Vector* v, std::uint64_t value) {
  v->data[v->size] = value;
  persist(&v->data[0]);
  v->size++;
  persist(&v->size);
}

// CHECK-DAG: Directory.segments[] ~ Directory.depth {{ *}}every one of 2 reads stays below 1 << depth {{ *}}resized together at rules.cpp:16, 18
// CHECK-DAG: Stack.item[] {{ *}}~ Stack.free {{ *}}the one read stays below 100 - free {{ *}}updated together
// CHECK-DAG: Hash.slots[] {{ *}}~ Hash.capacity {{ *}}every one of {{[0-9]}} reads stays below capacity {{ *}}resized together at rules.cpp:54, 56
// CHECK-DAG: Bucket.slot[] {{ *}}~ Head.used {{ *}}every one of 2 reads stays below used {{ *}}updated together at rules.cpp:77, 79
// CHECK-DAG: Vector.data[] {{ *}}~ Vector.size {{ *}}every one of 2 reads stays below size {{ *}}updated together
