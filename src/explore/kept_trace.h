// What is kept of a traced run: the runner has its trace only until the worker's next run.
//
// A recovery belongs to many points, so what is kept must say nothing of the one at which it happened to be run, nor
// of the worker. The trace begins with a table of the files that the crash left; it is cut down to those that the
// recovery touched, and files that the recovery made itself have the numbers behind it.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "run/run.h"

namespace blackout {

struct KeptTrace {
  std::string packed;           // the bytes of a trace file, compressed
  std::vector<EventNo> events;  // per query: how many slots the trace had when it was made
  FileNo table = 0;             // files with numbers up to this are of the table, numbered as in requests
};

// `files`: how many the program's own trace has, the least size of the table.
Result<KeptTrace> keepTrace(const std::string& path, std::span<const Query> queries, FileNo files);
Result<std::string> traceBytes(const KeptTrace& kept);

}  // namespace blackout
