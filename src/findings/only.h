// `--only PATH`: keeps the findings that concern the user's own code. A finding is kept if any of
// its numbered places has a frame, inlined ones included, in a file at or under one of the paths.
#pragma once

#include <string>
#include <vector>

#include "findings/report.h"

namespace blackout {

class OnlyFilter {
 public:
  // Paths are files or folders, relative to the working directory. A path that does not exist is an
  // error: a filter that silently drops everything would pass off a mistyped name as a clean run.
  static Result<OnlyFilter> make(const std::vector<std::string>& paths);

  bool keeps(const Finding& finding) const;
  bool keepsFile(const std::string& file) const;

 private:
  std::vector<std::string> roots_;  // canonical, without a slash at the end
};

// Applies the filter to a resolved report and counts what it hid. An empty filter keeps everything.
void applyOnly(Report& report, const OnlyFilter& filter);

}  // namespace blackout
