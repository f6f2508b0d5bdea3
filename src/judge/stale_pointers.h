// Pointers that a restart follows though they were good in the recorded process only: to functions, tables of virtual
// functions and globals of its program files, to its stacks, its heap, its thread-local memory and other mappings. In
// restarts all of these lie where they lay in the recording, so that runs are the same, and such a pointer leads to the
// right place by that alone. So a restart that reads one is run once more on the same crash state, with all of them
// moved to where nothing is, those of one program file by one distance: as if the process that stored them had had
// other addresses. If it faults there, it follows one. Whoever only compares them, or computes with their distances,
// does not.
#pragma once

#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "judge/cause_naming.h"
#include "run/patience.h"

namespace blackout {

// Places of the recorded process that any other process has elsewhere, and that restarts have where it had them.
class MovedAddresses {
 public:
  explicit MovedAddresses(const Trace& recording);
  // Where an address is moved to; none: it stays.
  std::optional<std::uint64_t> moved(std::uint64_t address) const;
  // Whether every process has there what the recorded one had: PM, and programs that are linked to fixed addresses.
  bool stays(std::uint64_t address) const;
  // The address that was moved there; none: nothing is moved there.
  std::optional<std::uint64_t> original(std::uint64_t address) const;

 private:
  struct Range {
    std::uint64_t begin = 0;
    std::uint64_t end = 0;
    std::uint64_t to = 0;
  };
  void add(std::uint64_t begin, std::uint64_t end);
  // Less than the ranges that were added before it.
  void addAround(std::uint64_t begin, std::uint64_t end);
  std::vector<Range> ranges_;
  std::vector<std::pair<std::uint64_t, std::uint64_t>> stay_;  // where every process has them
};

// The pointers of the recording that restarts follow, one cause for each place that stores them. `shown`: causes that
// have a finding already, whose stores are not looked at.
Result<std::vector<Cause>> followedPointers(StateProbe& probe, const Index& recording, const std::vector<Cause>& shown,
                                            const Patience& patience);

}  // namespace blackout
