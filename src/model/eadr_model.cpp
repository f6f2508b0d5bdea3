#include "model/eadr_model.h"

namespace blackout {

void EadrModel::event(EventNo n, const Event& e, Histories& histories) {
  if (complete_) {
    for (StoreNo s : inFlight_) histories.guaranteeCached(histories.stores()[s].line, s, n);
    inFlight_.clear();
    complete_ = false;
  }
  X86Model::event(n, e, histories);
}

void EadrModel::stored(StoreNo s, EventNo n, const Event& last, Histories& histories) {
  X86Model::stored(s, n, last, histories);
  if (kindOf(last) == EventKind::StoreNt) return;
  bool goesOn = (last.len & BLACKOUT_WIDE) != 0;
  if (anyWide_ && (goesOn || !inFlight_.empty())) {
    inFlight_.push_back(s);
    complete_ = !goesOn;
    return;
  }
  histories.guaranteeCached(histories.stores()[s].line, s, n);
}

}  // namespace blackout
