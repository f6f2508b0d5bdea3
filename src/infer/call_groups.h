// The functions of a program from callees to callers; those that call each other in a circle come together.
#pragma once

#include <vector>

#include "infer/program_code.h"

namespace blackout {

struct CallGroup {
  std::vector<FunctionNo> members;  // in order
  bool recursive = false;
};

std::vector<CallGroup> callGroups(const ProgramCode& code);

}  // namespace blackout
