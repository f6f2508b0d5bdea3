// What is written through a descriptor with O_DSYNC or O_SYNC is durable when write returns; without them it is not.
// RUN: rm -rf %t.dir && mkdir %t.dir && cd %t.dir && %cc -O1 -g %s -o compiled && %plain-cc -O1 -g %s -o plain
// RUN: for p in compiled plain; do for m in dsync sync; do rm -f pool; %blackout check --fail-on=suspected --pm pool -- ./$p pool $m > out 2>&1 || { echo $p $m; cat out; exit 1; }; done; done
// RUN: for p in compiled plain; do rm -f pool; not %blackout check --pm pool -- ./$p pool none > out 2>&1 && FileCheck %s < out || exit 1; done
// CHECK: shown: {{.*}}[missing-flush]
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

int main(int argc, char** argv) {
  int how = strcmp(argv[2], "dsync") == 0 ? O_DSYNC : strcmp(argv[2], "sync") == 0 ? O_SYNC : 0;
  int fd = open(argv[1], O_RDWR | O_CREAT | how, 0600);
  if (ftruncate(fd, 4096) != 0) return 2;
  volatile uint64_t* p = mmap(0, 4096, PROT_READ, MAP_SHARED, fd, 0);
  if (p[8] != 0 && p[0] != 42) return 1;
  uint64_t data = 42, flag = 1;
  return pwrite(fd, &data, 8, 0) == 8 && pwrite(fd, &flag, 8, 64) == 8 ? 0 : 2;
}
