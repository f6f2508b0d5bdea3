#include "ir/lane_access.h"

#include "llvm/IR/IntrinsicsX86.h"

using namespace llvm;

namespace blackout {

std::optional<LaneAccess> laneAccess(const IntrinsicInst& i) {
  LaneAccess a{};
  auto store = [&](int data, int pointer, int mask) {
    a.data = data, a.pointer = pointer, a.mask = mask;
    a.type = dyn_cast<FixedVectorType>(i.getArgOperand(static_cast<unsigned>(data))->getType());
  };
  auto load = [&](int pointer, int mask, int otherwise) {
    a.load = true;
    a.pointer = pointer, a.mask = mask, a.otherwise = otherwise;
    a.type = dyn_cast<FixedVectorType>(i.getType());
  };
  switch (i.getIntrinsicID()) {
    case Intrinsic::masked_store:
      store(0, 1, 3);
      break;
    case Intrinsic::masked_scatter:
      store(0, 1, 3);
      a.everyLaneHasPointer = true;
      break;
    case Intrinsic::masked_load:
      load(0, 2, 3);
      break;
    case Intrinsic::masked_gather:
      load(0, 2, 3);
      a.everyLaneHasPointer = true;
      break;
    case Intrinsic::x86_avx_maskstore_ps:
    case Intrinsic::x86_avx_maskstore_pd:
    case Intrinsic::x86_avx_maskstore_ps_256:
    case Intrinsic::x86_avx_maskstore_pd_256:
    case Intrinsic::x86_avx2_maskstore_d:
    case Intrinsic::x86_avx2_maskstore_q:
    case Intrinsic::x86_avx2_maskstore_d_256:
    case Intrinsic::x86_avx2_maskstore_q_256:
      store(2, 0, 1);
      break;
    case Intrinsic::x86_avx_maskload_ps:
    case Intrinsic::x86_avx_maskload_pd:
    case Intrinsic::x86_avx_maskload_ps_256:
    case Intrinsic::x86_avx_maskload_pd_256:
    case Intrinsic::x86_avx2_maskload_d:
    case Intrinsic::x86_avx2_maskload_q:
    case Intrinsic::x86_avx2_maskload_d_256:
    case Intrinsic::x86_avx2_maskload_q_256:
      load(0, 1, -1);
      break;
    case Intrinsic::x86_sse2_maskmov_dqu:
      store(0, 2, 1);
      a.nonTemporal = true;
      break;
    default:
      return std::nullopt;
  }
  if (a.type == nullptr) return std::nullopt;
  return a;
}

}  // namespace blackout
