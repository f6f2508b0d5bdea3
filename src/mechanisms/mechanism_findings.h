// From broken rules to findings and figures.
#pragma once

#include "findings/report.h"
#include "mechanisms/description.h"
#include "mechanisms/phases.h"

namespace blackout {

// Grouped by mechanism, rule and the instructions of both stores; worst first by how often.
std::vector<Finding> mechanismFindings(const Index& index, const Description& description, const Phases& phases);

// `points`: at which the plug is pulled, ascending.
CheckedMechanisms mechanismSummary(const Index& index, const Description& description, const Phases& phases,
                                   std::span<const EventNo> points);

// What a reader must know: mechanisms that were found nowhere, or never used.
std::vector<std::string> mechanismNotes(const Description& description, const Phases& phases);

}  // namespace blackout
