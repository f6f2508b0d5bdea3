// Kernel without persistent memory: sparse matrix times vector in compressed rows, random columns.
#include <cstdint>
#include <vector>

#include "measure.h"

int main(int argc, char** argv) {
  measure::touchPool(argc, argv);
  constexpr uint32_t kRows = 500'000;
  constexpr uint32_t kPerRow = 16;
  constexpr unsigned kRounds = 5;
  std::vector<uint32_t> begin(kRows + 1), column(size_t{kRows} * kPerRow);
  std::vector<double> value(column.size(), 0.5), x(kRows, 2), y(kRows, 0);
  measure::Random random{1};
  for (uint32_t row = 0; row <= kRows; ++row) begin[row] = row * kPerRow;
  for (uint32_t& c : column) c = static_cast<uint32_t>(random() % kRows);
  measure::perOperation(column.size() * kRounds, [&] {
    for (unsigned round = 0; round < kRounds; ++round) {
      for (uint32_t row = 0; row < kRows; ++row) {
        double sum = 0;
        for (uint32_t i = begin[row]; i < begin[row + 1]; ++i) sum += value[i] * x[column[i]];
        y[row] = sum;
      }
      measure::keep(y.data());
    }
  });
  return y[kRows / 2] == kPerRow ? 0 : 1;
}
