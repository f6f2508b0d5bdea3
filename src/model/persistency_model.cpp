#include "model/persistency_model.h"

#include <cassert>

#include "model/eadr_model.h"
#include "model/x86_model.h"

namespace blackout {

void PersistencyModel::fileEvent(EventNo n, const Event&, FileTimeline& files) { files.guaranteeAll(n); }

Result<std::unique_ptr<PersistencyModel>> makeModel(const ModelOptions& options) {
  if (auto ready = checkReady(options); !ready) return tl::unexpected(ready.error());
  std::unique_ptr<PersistencyModel> model;
  switch (options.kind) {
    case ModelKind::X86:
      model = std::make_unique<X86Model>(options);
      break;
    case ModelKind::Eadr:
      model = std::make_unique<EadrModel>(options);
      break;
    case ModelKind::Msync:
    case ModelKind::Cxl:
      break;  // refused above
  }
  assert(model != nullptr && model->unit() == BLACKOUT_LINE);
  return model;
}

}  // namespace blackout
