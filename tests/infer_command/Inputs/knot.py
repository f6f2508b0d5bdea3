"""N: a C++ function of N labels, each with two jumps to some other one, all over persistent fields: one knot."""

import random
import sys

n = int(sys.argv[1])
random.seed(3)
print("""#include <cstdint>
#include <immintrin.h>
#include <cstdio>
struct alignas(64) Node { uint64_t key, valid, count, version; Node* next; uint64_t data[8]; };
struct Pool { Node nodes[64]; };
static void persist(const void* p){ _mm_clwb(const_cast<void*>(p)); _mm_sfence(); }
__attribute__((noinline)) uint64_t knot(Pool* p, uint64_t x) {
  uint64_t a=x,b=x+1,c=x+2; Node* n=&p->nodes[x%64]; Node* m=n;""")
fields = ["key","valid","count","version"]
for i in range(n):
    f, g = random.choice(fields), random.choice(fields)
    print(f" L{i}: if (n->{f} + a > {random.randrange(99)}) {{ a += n->data[b%8] ^ m->{g}; n = &p->nodes[a%64]; goto L{random.randrange(n)}; }} else if (m->{g} == c) {{ b ^= a; m = n->next ? n->next : m; goto L{random.randrange(n)}; }} c += b; if (c > 1000000000) return c;")
print("""  return a+b+c; }
uint64_t use(Pool* p){ p->nodes[0].valid=1; persist(p); return knot(p,3); }""")
