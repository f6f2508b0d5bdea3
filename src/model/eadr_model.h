// x86 whose caches are in the persistence domain: a cached store is durable when it is in the
// cache, a non-temporal one still waits for its thread's fence.
#pragma once

#include <vector>

#include "model/x86_model.h"

namespace blackout {

class EadrModel : public X86Model {
 public:
  explicit EadrModel(const ModelOptions& options) : X86Model(options), anyWide_(options.wideOrder == WideOrder::Any) {}

  void event(EventNo n, const Event& e, Histories& histories) override;
  void stored(StoreNo s, EventNo n, const Event& last, Histories& histories) override;

 private:
  bool anyWide_;
  // With wide-order=any the pieces of a wide store are in the cache, in whatever order, only when
  // the next event comes: a crash before that may find any of them.
  std::vector<StoreNo> inFlight_;
  bool complete_ = false;
};

}  // namespace blackout
