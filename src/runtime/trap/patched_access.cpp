#include "runtime/trap/patched_access.h"

#include <errno.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "events/contract.h"
#include "runtime/access.h"
#include "runtime/options.h"
#include "runtime/recorder.h"
#include "runtime/recovery.h"
#include "runtime/regions.h"
#include "runtime/schedule.h"
#include "runtime/trap/known_stacks.h"
#include "runtime/trap/pages.h"

namespace blackout::rt {

namespace {

// The access whose copy is executed by this thread. Between the two calls the thread has a Scope, so there is one.
struct Current {
  uintptr_t address;
  uintptr_t place;
  uint64_t pm;
  uint32_t where;
};
thread_local __attribute__((tls_model("initial-exec"))) constinit Current current = {};

// The access whose stub has called.
struct UnderWay {
  AccessFrame* frame;
  uintptr_t place;
  const ucontext_t* whole;
};
thread_local __attribute__((tls_model("initial-exec"))) constinit UnderWay under = {};

struct Deferred {
  uint64_t mask;  // that the program had
  siginfo_t info;
};
thread_local __attribute__((tls_model("initial-exec"))) constinit Deferred deferred = {};

void sendDeferred() {
  int before = errno;
  self.deferred = false;
  syscall(SYS_rt_tgsigqueueinfo, syscall(SYS_getpid), syscall(SYS_gettid), deferred.info.si_signo, &deferred.info);
  errno = before;
}

uint64_t loadFrom(uintptr_t place, uint32_t size) {
  uint64_t value = 0;
  for (uint32_t n = 0; n < size; ++n)
    value |= uint64_t{*reinterpret_cast<const volatile uint8_t*>(place + n)} << (8 * n);
  return value;
}

uint64_t lowBytes(uint64_t value, uint32_t size) {
  return size == 8 ? value : value & ((uint64_t{1} << (8 * size)) - 1);
}

// A store whose place is known, all inside one region and inside its file.
uintptr_t recorded(const PatchedAccess& a, AccessFrame& f) {
  const MemoryOperand& o = a.instruction->operands[0];
  uintptr_t address = addressOf(o.address, f);
  constexpr uint64_t kMostEvents = 12;
  if (!enterStub()) return a.whole;
  const Region* r = findRegion(reinterpret_cast<void*>(address));
  bool plain = r != nullptr && r->alias != 0 && r->pages == nullptr && !r->copied && address + o.size <= r->end &&
               (r->protection & PROT_WRITE) != 0 && self.number != 0 && hasRoom(kMostEvents);
  if (plain) {
    uint64_t pm = pmAddressOf(*r, address);
    plain = (pm & (BLACKOUT_MAX_FILE_SIZE - 1)) + o.size <= header->files[r->file].size;
    uint32_t where = plain ? knownWhere(a.place, f.sp(), f.rbp) : 0;
    if (where != 0) {
      uintptr_t place = address + uintptr_t(r->alias);
      if (a.plainStore && (address & 7) + o.size <= 8) {
        uint64_t value = lowBytes(a.source == kNoRegister ? a.number : f.at(a.source), o.size);
        storeAt(place, value, o.size);
        append(BLACKOUT_EV_Store, uint8_t(o.size), where, pm, value);
        self.active = true;
        leaveStub();
        return a.done;
      }
      current = {address, place, pm, where};
      f.place = place;
      return a.full;
    }
  }
  bool other = r == nullptr && !overlapsPages(address, address + o.size);
  leaveStub();
  return other ? a.native : a.whole;
}

void recordCopied(const Instruction& i, uint64_t flags) {
  constexpr uint64_t kZero = 0x40;
  bool atomic = i.kind == BLACKOUT_SITE_Rmw || i.kind == BLACKOUT_SITE_CmpXchg;
  if (i.compares && (flags & kZero) == 0) {
    if (atomic) append(BLACKOUT_EV_RmwFence, 0, current.where, current.address, 0);
  } else {
    uint8_t event = atomic                            ? BLACKOUT_EV_Rmw
                    : i.kind == BLACKOUT_SITE_StoreNt ? BLACKOUT_EV_StoreNt
                                                      : BLACKOUT_EV_Store;
    uint32_t size = i.operands[0].size;
    if (atomic && size == 16 && (current.address & 15) == 0) {
      uint64_t values[2] = {loadFrom(current.place, 8), loadFrom(current.place + 8, 8)};
      appendJoined(event, current.where, current.pm, values);
    } else {
      uint32_t len = 0;
      for (uint32_t at = 0; at < size; at += len) {
        len = 8 - uint32_t((current.address + at) & 7);
        if (len > size - at) len = size - at;
        uint64_t value = len == 8 ? *reinterpret_cast<const volatile uint64_t*>(current.place + at)
                                  : loadFrom(current.place + at, len);
        append(event, uint8_t(len | (at + len < size ? BLACKOUT_WIDE : 0)), current.where, current.pm + at, value);
      }
    }
    self.active = true;
  }
  if (atomic) self.active = false;
}

// An access of a run of which only the observations are wanted.
uintptr_t observed(const PatchedAccess& a, AccessFrame& f) {
  const Instruction& i = *a.instruction;
  const MemoryOperand& o = i.operands[0];
  uintptr_t address = addressOf(o.address, f);
  if (!enterStub()) return a.whole;
  Region* r = const_cast<Region*>(findRegion(reinterpret_cast<void*>(address)));
  uintptr_t to = r == nullptr && !overlapsPages(address, address + o.size) ? a.native : a.whole;
  int needed = (o.read ? PROT_READ : 0) | (o.written ? PROT_WRITE : 0);
  if (r != nullptr && r->alias != 0 && r->pages != nullptr && address + o.size <= r->end &&
      address % kPage + o.size <= kPage && (r->protection & needed) == needed && !i.compares && observesAlone()) {
    size_t page = pageOf(*r, address);
    uint16_t state = stateOf(*r, page);
    if (state == kPageOpen) {
      to = a.native;
    } else {
      bool fresh = false;
      if (o.read) {
        blackout_site site{};
        site.id = a.id;
        fresh = observe(reinterpret_cast<void*>(address), o.size, &site, nullptr, 0);
      }
      if (o.written) {
        fresh |= overwrite(reinterpret_cast<void*>(address), o.size);
        if ((state & kPageWritten) == 0) setState(*r, page, state | kPageWritten);
      }
      // The last that was to be seen: the page is opened there.
      bool last =
          fresh && (state & ~kPageWritten) < kPageHeld && allSeen(*r, roundDown(address), roundDown(address) + kPage);
      if (!last) {
        f.place = address + uintptr_t(r->alias);
        return header->lock != 0 ? a.full : a.light;
      }
    }
  }
  leaveStub();
  return to;
}

}  // namespace

// Whoever waits for others that have the trace calls libc, which has its own use for vector registers.
bool enterStub() {
  self.inStub = true;
  __atomic_signal_fence(__ATOMIC_SEQ_CST);
  if (Scope::tryEnter()) return true;
  endStub();
  return false;
}
void leaveStub() {
  Scope::leave();
  endStub();
}

uintptr_t addressOf(const Address& a, AccessFrame& f) {
  auto sum = uint64_t(a.displacement);
  if (a.base != kNoRegister) sum += f.at(a.base);
  if (a.index != kNoRegister) sum += f.at(a.index) * a.scale;
  return a.narrow ? uint32_t(sum) : sum;
}

uintptr_t accessBegun(AccessFrame& f) {
  const PatchedAccess& a = *f.access;
  // The runtime's own access, inside an event: it is made, and faults if it must. Anything more might come here again,
  // for what it calls of libc.
  if (self.busy || self.inStub) return a.native;
  if (__builtin_expect(controlled, 0)) return a.whole;  // another thread may go on first
  if (isRecording() && options.loads == 0 && !a.instruction->operands[0].written) return a.native;
  if (!observesOnly() && (!isRecording() || options.loads != 0)) return a.whole;
  under = {&f, a.place, nullptr};
  uintptr_t to = isRecording() ? recorded(a, f) : observed(a, f);
  under.frame = nullptr;
  return to;
}

uintptr_t accessEnded(AccessFrame& f) {
  const PatchedAccess& a = *f.access;
  under = {&f, a.place + a.instruction->length, nullptr};
  if (recordsEvents()) recordCopied(*a.instruction, f.flags);
  leaveStub();
  under.frame = nullptr;
  return a.done;
}

void setWholeAccess(const ucontext_t* context) { under = {nullptr, 0, context}; }

bool accessUnderWay(ucontext_t& context) {
  if (under.whole != nullptr) {
    context = *under.whole;
    return true;
  }
  if (under.frame == nullptr) return false;
  context = {};
  for (uint8_t n = 0; n < 16; ++n) setRegister(context, n, n == kRsp ? under.frame->sp() : under.frame->at(n));
  context.uc_mcontext.gregs[REG_RIP] = greg_t(under.place);
  return true;
}

void abandonAccess(const PatchedAccess& a, ucontext_t& context) {
  auto* stack = reinterpret_cast<uint64_t*>(context.uc_mcontext.gregs[REG_RSP]);
  // While the copy is executed: the place, the scratch register's own value, and the red zone.
  setRegister(context, a.instruction->scratch, stack[1]);
  context.uc_mcontext.gregs[REG_RSP] += 16 + 128;
  context.uc_mcontext.gregs[REG_RIP] = greg_t(a.pc);
  Scope::leave();
  self.inStub = false;
  // All signals are blocked in this handler; the context has what will be.
  if (self.deferred) __builtin_memcpy(&context.uc_sigmask, &deferred.mask, sizeof deferred.mask);
  if (self.deferred) sendDeferred();
}

void endStub() {
  __atomic_signal_fence(__ATOMIC_SEQ_CST);
  self.inStub = false;
  __atomic_signal_fence(__ATOMIC_SEQ_CST);
  if (__builtin_expect(!self.deferred, 1)) return;
  sendDeferred();
  syscall(SYS_rt_sigprocmask, SIG_SETMASK, &deferred.mask, nullptr, sizeof deferred.mask);
}

bool deferSignal(const siginfo_t& info, ucontext_t& context, uint64_t unblocked) {
  if (!self.inStub || self.deferred) return false;
  __builtin_memcpy(&deferred.mask, &context.uc_sigmask, sizeof deferred.mask);
  deferred.info = info;
  self.deferred = true;
  uint64_t all = ~unblocked;
  __builtin_memcpy(&context.uc_sigmask, &all, sizeof all);
  return true;
}

}  // namespace blackout::rt
