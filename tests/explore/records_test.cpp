// Random restarts that read many uncertain lines by few instructions: loops, tallies, jumps to what was read, one mem*
// call. These look like records that are trusted whole, and mostly are not. Against all states, run one by one: an
// exploration that says it is complete and assumes nothing has all outcomes; any other has none that isn't possible.
#include <rapidcheck.h>

#include <cstdlib>
#include <cstring>

#include "crashed_memories.h"
#include "explore/seeded.h"
#include "explored.h"
#include "tiny_program.h"

namespace blackout::test {
namespace {

constexpr unsigned kMostLines = 12;

// Stores to so many lines, none of which is flushed.
unsigned storeLines(TinyProgram& p, std::uint32_t gene) {
  unsigned lines = 6 + gene % (kMostLines - 5);
  for (unsigned i = 0; i < lines; ++i) p.store(1, 64 * i, 1 + mix(gene, i) % 3);
  return lines;
}

RecoveryProgram readsMany(const Genes& genes, unsigned lines) {
  RecoveryProgram program;
  auto& out = program.instructions;
  out.push_back({Does::Open, "/pool", 0, 0, 0, 0, 1});
  for (std::uint32_t gene : genes) {
    std::uint64_t dice = gene;
    auto roll = [&](std::uint64_t n) { return (dice = mix(dice)) % n; };
    std::uint64_t site = 5 + roll(2);
    std::uint64_t first = roll(lines);
    std::uint64_t kind = roll(16);
    if (kind < 4) {  // a loop
      for (std::uint64_t i = 0; i < lines; ++i)
        out.push_back({roll(2) == 0 ? Does::Tally : Does::Load, "", 64 * i, 0, 1, 0, site});
    } else if (kind < 6) {
      out.push_back({Does::Group, "", 64 * first, 0, static_cast<unsigned>(64 * (lines - first)), 1, site});
    } else if (kind < 9) {  // where it reads next depends on what it has read
      out.push_back({Does::Load, "", 64 * first, 64 * roll(3), 1, 0, site});
    } else if (kind < 11) {
      out.push_back({Does::Test, "", 0, 0, 0, roll(2) == 0 ? lines : roll(lines), 0});
    } else if (kind < 13) {
      out.push_back({Does::Skip, "", 0, 0, 0, 1 + roll(3), 0});
    } else if (kind < 15) {
      out.push_back({Does::Print, "", 0, 0, 0, 0, 0});
    } else {
      out.push_back({Does::Exit, "", 0, 0, 0, 0, 0});
    }
  }
  out.push_back({Does::Print, "", 0, 0, 0, 0, 0});
  return program;
}

void recordsAreExploredOrSaid(const Genes& genes, std::uint32_t gene) {
  TinyProgram p;
  unsigned lines = storeLines(p, gene);
  RecoveryProgram recovery = readsMany(genes, lines);
  Wanted setup;
  if (gene % 5 == 0) setup.options.budget = 300;
  if (gene % 3 == 0) setup.options.answeredSum = [](std::uint64_t site) { return site == 5; };
  if (gene % 7 == 0) setup.options.maxRuns = 50 + gene % 200;
  Explored one(p.index(), recovery, setup);
  one.run();
  RC_ASSERT(one.runner.repeated() == 0U);
  setup.workers = 5;
  setup.order = gene;
  Explored five(p.index(), recovery, setup);
  five.run();
  RC_ASSERT(one.everything() == five.everything());

  std::vector<BruteSnapshot> snapshots = bruteForce(p.trace(), {});
  const BruteSnapshot& last = snapshots.back();
  std::set<std::string> expected;
  RC_ASSERT(product(last, std::size_t{1} << kMostLines, [&](const auto& left) {
    BruteMemory memory(last, left, {});
    expected.insert(wordOf(recovery.run(memory, kNothing, tableOf(last)).outcome));
  }));
  std::set<std::string> found = one.words(SpaceNo(one.baseline.count() - 1));
  const ExplorationSummary& m = one.explorer->summary();
  RC_ASSERT(std::includes(expected.begin(), expected.end(), found.begin(), found.end()));
  if (m.complete() && m.assumptions.empty()) RC_ASSERT(found == expected);
  RC_CLASSIFY(!m.assumptions.empty(), "something is assumed");
  RC_CLASSIFY(!m.assumptions.empty() && found == expected, "and rightly");
  RC_CLASSIFY(m.complete() && m.mostAtOneSpace > 256, "more than 256 recoveries, complete");
}

}  // namespace
}  // namespace blackout::test

int main(int argc, char** argv) {
  bool full = argc > 1 && std::strcmp(argv[1], "full") == 0;
  setenv("RC_PARAMS", full ? "max_success=3000 max_size=12 seed=3" : "max_success=150 max_size=8 seed=3", 0);
  return rc::check("records are explored, or it is said", blackout::test::recordsAreExploredOrSaid) ? 0 : 1;
}
