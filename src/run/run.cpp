#include "run/run.h"

#include <cassert>

namespace blackout {

Result<RunEnd> Runner::run(const Run& request) {
  RunBatch batch(*this);
  if (auto ok = batch.begin(0, request); !ok) return tl::unexpected(ok.error());
  auto ended = batch.wait();
  if (!ended) return tl::unexpected(ended.error());
  return std::move(ended->second);
}

RunBatch::RunBatch(Runner& runner) : runner_(&runner) {
  assert(!runner.taken_);
  runner.taken_ = true;
}

RunBatch::~RunBatch() {
  while (underWay_ != 0 && !runner_->broken_) (void)wait();
  runner_->taken_ = false;
}

Result<void> RunBatch::begin(unsigned worker, const Run& request) {
  if (runner_->broken_) return fail("no more runs can be made, because one failed", ExitCode::Inconclusive);
  auto ok = runner_->begin(worker, request);
  runner_->broken_ = !ok;
  if (ok) ++underWay_;
  return ok;
}

Result<std::pair<unsigned, RunEnd>> RunBatch::wait() {
  auto ended = runner_->wait();
  runner_->broken_ = !ended;
  if (ended) --underWay_;
  return ended;
}

}  // namespace blackout
