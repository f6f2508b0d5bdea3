// A crash in a recovery: from the trace of a recovery run, the points at which it may be interrupted and what such a
// crash leaves. docs/semantics.md, "A crash in recovery": of every line { c + d | c still possible after what the
// recovery observed of it, d a down-set of the recovery's own stores }.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "explore/crash_space.h"
#include "explore/kept_trace.h"
#include "explore/recovery_tree.h"
#include "model/index.h"

namespace blackout {

class InterruptedRecovery {
 public:
  // The number in requests of a file that a recovery made: by its path, and how many with that path it had made before.
  using NumberOf = std::function<FileNo(const std::string& path, unsigned before)>;
  ~InterruptedRecovery();
  static Result<std::unique_ptr<InterruptedRecovery>> open(const KeptTrace& kept, const Baseline& baseline,
                                                           const NumberOf& numberOf);

  // Points with something of the recovery's own in them: before its first store or change of a file a crash leaves what
  // the crash before left. `observed`: how many queries were made before the last event, so that they shaped what
  // happened.
  struct CrashPoint {
    EventNo at = 0;
    std::uint32_t observed = 0;
  };
  std::span<const CrashPoint> points() const { return points_; }
  std::uint32_t observedBefore(EventNo at) const;
  // Points at which it left files that no request can tell a runner: at a path that is not tracked, or too large.
  std::uint64_t untellablePoints() const { return untellable_; }

  // Adds all bytes that the recovery stored or zeroed.
  void addTo(TrackedBytes& tracked) const;
  // What a crash at the point changes of the space in which the recovery ran. `path`: its way through the tree.
  std::map<TrackedNo, UncertainLine> changed(const CrashSpace& before, const RecoveryTree& tree,
                                             std::span<const EdgeNo> path, EventNo at) const;
  // The files that it leaves; none: what the space before leaves, and the recovery learned nothing of them.
  std::optional<UncertainFiles> files(const CrashSpace& before, const RecoveryTree& tree, std::span<const EdgeNo> path,
                                      EventNo at) const;

  const Index& index() const { return *index_; }
  // A line of its trace by the name that it has in requests, and back; files that it made have other numbers there.
  LineNo toSpace(LineNo inTrace) const;
  LineNo toTrace(LineNo inSpace) const;

 private:
  InterruptedRecovery();
  bool tellable(EventNo at) const;
  UncertainLine lineAfter(const UncertainLine& before, std::span<const std::uint32_t> left, LineNo inTrace,
                          EventNo at) const;

  std::string bytes_;
  std::unique_ptr<Trace> trace_;
  std::unique_ptr<Index> index_;
  const Baseline* baseline_ = nullptr;
  FileNo table_ = 0;
  EventNo tableEnd_ = 0;              // of the events that tell of the files it found
  IdVector<FileNo, FileNo> numbers_;  // by number in the trace: that in requests, 0: none
  EventNo firstChange_ = kNever;      // of a file
  std::vector<EventNo> events_;
  std::vector<CrashPoint> points_;
  std::uint64_t untellable_ = 0;
};

}  // namespace blackout
