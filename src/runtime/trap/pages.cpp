#include "runtime/trap/pages.h"

#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "events/address_map.h"
#include "runtime/options.h"
#include "runtime/recorder.h"
#include "runtime/recovery.h"
#include "runtime/trap/pm_table.h"

namespace blackout::rt {

void (*followCallsOn)(uintptr_t begin, uintptr_t end) = nullptr;

namespace {

uintptr_t nextAlias = kAliasBase;
// Page states of recovery runs, never given back.
uint16_t* pageStates = nullptr;
size_t pageStatesUsed = 0;

}  // namespace

void protect(uintptr_t begin, uintptr_t end, int protection) {
  if (syscall(SYS_mprotect, begin, end - begin, protection) != 0)
    stop("PM can't be protected (mprotect); is the number of mappings limited?", strerror(errno), 3);
}

namespace {

// Calls body(begin, end) for every run of pages of the region that hold a tracked line.
template <class Body>
void forTrackedPages(const Region& r, Body body) {
  uint64_t lines = 0;
  const uint32_t* slots = trackedSlots(r.file, lines);
  if (slots == nullptr) return;
  size_t count = pageOf(r, r.end - 1) + 1;
  uint64_t first = (r.offset - (r.begin - roundDown(r.begin))) / BLACKOUT_LINE;
  constexpr uint64_t kLines = kPage / BLACKOUT_LINE;
  const uint8_t* marks = trackedMarks(r.file);
  size_t begin = count;
  for (size_t page = 0; page <= count; ++page) {
    // Most of a large pool is never touched.
    uint64_t line = first + page * kLines;
    while (begin == count && page < count && line % BLACKOUT_PLAN_STRETCH == 0 && line < lines &&
           marks[line / BLACKOUT_PLAN_STRETCH] == 0) {
      page += BLACKOUT_PLAN_STRETCH / kLines;
      line += BLACKOUT_PLAN_STRETCH;
    }
    if (page > count || (begin == count && line >= lines)) break;
    bool tracked = false;
    for (uint64_t l = first + page * kLines; page < count && l < first + (page + 1) * kLines && l < lines; ++l)
      tracked |= slots[l] != 0;
    if (tracked && begin == count) begin = page;
    if (tracked || begin == count) continue;
    body(begin, page);
    begin = count;
  }
}

void takePageStates(Region& r) {
  if (pageStates == nullptr) {
    pageStates = reinterpret_cast<uint16_t*>(syscall(SYS_mmap, kPageStatesBase, kPageStatesSpan, PROT_READ | PROT_WRITE,
                                                     MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED_NOREPLACE,
                                                     -1L, 0L));
    if (pageStates == MAP_FAILED) stop("no memory for the pages of a recovery run", nullptr, 3);
  }
  r.pages = pageStates + pageStatesUsed;
  pageStatesUsed += pageOf(r, r.end - 1) + 1;
}

// Of a run of which only observations are wanted. Instrumented code goes to the second mapping by itself, so all is
// protected at once; where plain code works on PM, only pages with a tracked line are, until all of it is seen.
void guardPages(Region& r) {
  takePageStates(r);
  if (!plainCode) return protect(roundDown(r.begin), roundUp(r.end), PROT_NONE);
  r.untouched = kPageOpen;
  forTrackedPages(r, [&](size_t begin, size_t end) {
    for (size_t page = begin; page < end; ++page) setState(r, page, 0);
    protect(roundDown(r.begin) + begin * kPage, roundDown(r.begin) + end * kPage, PROT_NONE);
  });
}

// Of a restart whose events are recorded, on a private mapping: its second mapping is another, so all of the content
// stays there.
void holdAllPages(Region& r) {
  takePageStates(r);
  r.untouched = kPageHeld;
  protect(roundDown(r.begin), roundUp(r.end), PROT_NONE);
}

// Of a run whose events are recorded: writes everywhere, and reads where they are wanted.
void guard(Region& r) {
  notePm(roundDown(r.begin), roundUp(r.end));
  if (!recordsEvents()) return guardPages(r);
  if (observesCrash() && (!hasPrivatePools() || r.copied)) return holdAllPages(r);
  protect(roundDown(r.begin), roundUp(r.end), options.loads != 0 ? PROT_NONE : r.protection & ~PROT_WRITE);
  if (observesCrash())
    forTrackedPages(r, [&](size_t begin, size_t end) {
      protect(roundDown(r.begin) + begin * kPage, roundDown(r.begin) + end * kPage, PROT_NONE);
    });
}

// The content of a page is the second mapping's, for as long as something else shows it too.
void holdPage(Region& r, size_t page) {
  uintptr_t at = roundDown(r.begin) + page * kPage;
  if (stateOf(r, page) == kPageOpen) {
    memcpy(reinterpret_cast<void*>(at + uintptr_t(r.alias)), reinterpret_cast<void*>(at), kPage);
    protect(at, at + kPage, PROT_NONE);
  }
  setState(r, page, kPageHeld | kPageWritten);
}

// Back to what the program asked for, with what was written.
void openPage(Region& r, size_t page) {
  uintptr_t at = roundDown(r.begin) + page * kPage;
  bool written = (stateOf(r, page) & kPageWritten) != 0;
  setState(r, page, kPageOpen);
  protect(at, at + kPage, PROT_READ | PROT_WRITE);
  if (written) memcpy(reinterpret_cast<void*>(at), reinterpret_cast<void*>(at + uintptr_t(r.alias)), kPage);
  if (r.protection != (PROT_READ | PROT_WRITE)) protect(at, at + kPage, r.protection);
}

}  // namespace

Region* pageRegion(uintptr_t p) {
  if (const Region* r = findRegion(reinterpret_cast<void*>(p))) return const_cast<Region*>(r);
  for (int i = 0; i < regionCount; ++i) {
    Region& r = regions[i];
    if (r.alias != 0 && roundDown(r.begin) <= p && p < roundUp(r.end)) return &r;
  }
  return nullptr;
}

uintptr_t programAddress(uintptr_t p) {
  for (int i = 0; i < regionCount; ++i) {
    const Region& r = regions[i];
    uintptr_t at = p - uintptr_t(r.alias);
    if (r.alias != 0 && at >= roundDown(r.begin) && at < roundUp(r.end)) return at;
  }
  return p;
}

size_t alikeBytes(uintptr_t p, size_t size) {
  auto way = [](uintptr_t at, uintptr_t& end) -> uintptr_t {
    const Region* r = pageRegion(at);
    end = r == nullptr ? UINTPTR_MAX : r->pages == nullptr ? roundUp(r->end) : roundDown(at) + kPage;
    for (int i = 0; i < regionCount; ++i) {
      uintptr_t next = r == nullptr ? roundDown(regions[i].begin) : regions[i].begin;
      if (next > at && next < end) end = next;
    }
    return r == nullptr ? 0 : reach(*r, at) - at;
  };
  uintptr_t end = 0;
  uintptr_t first = way(p, end);
  uintptr_t limit = p + size < p ? UINTPTR_MAX : p + size;
  while (end < limit) {
    uintptr_t next = 0;
    if (way(end, next) != first) return end - p;
    end = next;
  }
  return size;
}

void readThrough(void* to, uintptr_t from, size_t size) {
  auto* at = static_cast<uint8_t*>(to);
  while (size > 0) {
    size_t n = alikeBytes(from, size);
    const Region* r = pageRegion(from);
    memcpy(at, reinterpret_cast<void*>(r == nullptr ? from : reach(*r, from)), n);
    at += n;
    from += n;
    size -= n;
  }
}

void writeThrough(uintptr_t to, const void* from, size_t size) {
  const auto* at = static_cast<const uint8_t*>(from);
  notePageWrites(to, size);
  while (size > 0) {
    size_t n = alikeBytes(to, size);
    const Region* r = pageRegion(to);
    memmove(reinterpret_cast<void*>(r == nullptr ? to : reach(*r, to)), at, n);
    at += n;
    to += n;
    size -= n;
  }
}

void moveThrough(void* to, const void* from, size_t size) {
  auto d = reinterpret_cast<uintptr_t>(to);
  auto s = reinterpret_cast<uintptr_t>(from);
  notePageWrites(d, size);
  bool alike = alikeBytes(d, size) == size && alikeBytes(s, size) == size;
  const Region* rd = alike ? pageRegion(d) : nullptr;
  const Region* rs = alike ? pageRegion(s) : nullptr;
  // Otherwise it faults, page by page, which the handler knows.
  memmove(reinterpret_cast<void*>(rd == nullptr ? d : reach(*rd, d)),
          reinterpret_cast<const void*>(rs == nullptr ? s : reach(*rs, s)), size);
}

void fillThrough(void* to, int c, size_t size) {
  auto d = reinterpret_cast<uintptr_t>(to);
  notePageWrites(d, size);
  const Region* r = alikeBytes(d, size) == size ? pageRegion(d) : nullptr;
  memset(reinterpret_cast<void*>(r == nullptr ? d : reach(*r, d)), c, size);
}

void openIfSeen(Region& r, uintptr_t p) {
  uintptr_t page = roundDown(p);
  if ((stateOf(r, pageOf(r, p)) & ~kPageWritten) < kPageHeld && allSeen(r, page, page + kPage))
    openPage(r, pageOf(r, p));
}

namespace {

void observeBudgeted(uintptr_t p, blackout_site* site) {
  if (options.patches != 0)
    note(
        "A restart accessed a page more often than pagebudget allows by instructions that can't be patched: all of the "
        "page counts "
        "as read.",
        nullptr);
  observe(reinterpret_cast<void*>(roundDown(p)), kPage, site, nullptr, newGroup());
}

}  // namespace

void pageAccessed(uintptr_t p, blackout_site* site, bool counts) {
  Region* r = pageRegion(p);
  if (r == nullptr || r->pages == nullptr) return;
  uint16_t state = stateOf(*r, pageOf(*r, p));
  uint16_t accesses = state & ~kPageWritten;
  if (accesses >= kPageHeld) return;
  if (!counts)
    ;
  else if (accesses + 1 < int(options.pagebudget))
    setState(*r, pageOf(*r, p), state + 1);
  else
    observeBudgeted(p, site);
  openIfSeen(*r, p);
}

void observeWholePage(Region& r, uintptr_t p, blackout_site* site) {
  observe(reinterpret_cast<void*>(roundDown(p)), kPage, site, nullptr, newGroup());
  if (stateOf(r, pageOf(r, p)) != kPageOpen) openPage(r, pageOf(r, p));
}

void notePageWrites(uintptr_t p, size_t size) {
  if (!observesCrash()) return;
  forEachRegion(p, p + size, [&](const Region& r, uintptr_t from, uintptr_t to) {
    if (r.pages == nullptr) return;
    for (uintptr_t at = roundDown(from); at < to; at += kPage) {
      size_t page = pageOf(r, at < r.begin ? r.begin : at);
      uint16_t state = stateOf(r, page);
      if (state != kPageOpen) setState(r, page, state | kPageWritten);
    }
  });
}

void trapRegion(Region& r, int fd, bool shared) {
  if (!trapping) return;
  uintptr_t begin = roundDown(r.begin);
  size_t size = roundUp(r.end) - begin;
  if (nextAlias + size + kPage > kAliasEnd) stop("no address space for second mappings of PM", nullptr, 3);
  long at = syscall(SYS_mmap, nextAlias, size, PROT_READ | PROT_WRITE,
                    (shared ? MAP_SHARED : MAP_PRIVATE | MAP_NORESERVE) | MAP_FIXED_NOREPLACE, fd,
                    off_t(r.offset - (r.begin - begin)));
  if (at == -1) stop("PM can't be mapped a second time:", strerror(errno), 3);
  nextAlias += size + kPage;
  r.alias = intptr_t(at) - intptr_t(begin);
  guard(r);
  followCallsOn(begin, begin + size);
}

void trapAgain(Region& r) {
  if (!trapping) return;
  // A shared mapping of no old size is a second one.
  uintptr_t begin = roundDown(r.begin);
  size_t size = roundUp(r.end) - begin;
  long at = syscall(SYS_mremap, begin, 0, size, MREMAP_MAYMOVE | MREMAP_FIXED, nextAlias);
  if (at == -1) stop("PM can't be mapped a second time:", strerror(errno), 3);
  nextAlias += size + kPage;
  protect(uintptr_t(at), uintptr_t(at) + size, PROT_READ | PROT_WRITE);
  r.alias = intptr_t(at) - intptr_t(begin);
  r.pages = nullptr;
  guard(r);
  followCallsOn(begin, begin + size);
}

void guardAgain(Region& r) {
  if (r.alias != 0) guard(r);
}

void unguard(uintptr_t begin, uintptr_t end, int protection) {
  if (trapping) protect(roundDown(begin), roundUp(end), protection);
}

namespace {

// The bytes of the file that the region shows.
uint64_t fileBegin(const Region& r) { return r.offset; }
uint64_t fileEnd(const Region& r) { return r.offset + (r.end - r.begin); }

}  // namespace

bool canHold(uint32_t file, uint64_t offset, size_t size) {
  constexpr size_t kPageLimit = 16;
  if (!trapping || recordsEvents()) return false;
  size_t pages = 0;
  for (int i = 0; i < regionCount; ++i) {
    const Region& r = regions[i];
    if (r.file != file || r.copied || fileBegin(r) >= offset + size || fileEnd(r) <= offset) continue;
    if (r.begin % kPage != 0 || r.pages == nullptr) return false;
    uint64_t from = fileBegin(r) > offset ? fileBegin(r) : offset;
    uint64_t to = fileEnd(r) < offset + size ? fileEnd(r) : offset + size;
    pages += size_t(to - from + kPage - 1) / kPage;
  }
  return pages <= kPageLimit;
}

bool addTrapped(Region fresh, int fd, bool shared) {
  trapRegion(fresh, fd, shared);
  if (!trapping || shared || fresh.pages == nullptr || fresh.copied) return addRegion(fresh);
  // Where another region shows the same bytes, theirs is the content.
  while (fresh.begin < fresh.end) {
    Region* other = nullptr;
    uint64_t first = fileEnd(fresh);
    for (int i = 0; i < regionCount; ++i) {
      Region& r = regions[i];
      if (r.file != fresh.file || r.copied || fileBegin(r) >= fileEnd(fresh) || fileEnd(r) <= fileBegin(fresh))
        continue;
      uint64_t from = fileBegin(r) > fileBegin(fresh) ? fileBegin(r) : fileBegin(fresh);
      if (from < first) {
        first = from;
        other = &r;
      }
    }
    auto cut = [&](uint64_t until) {
      Region part = fresh;
      part.end = fresh.begin + (until - fresh.offset);
      fresh.pages += (part.end - part.begin) / kPage;
      fresh.offset = until;
      fresh.begin = part.end;
      return part;
    };
    if (first > fileBegin(fresh)) {
      if (!addRegion(cut(first))) return false;
      continue;
    }
    uint64_t until = fileEnd(*other) < fileEnd(fresh) ? fileEnd(*other) : fileEnd(fresh);
    uintptr_t there = other->begin + (fileBegin(fresh) - other->offset);
    for (uintptr_t p = there; p < there + (until - fileBegin(fresh)); p += kPage) holdPage(*other, pageOf(*other, p));
    intptr_t alias = other->alias + intptr_t(there);
    Region part = cut(until);
    part.alias = alias - intptr_t(part.begin);
    protect(part.begin, part.end, PROT_NONE);
    for (size_t page = 0; page < (part.end - part.begin) / kPage; ++page)
      setState(part, page, kPageHeld | kPageWritten);
    if (!addRegion(part)) return false;
  }
  return true;
}

void followRecorded() {
  if (!trapping) return;
  const auto* m =
      reinterpret_cast<const blackout_plan_mapping*>(reinterpret_cast<const uint8_t*>(plan) + plan->mappings);
  for (uint32_t i = 0; i < plan->mapping_count; ++i) followCallsOn(m[i].address, roundUp(m[i].address + m[i].size));
}

void openAllPages() {
  for (int i = 0; i < regionCount; ++i) {
    Region& r = regions[i];
    if (r.pages == nullptr) continue;
    uintptr_t begin = roundDown(r.begin);
    protect(begin, roundUp(r.end), PROT_READ | PROT_WRITE);
    for (size_t page = 0; page < pageOf(r, r.end - 1) + 1; ++page) {
      uintptr_t at = begin + page * kPage;
      bool written = stateOf(r, page) != kPageOpen && (stateOf(r, page) & kPageWritten) != 0;
      if (written) memcpy(reinterpret_cast<void*>(at), reinterpret_cast<void*>(at + uintptr_t(r.alias)), kPage);
      setState(r, page, kPageOpen);
    }
    if (r.protection != (PROT_READ | PROT_WRITE)) protect(begin, roundUp(r.end), r.protection);
  }
}

}  // namespace blackout::rt
