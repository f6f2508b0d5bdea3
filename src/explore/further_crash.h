// A crash in a recovery: from the trace of a recovery run, the points at which it may be interrupted and what such a
// crash leaves. SEMANTICS.md, "A crash in recovery": of every line { c + d | c still possible after what the recovery
// observed of it, d a down-set of the recovery's own stores }.
#pragma once

#include <map>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "explore/crash_space.h"
#include "explore/recovery_tree.h"
#include "model/index.h"

namespace blackout {

// What is kept of a traced run: the runner has its trace only until the worker's next run. Its table of files is cut
// down to those that the recovery touched, so that it says nothing of the point at which it happened to be run: the
// same recovery belongs to many. Numbers of files are those of the program's trace.
struct KeptTrace {
  std::string packed;                 // the bytes of a trace file, compressed
  std::vector<std::uint32_t> events;  // per query: how many slots the trace had when it was made
};
Result<KeptTrace> keepTrace(const std::string& path, std::span<const Query> queries, FileNo files);
Result<std::string> traceBytes(const KeptTrace& kept);

class InterruptedRecovery {
 public:
  static Result<std::unique_ptr<InterruptedRecovery>> open(const KeptTrace& kept, const Baseline& baseline);

  // Points with something of the recovery's own in them: before its first store a crash leaves what the crash before
  // left. `observed`: how many queries were made before the last event, so that they shaped what happened.
  struct CrashPoint {
    EventNo at = 0;
    std::uint32_t observed = 0;
  };
  std::span<const CrashPoint> points() const { return points_; }
  std::uint32_t observedBefore(EventNo at) const;
  // Points after the recovery changed a pool's size or name, which no request can tell a runner.
  std::uint64_t fileChangePoints() const { return fileChangePoints_; }

  // Adds all bytes that the recovery stored.
  void addTo(Watched& watched) const;
  // What a crash at the point changes of the space in which the recovery ran. `path`: its way through the tree.
  std::map<WatchedNo, UncertainLine> changed(const CrashSpace& before, const RecoveryTree& tree,
                                             std::span<const EdgeNo> path, EventNo at) const;

  const Index& index() const { return *index_; }

 private:
  InterruptedRecovery() = default;
  UncertainLine lineAfter(const UncertainLine& before, std::span<const std::uint32_t> left, LineNo line,
                          EventNo at) const;

  std::string bytes_;
  std::unique_ptr<Trace> trace_;
  std::unique_ptr<Index> index_;
  const Baseline* baseline_ = nullptr;
  std::vector<std::uint32_t> events_;
  std::vector<CrashPoint> points_;
  std::uint64_t fileChangePoints_ = 0;
};

}  // namespace blackout
