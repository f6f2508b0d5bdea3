// Maps more of its pool than there is and touches it.
#include "pool.h"

int main(int, char** argv) {
  int fd = open(argv[1], O_RDWR);
  auto* p = static_cast<volatile char*>(mmap(nullptr, 1 << 20, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0));
  p[1 << 19] = 1;
}
