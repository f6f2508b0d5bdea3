"""random_program.py SEED: a C program without undefined behaviour that computes on structs, arrays, pointers,
floats and atomics, with loops, switches, calls and inline assembly, and prints a checksum. For differential tests."""
import random
import sys

r = random.Random(int(sys.argv[1]))
FIELDS = ["b", "h", "w", "q", "f", "d", "a[i & 7]", "in.x", "in.y", "bits.lo", "bits.hi"]


def place(depth=0):
    base = r.choice(["s", "t", "s->next", "t->next->next", "&pool[i & 15]"])
    return f"({base})->{r.choice(FIELDS)}"


def value(depth=0):
    if depth > 2 or r.random() < 0.3:
        return r.choice(["i", "n", str(r.randrange(1, 100)), f"(long){place()}", "local"])
    op = r.choice(["+", "-", "*", "^", "&", "|"])
    return f"({U(value(depth + 1))} {op} {U(value(depth + 1))})"


def U(text):
    return f"(unsigned)({text})"


def statement(depth=0):
    pad = "  " * (depth + 1)
    kind = r.randrange(13 if depth < 3 else 8)
    if kind < 3:
        return f"{pad}{place()} = (unsigned char)({value()});"
    if kind == 3:
        return f"{pad}{place()} += 3;" if r.random() < 0.5 else f"{pad}local += {U(value())};"
    if kind == 4:
        return f"{pad}__atomic_fetch_{r.choice(['add', 'xor', 'or', 'sub'])}(&s->q, {U(value())}, __ATOMIC_SEQ_CST);"
    if kind == 5:
        return f"{pad}*t->next = *s->next; t->next->next = &pool[{r.randrange(16)}];"
    if kind == 6:
        return pad + r.choice([
            "memset(t->a, (int)(n & 127), sizeof t->a);",
            "memcpy(s->a, t->next->a, 16);",
            'sprintf(text, "%u", (unsigned)s->w & 255u); local += (unsigned)strlen(text);',
            'asm volatile("lock; xaddq %0,%1" : "+r"(wide), "+m"(t->q) :: "memory", "cc"); local += (unsigned)wide;',
            'asm volatile("movl %1,%0" : "=m"(s->w) : "r"(local));',
            "{ long e = (long)n; __atomic_compare_exchange_n(&t->q, &e, (long)i, 0, __ATOMIC_SEQ_CST, __ATOMIC_RELAXED); local += (unsigned)e; }",
        ])
    if kind == 7:
        return f"{pad}s = {r.choice(['s->next', '&pool[local & 15]', 't', 't->next'])};"
    body = "\n".join(statement(depth + 1) for _ in range(r.randrange(1, 4)))
    if kind < 10:
        return f"{pad}if ({U(value())} % {r.randrange(2, 5)} == 0) {{\n{body}\n{pad}}} else {{\n{statement(depth + 1)}\n{pad}}}"
    if kind < 12:
        v = f"k{depth}"
        return f"{pad}for (unsigned {v} = 0; {v} < {r.randrange(2, 20)}; ++{v}) {{\n{pad}  t->a[{v} & 7] = {v} + i;\n{body}\n{pad}}}"
    cases = "".join(f"{pad}case {k}:\n{statement(depth + 1)}\n{pad}  break;\n" for k in range(3))
    return f"{pad}switch ({U(value())} % 4) {{\n{cases}{pad}default:\n{body}\n{pad}}}"


functions = r.randrange(3, 6)
print("""#include <stdio.h>
#include <string.h>
struct in { short x; long y; };
struct s {
  unsigned char b; unsigned short h; unsigned w; long q; float f; double d; unsigned a[8]; struct in in;
  struct { unsigned lo : 5, hi : 13; } bits; struct s *next;
};
static struct s pool[16];
static char text[32];""")
for f in range(functions):
    print(f"static unsigned f{f}(struct s *s, struct s *t, unsigned i, unsigned n) {{\n  unsigned local = i * 7 + n; long wide = (long)n;")
    for _ in range(r.randrange(4, 9)):
        print(statement())
    if f > 0:
        print(f"  if (n > 1) local += f{r.randrange(f)}(t, s->next, local & 63, n - 1);")
    print("  return local + (unsigned)wide;\n}")
print("""int main(void) {
  unsigned sum = 0;
  for (int i = 0; i < 16; ++i) pool[i].next = &pool[(i * 5 + 1) % 16];
  for (unsigned i = 0; i < 30; ++i) {""")
for f in range(functions):
    print(f"    sum = sum * 31 + f{f}(&pool[i & 15], &pool[(i * 3) & 15], i, 3);")
print("""  }
  for (int i = 0; i < 16; ++i) {
    struct s *p = &pool[i];
    printf("%u %u %u %ld %g %g %u %d %ld %u %u\\n", p->b, p->h, p->w, p->q, p->f, p->d, p->a[3], p->in.x, p->in.y, p->bits.lo,
           p->bits.hi);
  }
  printf("%u\\n", sum);
}""")
