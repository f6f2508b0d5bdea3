// A class that is the pool's own memory: open() gives an address in it, and nobody may delete that.
//
// RUN: %cxx -std=c++20 -g -O1 -mclflushopt %s -o %t && g++ -std=c++20 -g -O1 -mclflushopt -I%include %s -o %t.plain
// RUN: for p in %t %t.plain; do rm -rf %t.pool && %blackout lin --operations 6 --pm %t.pool --findings %t.findings -- $p %t.pool > %t.out 2>&1 || exit 1; FileCheck %s < %t.out || exit 1; done
// CHECK: SUMMARY: blackout: no findings
#include <blackout/lin.hpp>

#include <fcntl.h>
#include <immintrin.h>
#include <sys/mman.h>
#include <unistd.h>

struct Register {
  volatile uint64_t value;
  static Register* open(const char* pool) {
    int fd = ::open(pool, O_RDWR | O_CREAT, 0600);
    if (fd < 0 || ftruncate(fd, 4096) != 0) return nullptr;
    return static_cast<Register*>(mmap(nullptr, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0));
  }
  void write(uint64_t v) {
    value = v;
    _mm_clflushopt(this);
    _mm_sfence();
  }
  uint64_t read() { return value; }
};
BLACKOUT_REGISTER(Register)
