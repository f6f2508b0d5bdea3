// Copies and fills of all shapes, a fence after each. argv: the pool.
#include <immintrin.h>
#include <stdlib.h>
#include <string.h>

#include "pool.h"

static const char* from;
static char* to;

#define EACH4(M, n) M(n) M(n + 1) M(n + 2) M(n + 3)
#define EACH16(M, n) EACH4(M, n + 1) EACH4(M, n + 5) EACH4(M, n + 9) EACH4(M, n + 13)
#define EACH128(M) \
  EACH16(M, 0) EACH16(M, 16) EACH16(M, 32) EACH16(M, 48) EACH16(M, 64) EACH16(M, 80) EACH16(M, 96) EACH16(M, 112)
#define COPY(n) memcpy(to, from, n), _mm_sfence();
#define FILL(n) memset(to, 7, n), _mm_sfence();

int main(int argc, char** argv) {
  enum { kSize = 1 << 16, kPage = 4096 };
  int fd = openPool(argv[1], kSize);
  char* pool = mmap(NULL, kSize, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  char* text = aligned_alloc(kPage, 4 * kPage);
  memset(text, 'x', 4 * kPage);
  _mm_sfence();
  // Distances that libc takes for the same place in a page, and others; and places on top of each other.
  size_t more[] = {301, 512, 777, 1024, 4099, 9000};
  for (size_t n = 1; n <= 280 + sizeof more / sizeof *more; ++n) {
    volatile size_t size = n <= 280 ? n : more[n - 281];
    for (size_t offset = 0; offset < 16; offset += 13) {
      memcpy(pool + offset, text, size), _mm_sfence();
      memcpy(pool + offset, text + 1000, size), _mm_sfence();
      memmove(pool + offset + 20, pool + offset, size), _mm_sfence();
      memmove(pool + offset, pool + offset + 20, size), _mm_sfence();
      memset(pool + offset, (int)n, size), _mm_sfence();
    }
  }
  for (size_t n = 0; n < 200; ++n)
    for (size_t offset = 0; offset < 128; offset += 19) {
      volatile size_t size = n;
      text[offset + size] = 0;
      strcpy(pool + offset % 8, text + offset), _mm_sfence();
      *(volatile short*)pool = 0x79, _mm_sfence();
      strcat(pool, text + offset), _mm_sfence();
      strncpy(pool + offset % 8, text + offset, size), _mm_sfence();
      text[offset + size] = 'x';
    }
  // Those of the compiler: in any order.
  _mm_mfence();
  from = text, to = pool;
  EACH128(COPY)
  EACH128(FILL)
  to = pool + 3;
  EACH128(COPY)
}
