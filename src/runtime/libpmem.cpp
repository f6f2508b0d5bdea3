// libpmem's flushing and copying functions. A call from instrumented code comes to a hook with its
// place; a call by anybody else, or through a pointer, comes to the function of the same name here, which stands
// before libpmem's. So what libpmem makes durable is recorded though libpmem isn't instrumented. It is
// recorded as clwb and sfence, whatever this processor has: a fallback to clflush would hide a missing fence.

#include <dlfcn.h>
#include <string.h>

#include "events/contract.h"
#include "runtime/access.h"
#include "runtime/real.h"
#include "runtime/recorder.h"
#include "runtime/recovery.h"
#include "runtime/regions.h"
#include "runtime/trap/known_stacks.h"
#include "runtime/trap/pages.h"
#include "runtime/trap/sites.h"

using namespace blackout::rt;

namespace {

// Flags of pmem_memcpy and its like (libpmem(7)).
constexpr unsigned kNoDrain = 1;
constexpr unsigned kNonTemporal = 2;
constexpr unsigned kWriteCombine = 8;
constexpr unsigned kNoFlush = 32;

// A function of the real library; null if the program isn't linked to it.
template <class F>
F* theirs(const char* name) {
  return reinterpret_cast<F*>(dlsym(RTLD_NEXT, name));
}

void flushLines(const void* p, size_t n, uint32_t where) {
  auto begin = reinterpret_cast<uintptr_t>(p);
  uintptr_t end = begin + n;
  // The first flush names the address that was given, the others their line.
  for (uintptr_t at = begin; at < end; at = (at & ~uintptr_t{BLACKOUT_LINE - 1}) + BLACKOUT_LINE)
    recordFlush(BLACKOUT_EV_Clwb, reinterpret_cast<void*>(at), where);
}

void drain(uint32_t where) {
  append(BLACKOUT_EV_Sfence, 0, where, 0, 0);
  self.active = false;
}

// Runs `body(where)` as one sequence of events of this thread; false if nothing can be recorded.
template <class Body>
bool recorded(blackout_site* site, const void* frame, Body body) {
  if (!recordsEvents()) return false;
  Scope scope;
  if (scope.nested) {
    problem(BLACKOUT_PROBLEM_SIGNAL);
    lost(1);
    return false;
  }
  body(whereCalled(site, frame));
  return true;
}

void persist(blackout_site* site, const void* p, size_t n, const void* frame) {
  recorded(site, frame, [&](uint32_t where) {
    flushLines(p, n, where);
    drain(where);
  });
}

// memcpy with a source, memset without.
void* put(blackout_site* site, void* d, const void* s, int c, size_t n, unsigned flags, const void* frame) {
  if (observesCrash()) {
    if (s != nullptr && mayBePm(s, n)) observe(s, n, site, frame, newGroup());
    if (mayBePm(d, n)) overwrite(d, n);
  }
  // Trapped memory is reached without a fault where one way leads to all of it.
  auto write = [&] {
    void* to = d;
    if (trapping && mayBePm(d, n)) {
      Scope scope;
      auto a = reinterpret_cast<uintptr_t>(d);
      notePageWrites(a, n);
      const Region* r = findRegion(d);
      if (r != nullptr && alikeBytes(a, n) == n) to = reinterpret_cast<void*>(reach(*r, a));
    }
    if (s != nullptr)
      memmove(to, s, n);
    else
      memset(to, c, n);
  };
  bool done = recorded(site, frame, [&](uint32_t where) {
    write();
    bool flushed = (flags & kNoFlush) == 0;
    bool nonTemporal = flushed && (flags & (kNonTemporal | kWriteCombine)) != 0;
    // Read back, because the source may overlap.
    recordStore(nonTemporal ? BLACKOUT_EV_StoreNt : BLACKOUT_EV_Store, d, d, n, where);
    if (!flushed) return;
    if (!nonTemporal) flushLines(d, n, where);
    if ((flags & kNoDrain) == 0) drain(where);
  });
  if (!done) write();
  return d;
}

}  // namespace

// The kind that a call from instrumented code has.
constexpr blackout_site_kind siteKindOf(const char* name) {
  constexpr char kMemory[] = "pmem_mem";
  for (int i = 0; i < 8; ++i)
    if (name[i] != kMemory[i]) return BLACKOUT_SITE_Persist;
  return name[8] == 's' ? BLACKOUT_SITE_Fill : BLACKOUT_SITE_Copy;
}

// Each function twice: the hook with the place of the call, and the name itself. When nothing is
// recorded, libpmem does the work.
#define BLACKOUT_PMEM(result, name, parameters, arguments, ...)                               \
  BLACKOUT_EXPORT result __blackout_##name(blackout_site* site, BLACKOUT_UNPACK parameters) { \
    const void* frame = BLACKOUT_FRAME();                                                     \
    if (!inRun())                                                                             \
      if (auto* f = theirs<result(BLACKOUT_UNPACK parameters)>(#name)) return f arguments;    \
    __VA_ARGS__;                                                                              \
  }                                                                                           \
  BLACKOUT_EXPORT result name(BLACKOUT_UNPACK parameters) {                                   \
    const void* frame = BLACKOUT_FRAME();                                                     \
    blackout_site* site = callerSite(#name, siteKindOf(#name), __builtin_return_address(0));  \
    if (!inRun())                                                                             \
      if (auto* f = theirs<result(BLACKOUT_UNPACK parameters)>(#name)) return f arguments;    \
    __VA_ARGS__;                                                                              \
  }
#define BLACKOUT_UNPACK(...) __VA_ARGS__

BLACKOUT_PMEM(void, pmem_persist, (const void* p, size_t n), (p, n), persist(site, p, n, frame))
BLACKOUT_PMEM(void, pmem_flush, (const void* p, size_t n), (p, n),
              recorded(site, frame, [&](uint32_t where) { flushLines(p, n, where); }))
BLACKOUT_PMEM(void, pmem_deep_flush, (const void* p, size_t n), (p, n),
              recorded(site, frame, [&](uint32_t where) { flushLines(p, n, where); }))
BLACKOUT_PMEM(int, pmem_deep_drain, (const void* p, size_t n), (p, n),
              recorded(site, frame, [&](uint32_t where) { drain(where); });
              return 0)
BLACKOUT_PMEM(int, pmem_deep_persist, (const void* p, size_t n), (p, n), persist(site, p, n, frame); return 0)
BLACKOUT_PMEM(void*, pmem_memcpy, (void* d, const void* s, size_t n, unsigned flags), (d, s, n, flags),
              return put(site, d, s, 0, n, flags, frame))
BLACKOUT_PMEM(void*, pmem_memmove, (void* d, const void* s, size_t n, unsigned flags), (d, s, n, flags),
              return put(site, d, s, 0, n, flags, frame))
BLACKOUT_PMEM(void*, pmem_memset, (void* d, int c, size_t n, unsigned flags), (d, c, n, flags),
              return put(site, d, nullptr, c, n, flags, frame))
BLACKOUT_PMEM(void*, pmem_memcpy_persist, (void* d, const void* s, size_t n), (d, s, n),
              return put(site, d, s, 0, n, 0, frame))
BLACKOUT_PMEM(void*, pmem_memmove_persist, (void* d, const void* s, size_t n), (d, s, n),
              return put(site, d, s, 0, n, 0, frame))
BLACKOUT_PMEM(void*, pmem_memset_persist, (void* d, int c, size_t n), (d, c, n),
              return put(site, d, nullptr, c, n, 0, frame))
BLACKOUT_PMEM(void*, pmem_memcpy_nodrain, (void* d, const void* s, size_t n), (d, s, n),
              return put(site, d, s, 0, n, kNoDrain, frame))
BLACKOUT_PMEM(void*, pmem_memmove_nodrain, (void* d, const void* s, size_t n), (d, s, n),
              return put(site, d, s, 0, n, kNoDrain, frame))
BLACKOUT_PMEM(void*, pmem_memset_nodrain, (void* d, int c, size_t n), (d, c, n),
              return put(site, d, nullptr, c, n, kNoDrain, frame))

static void drainCall(blackout_site* site, const void* frame) {
  if (observesOnly() || recorded(site, frame, [&](uint32_t where) { drain(where); })) return;
  if (auto* f = theirs<void()>("pmem_drain")) f();
}
BLACKOUT_EXPORT void __blackout_pmem_drain(blackout_site* site) { drainCall(site, BLACKOUT_FRAME()); }
BLACKOUT_EXPORT void pmem_drain() {
  drainCall(callerSite("pmem_drain", BLACKOUT_SITE_Sfence, __builtin_return_address(0)), BLACKOUT_FRAME());
}
