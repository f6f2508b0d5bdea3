// A program of corners behaves the same whether or not it is instrumented, with all memory as PM and with none, at
// every level: containers, exceptions, sorting of structs, atomics, setjmp.
// RUN: %differential %s -std=c++20
#include <algorithm>
#include <atomic>
#include <csetjmp>
#include <cstdio>
#include <cstring>
#include <map>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>
static std::jmp_buf jb;
struct N {
  N* l = nullptr;
  N* r = nullptr;
  int k;
  double d;
};
static void ins(N*& t, int k) {
  if (!t) {
    t = new N;
    t->k = k;
    t->d = k * 1.5;
    return;
  }
  ins(k < t->k ? t->l : t->r, k);
}
static double sum(N* t) { return t ? t->d + sum(t->l) + sum(t->r) : 0; }
struct Big {
  char a[100];
  int b;
  long c[4];
};
Big mk(int i) {
  Big b{};
  b.b = i;
  b.c[2] = i * 3L;
  std::snprintf(b.a, sizeof b.a, "%d:%s:%.3f", i, "x", i * .5);
  return b;
}
int thrower(int i) {
  if (i % 3 == 0) throw std::runtime_error("t" + std::to_string(i));
  return i;
}
std::atomic<long> at;
std::atomic<__int128>* dummy;
int main() {
  N* t = nullptr;
  for (int i = 0; i < 200; i++) ins(t, (i * 7919) % 211);
  std::printf("%f\n", sum(t));
  std::map<std::string, int> m;
  for (int i = 0; i < 100; i++) m["k" + std::to_string(i % 37)] += i;
  for (auto& [k, v] : m) std::printf("%s=%d ", k.c_str(), v);
  std::vector<Big> v;
  for (int i = 0; i < 20; i++) v.push_back(mk(i));
  std::sort(v.begin(), v.end(),
            [](auto& a, auto& b) { return a.b % 5 < b.b % 5 || (a.b % 5 == b.b % 5 && a.b < b.b); });
  for (auto& b : v) std::printf("%s %d %ld\n", b.a, b.b, b.c[2]);
  int s = 0;
  for (int i = 0; i < 20; i++) {
    try {
      s += thrower(i);
    } catch (std::exception& e) {
      s += (int)strlen(e.what());
      at.fetch_add(i);
      at.store(at.load() + 1);
    }
  }
  std::printf("%d %ld\n", s, at.load());
  volatile int c = 0;
  if (int r = setjmp(jb)) {
    std::printf("jmp %d %d\n", r, (int)c);
    if (r < 3) {
      c = c + 1;
      longjmp(jb, r + 1);
    }
  } else {
    c = 5;
    longjmp(jb, 1);
  }
  long e = 5;
  std::printf("%d %ld\n", at.compare_exchange_strong(e, 7), e);
  float f[37];
  double acc = 0;
  for (int i = 0; i < 37; i++) f[i] = i * 1.25f;
  for (int i = 0; i < 37; i++) acc += f[i] * f[36 - i];
  long double ld = acc;
  std::printf("%f %Lf\n", acc, ld);
  return s % 100;
}
