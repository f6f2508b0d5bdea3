// What a finding's file says of it: the part of its JSON that people act on.
#pragma once

#include <string>
#include <string_view>

#include "events/error.h"

namespace blackout {

struct SavedFinding {
  std::string kind;
  std::string verdict;
  std::string hint;   // empty: none
  std::string tried;  // of a fix; empty: there is none
  std::string diff;   // empty: none
};

// `json`: as report/json.h writes a finding. `name`: what the complaint calls the file.
Result<SavedFinding> readSavedFinding(std::string_view json, const std::string& name);

}  // namespace blackout
