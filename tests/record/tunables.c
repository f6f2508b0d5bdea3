// What libc is asked for in every run: the same functions over memory everywhere, and huge pages for large heaps. The
// user's own wishes of a kind stand.
// RUN: %cc %s -o %t
// RUN: rm -f %t.img && truncate -s 4096 %t.img
// RUN: unset GLIBC_TUNABLES && %blackout record --pm %t.img -o %t.trace -- %t %t.img | FileCheck %s --check-prefix=OURS
// OURS: tunables: glibc.cpu.hwcaps={{.*}}:glibc.malloc.hugetlb=1{{$}}
// RUN: GLIBC_TUNABLES=glibc.malloc.check=0 %blackout record --pm %t.img -o %t.trace -- %t %t.img | FileCheck %s --check-prefix=HEAP
// HEAP: tunables: glibc.malloc.check=0:glibc.cpu.hwcaps={{[^:]*:[^:]*}}{{$}}
// RUN: GLIBC_TUNABLES=glibc.cpu.x86_shstk=off %blackout record --pm %t.img -o %t.trace -- %t %t.img | FileCheck %s --check-prefix=SHAPES
// SHAPES: tunables: glibc.cpu.x86_shstk=off:glibc.malloc.hugetlb=1{{$}}
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>

int main(int argc, char** argv) {
  int fd = open(argv[1], O_RDWR);
  char* p = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  if (p == MAP_FAILED) return 1;
  *p = 1;
  printf("tunables: %s\n", getenv("GLIBC_TUNABLES"));
  return 0;
}
