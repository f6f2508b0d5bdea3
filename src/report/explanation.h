// What happened, as one short paragraph with names and values: what was stored, what a crash leaves of it, what the
// restart reads and does, and what was tried. Of findings about what a crash loses or keeps; each part of it is said
// only if the finding has it as a fact.
#pragma once

#include <string>

#include "findings/finding.h"

namespace blackout {

// Empty: of this finding there is no more to tell than its verdict.
std::string explanationOf(const Finding& finding);
// Whether the paragraph says what this fact says, so that a reader of both need not be told twice.
bool explains(const Finding& finding, const Fact& fact);

}  // namespace blackout
