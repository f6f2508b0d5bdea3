// A program whose crashes leave few uncertain lines, all on one page, and that reads all of its large pool when it
// starts.
//
//   trap_restart POOL               recovers
//   trap_restart POOL OPERATIONS    recovers and works
#include "measure.h"

namespace {

constexpr size_t kPool = size_t{50} << 20;

struct Root {
  uint64_t done;
  alignas(64) uint64_t slots[8][8];
};

void* open(const char* path) {
  const int file = ::open(path, O_RDWR);
  void* memory = file < 0 ? MAP_FAILED : mmap(nullptr, kPool, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  if (memory == MAP_FAILED) {
    std::perror(path);
    std::exit(1);
  }
  close(file);
  return memory;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 2) return 2;
  auto* root = static_cast<Root*>(open(argv[1]));
  const auto* words = reinterpret_cast<const uint64_t*>(root);
  uint64_t sum = 0;
  for (size_t i = 0; i < kPool / sizeof *words; ++i) sum += words[i];
  measure::keep(sum);
  // A slot is durable before it counts.
  if (root->slots[root->done % 8][0] < root->done) return 1;
  const uint64_t operations = argc > 2 ? std::strtoull(argv[2], nullptr, 10) : 0;
  for (uint64_t i = 1; i <= operations; ++i) {
    root->slots[i % 8][0] = i;
    measure::flush(root->slots[i % 8]);
    measure::fence();
    __atomic_store_n(&root->done, i, __ATOMIC_RELEASE);
    measure::flush(&root->done);
    measure::fence();
  }
  return 0;
}
