#include "runtime/regions.h"

#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "events/trace_format.h"
#include "runtime/options.h"
#include "runtime/recorder.h"
#include "runtime/recovery.h"

namespace blackout::rt {

// Sorted by begin. Never initialised at run time: a pool may be mapped before that.
constinit Region regions[kMaxRegions] = {};
int regionCount = 0;

namespace {

int lastFound = 0;  // most accesses go where the last one went
uintptr_t windowBegin = kPmBase;
uintptr_t windowEnd = kPmBase + kPmSpan;

constexpr int kMaxModules = 512;
blackout_module* modules[kMaxModules];
int moduleCount = 0;
bool switchesWanted = false;
bool allStoresWanted = false;

struct Reservation {
  uintptr_t begin;
  uintptr_t end;
};
constexpr int kMaxReservations = 64;
Reservation reservations[kMaxReservations];  // the newest, in a ring
unsigned reservationCount = 0;

void setWindow(blackout_module* m) {
  blackout_window w{windowBegin, windowEnd - windowBegin};
  // The base first: a window between the two stores is too small for a moment, never wrong.
  m->stores.size = 0;
  m->stores.base = w.base;
  m->stores.size = w.size;
  if (allStoresWanted) m->stores = {0, UINTPTR_MAX};
  if (options.loads != 0 || observesCrash() || switchesWanted) m->loads = w;
  m->switches = switchesWanted ? 1 : 0;
  m->recording = 1;
  if (isRestart() && !isClient()) m->turns = &worker->turns_left;
}

void insertAt(int at, const Region& r) {
  memmove(&regions[at + 1], &regions[at], size_t(regionCount - at) * sizeof(Region));
  regions[at] = r;
  if (observesCrash()) regions[at].tracked = trackedSlots(r.file, regions[at].trackedLines);
  ++regionCount;
}

Region partOf(const Region& r, uintptr_t from, uintptr_t to) {
  Region part = r;
  part.begin = from;
  part.end = to;
  part.offset = r.offset + (from - r.begin);
  if (r.pages != nullptr) part.pages = r.pages + (from / 4096 - r.begin / 4096);
  return part;
}

void eraseAt(int at) {
  memmove(&regions[at], &regions[at + 1], size_t(regionCount - at - 1) * sizeof(Region));
  --regionCount;
}

}  // namespace

const Region* findRegion(const void* p) {
  auto a = reinterpret_cast<uintptr_t>(p);
  if (__builtin_expect(lastFound < regionCount, 1)) {
    const Region& r = regions[lastFound];
    if (a >= r.begin && a < r.end) return &r;
  }
  int low = 0;
  int high = regionCount;
  while (low < high) {
    int middle = (low + high) / 2;
    if (regions[middle].end <= a)
      low = middle + 1;
    else
      high = middle;
  }
  if (low == regionCount || a < regions[low].begin) return nullptr;
  lastFound = low;
  return &regions[low];
}

bool mayBePm(const void* p, size_t size) {
  auto a = reinterpret_cast<uintptr_t>(p);
  return inRun() && a < windowEnd && a + size > windowBegin;
}

bool overlapsRegion(uintptr_t begin, uintptr_t end) {
  bool found = false;
  forEachRegion(begin, end, [&](const Region&, uintptr_t, uintptr_t) { found = true; });
  return found;
}

bool overlapsPages(uintptr_t begin, uintptr_t end) {
  for (int i = 0; i < regionCount; ++i)
    if (roundDown(regions[i].begin) < end && roundUp(regions[i].end) > begin) return true;
  return false;
}

void dropAlias(const Region& gone, uintptr_t from, uintptr_t to) {
  uintptr_t begin = from + uintptr_t(gone.alias);
  uintptr_t end = to + uintptr_t(gone.alias);
  // Pages that another mapping shows are its own now.
  bool used = false;
  for (int i = 0; i < regionCount; ++i) {
    Region& r = regions[i];
    if (r.alias == 0 || r.pages == nullptr) continue;
    for (uintptr_t at = roundDown(r.begin); at < r.end; at += kPage) {
      size_t page = pageOf(r, at < r.begin ? r.begin : at);
      uintptr_t alias = at + uintptr_t(r.alias);
      if ((stateOf(r, page) & ~kPageWritten) != kPageHeld || alias >= end || alias + kPage <= begin) continue;
      setState(r, page, uint16_t(options.pagebudget - 1) | kPageWritten);
      used = true;
    }
  }
  // So are pages that a neighbour shares.
  if (!used && roundUp(begin) < roundDown(end)) syscall(SYS_munmap, roundUp(begin), roundDown(end) - roundUp(begin));
}

void removeRegions(uintptr_t begin, uintptr_t end) {
  for (int i = 0; i < regionCount;) {
    Region r = regions[i];
    if (r.begin >= end || r.end <= begin) {
      ++i;
      continue;
    }
    uintptr_t from = r.begin > begin ? r.begin : begin;
    uintptr_t to = r.end < end ? r.end : end;
    append(BLACKOUT_EV_Unmap, 0, 0, pmAddressOf(r, from), to - from);
    eraseAt(i);
    if (r.begin < from) insertAt(i++, partOf(r, r.begin, from));
    if (r.end > to && regionCount < kMaxRegions) insertAt(i++, partOf(r, to, r.end));
    if (r.alias != 0) dropAlias(r, from, to);
  }
}

void setProtection(uintptr_t begin, uintptr_t end, int protection) {
  for (int i = 0; i < regionCount; ++i) {
    Region r = regions[i];
    if (r.begin >= end || r.end <= begin) continue;
    uintptr_t from = r.begin > begin ? r.begin : begin;
    uintptr_t to = r.end < end ? r.end : end;
    if (regionCount + 2 >= kMaxRegions) return problem(BLACKOUT_PROBLEM_UNSUPPORTED);
    eraseAt(i);
    if (r.begin < from) insertAt(i++, partOf(r, r.begin, from));
    Region changed = partOf(r, from, to);
    changed.protection = protection;
    insertAt(i, changed);
    if (r.end > to) insertAt(++i, partOf(r, to, r.end));
  }
}

bool addRegion(Region r) {
  removeRegions(r.begin, r.end);
  if (regionCount >= kMaxRegions - 1) return false;
  int at = 0;
  while (at < regionCount && regions[at].begin < r.begin) ++at;
  insertAt(at, r);
  uint64_t place[2] = {r.begin, r.end - r.begin};
  appendBlob(BLACKOUT_EV_Map, 0, pmAddressOf(r, r.begin), place, sizeof place);
  if (r.begin < windowBegin || r.end > windowEnd) {
    Reservation all{r.begin, r.end};
    for (const Reservation& v : reservations)
      if (v.begin <= r.begin && r.end <= v.end) all = v;
    if (all.begin < windowBegin) windowBegin = all.begin;
    if (all.end > windowEnd) windowEnd = all.end;
    for (int i = 0; i < moduleCount; ++i) setWindow(modules[i]);
  }
  return true;
}

void noteReservation(uintptr_t begin, uintptr_t end) {
  reservations[reservationCount++ % kMaxReservations] = {begin, end};
}

uintptr_t placeForMapping(size_t size) {
  if (header->next_address == 0) header->next_address = observesCrash() ? plan->free_address : kPmBase + kPoolAlignment;
  uintptr_t align = size >= (uintptr_t{1} << 30) ? uintptr_t{1} << 30 : kPoolAlignment;
  uintptr_t at = (header->next_address + align - 1) & ~(align - 1);
  // A gap, so that no object of one pool ends where another begins.
  header->next_address = at + ((size + kPoolAlignment - 1) & ~(kPoolAlignment - 1)) + kPoolAlignment;
  return at;
}

void registerWindow(blackout_module* m) {
  if (moduleCount == kMaxModules) stop("more than 512 instrumented program files in one process", nullptr, 3);
  modules[moduleCount++] = m;
  setWindow(m);
}

void unregisterWindow(blackout_module* m) {
  for (int i = 0; i < moduleCount; ++i)
    if (modules[i] == m) modules[i] = modules[--moduleCount];
}

void wantSwitches() {
  if (switchesWanted) return;
  switchesWanted = true;
  for (int i = 0; i < moduleCount; ++i) setWindow(modules[i]);
}

void wantAllStores() {
  if (allStoresWanted) return;
  allStoresWanted = true;
  for (int i = 0; i < moduleCount; ++i) setWindow(modules[i]);
}

bool isInstrumented(uintptr_t begin, uintptr_t end) {
  for (int i = 0; i < moduleCount; ++i) {
    auto a = reinterpret_cast<uintptr_t>(modules[i]);
    if (a >= begin && a < end) return true;
  }
  return false;
}

}  // namespace blackout::rt
