#include "runtime/trap/trap.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "events/address_map.h"
#include "events/contract.h"
#include "runtime/access.h"
#include "runtime/client_requests.h"
#include "runtime/modules.h"
#include "runtime/options.h"
#include "runtime/own_memory.h"
#include "runtime/recorder.h"
#include "runtime/recovery.h"
#include "runtime/schedule.h"
#include "runtime/trap/access_patches.h"
#include "runtime/trap/instruction.h"
#include "runtime/trap/known_stacks.h"
#include "runtime/trap/learned.h"
#include "runtime/trap/loaded.h"
#include "runtime/trap/pages.h"
#include "runtime/trap/patched_access.h"
#include "runtime/trap/patched_fence.h"
#include "runtime/trap/patches.h"
#include "runtime/trap/signals.h"
#include "runtime/trap/single_step.h"
#include "runtime/trap/sites.h"
#include "runtime/trap/syscalls.h"
#include "runtime/unfollowed.h"

namespace blackout::rt {

namespace {

// What a nested fault inside an execution was.
thread_local __attribute__((tls_model("initial-exec"))) constinit siginfo_t nested = {};

// --- one instruction ---

struct Trap {
  const Instruction& instruction;
  ucontext_t& context;
  Access access;
  uint64_t iterations;  // that are executed now
  Stored stored;
  Pieces* parts = nullptr;  // of a scatter that is executed in parts
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
    const Region* r = pageRegion(o.address);
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

// The runs of set bits, of `size` bytes: body(from, size).
template <class Body>
void eachRun(uint64_t mask, size_t size, Body body) {
  if (mask == ~uint64_t{0} || size > 64) return body(size_t{0}, size);
  for (size_t from = 0; from < size; ++from) {
    size_t to = from;
    while (to < size && (mask >> to & 1) != 0) ++to;
    if (to == from) continue;
    body(from, to - from);
    from = to;
  }
}

void recordWritten(const Trap& t, const Operand& o, uint8_t kind, uint32_t where, bool joined) {
  alignas(16) uint8_t bytes[512];
  if (joined) {
    readThrough(bytes, o.address, 16);
    return recordStore(kind, reinterpret_cast<void*>(o.address), bytes, 16, where, true);
  }
  Pieces own(kind, where);
  Pieces& pieces = t.parts == nullptr ? own : *t.parts;
  blackout_site_kind is = kindOf(t.instruction);
  bool string = is == BLACKOUT_SITE_Copy || is == BLACKOUT_SITE_Fill;
  eachRun(t.stored.mask, size_t(o.size * t.iterations), [&](size_t from, size_t size) {
    for (size_t n = 0; size > 0; from += n, size -= n) {
      n = size < sizeof bytes ? size : sizeof bytes;
      readThrough(bytes, o.address + from, n);
      auto* to = reinterpret_cast<void*>(o.address + from);
      if (string)
        pieces.addElements(to, bytes, n, o.size);
      else
        pieces.add(to, bytes, n);
    }
  });
}

// What the instruction did, as a hook of instrumented code would record it.
void recordTrap(const Trap& t, blackout_site_kind kind, uint32_t where) {
  bool atomic = kind == BLACKOUT_SITE_Rmw || kind == BLACKOUT_SITE_CmpXchg;
  for (int i = 0; i < t.access.count; ++i) {
    const Operand& o = t.access.operands[i];
    size_t size = size_t(o.size * t.iterations);
    if (!overlapsRegion(o.address, o.address + size)) continue;
    if (o.read && options.loads == 1 && !atomic)
      eachRun(o.bytes, size,
              [&](size_t from, size_t n) { recordLoad(reinterpret_cast<void*>(o.address + from), n, where); });
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

void pagesAccessed(const Trap& t, blackout_site* site, bool counts) {
  for (int i = 0; i < t.access.count; ++i) {
    const Operand& o = t.access.operands[i];
    uintptr_t end = o.address + o.size * t.iterations;
    for (uintptr_t p = roundDown(o.address); p < end; p += kPage)
      pageAccessed(p < o.address ? o.address : p, site, counts);
  }
}

// A recovery run touches a page with tracked lines.
void observeTrap(const Trap& t, blackout_site* site) {
  uint32_t group = t.iterations > 1 ? newGroup() : 0;
  for (int i = 0; i < t.access.count; ++i) {
    const Operand& o = t.access.operands[i];
    if (!o.read) continue;
    eachRun(o.bytes, size_t(o.size * t.iterations), [&](size_t from, size_t n) {
      observe(reinterpret_cast<void*>(o.address + from), n, site, nullptr, group);
    });
  }
}
void overwriteTrap(const Trap& t) {
  for (int i = 0; i < t.access.count; ++i) {
    const Operand& o = t.access.operands[i];
    if (!o.written || !t.stored.any) continue;
    eachRun(t.stored.mask, size_t(o.size * t.iterations),
            [&](size_t from, size_t n) { overwrite(reinterpret_cast<void*>(o.address + from), n); });
  }
}

// --- signals ---

// Inside an event of our own: the runtime's own access, or one whose event somebody is about to append.
bool insideOwnEvent(uintptr_t pc) {
  return self.busy && ((self.depth > 0 && !self.appending) || inRuntime(placeOfAccess(pc)));
}

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

// A recovery run of which only the observations are wanted. `counts`: against what a page is allowed.
Fault observeFault(const Instruction& i, ucontext_t& context, uintptr_t address, bool counts) {
  if (insideOwnEvent(uintptr_t(context.uc_mcontext.gregs[REG_RIP]))) return effectOnly(i, context);
  Scope scope;
  Region* r = pageRegion(address);
  if (r == nullptr || r->pages == nullptr) return Fault::Theirs;
  // Another thread has opened the page since.
  if (stateOf(*r, pageOf(*r, address)) == kPageOpen) {
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
  site.id = trappedId(programPlace(uintptr_t(context.uc_mcontext.gregs[REG_RIP])), kindOf(i));
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
      for (uintptr_t p = page; p < page + 2 * kPage && p < r->end; p += kPage) observeWholePage(*r, p, &site);
      return Fault::Handled;
    }
  }
  overwriteTrap(t);
  // Not while the access that this one interrupts is made on the second mapping.
  if (!scope.nested) pagesAccessed(t, &site, counts);
  return Fault::Handled;
}

bool isUnfinishedScatter(const Trap& t, uintptr_t pc) {
  return t.access.count == 1 && t.access.operands[0].written && t.access.iterations == 1 &&
         programPlace(uintptr_t(t.context.uc_mcontext.gregs[REG_RIP])) == pc;
}

Fault recordFault(const Instruction& i, ucontext_t& context, uintptr_t address, bool mayStep) {
  uintptr_t pc = programPlace(uintptr_t(context.uc_mcontext.gregs[REG_RIP]));
  if (isFlush(kindOf(i))) {
    // A page that isn't readable. Where it is followed at all, it was recorded when it was met.
    context.uc_mcontext.gregs[REG_RIP] += lengthOf(i);
    return Fault::Handled;
  }
  if (insideOwnEvent(pc)) return effectOnly(i, context);
  Stack stack;
  Trail trail;
  const Frame from = frameOf(context);
  walkFrom(stack, from, &trail);
  Trap t{i, context, accessOf(i, context), 1, {}};
  blackout_site* site = nullptr;
  {
    Scope scope;
    const Region* r = pageRegion(address);
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
  if (observesCrash()) {
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
      if (!mayStep) return Fault::Theirs;
      scope.keep();  // the step ends it
      beginStep(context, address, whereOf(site, stack));
      return Fault::Handled;
  }
  if (observesCrash()) overwriteTrap(t);
  uint32_t where = whereOf(site, stack);
  keepWhere(from, trail, where);
  Pieces parts(BLACKOUT_EV_Store, where);
  if (isUnfinishedScatter(t, pc)) t.parts = &parts;
  recordTrap(t, kindOf(i), where);
  // The rest of a scatter is part of the same store; what can't be done here faults again.
  while (isUnfinishedScatter(t, pc)) {
    t.access = accessOf(i, context);
    const Operand& o = t.access.operands[0];
    if (t.access.count == 0 || pageRegion(o.address) == nullptr || forbidden(t.access, 1)) break;
    if (executeThrough(t) != Executed::Done) break;
    if (observesCrash()) overwriteTrap(t);
    recordTrap(t, kindOf(i), where);
  }
  return Fault::Handled;
}

// A step of a thread under control. Not inside libc, where it may have a lock of libc's: another thread would wait for
// that with the turn in its hand.
// A load that is trapped only to be recorded is no step: whether loads are recorded must not change the schedule.
void switchAtAccess(uintptr_t pc, bool writes) {
  if (__builtin_expect(controlled, 0) && (writes || !isRecording()) && !self.busy && !inRuntime(pc))
    switchAt(reinterpret_cast<void*>(pc));
}

// An access in a stub of which more must be known than its registers.
bool accessAsAtFault(const PatchedAccess& a, ucontext_t& context) {
  const Access access = accessOf(*a.instruction, context);
  for (int n = 0; n < access.count; ++n) {
    const Operand& o = access.operands[n];
    {
      Scope scope;
      if (pageRegion(o.address) == nullptr) continue;
    }
    if (recordsEvents() ? !o.written && options.loads == 0 && !observesCrash() : false) continue;
    Fault fault = recordsEvents() ? recordFault(*a.instruction, context, o.address, false)
                                  : observeFault(*a.instruction, context, o.address, false);
    return fault == Fault::Handled;
  }
  return false;
}

bool wholeAccess(const PatchedAccess& a, ucontext_t& context) {
  if (self.busy || self.inStub) return false;  // the runtime's own: see accessBegun
  switchAtAccess(a.place, a.instruction->operands[0].written);
  self.inStub = true;
  setWholeAccess(&context);
  bool done = accessAsAtFault(a, context);
  setWholeAccess(nullptr);
  endStub();
  return done;
}

// An instruction that faults again and again is patched; until it is, what it does on a page doesn't count against what
// that is allowed, so that it makes no difference when somebody learns of it. True: it counts.
bool countsAndLearns(const Instruction& i, uintptr_t pc) {
  if (options.patches == 0) return true;
  uint32_t faults = countFault(i);
  learnOf(i, pc, faults);
  if (faults == options.patches && patchAccess(pc)) return false;
  return faults >= options.patches;
}

// An access that is made on the second mapping faults there; the program hears of the address that it gave. The thread
// is inside the event of that access, so the mappings stay.
void* addressForProgram(const siginfo_t& info) {
  return reinterpret_cast<void*>(programAddress(reinterpret_cast<uintptr_t>(info.si_addr)));
}

void onFault(int signal, siginfo_t* info, void* context) {
  auto& u = *static_cast<ucontext_t*>(context);
  if (executionFaulted(u)) {
    nested = *info;
    nested.si_signo = signal;
    nested.si_addr = addressForProgram(*info);
    return;
  }
  int saved = errno;
  nested.si_signo = 0;
  if (const PatchedAccess* copy = copyAt(uintptr_t(u.uc_mcontext.gregs[REG_RIP]))) {
    info->si_addr = addressForProgram(*info);
    abandonAccess(*copy, u);
    return deliver(signal, info, context);
  }
  auto address = reinterpret_cast<uintptr_t>(info->si_addr);
  constexpr greg_t kFetch = 16;
  // A jump into PM is no access: the program has lost its way.
  bool ours = signal == SIGSEGV && info->si_code == SEGV_ACCERR && mayBePm(info->si_addr, 1) &&
              (u.uc_mcontext.gregs[REG_ERR] & kFetch) == 0;
  const Instruction* i = nullptr;
  if (ours) {
    auto pc = uintptr_t(u.uc_mcontext.gregs[REG_RIP]);
    const Patch* patch = patchAt(pc);
    i = instructionAt(pc, patch == nullptr ? nullptr : patch->original);
  }
  Fault fault = Fault::Theirs;
  if (i != nullptr) {
    auto pc = uintptr_t(u.uc_mcontext.gregs[REG_RIP]);
    constexpr greg_t kWrite = 2;
    switchAtAccess(pc, (u.uc_mcontext.gregs[REG_ERR] & kWrite) != 0);
    bool counts = countsAndLearns(*i, pc);
    fault = recordsEvents() ? recordFault(*i, u, address, true) : observeFault(*i, u, address, counts);
  }
  errno = saved;
  if (fault == Fault::Handled) {
    // It may go on in the middle of what was just patched.
    enterPatch(u);
    return;
  }
  // It is the program's own: in a stub, at the instruction that it has.
  bool exact = false;
  uintptr_t place = placeOfAccess(uintptr_t(u.uc_mcontext.gregs[REG_RIP]), &exact);
  if (exact) u.uc_mcontext.gregs[REG_RIP] = greg_t(place);
  if (nested.si_signo != 0) {
    siginfo_t real = nested;
    return deliver(real.si_signo, &real, context);
  }
  deliver(signal, info, context);
}

// An instruction that was replaced is about to be executed.
void onPatch(const Patch& patch, ucontext_t& context) {
  if (patch.kind == kPauseKind) return yieldTurn();
  switchPoint(reinterpret_cast<void*>(patch.pc));
  if (patch.kind != BLACKOUT_SITE_Request && (!recordsEvents())) return;
  int saved = errno;
  Stack stack;
  Trail trail;
  const Frame from = frameOf(context);
  walkFrom(stack, from, &trail);
  auto kind = blackout_site_kind(patch.kind);
  if (kind == BLACKOUT_SITE_Request) {
    auto* args = reinterpret_cast<const uint64_t*>(context.uc_mcontext.gregs[REG_RAX]);
    auto& result = context.uc_mcontext.gregs[REG_RDX];
    blackout_site* site = nullptr;
    if (recordsEvents()) {
      Scope scope;
      if (!scope.nested) site = trappedSite(patch.pc, kind, 0);
    }
    const Stack* outer = self.trapped;
    self.trapped = &stack;
    // Who carries pmemcheck's requests is told that pmemcheck is here.
    constexpr uint64_t kRunningOnValgrind = 0x1001;
    if (args[0] == kRunningOnValgrind) {
      result = carriesRequests(patch.pc) ? 1 : result;
    } else {
      uint32_t where = 0;
      result = greg_t(clientRequest(uint64_t(result), args, site, nullptr, &where));
      if (where != 0) {
        Scope scope;
        if (!scope.nested) keepWhere(from, trail, where);
      }
    }
    self.trapped = outer;
    errno = saved;
    return;
  }
  const Instruction* i = instructionAt(patch.pc, patch.original);
  __atomic_store_n(&patch.instruction, i, __ATOMIC_RELEASE);
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
      if (pageRegion(address) == nullptr) {
        append(BLACKOUT_EV_RmwFence, 0, whereOf(trappedSite(patch.pc, kind, 0), stack), address, 0);
        self.active = false;
      }
    } else {
      uint32_t where = whereOf(trappedSite(patch.pc, kind, 0), stack);
      keepWhere(from, trail, where);
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
  bool ours = endStep(u) || patchTrapped(u, onPatch) || accessTrapped(u) || loaderTrapped(u, onPatch);
  errno = saved;
  if (!ours) deliver(signal, info, context);
}

// A fault needs a stack to be told on, and the program's own may lie in PM, where pushing faults. Once a thread has one
// of the program's, that is used.
void giveSignalStack() {
  constexpr size_t kSize = size_t{256} << 10;
  stack_t now{};
  if (syscall(SYS_sigaltstack, nullptr, &now) != 0 || (now.ss_flags & SS_DISABLE) == 0) return;
  stack_t made{};
  made.ss_sp = takeMemory(kSize);
  if (made.ss_sp == nullptr) return;
  made.ss_size = kSize;
  syscall(SYS_sigaltstack, &made, nullptr);
}

// Files have come or gone.
void noteAll() {
  noteModules();
  applyLearned(true);
}

static_assert(offsetof(ThreadState, inStub) == offsetof(ThreadState, busy) + 1);

// A byte of the thread's state seen from fs: the same number in every thread.
int32_t threadOffset(const bool* byte) {
  uintptr_t thread;
  asm("movq %%fs:0, %0" : "=r"(thread));
  return int32_t(reinterpret_cast<intptr_t>(byte) - intptr_t(thread));
}

}  // namespace

void prepareTraps() {
  if (options.trap == 0) return;
  if (!prepareInstructions())
    stop("code that was not compiled by Blackout is followed with the decoder libZydis.so.4.0; install libzydis4.0",
         nullptr, 2);
  trapping = true;
  followCallsOn = followSystemCalls;
  plainCode = options.trap == 1 || worksPlainly();
  accessActions = {accessBegun, accessEnded, wholeAccess};
  bool restarts = options.zygote != nullptr || options.worker != nullptr;
  AccessPatching patching{restarts || options.loads != 0,
                          {threadOffset(&self.busy), threadOffset(&self.deferred)},
                          patchableCode,
                          [](uintptr_t pc, const Instruction& i) { return trappedId(pc, kindOf(i)); }};
  if (options.patches != 0 && !prepareAccessPatches(patching)) options.patches = 0;
  if (options.patches != 0) quickAction = fenceReached;
  // Constructors may meet a breakpoint, or make a call.
  takeSignal(SIGTRAP, onTrap);
  takeSystemCalls();
  followLoader(onPatch, {followInstructions, forgetModule, noteAll});
  followLibc();
  followSystemCalls(kPmBase, kPmBase + kPmSpan);
}

void takeFaults() {
  static bool taken = false;
  if (!trapping || taken) return;
  taken = true;
  takeSignal(SIGSEGV, onFault);
  takeSignal(SIGBUS, onFault);
  giveSignalStack();
}

void beginTraps() {
  if (!trapping) return;
  takeFaults();
  sayKept();
  applyLearned(false);
  if (observesCrash()) worker->instrumented = 1;
}

}  // namespace blackout::rt
