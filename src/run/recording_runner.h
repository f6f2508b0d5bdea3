// The run that is recorded: the program as it is, with its client if it is a server, on private copies of its pools.
// The trace begins before the program does, with those pools in it; it ends with the last of the program's processes.
#pragma once

#include <filesystem>
#include <memory>

#include "run/launch.h"
#include "run/recording.h"
#include "run/run.h"

namespace blackout {

class RecordingRunner : public Runner {
 public:
  // All must outlive it. `tracePath`: the trace, begun; `pools`: the folder of the copies of the pools;
  // `runtimeOptions` name both.
  RecordingRunner(const Launcher& launcher, const RecordOptions& options, const std::string& tracePath,
                  const std::filesystem::path& pools, RuntimeOptions runtimeOptions);
  ~RecordingRunner() override;

  unsigned workers() const override { return 1; }

 protected:
  Result<void> begin(unsigned worker, const Run& run) override;
  Result<std::pair<unsigned, RunEnd>> wait() override;

 private:
  struct Process;
  const Launcher& launcher_;
  const RecordOptions& options_;
  const std::string& tracePath_;
  const std::filesystem::path& pools_;
  RuntimeOptions runtimeOptions_;
  std::unique_ptr<Process> process_;  // while it runs
};

}  // namespace blackout
