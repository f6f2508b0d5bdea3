// The hooks of instrumented code: each takes the right to append, records the access and makes
// it. An address that no region holds (the window is a hull) is accessed and not recorded.

#include <emmintrin.h>
#include <string.h>

#include "events/contract.h"
#include "runtime/access.h"
#include "runtime/buffers.h"
#include "runtime/options.h"
#include "runtime/recorder.h"
#include "runtime/recovery.h"
#include "runtime/regions.h"
#include "runtime/schedule.h"
#include "runtime/trap/pages.h"

namespace blackout::rt {

namespace {

uint32_t hereOf(blackout_site* site, const void* frame) {
  Stack stack;
  walkStack(stack, frame);
  return whereOf(site, stack);
}

// Past the end of the file, where it is lost to the program.
inline bool isOutside(const Region& r, uintptr_t p, size_t len) {
  uint64_t offset = pmAddressOf(r, p) & (BLACKOUT_MAX_FILE_SIZE - 1);
  return __builtin_expect(offset + len > header->files[r.file].size, 0);
}

// A piece inside one aligned 8-byte unit.
inline void recordPiece(uint8_t kind, const Region& r, uintptr_t p, uint64_t value, uint8_t len, uint32_t where) {
  if (__builtin_expect(r.copied, 0)) return;
  if (isOutside(r, p, len)) kind = BLACKOUT_EV_StoreOutside;
  append(kind, len, where, pmAddressOf(r, p), value);
}

void nestedAccess() {
  problem(BLACKOUT_PROBLEM_SIGNAL);
  lost(1);
}

}  // namespace

void recordStore(uint8_t kind, const void* p, const void* bytes, size_t size, uint32_t where, bool joined) {
  if (joined) {
    // Two halves that persist together, unless one of them is outside the file.
    const Region* r = findRegion(p);
    auto a = reinterpret_cast<uintptr_t>(p);
    if (r != nullptr && !r->copied && (a & 15) == 0 && !isOutside(*r, a, 16)) {
      uint64_t values[2];
      memcpy(values, bytes, sizeof values);
      appendJoined(kind, where, pmAddressOf(*r, a), values);
      self.active = true;
      return;
    }
  }
  Pieces(kind, where).add(p, bytes, size);
}

void Pieces::add(const void* p, const void* bytes, size_t size) {
  auto a = reinterpret_cast<uintptr_t>(p);
  const auto* from = static_cast<const uint8_t*>(bytes);
  // All inside one region and inside its file: all pieces but the last are written in one go.
  const Region* all = size > 8 ? findRegion(p) : nullptr;
  if (all != nullptr && !all->copied && size <= all->end - a && !isOutside(*all, a, size)) {
    finish(BLACKOUT_WIDE);
    size_t last = (a + size) & 7;
    size_t before = size - (last == 0 ? 8 : last);
    appendRun(kind_, where_, pmAddressOf(*all, a), from, before);
    a += before;
    from += before;
    size -= before;
  }
  for (size_t len = 0; size > 0; a += len, from += len, size -= len) {
    len = 8 - (a & 7);
    if (len > size) len = size;
    const Region* r = findRegion(reinterpret_cast<void*>(a));
    if (r == nullptr || r->copied) continue;
    uint64_t value = 0;
    memcpy(&value, from, len);
    if (isOutside(*r, a, len)) {
      finish(0);
      recordPiece(kind_, *r, a, value, uint8_t(len), where_);
      continue;
    }
    finish(BLACKOUT_WIDE);
    addr_ = pmAddressOf(*r, a);
    value_ = value;
    len_ = uint8_t(len);
  }
  self.active = true;
}

void Pieces::addElements(const void* p, const void* bytes, size_t size, size_t element) {
  if (options.repbytes == 0) return add(p, bytes, size);
  for (size_t at = 0; at < size; at += element)
    add(static_cast<const uint8_t*>(p) + at, static_cast<const uint8_t*>(bytes) + at, element);
}

void Pieces::finish(uint8_t flags) {
  if (len_ != 0) append(kind_, len_ | flags, where_, addr_, value_);
  len_ = 0;
}

void recordFileStore(uint32_t file, uint64_t offset, const void* bytes, size_t size, uint32_t where) {
  const auto* from = static_cast<const uint8_t*>(bytes);
  while (size > 0) {
    size_t len = 8 - (offset & 7);
    if (len > size) len = size;
    uint64_t value = 0;
    memcpy(&value, from, len);
    append(BLACKOUT_EV_Store, uint8_t(len) | (size == len ? 0 : BLACKOUT_WIDE), where, (uint64_t{file} << 40) | offset,
           value);
    offset += len;
    from += len;
    size -= len;
  }
  self.active = true;
}

void recordLoad(const void* p, size_t size, uint32_t where) {
  auto a = reinterpret_cast<uintptr_t>(p);
  forEachRegion(a, a + size, [&](const Region& r, uintptr_t from, uintptr_t to) {
    size_t n = to - from;
    if (n <= 8)
      append(BLACKOUT_EV_Load, uint8_t(n), where, pmAddressOf(r, from), 0);
    else
      append(BLACKOUT_EV_LoadRange, 0, where, pmAddressOf(r, from), n);
  });
}

void recordFlush(uint8_t kind, const void* p, uint32_t where) {
  if (const Region* r = findRegion(p)) {
    append(kind, 0, where, pmAddressOf(*r, reinterpret_cast<uintptr_t>(p)), 0);
    self.active = true;
  } else if (options.outside != 0) {
    append(BLACKOUT_EV_FlushOutside, 0, where, reinterpret_cast<uint64_t>(p), 0);
  }
}

void storeBytes(void* to, const void* bytes, size_t size, uint32_t where) {
  // What a recovery run has the kernel write there is its own.
  if (observesCrash()) overwrite(to, size);
  recordStore(BLACKOUT_EV_Store, to, bytes, size, where);
  if (trapping)
    writeThrough(reinterpret_cast<uintptr_t>(to), bytes, size);
  else
    memmove(to, bytes, size);
}

namespace {

uint8_t flushEvent(uint8_t siteKind) {
  switch (siteKind) {
    case BLACKOUT_SITE_Clflush:
      return BLACKOUT_EV_Clflush;
    case BLACKOUT_SITE_Clflushopt:
      return BLACKOUT_EV_Clflushopt;
    default:
      return BLACKOUT_EV_Clwb;
  }
}

// ---- threads with store buffers (buffers.h) ----

bool isOwnStack(const void* p) {
  auto a = reinterpret_cast<uintptr_t>(p);
  return a >= self.stackLow && a < self.stackTop;
}

// A store in a step of a thread with a buffer. False: it is to be made as all others are, and nothing waits before it.
__attribute__((noinline)) bool storeLater(void* p, uint64_t v, uint8_t size, blackout_site* site, const void* frame) {
  if (findRegion(p) == nullptr) {
    // Other memory, which has no buffer: it must not overtake. Nobody may look at a thread's own stack without
    // synchronising, unless the store is atomic.
    if (waitsInBuffer() && (!isOwnStack(p) || (site->flags & BLACKOUT_SITE_ATOMIC) != 0)) emptyInTurn();
    Scope scope(Buffered::Stays);
    writeThrough(reinterpret_cast<uintptr_t>(p), &v, size);
    return true;
  }
  switchAt(site, false);
  Stack stack;
  walkStack(stack, frame);
  Scope scope(Buffered::Stays);
  auto a = reinterpret_cast<uintptr_t>(p);
  const Region* r = scope.nested ? nullptr : findRegion(p);
  // Memory that is not protected, plain code would read without what waits.
  bool waits = r != nullptr && r->alias != 0 && buffering && self.turns != 0;
  if (!waits || (a & 7) + size > 8 || isOutside(*r, a, size)) return false;
  delayStore(const_cast<Region&>(*r), a, v, size, whereOf(site, stack));
  return true;
}

// A load in a step of a thread with a buffer: what it has stored itself, else what is there. False: as all others.
__attribute__((noinline)) bool loadBehindStores(const void* p, uint64_t& v, uint8_t size, blackout_site* site,
                                                const void* frame) {
  switchAt(site);
  Stack stack;
  walkStack(stack, frame);
  Scope scope(Buffered::Stays);
  const Region* r = scope.nested ? nullptr : findRegion(p);
  if (r == nullptr || !buffering || self.turns == 0) return false;
  if (options.loads == 1) recordLoad(p, size, whereOf(site, stack));
  auto a = reinterpret_cast<uintptr_t>(p);
  v = 0;
  if (!ownStore(*r, a, size, v)) readThrough(&v, a, size);
  return true;
}

// A step; false: it empties the buffer, or there is none.
__attribute__((noinline)) bool flushInTurn(const void* p, blackout_site* site, const void* frame) {
  switchAt(site, site->kind != BLACKOUT_SITE_Clflush);
  if (!buffering) return false;
  Stack stack;
  walkStack(stack, frame);
  Scope scope(Buffered::Stays);
  if (scope.nested || !buffering || self.turns == 0) return false;
  uint32_t where = whereOf(site, stack);
  if (const Region* r = findRegion(p))
    delayFlush(flushEvent(site->kind), *r, reinterpret_cast<uintptr_t>(p), where);
  else
    recordFlush(flushEvent(site->kind), p, where);
  return true;
}
__attribute__((noinline)) bool fenceInTurn(blackout_site* site, const void* frame) {
  switchAt(site, site->kind != BLACKOUT_SITE_Sfence);
  if (!buffering || site->kind == BLACKOUT_SITE_Mfence) return false;
  Stack stack;
  walkStack(stack, frame);
  Scope scope(Buffered::Stays);
  if (scope.nested || !buffering || self.turns == 0) return false;
  if (site->kind == BLACKOUT_SITE_Sfence)
    delaySfence(whereOf(site, stack));
  else
    append(BLACKOUT_EV_Lfence, 0, whereOf(site, stack), 0, 0);
  return true;
}

template <class T>
inline __attribute__((always_inline)) void storeWord(void* p, T v, blackout_site* site, const void* frame) {
  if (__builtin_expect(controlled, 0)) {
    if (buffering) {
      if (storeLater(p, uint64_t(v), sizeof v, site, frame)) return;
    } else {
      switchAt(site);
    }
  }
  if (!isRecording()) {
    if (!inRun()) {
      *static_cast<volatile T*>(p) = v;
      return;
    }
    bool fresh = overwrite(p, sizeof v);
    if (!recordsEvents()) {
      Scope scope;
      *reinterpret_cast<volatile T*>(placeOf(reinterpret_cast<uintptr_t>(p), sizeof v, true, fresh)) = v;
      return;
    }
  }
  Stack stack;
  walkStack(stack, frame);
  Scope scope;
  if (__builtin_expect(scope.nested, 0)) {
    nestedAccess();
  } else if (const Region* r = findRegion(p)) {
    uint32_t where = whereOf(site, stack);
    auto a = reinterpret_cast<uintptr_t>(p);
    if (__builtin_expect((a & 7) + sizeof(T) <= 8, 1)) {
      recordPiece(BLACKOUT_EV_Store, *r, a, uint64_t(v), sizeof(T), where);
      self.active = true;
    } else {
      recordStore(BLACKOUT_EV_Store, p, &v, sizeof v, where);
    }
    p = reinterpret_cast<void*>(placeIn(const_cast<Region*>(r), a, sizeof v, true, false));
  }
  *static_cast<volatile T*>(p) = v;
}

template <class T>
inline __attribute__((always_inline)) T loadWord(const void* p, blackout_site* site, const void* frame) {
  if (__builtin_expect(controlled, 0)) {
    if (buffering) {
      uint64_t v = 0;
      if (loadBehindStores(p, v, sizeof(T), site, frame)) return T(v);
    } else {
      switchToLook(site, p, Look::AtPm);
    }
  }
  if (!inRun()) return *static_cast<const volatile T*>(p);
  auto place = reinterpret_cast<uintptr_t>(p);
  if (observesCrash()) {
    bool fresh = observe(p, sizeof(T), site, frame);
    Scope scope;
    return *reinterpret_cast<const volatile T*>(placeOf(place, sizeof(T), false, fresh));
  }
  if (options.loads != 1) {  // it is only a step of a thread under control
    Scope scope;
    return *reinterpret_cast<const volatile T*>(placeOf(place, sizeof(T), false, false));
  }
  Stack stack;
  walkStack(stack, frame);
  Scope scope;
  if (__builtin_expect(scope.nested, 0))
    nestedAccess();
  else if (findRegion(p) != nullptr)
    recordLoad(p, sizeof(T), whereOf(site, stack));
  return *reinterpret_cast<const volatile T*>(placeOf(place, sizeof(T), false, false));
}

}  // namespace
}  // namespace blackout::rt

using namespace blackout::rt;

extern "C" {

BLACKOUT_HOOK void __blackout_store1(void* p, uint8_t v, blackout_site* s) { storeWord(p, v, s, BLACKOUT_FRAME()); }
BLACKOUT_HOOK void __blackout_store2(void* p, uint16_t v, blackout_site* s) { storeWord(p, v, s, BLACKOUT_FRAME()); }
BLACKOUT_HOOK void __blackout_store4(void* p, uint32_t v, blackout_site* s) { storeWord(p, v, s, BLACKOUT_FRAME()); }
BLACKOUT_HOOK void __blackout_store8(void* p, uint64_t v, blackout_site* s) { storeWord(p, v, s, BLACKOUT_FRAME()); }
BLACKOUT_HOOK uint8_t __blackout_load1(const void* p, blackout_site* s) {
  return loadWord<uint8_t>(p, s, BLACKOUT_FRAME());
}
BLACKOUT_HOOK uint16_t __blackout_load2(const void* p, blackout_site* s) {
  return loadWord<uint16_t>(p, s, BLACKOUT_FRAME());
}
BLACKOUT_HOOK uint32_t __blackout_load4(const void* p, blackout_site* s) {
  return loadWord<uint32_t>(p, s, BLACKOUT_FRAME());
}
BLACKOUT_HOOK uint64_t __blackout_load8(const void* p, blackout_site* s) {
  return loadWord<uint64_t>(p, s, BLACKOUT_FRAME());
}

BLACKOUT_HOOK void* __blackout_enter(void* p, size_t size, blackout_site* site) {
  if (!inRun()) return p;
  bool writes = site->kind != BLACKOUT_SITE_Load;
  if (__builtin_expect(controlled, 0) && self.depth == 0)
    !writes || site->kind == BLACKOUT_SITE_CmpXchg ? switchToLook(site, p, Look::AtPm) : switchAt(site);
  bool fresh = false;
  bool reads = !writes || site->kind == BLACKOUT_SITE_CmpXchg ||
               (site->kind == BLACKOUT_SITE_Rmw && (site->flags & BLACKOUT_SITE_BLIND) == 0);
  if (observesCrash() && reads) fresh = observe(p, size, site, BLACKOUT_FRAME());
  if (self.busy && (self.depth == 0 || self.appending))
    return p;  // a signal handler inside an event: leave() counts it
  if (self.depth == 0) Scope::enter();
  ++self.depth;
  return reinterpret_cast<void*>(placeOf(reinterpret_cast<uintptr_t>(p), size, writes, fresh));
}

BLACKOUT_HOOK void __blackout_leave(void* p, size_t size, blackout_site* site, int stored) {
  if (!inRun()) return;
  if (__builtin_expect(controlled, 0) && site->kind == BLACKOUT_SITE_CmpXchg && stored != 0) gotOnHere();
  if (observesCrash() && site->kind != BLACKOUT_SITE_Load && stored != 0) overwrite(p, size);
  if (self.depth == 0 || self.appending) {
    if (recordsEvents()) nestedAccess();
    return;
  }
  if (!recordsEvents()) {
    if (--self.depth == 0) Scope::leave();
    return;
  }
  const auto* place = reinterpret_cast<void*>(placeOf(reinterpret_cast<uintptr_t>(p), size, false, false));
  self.appending = true;
  __atomic_signal_fence(__ATOMIC_SEQ_CST);
  if (findRegion(p) != nullptr) {
    uint32_t where = hereOf(site, BLACKOUT_FRAME());
    switch (site->kind) {
      case BLACKOUT_SITE_Load:
        if (options.loads == 1) recordLoad(p, size, where);
        break;
      case BLACKOUT_SITE_Rmw:
      case BLACKOUT_SITE_CmpXchg:
        if (stored != 0)
          recordStore(BLACKOUT_EV_Rmw, p, place, size, where, size == 16);
        else
          append(BLACKOUT_EV_RmwFence, 0, where, reinterpret_cast<uint64_t>(p), 0);
        self.active = false;
        break;
      case BLACKOUT_SITE_StoreNt:
        recordStore(BLACKOUT_EV_StoreNt, p, place, size, where);
        break;
      default:
        if (site->element != 0)
          Pieces(BLACKOUT_EV_Store, where).addElements(p, place, size, site->element);
        else
          recordStore(BLACKOUT_EV_Store, p, place, size, where);
        break;
    }
  } else if ((site->kind == BLACKOUT_SITE_Rmw || site->kind == BLACKOUT_SITE_CmpXchg) && self.active) {
    append(BLACKOUT_EV_RmwFence, 0, hereOf(site, BLACKOUT_FRAME()), reinterpret_cast<uint64_t>(p), 0);
    self.active = false;
  }
  __atomic_signal_fence(__ATOMIC_SEQ_CST);
  self.appending = false;
  if (--self.depth == 0) Scope::leave();
}

BLACKOUT_HOOK void __blackout_store_lanes(void* const* pointers, const void* data, uint64_t mask, size_t element,
                                          blackout_site* site) {
  switchPoint(site);
  // What lies side by side is one run.
  auto eachRun = [&](auto body) {
    for (int next = 0; next < 64;) {
      int first = next++;
      if ((mask >> first & 1) == 0) continue;
      while (next < 64 && (mask >> next & 1) != 0 &&
             pointers[next] == static_cast<uint8_t*>(pointers[next - 1]) + element)
        ++next;
      body(pointers[first], static_cast<const uint8_t*>(data) + size_t(first) * element,
           size_t(next - first) * element);
    }
  };
  auto store = [](void* p, const uint8_t* bytes, size_t size) {
    if (trapping && inRun())
      writeThrough(reinterpret_cast<uintptr_t>(p), bytes, size);
    else
      memcpy(p, bytes, size);
  };
  if (!inRun()) return eachRun(store);
  if (observesCrash()) eachRun([](void* p, const uint8_t*, size_t size) { overwrite(p, size); });
  if (observesOnly()) {
    Scope scope;
    return eachRun(store);
  }
  Stack stack;
  walkStack(stack, BLACKOUT_FRAME());
  Scope scope;
  if (__builtin_expect(scope.nested, 0)) {
    nestedAccess();
  } else {
    Pieces pieces(site->kind == BLACKOUT_SITE_StoreNt ? BLACKOUT_EV_StoreNt : BLACKOUT_EV_Store, whereOf(site, stack));
    eachRun([&](void* p, const uint8_t* bytes, size_t size) { pieces.add(p, bytes, size); });
  }
  eachRun(store);
}

BLACKOUT_HOOK void __blackout_rmw_fence(void* p, blackout_site* site) {
  // Without PM events since the last fence there is nothing that this one could order.
  if (!recordsEvents() || !self.active) return;
  Stack stack;
  walkStack(stack, BLACKOUT_FRAME());
  Scope scope;
  if (scope.nested) return nestedAccess();
  append(BLACKOUT_EV_RmwFence, 0, whereOf(site, stack), reinterpret_cast<uint64_t>(p), 0);
  self.active = false;
}

BLACKOUT_HOOK void __blackout_switch(const void* p) {
  // The hook of an access to PM comes itself.
  if (!controlled || findRegion(p) != nullptr) return;
  switchToLook(__builtin_return_address(0), p, Look::AtMemory);
  // What is volatile on the thread's own stack, others may look at.
  if (waitsInBuffer() && isOwnStack(p)) emptyBuffer();
}
BLACKOUT_HOOK void __blackout_yield() {
  if (controlled) yieldTurn();
}

BLACKOUT_HOOK void __blackout_flush(const void* p, blackout_site* site) {
  if (__builtin_expect(controlled, 0) && flushInTurn(p, site, BLACKOUT_FRAME())) return;
  if (!recordsEvents()) return;
  Stack stack;
  walkStack(stack, BLACKOUT_FRAME());
  Scope scope;
  if (scope.nested) return nestedAccess();
  recordFlush(flushEvent(site->kind), p, whereOf(site, stack));
}

BLACKOUT_HOOK void* __blackout_flush_place(void* p) {
  if (!inRun()) return p;
  Scope scope(Buffered::Stays);  // no event: what the flush covers is told by the event before it
  return reinterpret_cast<void*>(placeOf(reinterpret_cast<uintptr_t>(p), 1, false, false));
}

BLACKOUT_HOOK void __blackout_fence(blackout_site* site) {
  if (__builtin_expect(controlled, 0) && fenceInTurn(site, BLACKOUT_FRAME())) return;
  if (!recordsEvents()) return;
  Stack stack;
  walkStack(stack, BLACKOUT_FRAME());
  Scope scope;
  if (scope.nested) return nestedAccess();
  uint8_t kind = site->kind == BLACKOUT_SITE_Sfence   ? BLACKOUT_EV_Sfence
                 : site->kind == BLACKOUT_SITE_Mfence ? BLACKOUT_EV_Mfence
                                                      : BLACKOUT_EV_Lfence;
  append(kind, 0, whereOf(site, stack), 0, 0);
  if (kind != BLACKOUT_EV_Lfence) self.active = false;
}

static void control(uint8_t kind, uint64_t addr, uint64_t value, blackout_site* site, const void* frame) {
  if (!recordsEvents()) return;
  Stack stack;
  walkStack(stack, frame);
  Scope scope;
  if (!scope.nested) append(kind, 0, whereOf(site, stack), addr, value);
}

void __blackout_call(const void* callee, blackout_site* s) {
  control(BLACKOUT_EV_Call, reinterpret_cast<uint64_t>(callee), 0, s, BLACKOUT_FRAME());
}
void __blackout_branch(int taken, blackout_site* s) {
  control(BLACKOUT_EV_Branch, 0, uint64_t(taken), s, BLACKOUT_FRAME());
}
void __blackout_alloc(const void* p, size_t size, blackout_site* s) {
  control(BLACKOUT_EV_Alloc, reinterpret_cast<uint64_t>(p), size, s, BLACKOUT_FRAME());
}
void __blackout_free(const void* p, blackout_site* s) {
  control(BLACKOUT_EV_Free, reinterpret_cast<uint64_t>(p), 0, s, BLACKOUT_FRAME());
}
void __blackout_lock(const void* p, blackout_site* s) {
  control(BLACKOUT_EV_Lock, reinterpret_cast<uint64_t>(p), 0, s, BLACKOUT_FRAME());
}
void __blackout_unlock(const void* p, blackout_site* s) {
  control(BLACKOUT_EV_Unlock, reinterpret_cast<uint64_t>(p), 0, s, BLACKOUT_FRAME());
}

}  // extern "C"
