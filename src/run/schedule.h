// Which thread of a run goes on at which step, as a value: it is chosen, printed with what was found under it, and
// given again for the same run (runtime/schedule.h plays it). Its text is what the runtime reads and what users write.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "events/error.h"

namespace blackout {

// The turn goes to thread `to`: at a step of all threads together, at a step of thread `thread`, or as soon as that has
// made `at` stores to PM (in pieces of 8 bytes, as a trace has them) and `to` is there. Threads are numbered from 1 in
// the order in which they are made; 1 is the program's first. Or no switch: then the oldest of what waits in the store
// buffer of thread `to` takes effect.
struct Switch {
  enum class When : std::uint8_t { Step, OwnStep, Stores };
  std::uint32_t thread = 0;  // 0: `at` is a step of all
  std::uint64_t at = 0;
  std::uint32_t to = 0;
  When when = When::Step;
  bool leaves = false;
  bool operator==(const Switch&) const = default;
};

struct Schedule {
  enum class Kind : std::uint8_t {
    System,      // threads are not under control
    List,        // the switches below; besides, a thread goes on until it waits or ends
    Random,      // at one step in `rate` another thread, whichever
    Turns,       // each gets `length` steps
    Priorities,  // the highest goes on; at `depth` - 1 random steps among `length` the one that runs becomes the lowest
  };
  Kind kind = Kind::System;
  std::uint64_t seed = 1;
  std::uint64_t rate = 64;
  std::uint64_t depth = 3;
  std::uint64_t length = 0;
  // Threads have store buffers, and at one step in so many the oldest of what waits in each takes effect; 0: none by
  // chance. None: they have no buffers.
  std::optional<std::uint64_t> buffers;
  // Of kinds other than List: what is above decides until the first of these, which are all that decides from there on.
  std::vector<Switch> switches;
  bool operator==(const Schedule&) const = default;

  bool controlled() const { return kind != Kind::System; }
  std::string text() const;
  // An error, which says what there is.
  static Result<Schedule> parse(std::string_view text);
  // What threads are under where nobody says otherwise.
  static Schedule usual();
  // The n-th of the different ones that a check under several schedules uses; from 0, which is the usual one. `steps`
  // is how many the program makes, about.
  static Schedule varied(std::uint64_t n, std::uint64_t seed, std::uint64_t steps);
  // The same with store buffers, if it has none: what waits leaves sooner or later, by `n`; of a list, not by chance.
  Schedule withBuffers(std::uint64_t n = 0) const;
};

}  // namespace blackout
