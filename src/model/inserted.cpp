#include "model/inserted.h"

#include <algorithm>
#include <tuple>

namespace blackout {

namespace {

class WithInserted : public PersistencyModel {
 public:
  using Inserted = std::shared_ptr<const std::vector<InsertedEvent>>;
  WithInserted(std::unique_ptr<PersistencyModel> model, Inserted inserted)
      : model_(std::move(model)), kept_(std::move(inserted)), inserted_(*kept_) {}

  unsigned unit() const override { return model_->unit(); }
  void event(EventNo n, const Event& e, Histories& histories) override {
    while (next_ < inserted_.size() &&
           (inserted_[next_].at < n || (inserted_[next_].at == n && inserted_[next_].before)))
      insert(inserted_[next_++], n, histories);
    model_->event(n, e, histories);
    if (!isStore(e)) insertAfter(n, histories);
  }
  void stored(StoreNo s, EventNo n, const Event& last, Histories& histories) override {
    model_->stored(s, n, last, histories);
    insertAfter(n, histories);
  }
  void fileEvent(EventNo n, const Event& e, FileTimeline& files) override { model_->fileEvent(n, e, files); }

 private:
  void insertAfter(EventNo n, Histories& histories) {
    while (next_ < inserted_.size() && inserted_[next_].at == n) insert(inserted_[next_++], n, histories);
  }
  void insert(const InsertedEvent& i, EventNo n, Histories& histories) {
    auto make = [&](EventKind kind, PmAddr addr) {
      Event e{};
      e.kind = static_cast<decltype(e.kind)>(kind);
      e.thread = static_cast<decltype(e.thread)>(i.thread.value());
      e.addr = addr;
      model_->event(n, e, histories);
    };
    if (i.flush) make(EventKind::Clwb, addressOf(*i.flush));
    if (i.fence) make(EventKind::Sfence, 0);
  }

  std::unique_ptr<PersistencyModel> model_;
  Inserted kept_;
  const std::vector<InsertedEvent>& inserted_;
  std::size_t next_ = 0;
};

}  // namespace

Result<Index> withInserted(const Index& index, std::vector<InsertedEvent> inserted) {
  // Of those at one place the fence comes last.
  auto key = [](const InsertedEvent& i) { return std::tuple(i.at, !i.before, i.fence, i.thread, i.flush); };
  std::sort(inserted.begin(), inserted.end(),
            [&](const InsertedEvent& a, const InsertedEvent& b) { return key(a) < key(b); });
  inserted.erase(std::unique(inserted.begin(), inserted.end()), inserted.end());
  auto kept = std::make_shared<const std::vector<InsertedEvent>>(std::move(inserted));
  return index.by(
      [kept, factory = index.factory()](const ModelOptions& options) -> Result<std::unique_ptr<PersistencyModel>> {
        auto model = factory(options);
        if (!model) return model;
        return std::make_unique<WithInserted>(std::move(*model), kept);
      });
}

}  // namespace blackout
