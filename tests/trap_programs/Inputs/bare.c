// A right program: what is published is durable first.
#include <fcntl.h>
#include <immintrin.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
struct pool {
  long valid;
  char apart[56];
  char text[64];
};
int main(int c, char** v) {
  int fd = open(v[1], O_RDWR | O_CREAT, 0600);
  if (ftruncate(fd, 4096)) return 9;
  struct pool* p = mmap(0, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  if (p->valid) return strcmp(p->text, "hello") != 0;
  strcpy(p->text, "hello");
  _mm_clflush(p->text);
  _mm_sfence();
  p->valid = 1;
  _mm_clflush(&p->valid);
  _mm_sfence();
  return 0;
}
