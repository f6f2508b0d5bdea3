// A Runner without processes: it interprets a recovery program on the memory of each request. Runs end in a random
// order, and it checks what every runner may rely on: requests are feasible crashes, told in the least way, and no
// recovery is asked for twice.
#pragma once

#include <filesystem>
#include <map>
#include <set>

#include "explore/explorer.h"
#include "recovery_program.h"

namespace blackout::test {

class FakeRunner : public Runner {
 public:
  // All must outlive it. `order` seeds the order in which runs end.
  FakeRunner(const RecoveryProgram& program, const Baseline& baseline, unsigned workers, std::uint64_t order = 0);
  ~FakeRunner() override;

  unsigned workers() const override { return workers_; }
  Result<void> begin(unsigned worker, const Run& request) override;
  Result<std::pair<unsigned, RunEnd>> wait() override;

  // Changes a result before it is handed out: a program that is not deterministic.
  std::function<void(std::uint64_t run, RunEnd&)> disturb;
  // For ExploreOptions: further lines are tracked from now on, so a recovery may be asked for again.
  Result<void> grew() {
    seen_.clear();
    ++level_;
    return {};
  }

  std::uint64_t runs() const { return runs_; }
  std::uint64_t repeated() const { return repeated_; }
  const std::vector<std::string>& complaints() const { return complaints_; }

 private:
  void check(const Run& request);

  const RecoveryProgram* program_;
  const Baseline* baseline_;
  unsigned workers_;
  std::uint64_t order_;
  std::map<unsigned, RunEnd> pending_;
  std::set<std::string> seen_;  // recoveries, as queries and answers
  std::uint64_t runs_ = 0;
  std::uint64_t repeated_ = 0;
  unsigned level_ = 1;
  std::vector<std::string> complaints_;
  std::filesystem::path folder_;
};

// What is tracked, for RecoveryProgram::run.
WatchedNames namesOf(const TrackedBytes& tracked);

}  // namespace blackout::test
