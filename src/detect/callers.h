// Who asked for what a library does. PMDK's libraries flush at a few instructions for all their callers, so a finding
// about such an instruction is told apart by the line that called the library, and by the line at which that thread's
// transaction begins.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>

#include "binary/symbolizer.h"
#include "detect/trusted.h"

namespace blackout {

class Callers {
 public:
  // The trace must outlive it.
  explicit Callers(const Trace& trace);
  ~Callers();

  // Names the call by which a library was asked for what it does there: a function, and which of the lines of it that
  // were asked for, in the order of asking. Empty: it is no library's instruction, or who called it is not known.
  const std::string& of(StackId where);

 private:
  const Trace& trace_;
  std::optional<Trusted> libraries_;
  std::unique_ptr<Symbolizer> symbolizer_;  // once it is needed
  std::map<StackId, std::string> known_;
  std::map<std::string, std::map<std::pair<std::string, std::uint32_t>, std::size_t>> lines_;  // by function
};

// The transactions that threads are in while a trace is read in order.
class OpenTransactions {
 public:
  void event(const Event& e);
  // Where the thread's outermost one began; 0: it is in none, or that is not known.
  StackId beganAt(ThreadNo thread) const;

 private:
  struct Open {
    unsigned depth = 0;
    StackId where = 0;
  };
  std::map<ThreadNo, Open> open_;
};

}  // namespace blackout
