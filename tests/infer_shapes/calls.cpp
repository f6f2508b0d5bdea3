// Guards through members, virtual functions, lambdas and templates. A call that can't be told leads nowhere.
//
// RUN: %guardians "%cxx -std=c++20" %blackout %t %s | FileCheck %s
#include <atomic>
#include <cstdint>
#include <functional>

#include "Inputs/pm.h"

struct Base {
  std::uint64_t kind;
};
struct Leaf : Base {
  std::uint64_t item;
  std::atomic<std::uint64_t> live;
  std::atomic<Leaf*> right;
};

[[gnu::noinline]] void keep(Leaf* l) { persist(&l->item); }

// Tested by a member of a template, in a function that is not inlined.
template <class T>
struct Reader {
  T* at;
  [[gnu::noinline]] bool ok() const { return at->live.load(std::memory_order_acquire) != 0; }
  std::uint64_t get() const { return ok() ? at->item : 0; }
};
std::uint64_t by_template(Leaf* l) { return Reader<Leaf>{l}.get(); }

// By a lambda that captures.
std::uint64_t by_lambda(Leaf* l) {
  auto isRight = [&] { return l->right.load() != nullptr; };
  if (!isRight()) return 0;
  return l->right.load()->item;
}

// The base's member, through the derived type.
std::uint64_t by_base(Leaf* l) { return l->kind == 2 ? l->item : 0; }

// What a virtual function or a std::function says is unknown.
struct Oracle {
  virtual ~Oracle() = default;
  virtual bool says(const Leaf* l) const = 0;
};
struct Always : Oracle {
  bool says(const Leaf* l) const override { return l->item != 0; }
};
std::uint64_t by_virtual(const Oracle& o, Leaf* l) { return o.says(l) ? l->item : 0; }
std::uint64_t by_function(const std::function<bool(Leaf*)>& f, Leaf* l) { return f(l) ? l->item : 0; }
bool always(Leaf* l) { return Always().says(l); }

// Recursion through a member.
struct Tree {
  std::atomic<Tree*> left;
  std::uint64_t height;
  [[gnu::noinline]] std::uint64_t depth() const {
    Tree* l = left.load();
    return l == nullptr ? height : l->depth() + 1;
  }
};
std::uint64_t by_recursion(Tree* t) {
  persist(&t->height);
  return t->depth();
}

// An exception on the way.
[[gnu::noinline]] std::uint64_t checked(const Leaf* l) {
  if (l->kind != 3) throw 1;
  return l->item;
}
std::uint64_t by_exception(const Leaf* l) {
  try {
    return checked(l);
  } catch (int) {
    return 0;
  }
}

// CHECK: calls.cpp:38 tests Base.kind before calls.cpp:38 reads Leaf.item (flag)
// CHECK-NEXT: calls.cpp:68 tests Base.kind before calls.cpp:69 reads Leaf.item (flag)
// CHECK-NEXT: calls.cpp:25 tests Leaf.live before calls.cpp:26 reads Leaf.item (flag)
// CHECK-NEXT: calls.cpp:32 tests Leaf.right before calls.cpp:34 reads Leaf.item (null check)
// CHECK-NEXT: calls.cpp:32 tests Leaf.right before calls.cpp:34 reads Leaf.right (null check)
// CHECK-NEXT: calls.cpp:57 tests Tree.left before calls.cpp:58 reads Tree.height (null check)
// CHECK-NOT: {{.}}
