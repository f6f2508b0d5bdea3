// A pool of 1 GiB of which little is touched costs what is touched: images, copies and comparisons are sparse.
// RUN: %cxx -O1 -g -I%include %s -o %t && rm -f %t.img && truncate -s 1G %t.img
// RUN: %blackout check --pm %t.img -- %t %t.img 2>&1 | FileCheck %s
// RUN: %blackout check --pm %t.img -- %t %t.img copy 2>&1 | FileCheck %s
// CHECK: SUMMARY: blackout: no findings
// RUN: test $(stat -c %%b %t.img) -lt 100
#include <blackout/blackout.h>
#include <emmintrin.h>
#include <fcntl.h>
#include <stdint.h>
#include <sys/mman.h>
#include <unistd.h>

int main(int argc, char** argv) {
  constexpr uint64_t kWords = (uint64_t{1} << 30) / 8;
  int fd = open(argv[1], O_RDWR);
  void* memory = mmap(nullptr, kWords * 8, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  if (memory == MAP_FAILED) return 9;
  auto* p = static_cast<volatile uint64_t*>(memory);
  auto set = [&](uint64_t at, uint64_t v) {
    p[at] = v;
    _mm_clflush(const_cast<uint64_t*>(&p[at]));
    _mm_sfence();
  };
  if (!blackout_recovering()) {
    set(kWords - 1, 1);
    set(0, kWords - 1);
    set(kWords / 2, 2);
    return 0;
  }
  if (p[0] != 0) blackout_expect(p[p[0]] == 1, "the pointer leads to what was stored first");
  uint64_t word = 5;
  // A write through the descriptor makes the restart take a copy of its pools.
  if (argc > 2 && pwrite(fd, &word, 8, 64) != 8) return 9;
  return argc > 2 && p[8] != 5 ? 9 : 0;
}
