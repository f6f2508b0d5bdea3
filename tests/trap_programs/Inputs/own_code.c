// Stores to its pool again and again, and says whether the code that did so is as it was.
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum { kCode = 48, kPool = 4096 };

__attribute__((noinline, aligned(64))) void work(volatile uint64_t* p, uint64_t value) {
  p[0] = value;
  p[1] = value + 1;
  p[2] = value + 2;
}

int main(int argc, char** argv) {
  unsigned char before[kCode];
  int fd = open(argv[1], O_RDWR | O_CREAT, 0600);
  if (argc != 2 || fd < 0 || ftruncate(fd, kPool) != 0) return 2;
  uint64_t* pool = mmap(NULL, kPool, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  if (pool == MAP_FAILED) return 3;
  const void* volatile code = (const void*)work;
  memcpy(before, (const void*)code, kCode);
  for (uint64_t i = 0; i < 100; ++i) work(pool, i);
  printf("%s\n", memcmp(before, (const void*)code, kCode) == 0 ? "as it was" : "changed");
  return 0;
}
