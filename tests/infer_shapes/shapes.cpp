// The shapes of tests in templates, over std::atomic, std::array and inherited members.
//
// RUN: %guardians "%cxx -std=c++20" %blackout %t %s | FileCheck %s
#include <array>
#include <atomic>
#include <cstdint>
#include <optional>
#include <utility>

#include "Inputs/pm.h"

namespace shapes {

template <class T>
struct Flag {
  T value;
  std::atomic<bool> valid;
  std::optional<T> get() const {
    if (!valid.load(std::memory_order_acquire)) return std::nullopt;
    return value;
  }
  void set(T v) {
    value = v;
    persist(&value);
    valid.store(true, std::memory_order_release);
    persist(&valid);
  }
};

template <class T, std::size_t N>
struct Vector {
  std::array<T, N> items;
  std::atomic<std::size_t> count;
  T sum() const {
    T s{};
    for (std::size_t i = 0; i < count.load(); ++i) s += items[i];
    return s;
  }
  void push(T v) {
    items[count] = v;
    persist(&items);
    count.fetch_add(1);
    persist(&count);
  }
};

template <class K>
struct Node {
  K key;
  std::atomic<Node*> next;
};

template <class K>
struct List {
  std::atomic<Node<K>*> first;
  bool has(K key) const {
    for (Node<K>* n = first.load(); n != nullptr; n = n->next.load())
      if (n->key == key) return true;
    return false;
  }
  void add(Node<K>* n) {
    Node<K>* old = first.load();
    do {
      n->next.store(old);
      persist(n);
    } while (!first.compare_exchange_weak(old, n));
    persist(&first);
  }
};

struct Versioned {
  std::atomic<std::uint64_t> version;
};
struct Pair : Versioned {
  std::pair<std::uint64_t, std::uint64_t> both;
  std::uint64_t read() const {
    for (;;) {
      std::uint64_t before = version.load();
      std::uint64_t sum = both.first + both.second;
      if (before == version.load()) return sum;
    }
  }
  void keep() { persist(&both); }
};

struct Record {
  std::array<std::uint32_t, 6> words;
  std::uint32_t sum;
  std::uint32_t next;
  std::uint32_t computed() const {
    std::uint32_t s = 0;
    for (std::uint32_t w : words) s ^= w + (s << 3);
    return s;
  }
  std::uint32_t follow() const { return computed() == sum ? next : 0; }
  void keep() { persist(&sum); }
};

struct Latch {
  std::atomic<int> owner;
  int inside;
  int enter() {
    int none = 0;
    while (!owner.compare_exchange_weak(none, 1)) none = 0;
    return inside;
  }
  void keep() { persist(&owner); }
};

enum class State : int { Empty, Full, Moved };
struct Cell {
  std::atomic<State> state;
  std::uint64_t here, there;
  std::uint64_t get() const {
    switch (state.load()) {
      case State::Full:
        return here;
      case State::Moved:
        return there;
      case State::Empty:
        break;
    }
    return 0;
  }
  void keep() { persist(&state); }
};

template <unsigned N>
struct Bitmap {
  std::atomic<std::uint64_t> used;
  std::uint64_t block[N];
  std::uint64_t at(unsigned i) const { return used.load() & (1ull << i) ? block[i] : 0; }
  void keep() { persist(&used); }
};

}  // namespace shapes

std::uint64_t use(shapes::Flag<std::uint32_t>& f, shapes::Flag<std::uint64_t>& g, shapes::Vector<int, 8>& v,
                  shapes::List<long>& l, shapes::Node<long>& n, shapes::Pair& p, shapes::Record& r, shapes::Latch& a,
                  shapes::Cell& c, shapes::Bitmap<64>& b) {
  f.set(1);
  g.set(2);
  v.push(3);
  l.add(&n);
  p.keep();
  r.keep();
  a.keep();
  c.keep();
  b.keep();
  return f.get().value_or(0) + g.get().value_or(0) + static_cast<std::uint64_t>(v.sum()) + l.has(4) + p.read() +
         r.follow() + static_cast<std::uint64_t>(a.enter()) + c.get() + b.at(5);
}

// CHECK: shapes.cpp:132 tests bits of shapes::Bitmap<64U>.used before shapes.cpp:132 reads shapes::Bitmap<64U>.block[] (bit mask)
// CHECK-NEXT: shapes.cpp:115 switches on shapes::Cell.state before shapes.cpp:117 reads shapes::Cell.here (switch)
// CHECK-NEXT: shapes.cpp:115 switches on shapes::Cell.state before shapes.cpp:119 reads shapes::Cell.there (switch)
// CHECK-NEXT: shapes.cpp:19 tests shapes::Flag<unsigned int>.valid before optional:214 reads shapes::Flag<unsigned int>.value (flag)
// CHECK-NEXT: shapes.cpp:19 tests shapes::Flag<unsigned long>.valid before optional:214 reads shapes::Flag<unsigned long>.value (flag)
// CHECK-NEXT: shapes.cpp:104 swaps shapes::Latch.owner before shapes.cpp:105 reads shapes::Latch.inside (compare-and-swap)
// CHECK-NEXT: shapes.cpp:57 tests shapes::List<long>.first before shapes.cpp:58 reads shapes::Node<long>.key (null check)
// CHECK-NEXT: shapes.cpp:57 tests shapes::List<long>.first before shapes.cpp:57 reads shapes::Node<long>.next (null check)
// CHECK-NEXT: shapes.cpp:58 tests shapes::Node<long>.key before shapes.cpp:57 reads shapes::Node<long>.next (flag)
// CHECK-NEXT: shapes.cpp:57 tests shapes::Node<long>.next before shapes.cpp:58 reads shapes::Node<long>.key (null check)
// CHECK-NEXT: shapes.cpp:95 checks shapes::Record.sum before shapes.cpp:95 reads shapes::Record.next (checksum)
// CHECK-NEXT: shapes.cpp:92 checks shapes::Record.words[] before shapes.cpp:95 reads shapes::Record.next (checksum)
// CHECK-NEXT: shapes.cpp:36 counts up to shapes::Vector<int, 8UL>.count before shapes.cpp:36 reads shapes::Vector<int, 8UL>.items[] (count)
// CHECK-NEXT: shapes.cpp:78 compares shapes::Versioned.version before shapes.cpp:79 reads shapes::Pair.both.first (version pair)
// CHECK-NEXT: shapes.cpp:78 compares shapes::Versioned.version before shapes.cpp:79 reads shapes::Pair.both.second (version pair)
// CHECK-NEXT: shapes.cpp:80 compares shapes::Versioned.version before shapes.cpp:78 reads shapes::Versioned.version (version pair)
// CHECK-NEXT: shapes.cpp:78 compares shapes::Versioned.version before shapes.cpp:80 reads shapes::Versioned.version (version pair)
// CHECK-NEXT: shapes::Record.sum and shapes::Record.words[] guard shapes::Record.next together shapes.cpp:92, 95
// CHECK-NEXT: shapes::List<long>.first and shapes::Node<long>.key guard shapes::Node<long>.next, one under the other shapes.cpp:57, 58
// CHECK-NEXT: shapes::Node<long>.key and shapes::Node<long>.next guard each other shapes.cpp:57, 58
// CHECK-NOT: {{.}}
