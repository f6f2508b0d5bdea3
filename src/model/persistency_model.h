// A persistency model: the rules by which events make stores, and changes of the pool files, durable. One small class
// each, made by the factory; the index, the explorer and the detectors know only this interface.
#pragma once

#include <functional>
#include <memory>

#include "model/file_timeline.h"
#include "model/histories.h"
#include "model/model_options.h"

namespace blackout {

class PersistencyModel {
 public:
  virtual ~PersistencyModel() = default;

  // Bytes that are written back together. The index is built for BLACKOUT_LINE; a model with
  // another unit says so here and is refused until the index follows.
  virtual unsigned unit() const { return BLACKOUT_LINE; }

  // Called for every event in trace order, before its own store (if it has one) is in its line's
  // history: what it guarantees is told to `histories`.
  virtual void event(EventNo n, const Event& e, Histories& histories) = 0;

  // Called after the store of event `n` has been appended. `last` is the last event of the store.
  virtual void stored(StoreNo s, EventNo n, const Event& last, Histories& histories) = 0;

  // Called after a change of the pool files has been added to their history, and for every msync and fsync: what is
  // guaranteed of that history now is told to `files`. A change takes effect at once unless a model says otherwise.
  virtual void fileEvent(EventNo n, const Event& e, FileTimeline& files);
};

// Makes the model that options ask for. An error in one sentence for a model or option that is not ready.
using ModelFactory = std::function<Result<std::unique_ptr<PersistencyModel>>(const ModelOptions&)>;
Result<std::unique_ptr<PersistencyModel>> makeModel(const ModelOptions& options);

}  // namespace blackout
