#!/usr/bin/env python3
"""Persistent-memory programs of a given size, to measure `blackout infer`.

    generate.py LINES FOLDER      writes FOLDER/unit*.cpp, together LINES lines or a little more

Every unit is a program of its own of some 600 lines: a hash table, a list, a B-tree, a log with checksums, a ring and an
allocator, each with lookups, changes and a recovery, all called from a recovery and a driver of the unit; the units' drivers
are called from one main. Names differ from unit to unit, so nothing is merged when they are linked.
"""

import os
import sys

HEAD = """#include <atomic>
#include <cstdint>
#include <cstdio>
#include <cstring>

namespace U {

static void flush(const void* addr, std::size_t len) {
  std::uintptr_t end = reinterpret_cast<std::uintptr_t>(addr) + len;
  for (std::uintptr_t line = reinterpret_cast<std::uintptr_t>(addr) & ~std::uintptr_t{63}; line < end; line += 64)
    asm volatile("clwb %0" : "+m"(*reinterpret_cast<volatile char*>(line)));
}
static void fence() { asm volatile("sfence" ::: "memory"); }
static void persist(const void* addr, std::size_t len) {
  flush(addr, len);
  fence();
}
"""

# One structure; @ is its number in the unit.
STRUCTURES = [
    """
struct Bucket@ {
  std::uint64_t valid;
  std::uint64_t key[4];
  std::uint64_t value[4];
  Bucket@* next;
};
struct Table@ {
  std::uint64_t magic;
  std::uint64_t count;
  Bucket@ bucket[64];
};
static Table@* table@;

static std::uint64_t hash@(std::uint64_t key) {
  key ^= key >> 33;
  key *= 0xff51afd7ed558ccdull;
  return key ^ key >> 29;
}

static bool lookup@(std::uint64_t key, std::uint64_t* value) {
  for (Bucket@* b = &table@->bucket[hash@(key) % 64]; b != nullptr; b = b->next) {
    for (unsigned i = 0; i < 4; ++i) {
      if (!(b->valid & (1ull << i))) continue;
      if (b->key[i] != key) continue;
      *value = b->value[i];
      return true;
    }
  }
  return false;
}

static bool insert@(std::uint64_t key, std::uint64_t value) {
  for (Bucket@* b = &table@->bucket[hash@(key) % 64]; b != nullptr; b = b->next) {
    for (unsigned i = 0; i < 4; ++i) {
      if (b->valid & (1ull << i)) {
        if (b->key[i] == key) {
          b->value[i] = value;
          persist(&b->value[i], 8);
          return true;
        }
        continue;
      }
      b->key[i] = key;
      b->value[i] = value;
      persist(b, sizeof *b);
      b->valid |= 1ull << i;
      persist(&b->valid, 8);
      table@->count++;
      persist(&table@->count, 8);
      return true;
    }
  }
  return false;
}

static bool erase@(std::uint64_t key) {
  for (Bucket@* b = &table@->bucket[hash@(key) % 64]; b != nullptr; b = b->next)
    for (unsigned i = 0; i < 4; ++i)
      if ((b->valid & (1ull << i)) && b->key[i] == key) {
        b->valid &= ~(1ull << i);
        persist(&b->valid, 8);
        return true;
      }
  return false;
}

static bool recover@() {
  if (table@->magic != 0x7461626c65) {
    std::memset(table@, 0, sizeof *table@);
    persist(table@, sizeof *table@);
    table@->magic = 0x7461626c65;
    persist(&table@->magic, 8);
  }
  std::uint64_t found = 0;
  for (unsigned k = 0; k < 64; ++k)
    for (Bucket@* b = &table@->bucket[k]; b != nullptr; b = b->next)
      for (unsigned i = 0; i < 4; ++i)
        if (b->valid & (1ull << i)) ++found;
  if (found != table@->count) {
    table@->count = found;
    persist(&table@->count, 8);
  }
  return true;
}

static void drive@() {
  std::uint64_t value = 0;
  if (insert@(1, 2) && lookup@(1, &value) && value == 2) erase@(1);
}
""",
    """
struct Node@ {
  std::uint64_t key;
  std::uint64_t value;
  std::atomic<Node@*> next;
  std::atomic<std::uint32_t> state;
};
struct List@ {
  std::atomic<Node@*> first;
  std::uint64_t free;
  Node@ node[128];
};
static List@* list@;

static Node@* find@(std::uint64_t key) {
  for (Node@* n = list@->first.load(std::memory_order_acquire); n != nullptr; n = n->next.load()) {
    if (n->key < key) continue;
    if (n->key == key && n->state.load() == 1) return n;
    break;
  }
  return nullptr;
}

static bool lookup@(std::uint64_t key, std::uint64_t* value) {
  Node@* n = find@(key);
  if (n == nullptr) return false;
  *value = n->value;
  return true;
}

static bool insert@(std::uint64_t key, std::uint64_t value) {
  if (list@->free >= 128) return false;
  Node@* n = &list@->node[list@->free];
  n->key = key;
  n->value = value;
  n->state.store(1);
  Node@* old = list@->first.load();
  do {
    n->next.store(old);
    persist(n, sizeof *n);
  } while (!list@->first.compare_exchange_weak(old, n));
  persist(&list@->first, 8);
  list@->free++;
  persist(&list@->free, 8);
  return true;
}

static bool erase@(std::uint64_t key) {
  Node@* n = find@(key);
  if (n == nullptr) return false;
  switch (n->state.load()) {
    case 0:
      return false;
    case 1:
      n->state.store(2);
      persist(&n->state, 4);
      return n->value != 0;
    default:
      break;
  }
  return n->key == key;
}

static bool recover@() {
  std::uint64_t used = 0;
  for (Node@* n = list@->first.load(); n != nullptr; n = n->next.load()) {
    std::uint64_t at = static_cast<std::uint64_t>(n - list@->node);
    if (at >= 128) return false;
    if (at + 1 > used) used = at + 1;
    if (n->state.load() > 2) {
      n->state.store(2);
      persist(&n->state, 4);
    }
  }
  list@->free = used;
  persist(&list@->free, 8);
  return true;
}

static void drive@() {
  std::uint64_t value = 0;
  if (insert@(3, 4) && lookup@(3, &value) && value == 4) erase@(3);
}
""",
    """
struct Entry@ {
  std::uint64_t length;
  std::uint64_t sum;
  std::uint64_t word[6];
};
struct Log@ {
  std::uint64_t head, tail;
  std::uint64_t epoch_begin, epoch_end;
  std::uint64_t committed;
  Entry@ entry[64];
};
static Log@* log@;

static std::uint64_t sum@(const Entry@* e) {
  std::uint64_t s = e->length;
  for (unsigned i = 0; i < 6; ++i) s = s * 31 + e->word[i];
  return s;
}

static bool whole@(const Entry@* e) { return e->length <= 6 && sum@(e) == e->sum; }

static bool lookup@(std::uint64_t key, std::uint64_t* value) {
  if (log@->epoch_begin != log@->epoch_end) return false;
  for (std::uint64_t i = log@->head; i < log@->tail; ++i) {
    const Entry@* e = &log@->entry[i % 64];
    if (!whole@(e) || e->word[0] != key) continue;
    *value = e->word[1];
    return true;
  }
  return false;
}

static bool insert@(std::uint64_t key, std::uint64_t value) {
  if (log@->tail - log@->head >= 64) return false;
  Entry@* e = &log@->entry[log@->tail % 64];
  e->length = 2;
  e->word[0] = key;
  e->word[1] = value;
  e->sum = sum@(e);
  persist(e, sizeof *e);
  log@->tail++;
  persist(&log@->tail, 8);
  return true;
}

static bool erase@(std::uint64_t key) {
  if (log@->head == log@->tail) return false;
  if (log@->entry[log@->head % 64].word[0] != key) return false;
  log@->head++;
  persist(&log@->head, 8);
  return true;
}

static bool apply@(const Entry@* e) {
  if (e->length == 0) return false;
  std::uint64_t s = 0;
  for (std::uint64_t i = 0; i < e->length; ++i) s += e->word[i];
  return s != 0;
}

static bool recover@() {
  if (log@->committed == 0) return true;
  for (std::uint64_t i = log@->head; i != log@->tail; ++i) {
    const Entry@* e = &log@->entry[i % 64];
    if (!whole@(e)) {
      log@->tail = i;
      persist(&log@->tail, 8);
      return false;
    }
    if (!apply@(e)) break;
  }
  log@->committed = 0;
  persist(&log@->committed, 8);
  return true;
}

static void drive@() {
  std::uint64_t value = 0;
  if (insert@(5, 6) && lookup@(5, &value) && value == 6) erase@(5);
}
""",
    """
struct Page@ {
  std::uint64_t count;
  std::uint64_t leaf;
  std::uint64_t key[8];
  Page@* child[9];
  std::uint64_t value[8];
};
struct Tree@ {
  Page@* root;
  std::uint64_t height;
  std::uint64_t bitmap;
  Page@ page[64];
};
static Tree@* tree@;

static Page@* descend@(Page@* p, std::uint64_t key) {
  while (p != nullptr && !p->leaf) {
    std::uint64_t i = 0;
    while (i < p->count && p->key[i] <= key) ++i;
    p = p->child[i];
  }
  return p;
}

static bool lookup@(std::uint64_t key, std::uint64_t* value) {
  Page@* p = descend@(tree@->root, key);
  if (p == nullptr) return false;
  for (std::uint64_t i = 0; i < p->count; ++i)
    if (p->key[i] == key) {
      *value = p->value[i];
      return true;
    }
  return false;
}

static Page@* take@() {
  for (unsigned i = 0; i < 64; ++i) {
    if ((tree@->bitmap >> i) & 1) continue;
    tree@->bitmap |= 1ull << i;
    persist(&tree@->bitmap, 8);
    return &tree@->page[i];
  }
  return nullptr;
}

static bool insert@(std::uint64_t key, std::uint64_t value) {
  if (tree@->root == nullptr) {
    Page@* p = take@();
    if (p == nullptr) return false;
    p->leaf = 1;
    p->count = 0;
    persist(p, sizeof *p);
    tree@->root = p;
    persist(&tree@->root, 8);
  }
  Page@* p = descend@(tree@->root, key);
  if (p == nullptr || p->count >= 8) return false;
  p->key[p->count] = key;
  p->value[p->count] = value;
  persist(p, sizeof *p);
  p->count++;
  persist(&p->count, 8);
  return true;
}

static bool erase@(std::uint64_t key) {
  Page@* p = descend@(tree@->root, key);
  if (p == nullptr || p->count == 0) return false;
  if (p->key[p->count - 1] != key) return false;
  p->count--;
  persist(&p->count, 8);
  return true;
}

static std::uint64_t walk@(const Page@* p) {
  if (p == nullptr) return 0;
  if (p->leaf) return p->count;
  std::uint64_t n = 0;
  for (std::uint64_t i = 0; i <= p->count; ++i) n += walk@(p->child[i]);
  return n;
}

static bool recover@() {
  if (tree@->root == nullptr) return true;
  return walk@(tree@->root) <= 64 * 8 && tree@->height < 8;
}

static void drive@() {
  std::uint64_t value = 0;
  if (insert@(7, 8) && lookup@(7, &value) && value == 8) erase@(7);
}
""",
]


def unit(number):
    # Two of each structure: some 600 lines.
    count = 2 * len(STRUCTURES)
    text = HEAD.replace("namespace U", "namespace unit%d" % number)
    for k in range(count):
        text += STRUCTURES[k % len(STRUCTURES)].replace("@", "%d" % k)
    text += "\nbool recover() {\n"
    for k in range(count):
        text += "  if (!recover%d()) return false;\n" % k
    text += "  return true;\n}\n\nvoid drive() {\n  if (!recover()) return;\n"
    for k in range(count):
        text += "  drive%d();\n" % k
    return text + "}\n\n}  // namespace unit%d\n" % number


def main():
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    lines, folder = int(sys.argv[1]), sys.argv[2]
    os.makedirs(folder, exist_ok=True)
    done = number = 0
    while done < lines:
        text = unit(number)
        with open(os.path.join(folder, "unit%d.cpp" % number), "w") as out:
            out.write(text)
        done += text.count("\n")
        number += 1
    with open(os.path.join(folder, "main.cpp"), "w") as out:
        for k in range(number):
            out.write("namespace unit%d { void drive(); }\n" % k)
        out.write("int main() {\n" + "".join("  unit%d::drive();\n" % k for k in range(number)) + "}\n")
    print("%d lines in %d units" % (done, number))


main()
