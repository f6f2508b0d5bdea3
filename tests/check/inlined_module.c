// The program file of a store that was inlined is named for all of its own calls, up to the function that has the code.
//
// RUN: %cc -O1 -g %s -o %t && rm -f %t.img
// RUN: %blackout check --json %t.json --pm %t.img -- %t %t.img > %t.out 2>&1; test $? -eq 3
// RUN: FileCheck %s < %t.json
// CHECK: "function": "inner"
// CHECK: "module": "{{.*}}inlined_module.c.tmp",
// CHECK-NEXT: "inlined": true
// CHECK: "function": "middle"
// CHECK: "module": "{{.*}}inlined_module.c.tmp",
// CHECK-NEXT: "inlined": true
// CHECK: "function": "main"
// CHECK: "module": "{{.*}}inlined_module.c.tmp",
// CHECK-NEXT: "inlined": false
#include <fcntl.h>
#include <stdint.h>
#include <sys/mman.h>
#include <unistd.h>

__attribute__((always_inline)) static inline void inner(volatile uint64_t* p) { *p = 1; }
__attribute__((always_inline)) static inline void middle(volatile uint64_t* p) { inner(p); }

int main(int argc, char** argv) {
  int fd = open(argv[1], O_RDWR | O_CREAT, 0600);
  if (ftruncate(fd, 4096) != 0) return 9;
  middle(mmap(0, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0));
  return 0;
}
