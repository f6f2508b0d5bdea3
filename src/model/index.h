// The index of a trace: the histories of its lines, when each store became guaranteed, the
// points, and from these the feasible versions of every line at every point. Built in one pass;
// it refers to the trace, which must outlive it and stay where it is.
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "model/crash_state.h"
#include "model/file_timeline.h"
#include "model/histories.h"
#include "model/model_options.h"
#include "model/operations.h"
#include "model/persistency_model.h"
#include "model/points.h"
#include "model/versions.h"

namespace blackout {

class Index {
 public:
  static Result<Index> build(const Trace& trace, const ModelOptions& options, ModelFactory factory = makeModel);
  // The index of another trace by the same rules: of a recovery after a crash in this one.
  Result<Index> like(const Trace& trace) const { return build(trace, options_, factory_); }
  // The same trace by the same model with other options.
  Result<Index> with(const ModelOptions& options) const { return build(*trace_, options, factory_); }
  // The same trace and options by another model, and what made the present one.
  Result<Index> by(ModelFactory factory) const { return build(*trace_, options_, std::move(factory)); }
  const ModelFactory& factory() const { return factory_; }

  const Trace& trace() const { return *trace_; }
  const ModelOptions& options() const { return options_; }
  const FileTimeline& files() const { return files_; }
  const Operations& operations() const { return operations_; }
  // The outermost operation of its thread that the event belongs to; null: none.
  const Operation* operationOf(EventNo n) const;

  // --- stores and lines ---
  // Stores in trace order; StoreNo is the position. Lines have dense ids in the order of their first
  // store or flush.
  IdSpan<StoreNo, const StoreRow> stores() const { return histories_.stores(); }
  std::uint32_t lineCount() const { return histories_.lines().size(); }
  LineNo lineNo(LineId id) const { return histories_.lines()[id]; }
  // kNoLine if no store or flush touched it.
  LineId lineId(LineNo line) const { return histories_.lines().find(line); }
  std::span<const StoreNo> history(LineId id) const { return histories_.history(id); }
  LineStore lineStore(LineId id, std::uint32_t number) const;
  // Stores in the order in which they became guaranteed.
  std::span<const StoreNo> guaranteeLog() const { return histories_.guaranteeLog(); }
  // Flush and fence instructions that guaranteed nothing, in trace order. Those that a client request only announces
  // are none, and make none.
  std::span<const Waste> wastes() const { return histories_.wastes(); }
  // The store that event `n` (either half of it) is; kNoStore if it is none.
  StoreNo storeOf(EventNo n) const;

  // --- points and versions ---
  std::vector<EventNo> points(PointsMode mode) const;
  // Length of the line's history just before event `at`.
  std::uint32_t historyLength(LineId id, EventNo at) const;
  Version leastVersion(LineId id, EventNo at) const;
  // What a crash leaves of the line, and of the pool files, named or not.
  Version versionIn(const CrashLevel& level, LineId id) const;
  Version filesIn(const CrashLevel& level) const;
  // What a version of the line holds at a point. `under` is what the line held before the trace's
  // own stores: left out, what the trace itself says; after a crash in recovery, the line as the
  // level before left it.
  LineBytes contentOf(LineId id, EventNo at, const Version& version, const LineBytes* under = nullptr) const;
  // All feasible versions of a line at a point. Takes time in proportion to the line's history; what is asked at many
  // points is asked of a Baseline.
  LineVersions versionsOf(LineNo line, EventNo at, const LineBytes* under = nullptr,
                          std::size_t limit = kVersionLimit) const;
  // Whether a crash at `at` may leave this version of the line.
  bool isFeasible(LineNo line, EventNo at, const Version& version) const;

  // The line's stores before `at` that are not guaranteed there, in trace order. `from`: numbers
  // below it are known to be guaranteed.
  std::vector<LineStore> openStores(LineId id, EventNo at, std::uint32_t from, std::uint32_t length) const;

  // Bytes of the index beyond the trace.
  std::size_t memory() const { return histories_.memory() + points_.capacity() * sizeof(EventNo); }

 private:
  Index(const Trace& trace, const ModelOptions& options, ModelFactory factory, std::size_t stores)
      : trace_(&trace),
        options_(options),
        factory_(std::move(factory)),
        histories_(trace, options, stores),
        files_(trace) {}

  const Trace* trace_;
  ModelOptions options_;
  ModelFactory factory_;
  Histories histories_;
  FileTimeline files_;
  Operations operations_;
  std::vector<EventNo> points_;
};

// log10 of the sum over points of the numbers of states that eager enumeration has there.
double log10StatesOverPoints(const Index& index, std::span<const EventNo> points);

}  // namespace blackout
