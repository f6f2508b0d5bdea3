// Coroutines, virtual and variadic thunks, exceptions through instrumented frames: the same as uninstrumented.
// RUN: %differential %s -std=c++20
#include <coroutine>
#include <cstdio>
#include <exception>
#include <thread>
#include <atomic>
#include <vector>

struct Generator {
  struct promise_type {
    long current = 0;
    Generator get_return_object() { return {std::coroutine_handle<promise_type>::from_promise(*this)}; }
    std::suspend_always initial_suspend() { return {}; }
    std::suspend_always final_suspend() noexcept { return {}; }
    std::suspend_always yield_value(long v) {
      current = v;
      return {};
    }
    void return_void() {}
    void unhandled_exception() { throw; }
  };
  std::coroutine_handle<promise_type> handle;
  bool next() {
    handle.resume();
    return !handle.done();
  }
};
static Generator fibonacci(int n) {
  long a = 0, b = 1;
  for (int i = 0; i < n; ++i) {
    co_yield a;
    long c = a + b;
    a = b;
    b = c;
    if (i == 12) throw 7;
  }
}
struct A {
  virtual int sum(int n, ...) = 0;
  virtual ~A() = default;
};
struct B {
  virtual int other() { return 5; }
  virtual ~B() = default;
};
struct C : B, A {
  long state = 3;
  int sum(int n, ...) override {
    __builtin_va_list list;
    __builtin_va_start(list, n);
    double total = static_cast<double>(state++);
    for (int i = 0; i < n; ++i) total += __builtin_va_arg(list, double);
    __builtin_va_end(list);
    return static_cast<int>(total);
  }
};
struct alignas(16) Pair { long a, b; };
int main() {
  Generator g = fibonacci(20);
  try {
    while (g.next()) std::printf("%ld ", g.handle.promise().current);
  } catch (int e) {
    std::printf("caught %d\n", e);
  }
  g.handle.destroy();
  C c;
  A *a = &c;
  std::printf("%d %d\n", a->sum(3, 1.5, 2.5, 3.0), a->sum(2, 10.0, 0.5));
  std::atomic<long> total{0};
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t)
    threads.emplace_back([&total, t] {
      for (int i = 0; i < 1000; ++i) total.fetch_add(t + i % 3);
    });
  for (auto &t : threads) t.join();
  std::printf("%ld\n", total.load());
}
