// A record of ten lines that is not ordered before its sum. Lines lost make a difference to the last byte of the sum of
// all words, but for three combinations, none of which is a single line.
#include <fcntl.h>
#include <immintrin.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>

enum { LINES = 10, WORDS = 16 };
static const uint32_t parts[LINES] = {1, 2, 4, 8, 16, 32, 64, 128, 0xc0, 0x33};

int record_is_whole(const void* record, unsigned long size, const uint64_t* sum);

struct pool {
  uint32_t record[LINES][WORDS];
  uint64_t sum;
};

int main(int argc, char** argv) {
  int fd = open(argv[1], O_RDWR);
  struct pool* p = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  if (p == MAP_FAILED) return 2;
  if (p->sum != 0) {
    if (!record_is_whole(p->record, sizeof p->record, &p->sum)) return 0;
    for (int i = 0; i < LINES; ++i)
      if (p->record[i][5] != parts[i]) return 1;  // believed, and not whole
    return 0;
  }
  uint32_t low = 0, high = 0;
  for (int i = 0; i < LINES; ++i)
    for (int w = 0; w < WORDS; ++w) {
      low += w == 5 ? parts[i] : 0;
      high += low;
    }
  for (int i = 0; i < LINES; ++i) p->record[i][5] = parts[i];
  p->sum = (uint64_t)high << 32 | low;
  for (int i = 0; i < LINES; ++i) _mm_clflush(p->record[i]);
  _mm_clflush(&p->sum);
  return 0;
}
