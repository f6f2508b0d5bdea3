// Stores that are never made durable, in a line of which a crash has shown that another store is lost. If the cure that
// was tried for that one makes these durable as well, the flush that is missing is one, and the mistake is one: the
// finding of the restart says so, and the suspected one goes. What that cure leaves is a mistake of its own.
#pragma once

#include <vector>

#include "findings/finding.h"
#include "model/index.h"

namespace blackout {

// With places resolved, and after joinNotDurable (detect.h). `index`: of the recording that they are about.
void joinCuredToo(std::vector<Finding>& findings, const Index& index);

}  // namespace blackout
