#include "model/left_out.h"

#include <algorithm>

namespace blackout {

namespace {

class WithLeftOut : public PersistencyModel {
 public:
  using LeftOut = std::shared_ptr<const std::vector<EventNo>>;
  WithLeftOut(std::unique_ptr<PersistencyModel> model, LeftOut leftOut)
      : model_(std::move(model)), leftOut_(std::move(leftOut)) {}

  unsigned unit() const override { return model_->unit(); }
  void event(EventNo n, const Event& e, Histories& histories) override {
    if (!std::binary_search(leftOut_->begin(), leftOut_->end(), n)) model_->event(n, e, histories);
  }
  void stored(StoreNo s, EventNo n, const Event& last, Histories& histories) override {
    model_->stored(s, n, last, histories);
  }
  void fileEvent(EventNo n, const Event& e, FileTimeline& files) override { model_->fileEvent(n, e, files); }

 private:
  std::unique_ptr<PersistencyModel> model_;
  LeftOut leftOut_;
};

}  // namespace

Result<Index> withLeftOut(const Index& index, std::vector<EventNo> events) {
  auto leftOut = std::make_shared<const std::vector<EventNo>>(std::move(events));
  return index.by(
      [leftOut, factory = index.factory()](const ModelOptions& options) -> Result<std::unique_ptr<PersistencyModel>> {
        auto model = factory(options);
        if (!model) return model;
        return std::make_unique<WithLeftOut>(std::move(*model), leftOut);
      });
}

bool sameGuarantees(const Index& a, const Index& b) {
  return std::equal(
      a.stores().begin(), a.stores().end(), b.stores().begin(), b.stores().end(),
      [](const StoreRow& x, const StoreRow& y) { return x.event == y.event && x.guaranteedAt == y.guaranteedAt; });
}

}  // namespace blackout
