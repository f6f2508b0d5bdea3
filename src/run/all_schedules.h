// All schedules of a program's threads with at most so many preemptions (Musuvathi and Qadeer): a thread goes on until
// it waits or ends unless the schedule takes its turn away, and that it may do a bounded number of times. Where a
// thread waits, yields or ends, each of those that are ready may be next, for nothing.
//
// The program itself says what there is to choose: each run, recorded with its steps, gives the schedules that depart
// from it once more, behind its own last departure. So each schedule comes once.
//
// Where the threads have store buffers a schedule also says what leaves them at a step, and in which order, which costs
// nothing. Nobody else runs between the steps of a thread, so what waits in its own buffer need not leave there, unless
// another's leaves behind it or the turn goes on. Nothing need leave before an access that could not tell.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <vector>

#include "events/trace.h"
#include "run/schedule.h"

namespace blackout {

class AllSchedules {
 public:
  explicit AllSchedules(std::uint64_t preemptions, bool buffers = false) : most_(preemptions), buffers_(buffers) {
    waiting_[0].emplace_back();
  }

  // Those with fewer preemptions first; none: there are no more.
  std::optional<Schedule> next();
  // What the program did under the last one, recorded with its steps.
  void ran(const Trace& trace);
  // False: there were so many to come that some were left out.
  bool complete() const { return complete_; }

 private:
  struct Departures {
    std::vector<Switch> switches;
    std::uint64_t preemptions = 0;
  };
  struct Choice;

  // All that the run could have done otherwise at one step; false: there is no room for more.
  bool depart(const Choice& choice, std::uint64_t preemptions, std::vector<std::uint32_t>& waiting,
              std::vector<Switch>& leaving);
  bool add(std::uint64_t preemptions, const std::vector<Switch>& leaving, const Choice& choice, std::uint32_t to);

  std::uint64_t most_;
  bool buffers_ = false;
  std::map<std::uint64_t, std::deque<Departures>> waiting_;  // by their preemptions
  std::size_t waitingCount_ = 1;
  bool complete_ = true;
  Departures last_;
};

}  // namespace blackout
