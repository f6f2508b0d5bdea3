// Kernel without persistent memory: updates along a random cycle of nodes, a dependent load each.
#include <numeric>
#include <utility>
#include <vector>

#include "measure.h"

namespace {

struct alignas(64) Node {
  Node* next;
  uint64_t visits;
};

}  // namespace

int main(int argc, char** argv) {
  measure::touchPool(argc, argv);
  constexpr size_t kNodes = 1'000'000;
  constexpr size_t kSteps = 4'000'000;
  std::vector<Node> nodes(kNodes);
  std::vector<size_t> order(kNodes);
  std::iota(order.begin(), order.end(), 0);
  // Sattolo's shuffle gives one single cycle.
  measure::Random random{1};
  for (size_t i = kNodes - 1; i > 0; --i) std::swap(order[i], order[random() % i]);
  for (size_t i = 0; i < kNodes; ++i) nodes[order[i]] = {&nodes[order[(i + 1) % kNodes]], 0};
  Node* node = &nodes[0];
  measure::perOperation(kSteps, [&] {
    for (size_t i = 0; i < kSteps; ++i) {
      node->visits += 1;
      node = node->next;
    }
    measure::keep(node);
  });
  return nodes[0].visits == kSteps / kNodes ? 0 : 1;
}
