// How long somebody still waits for an answer. Once the work is to end (an interrupt, the bound of --time), what is
// under way may take a moment more; then everything is given up that has no end in sight, and what is known is told.
#pragma once

#include <algorithm>
#include <atomic>
#include <chrono>
#include <memory>

namespace blackout {

class Patience {
 public:
  Patience() = default;
  // `interrupt`, `again`: set by the first and the second request to end; null: there are none. `seconds`: from now on;
  // 0: no bound.
  Patience(const std::atomic<bool>* interrupt, const std::atomic<bool>* again, double seconds)
      : interrupt_(interrupt), again_(again), seconds_(seconds), begun_(Clock::now()) {}

  bool interrupted() const { return interrupt_ != nullptr && interrupt_->load(); }
  // The work is to end.
  bool ending() const { return interrupted() || (seconds_ > 0 && since(begun_) >= seconds_); }
  // Seconds until the bound, for who has a clock of its own: he must not see it later than everybody here, or what he
  // waits for is given up under his hands. 0: no bound.
  double left() const { return seconds_ > 0 ? std::max(seconds_ - since(begun_), 1e-9) : 0; }
  // And it took a moment more already.
  bool over() const {
    if (!ending()) return false;
    if (again_ != nullptr && again_->load()) return true;
    if (*asked_ == Clock::time_point()) *asked_ = Clock::now();
    return since(*asked_) >= moment_;
  }
  // For work that something else must come after: over sooner.
  Patience sooner() const {
    Patience part = *this;
    part.moment_ = moment_ / 2;
    return part;
  }

 private:
  using Clock = std::chrono::steady_clock;
  static double since(Clock::time_point t) { return std::chrono::duration<double>(Clock::now() - t).count(); }

  const std::atomic<bool>* interrupt_ = nullptr;
  const std::atomic<bool>* again_ = nullptr;
  double seconds_ = 0;
  double moment_ = 2;  // seconds
  Clock::time_point begun_;
  // When that was first seen, by whichever copy: what one of them has given up is over for all.
  std::shared_ptr<Clock::time_point> asked_ = std::make_shared<Clock::time_point>();
};

}  // namespace blackout
