// Recoveries to measure: `recovery POOL KIND` writes a pool and ends, or, in a restart after a crash, walks it.
// `recovery POOL KIND bare N` forks N children that do the same without Blackout, and prints how long each took.
//   trivial  one load        walk  about 1 ms of loads over the pool       resident  as trivial, 64 MB in memory
#include <blackout/blackout.h>
#include <fcntl.h>
#include <immintrin.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>

namespace {

constexpr std::size_t kPool = std::size_t{2} << 20;
constexpr int kWalkSteps = 60000;

std::uint64_t* map(const char* path) {
  int fd = open(path, O_RDWR | O_CREAT, 0600);
  if (fd < 0 || ftruncate(fd, kPool) != 0) std::exit(9);
  void* p = mmap(nullptr, kPool, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  close(fd);
  if (p == MAP_FAILED) std::exit(9);
  return static_cast<std::uint64_t*>(p);
}

void set(std::uint64_t* p, std::uint64_t value) {
  *p = value;
  _mm_clwb(p);
  _mm_sfence();
}

int recover(const char* path, const char* kind) {
  std::uint64_t* pool = map(path);
  if (std::strcmp(kind, "walk") != 0) return pool[0] == 0 ? 0 : static_cast<int>(pool[1] & 0);
  // A dependent chain through the pool.
  std::uint64_t at = 1;
  for (int i = 0; i < kWalkSteps; ++i) at = (at * 29 + 7 + pool[at]) % (kPool / 8);
  return at == 0 ? 1 : 0;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 3) return 2;
  if (blackout_recovering()) return recover(argv[1], argv[2]);
  if (argc == 3) {
    std::uint64_t* pool = map(argv[1]);
    for (int i = 0; i < 8; ++i) set(&pool[i * 8], static_cast<std::uint64_t>(i + 1));
    return 0;
  }
  int runs = std::atoi(argv[4]);
  auto begin = std::chrono::steady_clock::now();
  for (int i = 0; i < runs; ++i) {
    pid_t child = fork();
    if (child == 0) std::exit(recover(argv[1], argv[2]));
    int status = 0;
    waitpid(child, &status, 0);
    if (status != 0) return 1;
  }
  std::chrono::duration<double, std::micro> took = std::chrono::steady_clock::now() - begin;
  std::printf("us_per_run %.2f\n", took.count() / runs);
}
