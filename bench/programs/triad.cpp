// Kernel without persistent memory: STREAM's triad, three arrays far larger than the cache.
#include <vector>

#include "measure.h"

int main(int argc, char** argv) {
  measure::touchPool(argc, argv);
  constexpr size_t kLength = 8'000'000;
  constexpr unsigned kRounds = 12;
  std::vector<double> a(kLength, 1), b(kLength, 2), c(kLength, 3);
  measure::perOperation(kLength * kRounds, [&] {
    double *x = a.data(), *y = b.data(), *z = c.data();
    for (unsigned round = 0; round < kRounds; ++round) {
      for (size_t i = 0; i < kLength; ++i) x[i] = y[i] + 3.0 * z[i];
      measure::keep(x);
    }
  });
  return a[kLength / 2] == 11 ? 0 : 1;
}
