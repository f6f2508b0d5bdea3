// Protection of PM: each region has a second mapping of the same memory without protection, through which whoever is
// followed accesses it. A recording protects all of PM against writes; what was written is in both mappings. A recovery
// run maps its pools privately, and a private second mapping is other memory: while a page is protected its content is
// the second mapping's, and it is copied back when the page is opened.
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "events/contract.h"
#include "runtime/regions.h"
#include "runtime/role.h"

namespace blackout::rt {

void protect(uintptr_t begin, uintptr_t end, int protection);

// Has system calls that are handed these addresses followed. Set before anything is protected.
extern void (*followCallsOn)(uintptr_t begin, uintptr_t end);

// Inside a Scope. Gives a region that was just mapped from fd its second mapping, and protects it. `shared`: how it was
// mapped.
void trapRegion(Region& region, int fd, bool shared);
// The same for a region that the kernel moved or made larger.
void trapAgain(Region& region);
// Before the kernel moves or resizes these pages: it does so only with pages of one kind. Then, if it did not:
void unguard(uintptr_t begin, uintptr_t end, int protection);
void guardAgain(Region& region);

// A recovery run maps pages of a file that it has mapped already. Private mappings would part, so such pages stay
// protected in both, with one content. False: they are too many, the run needs files of its own.
bool canHold(uint32_t file, uint64_t offset, size_t size);
// Inside a Scope: adds a region that was just mapped, with its second mapping and its pages that are held.
bool addTrapped(Region region, int fd, bool shared);

// The fork server: system calls where the recording mapped PM are followed, once for all runs.
void followRecorded();

// A recovery run, before it takes files of its own: every page is what its second mapping says, and unprotected.
void openAllPages();

// The region whose pages hold p: what lies beside registered memory, on the same page, is protected with it.
Region* pageRegion(uintptr_t p);
// The other way: the address that the program has for a byte of a second mapping; any other address is its own.
uintptr_t programAddress(uintptr_t p);
// Where the byte is to be read and written by whoever must not fault. Inside a Scope.
inline uintptr_t reach(const Region& r, uintptr_t p) {
  return r.alias != 0 && (r.pages == nullptr || stateOf(r, pageOf(r, p)) != kPageOpen) ? p + uintptr_t(r.alias) : p;
}
// A recovery run has seen something more on this page: if that was the last of it, it is ordinary memory from here on.
void openIfSeen(Region& r, uintptr_t p);
// Plain code accessed this page. So it is if too much happens on it, of what counts: all of it is observed then.
void pageAccessed(uintptr_t p, blackout_site* site, bool counts);
void observeWholePage(Region& r, uintptr_t p, blackout_site* site);
// Where instrumented code accesses [p, p + size) without a fault: p itself where that isn't protected, or is in two
// pages. `fresh`: something there was not seen before. Inside a Scope, as the access is.
inline uintptr_t placeIn(Region* r, uintptr_t p, size_t size, bool writes, bool fresh) {
  if (r == nullptr || r->alias == 0) return p;
  if (r->pages == nullptr) return p + size <= roundUp(r->end) ? p + uintptr_t(r->alias) : p;
  if (plainCode && fresh) openIfSeen(*r, p);
  uint16_t state = stateOf(*r, pageOf(*r, p));
  if (state == kPageOpen || p % kPage + size > kPage) return p;
  if (writes && (state & kPageWritten) == 0) setState(*r, pageOf(*r, p), state | kPageWritten);
  return p + uintptr_t(r->alias);
}
inline uintptr_t placeOf(uintptr_t p, size_t size, bool writes, bool fresh) {
  return trapping ? placeIn(pageRegion(p), p, size, writes, fresh) : p;
}
// Copies bytes of PM, or of any memory, that may be protected. Inside a Scope, or with one thread.
void readThrough(void* to, uintptr_t from, size_t size);
void writeThrough(uintptr_t to, const void* from, size_t size);
// The same as memmove() and memset().
void moveThrough(void* to, const void* from, size_t size);
void fillThrough(void* to, int c, size_t size);
// How many bytes from p on, at most size, lie in memory that is reached in one way.
size_t alikeBytes(uintptr_t p, size_t size);
// The recovery run writes here: the content of protected pages is the second mapping's.
void notePageWrites(uintptr_t p, size_t size);

}  // namespace blackout::rt
