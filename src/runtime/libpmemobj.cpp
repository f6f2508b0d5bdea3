// libpmemobj's functions that add a range to a transaction. The library announces what it logs by client requests, but
// only ranges that the transaction hasn't yet, and from one place of its own. What the program asked for, and where, is
// known here; so while such a call runs, the library's own words on the same matter are not taken.

#include <dlfcn.h>
#include <stdint.h>

#include "events/contract.h"
#include "runtime/access.h"
#include "runtime/real.h"
#include "runtime/recorder.h"
#include "runtime/recovery.h"
#include "runtime/regions.h"
#include "runtime/trap/known_stacks.h"
#include "runtime/trap/sites.h"

using namespace blackout::rt;

namespace {

struct ObjectId {  // PMEMoid
  uint64_t pool;
  uint64_t offset;
};

template <class F>
F* theirs(const char* name) {
  void* f = dlsym(RTLD_NEXT, name);
  // A plugin may have brought the library for itself alone.
  if (f == nullptr)
    if (void* library = dlopen("libpmemobj.so.1", RTLD_NOW | RTLD_NOLOAD)) f = dlsym(library, name);
  return reinterpret_cast<F*>(f);
}

// Records the range, runs the library's function, and takes no requests about ranges meanwhile.
template <class Call>
int adding(const char* name, const void* p, size_t size, const void* frame, const void* returnAddress, Call call) {
  if (!trapping || !recordsEvents()) return call();
  blackout_site* site = callerSite(name, BLACKOUT_SITE_Request, returnAddress);
  {
    Scope scope;
    auto a = reinterpret_cast<uintptr_t>(p);
    if (!scope.nested)
      forEachRegion(a, a + size, [&](const Region& r, uintptr_t from, uintptr_t to) {
        uint64_t payload[2] = {to - from, 0};
        appendBlob(BLACKOUT_EV_TxAdd, 0, pmAddressOf(r, from), payload, sizeof payload, whereCalled(site, frame));
      });
  }
  self.adding = true;  // longjmp() ends it too, when the library aborts the transaction
  int r = call();
  self.adding = false;
  return r;
}

const void* direct(ObjectId id, uint64_t offset) {
  auto* f = theirs<void*(ObjectId)>("pmemobj_direct");
  const auto* p = f == nullptr ? nullptr : static_cast<const char*>(f(id));
  return p == nullptr ? nullptr : p + offset;
}

}  // namespace

BLACKOUT_EXPORT int pmemobj_tx_add_range(ObjectId id, uint64_t offset, size_t size) {
  return adding("pmemobj_tx_add_range", trapping ? direct(id, offset) : nullptr, size, BLACKOUT_FRAME(),
                __builtin_return_address(0),
                [&] { return theirs<int(ObjectId, uint64_t, size_t)>("pmemobj_tx_add_range")(id, offset, size); });
}
BLACKOUT_EXPORT int pmemobj_tx_add_range_direct(const void* p, size_t size) {
  return adding("pmemobj_tx_add_range_direct", p, size, BLACKOUT_FRAME(), __builtin_return_address(0),
                [&] { return theirs<int(const void*, size_t)>("pmemobj_tx_add_range_direct")(p, size); });
}
BLACKOUT_EXPORT int pmemobj_tx_xadd_range(ObjectId id, uint64_t offset, size_t size, uint64_t flags) {
  return adding("pmemobj_tx_xadd_range", trapping ? direct(id, offset) : nullptr, size, BLACKOUT_FRAME(),
                __builtin_return_address(0), [&] {
                  return theirs<int(ObjectId, uint64_t, size_t, uint64_t)>("pmemobj_tx_xadd_range")(id, offset, size,
                                                                                                    flags);
                });
}
BLACKOUT_EXPORT int pmemobj_tx_xadd_range_direct(const void* p, size_t size, uint64_t flags) {
  return adding("pmemobj_tx_xadd_range_direct", p, size, BLACKOUT_FRAME(), __builtin_return_address(0), [&] {
    return theirs<int(const void*, size_t, uint64_t)>("pmemobj_tx_xadd_range_direct")(p, size, flags);
  });
}
