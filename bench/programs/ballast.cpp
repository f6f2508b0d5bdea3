// A library that holds 64 MB of memory from before the program begins: its constructor runs first.
#include <sys/mman.h>

#include <cstdlib>
#include <cstring>

namespace {
__attribute__((constructor(101))) void hold() {
  constexpr std::size_t kSize = std::size_t{64} << 20;
  void* p = std::aligned_alloc(4096, kSize);
  madvise(p, kSize, MADV_NOHUGEPAGE);  // 16,384 pages, not 32
  std::memset(p, 1, kSize);
}
}  // namespace
int ballast() { return 0; }
