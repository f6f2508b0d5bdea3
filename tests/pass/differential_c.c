// A program of corners behaves the same whether or not it is instrumented, with all memory as PM and with none, at
// every level: vectors live across hooks, inline assembly, asm goto, computed goto,
// setjmp, musttail, variadic functions, odd types, bit fields.
// RUN: %differential %s -std=c2x
#include <immintrin.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
// vectors live across hooks
__attribute__((target("avx512f"))) static void v512(float *p, int n) {
  __m512 a = _mm512_set1_ps(1.5f), b = _mm512_set1_ps(2);
  for (int i = 0; i + 16 <= n; i += 16) {
    __m512 x = _mm512_loadu_ps(p + i);
    b = _mm512_fmadd_ps(x, a, b);
    _mm512_storeu_ps(p + i, b);
  }
}
__attribute__((target("avx2,fma"))) static void v256(float *p, int n) {
  __m256 a = _mm256_set1_ps(1.5f), b = _mm256_set1_ps(2);
  for (int i = 0; i + 8 <= n; i += 8) {
    __m256 x = _mm256_loadu_ps(p + i);
    b = _mm256_fmadd_ps(x, a, b);
    _mm256_storeu_ps(p + i, b);
    _mm256_maskstore_ps(p + i, _mm256_set_epi32(-1, 0, -1, 0, 0, -1, -1, 0), a);
    __m256 q = _mm256_maskload_ps(p + i, _mm256_set_epi32(0, -1, 0, -1, -1, 0, 0, -1));
    b = _mm256_add_ps(b, q);
    b = _mm256_add_ps(b, _mm256_i32gather_ps(p, _mm256_set_epi32(7, 6, 5, 4, 3, 2, 1, 0), 4));
  }
}
static void nt(int *p, long long *q, __m128i *v) {
  _mm_stream_si32(p, 42);
  _mm_stream_si64(q, 77);
  _mm_stream_si128(v, _mm_set1_epi32(9));
  _mm_maskmoveu_si128(_mm_set1_epi8(5), _mm_set_epi8(-1, 0, -1, 0, -1, 0, 0, 0, -1, -1, -1, 0, 0, 0, 0, -1),
                      (char *)(v + 1));
  _mm_sfence();
  _mm_clflush(p);
}
static int asmstuff(long *p, int *q) {
  long old = 3, r;
  int fl = 0;
  __asm__ volatile("lock; cmpxchgq %2,%1" : "=a"(r), "+m"(*p) : "r"(9L), "0"(old) : "memory", "cc");
  __asm__ volatile("lock xaddl %0,%1" : "+r"(fl), "+m"(*q)::"memory");
  __asm__ volatile("movq %1, 8(%0)\n\tmovl $7, %2" ::"r"(p), "r"(55L), "m"(*q) : "memory");
  __asm__ volatile("movnti %1, 16(%0)" ::"r"(p), "r"(66L) : "memory");
  __asm__ volatile("movnti %2, (%0,%1,8)" ::"r"(p), "r"(3L), "r"(88L) : "memory");
  char buf[20];
  void *d = p + 4;
  size_t n = 2;
  __asm__ volatile("rep stosq" : "+D"(d), "+c"(n) : "a"(0x1111L) : "memory");
  __asm__ volatile("lock; addl $0,0(%%rsp)" ::: "memory", "cc");
  __asm__ volatile("mfence; clflush %0; sfence" : "+m"(*p));
  return (int)r + fl;
}
static int asmgoto(long *p) {
  __asm__ goto("testq %0,%0; jz %l[zero]" ::"r"(*p) : "cc", "memory" : zero);
  p[1]++;
  return 1;
zero:
  p[2]++;
  return 0;
}
static int va(long *out, int n, ...) {
  va_list a;
  va_start(a, n);
  double s = 0;
  for (int i = 0; i < n; i++) {
    if (i & 1)
      s += va_arg(a, double);
    else
      s += va_arg(a, int);
    *out = (long)s;
  }
  va_end(a);
  return (int)s;
}
typedef struct {
  int a;
  char c;
  short s;
  long double ld;
  char t[3];
} Odd;
__attribute__((noinline)) static Odd byval(Odd o, Odd *p) {
  o.a++;
  *p = o;
  p->t[1] = 'x';
  return *p;
}
__attribute__((noinline)) static int mt2(long *p, int x) {
  *p = x;
  return x + 1;
}
__attribute__((noinline)) static int mt(long *p, int x) {
  *p = x * 2;
  __attribute__((musttail)) return mt2(p, x);
}
__attribute__((noinline)) static char *tl(char *d, const char *s) { return strcpy(d, s); }
__attribute__((noinline)) static int igoto(int *p, int n) {
  static void *t[] = {&&a, &&b, &&c};
  int i = 0;
  goto *t[p[0] % 3];
a:
  p[1]++;
  if (++i > n) return p[1];
  goto *t[p[1] % 3];
b:
  p[2] += p[1];
  p[1]++;
  if (++i > n) return p[2];
  goto *t[p[2] % 3];
c:
  p[0]++;
  p[2]++;
  if (++i > n) return p[0];
  goto *t[(p[0] + p[2]) % 3];
}
static jmp_buf jb;
static long G[16];
_Bool B;
unsigned _BitInt(24) W;
__int128 I;
unsigned _BitInt(7) S7;
struct bf {
  unsigned a : 3, b : 13;
  unsigned long c : 40;
} bfv;
__attribute__((noinline)) int rt(int x) {
  long *p = G;
  p[0] = x;
  if (setjmp(jb)) {
    return (int)p[0] + (int)G[1];
  }
  p[1] = x * 3;
  if (x < 3) longjmp(jb, 1);
  return x;
}
int main(void) {
  float *f = aligned_alloc(64, 64 * 4);
  for (int i = 0; i < 64; i++) f[i] = i;
  v256(f, 64);
  if (__builtin_cpu_supports("avx512f")) v512(f, 64);
  for (int i = 0; i < 64; i++) printf("%g ", f[i]);
  int x = 1;
  long long y = 2;
  __m128i *v = aligned_alloc(16, 64);
  memset(v, 0, 64);
  nt(&x, &y, v);
  printf("\n%d %lld\n", x, y);
  for (int i = 0; i < 32; i++) printf("%d ", ((char *)v)[i]);
  long p[8] = {3, 0, 0, 0, 0, 0, 0, 0};
  int q = 4;
  printf("\n%d\n", asmstuff(p, &q));
  for (int i = 0; i < 8; i++) printf("%ld ", p[i]);
  printf("%d\n", q);
  printf("%d %d\n", asmgoto(p), asmgoto(p + 3));
  printf("%d\n", va(p, 4, 1, 2.5, 3, 4.5));
  Odd o = {1, 'c', 2, 3.5L, {1, 2, 3}}, o2;
  Odd r = byval(o, &o2);
  printf("%d %c %Lf %c\n", r.a, o2.c, o2.ld, o2.t[1]);
  printf("%d %ld\n", mt(p, 4), p[0]);
  char b[20];
  printf("%s\n", tl(b, "hello"));
  int ig[3] = {1, 2, 3};
  printf("%d\n", igoto(ig, 20));
  printf("%d %d\n", rt(1), rt(5));
  B = x > 3;
  W = 0xabcdef;
  W += 2;
  I = ((__int128)1 << 100) + x;
  S7 = 100;
  S7 += 5;
  printf("%d %x %llx %d\n", B, (unsigned)W, (unsigned long long)(I >> 64), (int)S7);
  bfv.a = 5;
  bfv.b = 777;
  bfv.c = 1L << 38;
  printf("%u %u %lu\n", bfv.a, bfv.b, (long)bfv.c);
  double _Complex z = 1 + 2i;
  double _Complex *zp = malloc(16);
  *zp = z * z;
  printf("%g %g\n", __real__ * zp, __imag__ * zp);
  return 0;
}
