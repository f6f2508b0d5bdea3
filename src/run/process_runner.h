// Runs of the real program: a zygote that was started once, workers forked from it, a fork per run
// (runtime/zygote.cpp). Each worker has its own image of the crash and its own control block.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "binary/trapped_sites.h"
#include "events/recovery_contract.h"
#include "run/plan_file.h"
#include "run/private_pools.h"
#include "run/run.h"
#include "run/runtime_options.h"
#include "run/worker_image.h"

namespace blackout {

struct RecoveryProgram {
  std::vector<std::string> command;
  std::vector<PoolPattern> patterns;
  std::string input;             // file for standard input; empty: nothing
  std::string before;            // folder with other files as they were before the recording; empty: none
  bool randomAddresses = false;  // not those of the recorded process; PM is where that had it all the same
  RuntimeOptions options;        // further ones: traps, a client, a heap ...
};

struct RunLimits {
  std::uint64_t steps = 10'000'000;  // accesses to PM after which a run hangs
  unsigned seconds = 10;             // the wall clock's guard; 0: none
  std::uint64_t mebibytes = 512;     // of memory, besides what its pools take
  std::function<bool()> giveUp;      // once it is true, nobody waits for runs any more; empty: never
};

class ProcessRunner : public Runner {
 public:
  // The baselines must outlive it. `beside`: of one more worker, for runs at points of another baseline on the same
  // tracked bytes: to start the program once more for them would cost more than they do.
  static Result<std::unique_ptr<ProcessRunner>> start(const RecoveryProgram& program, const Baseline& baseline,
                                                      unsigned workers, const RunLimits& limits,
                                                      const Baseline* beside = nullptr);
  ~ProcessRunner() override;

  unsigned workers() const override { return besideAt_; }
  // What makes the runs of that one worker, also while others are under way.
  Runner& beside() { return beside_; }
  const Site* trappedSite(std::uint64_t id) const override { return sites_.known(id); }

  // Further lines are tracked: only while no run lives.
  Result<void> refresh(const TrackedBytes& tracked) { return plan_.refresh(tracked); }
  void limit(const RunLimits& limits) { limits_ = limits; }
  // Where worker w lays its pools: for what is not a Runner's business, such as a debugger.
  std::filesystem::path folderOf(unsigned worker) const;

 protected:
  Result<void> begin(unsigned worker, const Run& request) override;
  Result<std::pair<unsigned, RunEnd>> wait() override;

 private:
  struct Worker {
    const Baseline* baseline;
    WorkerImage image;
    blackout_worker* control = nullptr;
    int socket = -1;
    bool busy = false;
    bool traced = false;
    std::size_t modulesKnown = 0;  // bytes of control->modules that were read
  };
  class Beside : public Runner {
   public:
    explicit Beside(ProcessRunner& all) : all_(&all) {}
    unsigned workers() const override { return static_cast<unsigned>(all_->workers_.size()) - all_->besideAt_; }
    const Site* trappedSite(std::uint64_t id) const override { return all_->trappedSite(id); }

   protected:
    Result<void> begin(unsigned worker, const Run& request) override {
      return all_->beginAt(all_->besideAt_ + worker, request);
    }
    Result<std::pair<unsigned, RunEnd>> wait() override {
      auto ended = all_->waitFor(all_->besideAt_, static_cast<unsigned>(all_->workers_.size()));
      if (ended) ended->first -= all_->besideAt_;
      return ended;
    }

   private:
    ProcessRunner* all_;
  };

  ProcessRunner(PrivateFolder folder, PlanFile plan) : folder_(std::move(folder)), plan_(std::move(plan)) {}
  Result<void> beginAt(unsigned worker, const Run& request);
  // Waits for one of the workers [begin, end).
  Result<std::pair<unsigned, RunEnd>> waitFor(unsigned begin, unsigned end);
  Result<void> launch(const RecoveryProgram& program);
  Result<void> addWorker(unsigned number);
  void findModules();
  void addModule(const std::string& path);
  RunEnd resultOf(unsigned worker);

  PrivateFolder folder_;
  PlanFile plan_;
  RunLimits limits_;
  std::vector<Worker> workers_;
  unsigned besideAt_ = 0;  // workers from here on have the other baseline
  Beside beside_{*this};
  int zygoteSocket_ = -1;
  int zygote_ = -1;
  TrappedSites sites_;
  bool trapped_ = false;  // code that was not compiled by Blackout is followed
};

}  // namespace blackout
