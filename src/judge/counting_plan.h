// Crash states that the code itself points to: an array and its counter that are changed together (infer/counting.h),
// of which a crash leaves one side. They are tried before all others, and judged like any other: that two fields belong
// together is no finding. A finding whose two stores are the sides of such an update says so.
#pragma once

#include <string>
#include <vector>

#include "explore/adversary.h"
#include "findings/finding.h"
#include "infer/counted_updates.h"
#include "model/index.h"
#include "run/patience.h"

namespace blackout {

struct CountingPlan {
  struct Property {
    FieldKey array, counter;
    std::string bound;
    bool strict = false;
    bool operator==(const Property&) const = default;
  };
  std::vector<Property> properties;    // by score
  std::vector<CountedUpdate> updates;  // of the trace
  std::vector<std::string> notes;      // sentences: why there is less than there might be
};

// `programs`: files that may carry bitcode. Analyses for so many seconds at the most.
CountingPlan countingPlan(const Trace& trace, const std::vector<std::string>& programs, double seconds,
                          const Patience& patience);

// The two sides of each update, at the first of these points after it and after its operation has ended.
std::vector<OneSidedTest> oneSidedTests(const CountingPlan& plan, const Index& index,
                                        IdSpan<PointNo, const EventNo> points);

// Adds what the plan knows of the two stores of a finding's cause.
void nameCounting(const CountingPlan& plan, Finding& finding);

}  // namespace blackout
