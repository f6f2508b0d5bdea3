// Where PM is mapped in this process, and the windows that instrumented code asks. All pools that
// the program lets us place lie in one stretch of address space, the same in every run, so the window is
// one comparison; memory mapped or registered elsewhere widens it, and the table below decides then.
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "events/address_map.h"
#include "events/contract.h"

namespace blackout::rt {

struct Region {
  uintptr_t begin;
  uintptr_t end;
  uint32_t file;
  uint64_t offset;  // of `begin` in the file
  // Recovery runs: which of the file's lines are tracked; null: none.
  const uint32_t* tracked = nullptr;
  uint64_t trackedLines = 0;
  // Trapped programs: the same memory, without protection, lies this far away; 0: it is not protected.
  intptr_t alias = 0;
  int protection = 3;  // PROT_READ | PROT_WRITE: what the program asked for
  // Recovery runs: mapped privately by the program, so what it stores there is no pool's. Once it may store, the run
  // has files of its own.
  bool copied = false;
  bool readOnly = false;  // by a descriptor that is open for reading only
  // Recovery runs: the state of each page, see below. Null: all pages are protected.
  uint16_t* pages = nullptr;
  uint16_t untouched = 0;  // what a state is of that was never set: states are kept as differences from it
};

constexpr uintptr_t kPage = 4096;
inline uintptr_t roundUp(uintptr_t a) { return (a + kPage - 1) & ~(kPage - 1); }
inline uintptr_t roundDown(uintptr_t a) { return a & ~(kPage - 1); }
inline size_t pageOf(const Region& r, uintptr_t p) { return p / kPage - r.begin / kPage; }

// In Region::pages, beside the number of accesses by plain code so far.
constexpr uint16_t kPageWritten = 0x8000;  // its content is the second mapping's alone
constexpr uint16_t kPageOpen = 0x7fff;     // ordinary memory
constexpr uint16_t kPageHeld = 0x7ffe;     // protected for good

inline uint16_t stateOf(const Region& r, size_t page) { return r.pages[page] ^ r.untouched; }
inline void setState(const Region& r, size_t page, uint16_t state) { r.pages[page] = state ^ r.untouched; }

constexpr int kMaxRegions = 4096;

// The region that holds p, or null. Inside a Scope.
const Region* findRegion(const void* p);
// Whether [p, p + size) may touch PM: a quick test without a Scope.
bool mayBePm(const void* p, size_t size);

// Inside a Scope. Adding cuts away what it overlaps; both append the map events.
bool addRegion(Region region);
void removeRegions(uintptr_t begin, uintptr_t end);
// The pages of these addresses of a region go, and its second mapping of them.
void dropAlias(const Region& region, uintptr_t begin, uintptr_t end);
// What the program may do with these pages of PM, in its own words: mprotect.
void setProtection(uintptr_t begin, uintptr_t end, int protection);
bool overlapsRegion(uintptr_t begin, uintptr_t end);
// The same with all of the pages that a region has a part of.
bool overlapsPages(uintptr_t begin, uintptr_t end);

template <class Body>
void forEachRegion(uintptr_t begin, uintptr_t end, Body body);

// Address space that the program reserved for itself. A pool mapped inside is reached by pointers that begin
// outside it, so the window must hold all of the reservation.
void noteReservation(uintptr_t begin, uintptr_t end);

// An address for a new mapping of `size` bytes.
uintptr_t placeForMapping(size_t size);

// Windows of instrumented program files.
void registerWindow(blackout_module* module);
void unregisterWindow(blackout_module* module);
// From here on instrumented code calls a hook at loads of PM, and at atomic and volatile accesses to any memory.
void wantSwitches();
// The same at stores to any memory.
void wantAllStores();
bool isInstrumented(uintptr_t begin, uintptr_t end);  // a program file with a record inside

extern Region regions[kMaxRegions];
extern int regionCount;

template <class Body>
void forEachRegion(uintptr_t begin, uintptr_t end, Body body) {
  for (int i = 0; i < regionCount; ++i) {
    const Region& r = regions[i];
    if (r.begin >= end || r.end <= begin) continue;
    uintptr_t from = r.begin > begin ? r.begin : begin;
    uintptr_t to = r.end < end ? r.end : end;
    body(r, from, to);
  }
}

inline uint64_t pmAddressOf(const Region& r, uintptr_t p) {
  return (uint64_t{r.file} << 40) | (r.offset + (p - r.begin));
}

}  // namespace blackout::rt
