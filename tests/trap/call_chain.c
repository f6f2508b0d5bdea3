// The chain's C part. Every function uses the result of its callee, so that no call becomes a jump but the one that
// must.

#include "call_chain.h"

#include <alloca.h>
#include <stdlib.h>
#include <string.h>

#ifdef __clang__
#define NOINLINE __attribute__((noinline))
#else
#define NOINLINE __attribute__((noinline, noclone))
#endif

static __thread struct chain* sorting;

// A leaf: its frame is the return address.
static NOINLINE int leaf(struct chain* c) {
  *c->page = 1;
  return c->sorted + 1;
}

static NOINLINE int innermost(struct chain* c, int n) {
  int before = leaf(c);
  c->bottom(c);
  return before + n;
}

// The call is a jump: its frame is gone when innermost() runs.
static NOINLINE int tail(struct chain* c, int n) { return innermost(c, n * 3); }

NOINLINE int chain_after_catching(struct chain* c, int depth) { return tail(c, depth) + 5; }

static int compare(const void* a, const void* b) {
  struct chain* c = sorting;
  if (c != 0) {
    sorting = 0;  // only the first time
    c->sorted += chain_catching(c, 3);
  }
  return *(const int*)a - *(const int*)b;
}

static NOINLINE int called_back(struct chain* c) {
  int numbers[5] = {5, 4, 3, 2, 1};
  sorting = c;
  qsort(numbers, 5, sizeof numbers[0], compare);
  return numbers[0] + c->sorted;
}

// More values live across calls than there are registers that calls keep.
static NOINLINE int busy(struct chain* c, int n, long* v) {
  long a = v[0], b = v[1], d = v[2], e = v[3], f = v[4], g = v[5], h = v[6];
  for (int i = 0; i < 2; ++i) {
    if (i == 1) a += called_back(c);
    b += a * 3;
    d ^= b;
    e += d * f;
    f -= e;
    g += f ^ h;
    h += strlen("abc") + (unsigned long)g % 7;
  }
  return (int)(a + b + d + e + f + g + h) + n;
}

static NOINLINE int with_alloca(struct chain* c, int n) {
  long* v = alloca((size_t)n * sizeof(long));
  for (int i = 0; i < n; ++i) v[i] = i;
  return busy(c, n, v) + (int)v[n - 1];
}

static NOINLINE int large_frame(struct chain* c, int n) {
  char buffer[70000];
  memset(buffer, n, sizeof buffer);
  return with_alloca(c, n) + buffer[n];
}

// Its locals are aligned more than the stack is.
static NOINLINE int aligned_frame(struct chain* c, int n) {
  volatile int local __attribute__((aligned(128))) = n;
  int* more = alloca((size_t)local * sizeof(int));
  memset(more, 1, (size_t)local * sizeof(int));
  return large_frame(c, local) + local + more[0];
}

int chain_run(struct chain* c) { return aligned_frame(c, 20) + 1; }

NOINLINE int chain_recursion(struct chain* c, int depth) {
  long v[8] = {depth, 2, 3, 4, 5, 6, 7, 8};
  if (depth == 0) return innermost(c, 1);
  int r = chain_recursion(c, depth - 1);
  for (int i = 0; i < 8; ++i) r += (int)v[i] * r;
  return r;
}
