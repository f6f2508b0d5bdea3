// While it lives, the first interrupt (Ctrl-C, SIGTERM) asks long work to come to an end, and the second one to do so
// at once; the report comes in any case.
#pragma once

#include <atomic>
#include <csignal>

namespace blackout::cli {

class Interrupt {
 public:
  Interrupt() {
    requested().store(false);
    repeated().store(false);
    struct sigaction action{};
    action.sa_handler = [](int) {
      if (requested().exchange(true)) repeated().store(true);
    };
    sigaction(SIGINT, &action, &old_[0]);
    sigaction(SIGTERM, &action, &old_[1]);
  }
  ~Interrupt() {
    sigaction(SIGINT, &old_[0], nullptr);
    sigaction(SIGTERM, &old_[1], nullptr);
  }
  Interrupt(const Interrupt&) = delete;
  Interrupt& operator=(const Interrupt&) = delete;

  // Whether the one that lives, or lived last, was asked to.
  static const std::atomic<bool>& flag() { return requested(); }
  static const std::atomic<bool>& again() { return repeated(); }

 private:
  static std::atomic<bool>& requested() {
    static std::atomic<bool> value;
    return value;
  }
  static std::atomic<bool>& repeated() {
    static std::atomic<bool> value;
    return value;
  }
  struct sigaction old_[2]{};
};

}  // namespace blackout::cli
