// The replay files of a report's findings, numbered as the findings stand in the report, in a folder that is made when
// there is something to put into it.
#pragma once

#include <string>
#include <vector>

#include "findings/replay_file.h"
#include "findings/report.h"

namespace blackout {

// Whether the folder can be written or made; asked before anything runs. `option` names the option in the complaint.
Result<void> checkFindingsFolder(const std::string& folder, const std::string& option);

enum class ReplayNames : std::uint8_t {
  Numbered,  // folder/finding-1.blackout and so on, of those that have one
  Folders,   // folder/finding-3/finding.blackout, by the number of the finding in the report
};

// Writes a file for each finding of the report that is among `replayable`, and notes its path in the finding. A file of
// the same name with other content is kept beside it, with a ~ behind its name, and the report says so.
void saveReplays(Report& report, const std::vector<ReplayableFinding>& replayable, const std::string& folder,
                 ReplayNames names = ReplayNames::Numbered);

}  // namespace blackout
