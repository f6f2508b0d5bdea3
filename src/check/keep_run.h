// What a run's folder (report/run_folder.h) has of a check: the report as text, JSON, page and for sums, and a folder
// for each finding with its text, its JSON, the file that replays it, and the pools as the crash left them.
#pragma once

#include "report/run_folder.h"

namespace blackout {

// `root`: paths below it are shown relative to it. Files that replay findings and lie elsewhere, in the runs that were
// added up, are copied, and the report names the copies. Whatever could not be written is the error; the rest is there.
Result<void> keepRun(const RunFolder& folder, Report report, FailOn failOn, const std::string& root);

}  // namespace blackout
