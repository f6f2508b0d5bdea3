#include "runtime/buffers.h"

#include "events/trace_format.h"
#include "runtime/access.h"
#include "runtime/trap/pages.h"

namespace blackout::rt {

bool buffering = false;
constinit uint16_t waitingIn[kMostBuffers] = {};

namespace {

struct Entry {
  uint8_t kind;
  uint8_t len;
  bool behind;  // a clflushopt or clwb that leaves with the one before it
  uint32_t where;
  uint64_t addr;
  uint64_t value;
  uintptr_t place;  // of a store: where it is made
};

// About as many as processors have.
constexpr uint16_t kRoom = 64;

struct Buffer {
  uint16_t thread;  // its number in the trace
  Entry entries[kRoom];
};
constinit Buffer buffers[kMostBuffers] = {};

uint64_t lineOf(const Entry& e) { return e.addr / BLACKOUT_LINE; }

void takeEffect(const Entry& e, uint16_t thread) {
  uint8_t kind = e.kind;
  uint64_t offset = e.addr & (BLACKOUT_MAX_FILE_SIZE - 1);
  bool outside = offset + e.len > header->files[e.addr >> BLACKOUT_FILE_SHIFT].size;
  if (kind == BLACKOUT_EV_Store && outside) kind = BLACKOUT_EV_StoreOutside;
  appendAs(thread, kind, e.len, e.where, e.addr, e.value);
  if (e.kind == BLACKOUT_EV_Store) storeAt(e.place, e.value, e.len);
}

void leaves(uint32_t thread, uint16_t count) {
  Buffer& b = buffers[thread];
  uint16_t& waiting = waitingIn[thread];
  for (uint16_t i = 0; i < count; ++i) takeEffect(b.entries[i], b.thread);
  for (uint16_t i = count; i < waiting; ++i) b.entries[i - count] = b.entries[i];
  waiting -= count;
}

void emptyOwn() {
  if (buffering && waitingIn[self.turns] != 0) leaves(self.turns, waitingIn[self.turns]);
}
void emptyAll() {
  for (uint32_t i = 0; i < kMostBuffers; ++i)
    if (waitingIn[i] != 0) leaves(i, waitingIn[i]);
}

// Behind `at` others.
void enter(const Entry& e, uint16_t at) {
  Buffer& b = buffers[self.turns];
  b.thread = threadNumber();
  uint16_t& waiting = waitingIn[self.turns];
  for (uint16_t i = waiting; i > at; --i) b.entries[i] = b.entries[i - 1];
  b.entries[at] = e;
  ++waiting;
  // It orders nothing before it has left, so a locked instruction still does.
  self.active = true;
}
void enterLast(const Entry& e) {
  while (waitingIn[self.turns] >= kRoom) leaveOldest(self.turns);
  enter(e, waitingIn[self.turns]);
}

}  // namespace

void startBuffers() {
  if (buffering) return;
  wantAllStores();
  buffering = true;
  emptyBufferFirst = emptyOwn;
}

void endBuffers() {
  if (!buffering) return;
  emptyAllBuffers();
  buffering = false;
  emptyBufferFirst = nullptr;
}

void forgetBuffers() {
  for (uint16_t& waiting : waitingIn)
    if (waiting != 0) waiting = 0;
  buffering = false;
  emptyBufferFirst = nullptr;
}

void emptyBuffer() { Scope scope; }

void emptyAllBuffers() {
  if (!buffering) return;
  Scope scope(Buffered::Stays);
  if (!scope.nested) emptyAll();
}

void delayStore(Region& region, uintptr_t p, uint64_t value, uint8_t size, uint32_t where) {
  uintptr_t place = placeIn(&region, p, size, true, false);
  enterLast({BLACKOUT_EV_Store, size, false, where, pmAddressOf(region, p), value, place});
  ++self.stores;
}

void delayFlush(uint8_t kind, const Region& region, uintptr_t p, uint32_t where) {
  Entry flush{kind, 0, false, where, pmAddressOf(region, p), 0, 0};
  if (kind == BLACKOUT_EV_Clflush) return enterLast(flush);
  while (waitingIn[self.turns] >= kRoom) leaveOldest(self.turns);
  const Buffer& b = buffers[self.turns];
  for (uint16_t i = waitingIn[self.turns]; i > 0; --i) {
    const Entry& e = b.entries[i - 1];
    bool orders = e.kind == BLACKOUT_EV_Sfence ||
                  ((e.kind == BLACKOUT_EV_Store || e.kind == BLACKOUT_EV_Clflush) && lineOf(e) == lineOf(flush));
    if (!orders) continue;
    while (i < waitingIn[self.turns] && b.entries[i].behind) ++i;
    flush.behind = true;
    return enter(flush, i);
  }
  append(kind, 0, where, flush.addr, 0);
  self.active = true;
}

void delaySfence(uint32_t where) { enterLast({BLACKOUT_EV_Sfence, 0, false, where, 0, 0, 0}); }

bool ownStore(const Region& region, uintptr_t p, size_t size, uint64_t& value) {
  uint64_t at = pmAddressOf(region, p);
  const Buffer& b = buffers[self.turns];
  for (uint16_t i = waitingIn[self.turns]; i > 0; --i) {
    const Entry& e = b.entries[i - 1];
    if (e.kind != BLACKOUT_EV_Store || e.addr >= at + size || e.addr + e.len <= at) continue;
    if (e.addr > at || e.addr + e.len < at + size) {
      emptyOwn();
      return false;
    }
    value = e.value >> (8 * (at - e.addr));
    return true;
  }
  return false;
}

uint32_t leavingFrom(uint32_t thread) {
  uint32_t count = 0;
  for (uint16_t i = 0; i < waitingIn[thread]; ++i) count += buffers[thread].entries[i].behind ? 0 : 1;
  return count;
}

void leaveOldest(uint32_t thread) {
  const Buffer& b = buffers[thread];
  uint16_t count = 1;
  while (count < waitingIn[thread] && b.entries[count].behind) ++count;
  if (waitingIn[thread] != 0) leaves(thread, count);
}

}  // namespace blackout::rt
