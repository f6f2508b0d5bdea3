/* A second fence, with nothing to wait for. */
#include "pool.h"

int main(int argc, char** argv) {
  volatile uint64_t* starts = open_pool(argv[argc - 1]);
  ++*starts;
  persist(starts);
#ifndef FIXED
  fence();
#endif
  return 0;
}
