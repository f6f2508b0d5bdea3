// Slots in a pool that are driven from standard input: "p SLOT VALUE" puts, "g SLOT" prints. With BLIND nothing is ever
// read back.
#include <fcntl.h>
#include <immintrin.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

struct pool {
  uint64_t opened;
  char pad[56];
  struct {
    uint64_t value, check;
    char pad[48];
  } slots[63];
};

static void persist(void* p) {
  _mm_clflush(p);
  _mm_sfence();
}

int main(int argc, char** argv) {
  int fd = open(argv[1], O_RDWR | O_CREAT, 0644);
  if (argc < 2 || ftruncate(fd, sizeof(struct pool)) != 0) return 2;
  struct pool* pool = mmap(NULL, sizeof(struct pool), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
#ifndef BLIND
  if (pool->opened != 0 && pool->opened != 1) return 1;
#endif
  pool->opened = 1;
  persist(&pool->opened);
  char line[64];
  while (fgets(line, sizeof line, stdin) != NULL) {
    unsigned slot, value;
    if (sscanf(line, "p %u %u", &slot, &value) == 2 && slot < 63) {
      pool->slots[slot].value = value;
      pool->slots[slot].check = ~(uint64_t)value;
      persist(&pool->slots[slot]);
    }
#ifndef BLIND
    else if (sscanf(line, "g %u", &slot) == 1 && slot < 63)
      printf("%u\n", pool->slots[slot].check == ~pool->slots[slot].value ? (unsigned)pool->slots[slot].value : 0U);
#endif
  }
  return 0;
}
