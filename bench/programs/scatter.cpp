// Kernel without persistent memory: read-modify-write of random words of a large table (as GUPS).
#include <vector>

#include "measure.h"

int main(int argc, char** argv) {
  measure::touchPool(argc, argv);
  constexpr uint64_t kWords = uint64_t{1} << 23;
  constexpr uint64_t kUpdates = 20'000'000;
  std::vector<uint64_t> table(kWords, 0);
  uint64_t* words = table.data();
  measure::perOperation(kUpdates, [&] {
    measure::Random random{1};
    for (uint64_t i = 0; i < kUpdates; ++i) {
      const uint64_t value = random();
      words[value & (kWords - 1)] ^= value;
    }
    measure::keep(words);
  });
  // The same updates again restore zero.
  measure::Random random{1};
  for (uint64_t i = 0; i < kUpdates; ++i) {
    const uint64_t value = random();
    words[value & (kWords - 1)] ^= value;
  }
  return table[0] == 0 ? 0 : 1;
}
