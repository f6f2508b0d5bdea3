// A pointer of the earlier process with something else in the bits that it does not need, or in a word that is not
// aligned, is told like any other (moved_pointer.cpp). One that a restart only compares is right.
// RUN: rm -rf %t.dir && mkdir %t.dir && cd %t.dir && %cc -O1 -g -Wno-address-of-packed-member %s -o compiled && %plain-cc -O1 -g -Wno-address-of-packed-member %s -o plain
// RUN: for p in compiled plain; do for m in low high unaligned; do \
// RUN:   %blackout check --detect=none --pm pool -- ./$p pool $m follow > %t.out 2>&1; code=$?; rm -f pool; \
// RUN:   test $code = 1 || { echo $p $m $code; cat %t.out; exit 1; }; FileCheck %s < %t.out || exit 1; \
// RUN:   %blackout check --detect=none --pm pool -- ./$p pool $m compare > %t.out 2>&1 || { echo $p $m; cat %t.out; exit 1; }; rm -f pool; done; done
// CHECK: shown: pointer of the earlier process used after a crash [stale-pointer]
// CHECK-NEXT: leads to memory of the process that stored it: after a crash the restarted program crashes with SIGSEGV in follow (tagged_pointer.c:
// CHECK: (1) the pointer is stored here: {{.*}}tagged_pointer.c{{.*}} in keep
// CHECK: SUMMARY: blackout: 1 shown
#include <emmintrin.h>
#include <fcntl.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

struct __attribute__((packed)) pool {
  uint64_t isOpen;
  uint64_t aligned;
  uint8_t odd;
  volatile uint64_t unaligned;
};
static uint64_t counted __attribute__((aligned(64))) = 7;
static const uint64_t kLow = 5, kHigh = (uint64_t)0xabcd << 48;

static uint64_t address(void) { return (uint64_t)(uintptr_t)&counted; }
__attribute__((noinline)) static uint64_t follow(uint64_t word) { return *(volatile uint64_t*)(uintptr_t)word; }
__attribute__((noinline)) static void keep(struct pool* p, const char* mode) {
  if (!strcmp(mode, "unaligned"))
    p->unaligned = address();
  else
    *(volatile uint64_t*)&p->aligned = !strcmp(mode, "low") ? address() | kLow : address() | kHigh;
}

int main(int argc, char** argv) {
  int fd = open(argv[1], O_RDWR | O_CREAT, 0600);
  if (ftruncate(fd, 4096) != 0) return 9;
  struct pool* p = mmap(0, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  if (p->isOpen != 0) {
    uint64_t word = !strcmp(argv[2], "unaligned") ? p->unaligned : *(volatile uint64_t*)&p->aligned;
    if (!strcmp(argv[3], "compare")) return word == 1;
    return follow(!strcmp(argv[2], "low") ? word & ~kLow : word & ~kHigh) == 1;
  }
  keep(p, argv[2]);
  _mm_clflush(p);
  _mm_sfence();
  *(volatile uint64_t*)&p->isOpen = 1;
  _mm_clflush(p);
  _mm_sfence();
  return 0;
}
