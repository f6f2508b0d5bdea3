/* The file is shorter than what is mapped of it. */
#include "pool.h"

int main(int argc, char** argv) {
  int fd = open(argv[argc - 1], O_RDWR | O_CREAT, 0600);
#ifdef FIXED
  if (ftruncate(fd, 4096) != 0) return 2;
#else
  if (ftruncate(fd, 100) != 0) return 2;
#endif
  volatile uint64_t* words = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  words[0]++;
  persist(&words[0]);
  words[100]++; /* at offset 800 */
  persist(&words[100]);
  return words[0] == 0;
}
