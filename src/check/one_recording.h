// A recording that is over, judged: what its trace says, what restarts after crashes in it do.
#pragma once

#include <iterator>
#include <optional>
#include <string>
#include <vector>

#include "check/check.h"
#include "detect/trusted.h"
#include "findings/replay_file.h"

namespace blackout {

struct Judged {
  Report report;
  std::vector<ReplayableFinding> replayable;
  LinesReached reached;

  // One of another list of operations, which is in this file; empty: the first.
  void addList(Judged more, const std::string& file) {
    for (Finding& f : more.report.findings) f.operationsFile = file;
    for (ReplayableFinding& f : more.replayable) f.finding.operationsFile = file;
    add(std::move(more), {});
  }

  // Another recording of the same program. `schedule` says under which its findings came.
  void add(Judged more, const std::string& schedule) {
    for (Finding& f : more.report.findings) f.schedule = schedule;
    for (ReplayableFinding& f : more.replayable) f.finding.schedule = schedule;
    report += more.report;
    replayable.insert(replayable.end(), std::make_move_iterator(more.replayable.begin()),
                      std::make_move_iterator(more.replayable.end()));
  }
};

// The objects that the options trust, of those that the trace names; none: nothing is trusted.
Result<std::optional<Trusted>> trustedBy(const CheckOptions& options, const Trace& trace);

Result<Judged> judgeRecording(Recording& recording, const CheckOptions& options);
// The report as it is given away, with the replay files of its findings.
Report finished(Judged judged, const CheckOptions& options);

}  // namespace blackout
