// Records that are switched by one store, and a restart that prints all of them: every answer is another one, so
// detection across the failure has to compare them all.
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>

#include "blackout/blackout.h"

namespace {

struct Pool {
  alignas(64) std::uint64_t value[64][8];
};

void persist(const void* p) {
  asm volatile("clwb %0\n\tsfence" ::"m"(*static_cast<const volatile char*>(p)) : "memory");
}

}  // namespace

int main(int argc, char** argv) {
  std::uint64_t operations = argc > 2 ? std::strtoul(argv[2], nullptr, 10) : 100;
  int fd = open(argv[1], O_RDWR | O_CREAT, 0644);
  if (fd < 0 || ftruncate(fd, sizeof(Pool)) != 0) return 1;
  auto* pool = static_cast<Pool*>(mmap(nullptr, sizeof(Pool), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0));
  if (!blackout_recovering()) {
    for (std::uint64_t i = 0; i < operations; ++i) {
      blackout_op_begin("set", i);
      __atomic_store_n(&pool->value[i % 64][0], i + 1, __ATOMIC_RELEASE);
      persist(&pool->value[i % 64][0]);
      blackout_op_end(0);
    }
    return 0;
  }
  for (auto& line : pool->value) std::printf("%lu ", static_cast<unsigned long>(line[0]));
  std::printf("\n");
}
