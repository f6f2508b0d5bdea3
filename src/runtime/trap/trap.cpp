#include "runtime/trap/trap.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "events/contract.h"
#include "runtime/access.h"
#include "runtime/client_requests.h"
#include "runtime/modules.h"
#include "runtime/options.h"
#include "runtime/recorder.h"
#include "runtime/recovery.h"
#include "runtime/trap/instruction.h"
#include "runtime/trap/loaded.h"
#include "runtime/trap/patches.h"

namespace blackout::rt {

bool trapping = false;
bool plainCode = false;

namespace {

constexpr uintptr_t kPage = 4096;
// Behind the trace (recorder.cpp).
constexpr uintptr_t kAliasBase = 0x400000000000;
constexpr uintptr_t kAliasEnd = 0x500000000000;
uintptr_t nextAlias = kAliasBase;
// Page states of recovery runs, never given back.
constexpr size_t kPageStates = size_t{1} << 32;
uint16_t* pageStates = nullptr;
size_t pageStatesUsed = 0;

// What a nested fault inside an execution was.
thread_local __attribute__((tls_model("initial-exec"))) constinit siginfo_t nested = {};

uintptr_t roundUp(uintptr_t a) { return (a + kPage - 1) & ~(kPage - 1); }
uintptr_t roundDown(uintptr_t a) { return a & ~(kPage - 1); }
size_t pageOf(const Region& r, uintptr_t p) { return p / kPage - r.begin / kPage; }

void protect(uintptr_t begin, uintptr_t end, int protection) {
  if (syscall(SYS_mprotect, begin, end - begin, protection) != 0)
    stop("PM can't be protected (mprotect); is the number of mappings limited?", strerror(errno), 3);
}

// Calls body(begin, end) for every run of pages of the region that hold a watched line.
template <class Body>
void forWatchedPages(const Region& r, Body body) {
  uint64_t lines = 0;
  const uint32_t* slots = watchedSlots(r.file, lines);
  if (slots == nullptr) return;
  size_t count = pageOf(r, r.end - 1) + 1;
  uint64_t first = (r.offset - (r.begin - roundDown(r.begin))) / BLACKOUT_LINE;
  constexpr uint64_t kLines = kPage / BLACKOUT_LINE;
  const uint8_t* marks = watchedMarks(r.file);
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
    bool watched = false;
    for (uint64_t l = first + page * kLines; page < count && l < first + (page + 1) * kLines && l < lines; ++l)
      watched |= slots[l] != 0;
    if (watched && begin == count) begin = page;
    if (watched || begin == count) continue;
    body(begin, page);
    begin = count;
  }
}

void takePageStates(Region& r) {
  if (pageStates == nullptr) {
    pageStates = reinterpret_cast<uint16_t*>(syscall(SYS_mmap, nullptr, kPageStates * 2, PROT_READ | PROT_WRITE,
                                                     MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1L, 0L));
    if (pageStates == MAP_FAILED) stop("no memory for the pages of a recovery run", nullptr, 3);
  }
  r.pages = pageStates + pageStatesUsed;
  pageStatesUsed += pageOf(r, r.end - 1) + 1;
}

// Of a run of which only observations are wanted: pages with a watched line, until all of it is seen.
void guardPages(Region& r) {
  takePageStates(r);
  forWatchedPages(r, [&](size_t begin, size_t end) {
    for (size_t page = begin; page < end; ++page) r.pages[page] = uint16_t(options.pagebudget);
    protect(roundDown(r.begin) + begin * kPage, roundDown(r.begin) + end * kPage, PROT_NONE);
  });
}

// Of a restart whose events are recorded, on a private mapping: its second mapping is another, so all of the content
// stays there.
void holdAllPages(Region& r) {
  takePageStates(r);
  for (size_t page = 0; page < pageOf(r, r.end - 1) + 1; ++page) r.pages[page] = kPageHeld;
  protect(roundDown(r.begin), roundUp(r.end), PROT_NONE);
}

// Of a run whose events are recorded: writes everywhere, and reads where they are wanted.
void guard(Region& r) {
  if (recovering() && !traced) return guardPages(r);
  if (recovering() && (!ownsPools() || r.copied)) return holdAllPages(r);
  protect(roundDown(r.begin), roundUp(r.end), options.loads != 0 ? PROT_NONE : r.protection & ~PROT_WRITE);
  if (recovering())
    forWatchedPages(r, [&](size_t begin, size_t end) {
      protect(roundDown(r.begin) + begin * kPage, roundDown(r.begin) + end * kPage, PROT_NONE);
    });
}

// The content of a page is the second mapping's, for as long as something else shows it too.
void holdPage(Region& r, size_t page) {
  uintptr_t at = roundDown(r.begin) + page * kPage;
  if (r.pages[page] == 0) {
    memcpy(reinterpret_cast<void*>(at + uintptr_t(r.alias)), reinterpret_cast<void*>(at), kPage);
    protect(at, at + kPage, PROT_NONE);
  }
  r.pages[page] = kPageHeld | kPageWritten;
}

// Back to what the program asked for, with what was written.
void openPage(Region& r, size_t page) {
  uintptr_t at = roundDown(r.begin) + page * kPage;
  bool written = (r.pages[page] & kPageWritten) != 0;
  r.pages[page] = 0;
  protect(at, at + kPage, PROT_READ | PROT_WRITE);
  if (written) memcpy(reinterpret_cast<void*>(at), reinterpret_cast<void*>(at + uintptr_t(r.alias)), kPage);
  if (r.protection != (PROT_READ | PROT_WRITE)) protect(at, at + kPage, r.protection);
}

Region* regionAt(uintptr_t p) { return const_cast<Region*>(findRegion(reinterpret_cast<void*>(p))); }

// --- one instruction ---

struct Trap {
  const Instruction& instruction;
  ucontext_t& context;
  Access access;
  uint64_t iterations;  // that are executed now
  Stored stored;
};

// Iterations that one execution can do: all its memory is reached in one way, and it goes upwards.
uint64_t alikeIterations(const Access& a) {
  if (a.downwards) return 1;
  uint64_t n = a.iterations;
  for (int i = 0; i < a.count; ++i) {
    const Operand& o = a.operands[i];
    uint64_t fit = alikeBytes(o.address, size_t(o.size * n)) / o.size;
    if (fit < n) n = fit;
  }
  return n == 0 ? 1 : n;
}

Executed executeThrough(Trap& t) {
  constexpr size_t kAside = 512;
  alignas(64) uint8_t aside[kMaxOperands][kAside];
  uintptr_t places[kMaxOperands] = {};
  bool copied[kMaxOperands] = {};
  for (int i = 0; i < t.access.count; ++i) {
    const Operand& o = t.access.operands[i];
    size_t size = size_t(o.size * t.iterations);
    const Region* r = regionAt(o.address);
    places[i] = r == nullptr ? o.address : reach(*r, o.address);
    if (alikeBytes(o.address, size) == size) continue;
    // Two pages that are reached in different ways: the operand is put together.
    if (size > kAside) return Executed::Unsupported;
    readThrough(aside[i], o.address, size);
    places[i] = reinterpret_cast<uintptr_t>(aside[i]);
    copied[i] = true;
  }
  Executed done = execute(t.instruction, t.context, places, t.iterations, t.stored);
  if (done != Executed::Done) return done;
  for (int i = 0; i < t.access.count; ++i)
    if (copied[i] && t.access.operands[i].written)
      writeThrough(t.access.operands[i].address, aside[i], size_t(t.access.operands[i].size * t.iterations));
  return done;
}

// Whether the program itself may not do this: then the fault is its own.
bool forbidden(const Access& a, uint64_t iterations) {
  bool no = false;
  for (int i = 0; i < a.count; ++i) {
    const Operand& o = a.operands[i];
    forEachRegion(o.address, o.address + o.size * iterations, [&](const Region& r, uintptr_t, uintptr_t) {
      no |= o.written && (r.protection & PROT_WRITE) == 0;
      no |= o.read && (r.protection & PROT_READ) == 0;
    });
  }
  return no;
}

void recordWritten(const Trap& t, const Operand& o, uint8_t kind, uint32_t where, bool joined) {
  size_t size = size_t(o.size * t.iterations);
  alignas(16) uint8_t bytes[512];
  for (size_t done = 0; done < size;) {
    size_t n = size - done < sizeof bytes ? size - done : sizeof bytes;
    readThrough(bytes, o.address + done, n);
    if (t.stored.mask == ~uint64_t{0} || size > 64) {
      recordStore(kind, reinterpret_cast<void*>(o.address + done), bytes, n, where, joined);
    } else {
      for (size_t from = 0; from < n;) {
        if ((t.stored.mask >> from & 1) == 0) {
          ++from;
          continue;
        }
        size_t to = from;
        while (to < n && (t.stored.mask >> to & 1) != 0) ++to;
        recordStore(kind, reinterpret_cast<void*>(o.address + from), bytes + from, to - from, where);
        from = to;
      }
    }
    done += n;
  }
}

// What the instruction did, as a hook of instrumented code would record it.
void recordTrap(const Trap& t, blackout_site_kind kind, uint32_t where) {
  bool atomic = kind == BLACKOUT_SITE_Rmw || kind == BLACKOUT_SITE_CmpXchg;
  for (int i = 0; i < t.access.count; ++i) {
    const Operand& o = t.access.operands[i];
    size_t size = size_t(o.size * t.iterations);
    if (!overlapsRegion(o.address, o.address + size)) continue;
    if (o.read && options.loads != 0 && !atomic) recordLoad(reinterpret_cast<void*>(o.address), size, where);
    if (!o.written) continue;
    if (!t.stored.any) {
      if (atomic) append(BLACKOUT_EV_RmwFence, 0, where, o.address, 0);
      continue;
    }
    uint8_t event = atomic ? BLACKOUT_EV_Rmw : kind == BLACKOUT_SITE_StoreNt ? BLACKOUT_EV_StoreNt : BLACKOUT_EV_Store;
    recordWritten(t, o, event, where, atomic && size == 16);
  }
  if (atomic) self.active = false;
}

// A page of which everything has been seen, or on which too much happens: from here on it is ordinary memory.
void retirePages(const Trap& t, blackout_site* site) {
  for (int i = 0; i < t.access.count; ++i) {
    const Operand& o = t.access.operands[i];
    uintptr_t end = o.address + o.size * t.iterations;
    for (uintptr_t p = roundDown(o.address); p < end; p += kPage) {
      uintptr_t inside = p < o.address ? o.address : p;
      Region* r = regionAt(inside);
      if (r == nullptr || r->pages == nullptr) continue;
      uint16_t& state = r->pages[pageOf(*r, inside)];
      if (state == 0 || (state & ~kPageWritten) == kPageHeld) continue;
      if ((state & ~kPageWritten) > 1)
        --state;
      else
        observe(reinterpret_cast<void*>(p), kPage, site, nullptr, newGroup());
      if (allSeen(*r, p, p + kPage)) openPage(*r, pageOf(*r, inside));
    }
  }
}

// A recovery run touches a page with watched lines.
void observeTrap(const Trap& t, blackout_site* site) {
  uint32_t group = t.iterations > 1 ? newGroup() : 0;
  for (int i = 0; i < t.access.count; ++i) {
    const Operand& o = t.access.operands[i];
    if (o.read) observe(reinterpret_cast<void*>(o.address), size_t(o.size * t.iterations), site, nullptr, group);
  }
}
void overwriteTrap(const Trap& t) {
  for (int i = 0; i < t.access.count; ++i) {
    const Operand& o = t.access.operands[i];
    if (!o.written || !t.stored.any) continue;
    if (t.stored.mask == ~uint64_t{0} || o.size > 64) {
      overwrite(reinterpret_cast<void*>(o.address), size_t(o.size * t.iterations));
    } else {
      for (unsigned b = 0; b < o.size; ++b)
        if ((t.stored.mask >> b & 1) != 0) overwrite(reinterpret_cast<void*>(o.address + b), 1);
    }
  }
}

// --- the rest: single steps ---

// An instruction that can't be executed elsewhere runs where it is, on pages that are open for it alone; what it
// changed is found by comparing. The trace is locked meanwhile.
struct Step {
  uint32_t tid = 0;  // 0: nobody steps
  uintptr_t begin;
  uintptr_t end;
  uint32_t where;
  uint8_t before[2 * kPage];
};
Step stepping;
constexpr greg_t kTrapFlag = 0x100;

void beginStep(ucontext_t& context, uintptr_t address, uint32_t where) {
  const Region* r = regionAt(address);
  stepping.begin = roundDown(address);
  stepping.end = stepping.begin + 2 * kPage < roundUp(r->end) ? stepping.begin + 2 * kPage : roundUp(r->end);
  stepping.where = where;
  memcpy(stepping.before, reinterpret_cast<void*>(stepping.begin + uintptr_t(r->alias)), stepping.end - stepping.begin);
  if (r->pages != nullptr) {
    // Another memory: it gets the content for the step.
    protect(stepping.begin, stepping.end, PROT_READ | PROT_WRITE);
    memcpy(reinterpret_cast<void*>(stepping.begin), stepping.before, stepping.end - stepping.begin);
  }
  protect(stepping.begin, stepping.end, r->protection);
  stepping.tid = self.tid;
  context.uc_mcontext.gregs[REG_EFL] |= kTrapFlag;
}

// False: the trap is none of ours.
bool endStep(ucontext_t& context) {
  if (stepping.tid == 0 || stepping.tid != self.tid) return false;
  stepping.tid = 0;
  context.uc_mcontext.gregs[REG_EFL] &= ~kTrapFlag;
  Region* r = regionAt(stepping.begin);
  if (r != nullptr) {
    const auto* now = reinterpret_cast<const uint8_t*>(stepping.begin + uintptr_t(r->alias));
    size_t size = stepping.end - stepping.begin;
    if (r->pages != nullptr) {
      writeThrough(stepping.begin, reinterpret_cast<void*>(stepping.begin), size);
      protect(stepping.begin, stepping.end, PROT_NONE);
    }
    for (size_t from = 0; from < size; ++from) {
      if (now[from] == stepping.before[from]) continue;
      size_t to = from;
      while (to < size && now[to] != stepping.before[to]) ++to;
      recordStore(BLACKOUT_EV_Store, reinterpret_cast<void*>(stepping.begin + from), now + from, to - from,
                  stepping.where);
      from = to;
    }
    if (r->pages == nullptr) guard(*r);
  }
  Scope::leave();
  return true;
}

// --- signals ---

// The runtime's own access, or one whose event somebody is about to append.
bool silent(uintptr_t pc) { return self.busy && ((self.depth > 0 && !self.appending) || inRuntime(pc)); }

bool isFlush(blackout_site_kind kind) {
  return kind == BLACKOUT_SITE_Clflush || kind == BLACKOUT_SITE_Clflushopt || kind == BLACKOUT_SITE_Clwb;
}

enum class Fault { Handled, Theirs };

// Only executes the instruction: no event is recorded of it.
Fault effectOnly(const Instruction& i, ucontext_t& context) {
  Trap t{i, context, accessOf(i, context), 1, {}};
  t.iterations = alikeIterations(t.access);
  for (int n = 0; n < t.access.count; ++n)
    if (t.access.operands[n].written)
      notePageWrites(t.access.operands[n].address, size_t(t.access.operands[n].size * t.iterations));
  return executeThrough(t) == Executed::Done ? Fault::Handled : Fault::Theirs;
}

// A recovery run of which only the observations are wanted.
Fault observeFault(const Instruction& i, ucontext_t& context, uintptr_t address) {
  if (self.busy && silent(uintptr_t(context.uc_mcontext.gregs[REG_RIP]))) return effectOnly(i, context);
  Scope scope;
  const Region* r = regionAt(address);
  if (r == nullptr || r->pages == nullptr) return Fault::Theirs;
  // Another thread has opened the page since.
  if (r->pages[pageOf(*r, address)] == 0) {
    constexpr greg_t kWrite = 2;
    int needed = (context.uc_mcontext.gregs[REG_ERR] & kWrite) != 0 ? PROT_WRITE : PROT_READ;
    return (r->protection & needed) != 0 ? Fault::Handled : Fault::Theirs;
  }
  if (isFlush(kindOf(i))) {
    // It reads nothing, and nothing needs to be flushed here.
    context.uc_mcontext.gregs[REG_RIP] += lengthOf(i);
    return Fault::Handled;
  }
  Trap t{i, context, accessOf(i, context), 1, {}};
  t.iterations = alikeIterations(t.access);
  if (forbidden(t.access, t.iterations)) return Fault::Theirs;
  blackout_site site{};
  site.id = trappedId(placeInProgram(uintptr_t(context.uc_mcontext.gregs[REG_RIP])), kindOf(i));
  observeTrap(t, &site);
  for (int n = 0; n < t.access.count; ++n)
    if (t.access.operands[n].written)
      notePageWrites(t.access.operands[n].address, size_t(t.access.operands[n].size * t.iterations));
  switch (executeThrough(t)) {
    case Executed::Done:
      break;
    case Executed::Faulted:
      return Fault::Theirs;
    case Executed::Unsupported: {
      // It may do anything with these pages: all of them is observed, and it runs there.
      uintptr_t page = roundDown(address);
      for (uintptr_t p = page; p < page + 2 * kPage && p < r->end; p += kPage) {
        observe(reinterpret_cast<void*>(p), kPage, &site, nullptr, newGroup());
        if (r->pages[pageOf(*r, p)] != 0) openPage(*const_cast<Region*>(r), pageOf(*r, p));
      }
      return Fault::Handled;
    }
  }
  overwriteTrap(t);
  retirePages(t, &site);
  return Fault::Handled;
}

Fault recordFault(const Instruction& i, ucontext_t& context, uintptr_t address) {
  uintptr_t pc = placeInProgram(uintptr_t(context.uc_mcontext.gregs[REG_RIP]));
  if (isFlush(kindOf(i))) {
    // A page that isn't readable. Where it is followed at all, it was recorded when it was met.
    context.uc_mcontext.gregs[REG_RIP] += lengthOf(i);
    return Fault::Handled;
  }
  if (self.busy && silent(pc)) return effectOnly(i, context);
  Stack stack;
  walkFrom(stack, frameOf(context));
  Trap t{i, context, accessOf(i, context), 1, {}};
  blackout_site* site = nullptr;
  {
    Scope scope;
    const Region* r = regionAt(address);
    if (r == nullptr || r->alias == 0) return Fault::Theirs;
    if (scope.nested) {
      problem(BLACKOUT_PROBLEM_SIGNAL);
      lost(1);
      return effectOnly(i, context);
    }
    t.iterations = alikeIterations(t.access);
    if (forbidden(t.access, t.iterations)) return Fault::Theirs;
    uint32_t size = t.access.count == 0 || t.access.iterations > 1 ? 0 : t.access.operands[0].size;
    site = trappedSite(pc, kindOf(i), size);
  }
  if (recovering()) {
    self.trapped = &stack;
    observeTrap(t, site);
    self.trapped = nullptr;
  }
  Scope scope;
  switch (executeThrough(t)) {
    case Executed::Done:
      break;
    case Executed::Faulted:
      return Fault::Theirs;
    case Executed::Unsupported:
      scope.keep();  // the step ends it
      beginStep(context, address, whereOf(site, stack));
      return Fault::Handled;
  }
  if (recovering()) overwriteTrap(t);
  recordTrap(t, kindOf(i), whereOf(site, stack));
  return Fault::Handled;
}

void onFault(int signal, siginfo_t* info, void* context) {
  auto& u = *static_cast<ucontext_t*>(context);
  if (executionFaulted(u)) {
    nested = *info;
    nested.si_signo = signal;
    return;
  }
  int saved = errno;
  nested.si_signo = 0;
  auto address = reinterpret_cast<uintptr_t>(info->si_addr);
  bool ours = signal == SIGSEGV && info->si_code == SEGV_ACCERR && mayBePm(info->si_addr, 1);
  const Instruction* i = nullptr;
  if (ours) {
    auto pc = uintptr_t(u.uc_mcontext.gregs[REG_RIP]);
    const Patch* patch = patchAt(pc);
    i = instructionAt(pc, patch == nullptr ? nullptr : patch->original);
  }
  Fault fault = Fault::Theirs;
  if (i != nullptr) fault = quiet() ? observeFault(*i, u, address) : recordFault(*i, u, address);
  errno = saved;
  if (fault == Fault::Handled) return;
  if (nested.si_signo != 0) {
    siginfo_t real = nested;
    return deliver(real.si_signo, &real, context);
  }
  deliver(signal, info, context);
}

// An instruction that was replaced is about to be executed.
void onPatch(const Patch& patch, ucontext_t& context) {
  if (patch.kind != BLACKOUT_SITE_Request && (!recording() || quiet())) return;
  int saved = errno;
  Stack stack;
  walkFrom(stack, frameOf(context));
  auto kind = blackout_site_kind(patch.kind);
  if (kind == BLACKOUT_SITE_Request) {
    auto* args = reinterpret_cast<const uint64_t*>(context.uc_mcontext.gregs[REG_RAX]);
    auto& result = context.uc_mcontext.gregs[REG_RDX];
    blackout_site* site = nullptr;
    if (recording() && !quiet()) {
      Scope scope;
      if (!scope.nested) site = trappedSite(patch.pc, kind, 0);
    }
    const Stack* outer = self.trapped;
    self.trapped = &stack;
    // Who carries pmemcheck's requests is told that pmemcheck is here.
    constexpr uint64_t kRunningOnValgrind = 0x1001;
    if (args[0] == kRunningOnValgrind)
      result = carriesRequests(patch.pc) ? 1 : result;
    else
      result = greg_t(clientRequest(uint64_t(result), args, site, nullptr));
    self.trapped = outer;
    errno = saved;
    return;
  }
  const Instruction* i = instructionAt(patch.pc, patch.original);
  uintptr_t address = 0;
  if (i != nullptr) {
    Access a = accessOf(*i, context);
    if (a.count > 0) address = a.operands[0].address;
  }
  bool atomic = kind == BLACKOUT_SITE_Rmw || kind == BLACKOUT_SITE_CmpXchg;
  if (atomic && !self.active) return;
  {
    Scope scope;
    if (scope.nested) {
      problem(BLACKOUT_PROBLEM_SIGNAL);
      lost(1);
    } else if (atomic) {
      // On PM it will fault, and be recorded there.
      if (regionAt(address) == nullptr) {
        append(BLACKOUT_EV_RmwFence, 0, whereOf(trappedSite(patch.pc, kind, 0), stack), address, 0);
        self.active = false;
      }
    } else {
      uint32_t where = whereOf(trappedSite(patch.pc, kind, 0), stack);
      switch (kind) {
        case BLACKOUT_SITE_Sfence:
        case BLACKOUT_SITE_Mfence:
          append(kind == BLACKOUT_SITE_Sfence ? BLACKOUT_EV_Sfence : BLACKOUT_EV_Mfence, 0, where, 0, 0);
          self.active = false;
          break;
        case BLACKOUT_SITE_Clflush:
          recordFlush(BLACKOUT_EV_Clflush, reinterpret_cast<void*>(address), where);
          break;
        case BLACKOUT_SITE_Clflushopt:
          recordFlush(BLACKOUT_EV_Clflushopt, reinterpret_cast<void*>(address), where);
          break;
        default:
          recordFlush(BLACKOUT_EV_Clwb, reinterpret_cast<void*>(address), where);
          break;
      }
    }
  }
  errno = saved;
}

void onTrap(int signal, siginfo_t* info, void* context) {
  auto& u = *static_cast<ucontext_t*>(context);
  int saved = errno;
  bool ours = endStep(u) || patchTrapped(u, onPatch) || loaderTrapped(u, onPatch);
  errno = saved;
  if (!ours) deliver(signal, info, context);
}

}  // namespace

Frame frameOf(const ucontext_t& context) {
  const auto& g = context.uc_mcontext.gregs;
  return {placeInProgram(uintptr_t(g[REG_RIP])),
          uintptr_t(g[REG_RSP]),
          uintptr_t(g[REG_RBP]),
          uintptr_t(g[REG_RBX]),
          uintptr_t(g[REG_R12]),
          uintptr_t(g[REG_R13]),
          uintptr_t(g[REG_R14]),
          uintptr_t(g[REG_R15]),
          uintptr_t(g[REG_R10])};
}

size_t alikeBytes(uintptr_t p, size_t size) {
  auto way = [](uintptr_t at, uintptr_t& end) -> uintptr_t {
    const Region* r = regionAt(at);
    if (r != nullptr) {
      end = r->pages == nullptr ? r->end : roundDown(at) + kPage;
      if (end > r->end) end = r->end;
      return reach(*r, at) - at;
    }
    end = UINTPTR_MAX;
    for (int i = 0; i < regionCount; ++i)
      if (regions[i].begin > at && regions[i].begin < end) end = regions[i].begin;
    return 0;
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
    const Region* r = regionAt(from);
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
    const Region* r = regionAt(to);
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
  const Region* rd = alike ? regionAt(d) : nullptr;
  const Region* rs = alike ? regionAt(s) : nullptr;
  // Otherwise it faults, page by page, which the handler knows.
  memmove(reinterpret_cast<void*>(rd == nullptr ? d : reach(*rd, d)),
          reinterpret_cast<const void*>(rs == nullptr ? s : reach(*rs, s)), size);
}

void fillThrough(void* to, int c, size_t size) {
  auto d = reinterpret_cast<uintptr_t>(to);
  notePageWrites(d, size);
  const Region* r = alikeBytes(d, size) == size ? regionAt(d) : nullptr;
  memset(reinterpret_cast<void*>(r == nullptr ? d : reach(*r, d)), c, size);
}

uintptr_t placeOf(uintptr_t p, size_t size, bool writes, bool fresh) {
  Region* r = regionAt(p);
  if (r == nullptr || r->alias == 0) return p;
  if (r->pages == nullptr) return p + size <= r->end ? p + uintptr_t(r->alias) : p;
  if (p % kPage + size > kPage) return p;
  uint16_t& state = r->pages[pageOf(*r, p)];
  if (state == 0) return p;
  uintptr_t page = roundDown(p);
  if (fresh && (state & ~kPageWritten) != kPageHeld && allSeen(*r, page, page + kPage)) {
    openPage(*r, pageOf(*r, p));
    return p;
  }
  if (writes) state |= kPageWritten;
  return p + uintptr_t(r->alias);
}

void notePageWrites(uintptr_t p, size_t size) {
  if (!recovering()) return;
  forEachRegion(p, p + size, [&](const Region& r, uintptr_t from, uintptr_t to) {
    if (r.pages == nullptr) return;
    for (uintptr_t at = roundDown(from); at < to; at += kPage) {
      uint16_t& state = r.pages[pageOf(r, at < r.begin ? r.begin : at)];
      if (state != 0) state |= kPageWritten;
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
  followSystemCalls(r.begin, r.end);
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
      uint16_t& state = r.pages[pageOf(r, at < r.begin ? r.begin : at)];
      uintptr_t alias = at + uintptr_t(r.alias);
      if ((state & ~kPageWritten) != kPageHeld || alias >= end || alias + kPage <= begin) continue;
      state = 2 | kPageWritten;
      used = true;
    }
  }
  // So are pages that a neighbour shares.
  if (!used && roundUp(begin) < roundDown(end)) syscall(SYS_munmap, roundUp(begin), roundDown(end) - roundUp(begin));
}

namespace {

// The bytes of the file that the region shows.
uint64_t fileBegin(const Region& r) { return r.offset; }
uint64_t fileEnd(const Region& r) { return r.offset + (r.end - r.begin); }

}  // namespace

bool canHold(uint32_t file, uint64_t offset, size_t size) {
  constexpr size_t kMostPages = 16;
  if (!trapping || traced) return false;
  size_t pages = 0;
  for (int i = 0; i < regionCount; ++i) {
    const Region& r = regions[i];
    if (r.file != file || fileBegin(r) >= offset + size || fileEnd(r) <= offset) continue;
    if (r.begin % kPage != 0 || r.pages == nullptr) return false;
    uint64_t from = fileBegin(r) > offset ? fileBegin(r) : offset;
    uint64_t to = fileEnd(r) < offset + size ? fileEnd(r) : offset + size;
    pages += size_t(to - from + kPage - 1) / kPage;
  }
  return pages <= kMostPages;
}

bool addTrapped(Region fresh, int fd, bool shared) {
  trapRegion(fresh, fd, shared);
  if (!trapping || shared || fresh.pages == nullptr) return addRegion(fresh);
  // Where another region shows the same bytes, theirs is the content.
  while (fresh.begin < fresh.end) {
    Region* other = nullptr;
    uint64_t first = fileEnd(fresh);
    for (int i = 0; i < regionCount; ++i) {
      Region& r = regions[i];
      if (r.file != fresh.file || fileBegin(r) >= fileEnd(fresh) || fileEnd(r) <= fileBegin(fresh)) continue;
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
    for (size_t page = 0; page < (part.end - part.begin) / kPage; ++page) part.pages[page] = kPageHeld | kPageWritten;
    if (!addRegion(part)) return false;
  }
  return true;
}

void followRecorded() {
  if (!trapping) return;
  const auto* m =
      reinterpret_cast<const blackout_plan_mapping*>(reinterpret_cast<const uint8_t*>(plan) + plan->mappings);
  for (uint32_t i = 0; i < plan->mapping_count; ++i) followSystemCalls(m[i].address, roundUp(m[i].address + m[i].size));
}

void openAllPages() {
  for (int i = 0; i < regionCount; ++i) {
    Region& r = regions[i];
    if (r.pages == nullptr) continue;
    // As openPage(), all at once.
    protect(roundDown(r.begin), roundUp(r.end), PROT_READ | PROT_WRITE);
    for (size_t page = 0; page < pageOf(r, r.end - 1) + 1; ++page) {
      uintptr_t at = roundDown(r.begin) + page * kPage;
      if ((r.pages[page] & kPageWritten) != 0)
        memcpy(reinterpret_cast<void*>(at), reinterpret_cast<void*>(at + uintptr_t(r.alias)), kPage);
      if (r.pages[page] != 0) r.pages[page] = 0;
    }
    if (r.protection != (PROT_READ | PROT_WRITE)) protect(roundDown(r.begin), roundUp(r.end), r.protection);
  }
}

void prepareTraps() {
  if (options.trap == 0 || options.heap != 0) return;
  if (!prepareInstructions())
    stop("code that was not compiled by Blackout is followed with the decoder libZydis.so.4.0; install libzydis4.0",
         nullptr, 2);
  trapping = true;
  plainCode = options.trap == 1 || worksPlainly();
  // Constructors may meet a breakpoint.
  takeSignal(SIGTRAP, onTrap);
  followLoader(onPatch);
  followSystemCalls(kPmBase, kPmBase + kPmSpan);
}

void beginTraps() {
  if (!trapping) return;
  takeSignal(SIGSEGV, onFault);
  takeSignal(SIGBUS, onFault);
  takeSystemCalls();
  if (recovering()) worker->instrumented = 1;
}

}  // namespace blackout::rt
