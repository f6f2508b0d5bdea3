// x86 with volatile caches, Px86 in its synchronous form: the table "Rules" of docs/semantics.md.
#pragma once

#include <vector>

#include "model/persistency_model.h"

namespace blackout {

class X86Model : public PersistencyModel {
 public:
  explicit X86Model(const ModelOptions& options) : rmwFences_(options.rmwFences) {}

  void event(EventNo n, const Event& e, Histories& histories) override;
  void stored(StoreNo s, EventNo n, const Event& last, Histories& histories) override;

 private:
  struct PendingFlush {
    LineId line;
    StoreNo last;  // the last cached store of the line that it covers
  };
  struct ThreadState {
    std::vector<PendingFlush> pending;  // clwb and clflushopt since its last fence, one per line
    std::vector<StoreNo> nt;            // its non-temporal stores since its last fence
    StoreNo syncStart = kNoStore;       // stores below it precede its last msync or fsync
    // Since its last fence, for the question whether a fence had anything to do:
    bool flushed = false;
    bool stored = false;
  };

  ThreadState& thread(const Event& e) {
    if (e.thread >= threads_.size()) threads_.resize(e.thread + 1U);
    return threads_[e.thread];
  }
  void clflush(EventNo n, const Event& e, Histories& histories);
  void clwb(EventNo n, const Event& e, Histories& histories);
  void fence(EventNo n, const Event& e, Histories& histories);
  void sync(EventNo n, const Event& e, Histories& histories);

  bool rmwFences_;
  bool threadCreated_ = false;
  StoreNo storeCount_ = 0;
  std::vector<ThreadState> threads_;
};

}  // namespace blackout
