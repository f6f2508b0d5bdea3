// System calls that reach us past every function of ours, by seccomp filters.
//
// Calls that are handed PM: the kernel does not fault on protected pages, it answers EFAULT; so every call with an
// argument inside PM comes here, whoever makes it, and we make it on the second mapping. What the kernel read counts as
// observed and what it wrote is recorded. Only our own call is let through (by its address), so the filter costs others
// a few comparisons. Vectors of buffers are not seen by a filter: interpose_io.cpp has them.
//
// Calls by assembly: all system call instructions in the program and its libraries are found by their bytes (what only
// looks like one is never executed), and calls on files, mappings and processes that they make are made by the
// runtime's own functions instead (calls_by_number.h). A program without such instructions has no such filter.

#include "runtime/trap/syscalls.h"

#include <dlfcn.h>
#include <emmintrin.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/audit.h>
#include <linux/futex.h>
#include <linux/sched.h>
#include <linux/seccomp.h>
#include <signal.h>
#include <stddef.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "events/contract.h"
#include "runtime/access.h"
#include "runtime/options.h"
#include "runtime/process_numbers.h"
#include "runtime/real.h"
#include "runtime/recorder.h"
#include "runtime/recovery.h"
#include "runtime/regions.h"
#include "runtime/role.h"
#include "runtime/trap/call_filter.h"
#include "runtime/trap/functions.h"
#include "runtime/trap/loaded.h"
#include "runtime/trap/own_stack.h"
#include "runtime/trap/pages.h"
#include "runtime/trap/signals.h"
#include "runtime/trap/sites.h"
#include "runtime/unfollowed.h"

// The address behind the runtime's own system call instruction (own_calls.cpp).
extern "C" char blackout_after_syscall[];
// And behind the one by which it makes the program's.
extern "C" char blackout_after_program_call[];

namespace blackout::rt {

namespace {

constexpr size_t kUnknownSize = 4096;

long rawCall(long number, const long (&a)[kCallArguments]) {
  errno = 0;
  long r = syscall(number, a[0], a[1], a[2], a[3], a[4], a[5]);
  return r == -1 && errno != 0 ? -errno : r;
}

struct Handed {
  bool used = false;
  uintptr_t address;  // the program's
  size_t size;
  CallArgument what;
  uintptr_t place;  // what the kernel gets
  void* aside;      // memory for it, if the pages are reached in different ways
  uint8_t* before;  // of an unknown size: what was there
  bool compared;    // the kernel may have written there
};

// The kernel itself takes and leaves such a lock: it writes the word that others only wait at.
bool locksFutex(long number, const long (&a)[kCallArguments]) {
  if (number != SYS_futex) return false;
  switch (a[1] & FUTEX_CMD_MASK) {
    case FUTEX_LOCK_PI:
    case FUTEX_LOCK_PI2:
    case FUTEX_UNLOCK_PI:
    case FUTEX_TRYLOCK_PI:
      return true;
    default:
      return false;
  }
}

// The program's own signals may interrupt a call, as they would have. What it blocks is its own to change.
class ProgramMask {
 public:
  explicit ProgramMask(ucontext_t& context) : context_(context) {
    uint64_t mask;
    memcpy(&mask, &context.uc_sigmask, sizeof mask);
    syscall(SYS_rt_sigprocmask, SIG_SETMASK, &mask, &inside_, sizeof mask);
  }
  ~ProgramMask() {
    uint64_t mask;
    syscall(SYS_rt_sigprocmask, SIG_SETMASK, &inside_, &mask, sizeof mask);
    memcpy(&context_.uc_sigmask, &mask, sizeof mask);
  }
  ProgramMask(const ProgramMask&) = delete;
  ProgramMask& operator=(const ProgramMask&) = delete;

 private:
  ucontext_t& context_;
  uint64_t inside_ = 0;
};

// Of most calls what the kernel touches is not known in advance: a page is compared before and after.
bool isKnown(const CallArgument& a) {
  using Kind = CallArgument::Kind;
  return a.kind == Kind::Reads || a.kind == Kind::Writes || a.kind == Kind::Bytes;
}

// The call is made on the second mapping of what it was handed.
long callWithBuffers(const SystemCall& call, ucontext_t& u, const long (&a)[kCallArguments]) {
  auto& g = u.uc_mcontext.gregs;
  long passed[kCallArguments];
  memcpy(passed, a, sizeof a);
  Handed handed[kCallArguments];
  Stack stack;
  // What a function of ours passes on is told by its name, with the program's own calls.
  bool passedOn = uintptr_t(g[REG_RIP]) == reinterpret_cast<uintptr_t>(blackout_after_program_call);
  if (passedOn && self.trapped != nullptr) {
    stack = *self.trapped;
  } else {
    walkFrom(stack, frameOf(u));
  }
  if (passedOn) {
    int own = 0;
    while (own < stack.count && inRuntime(stack.frames[own])) ++own;
    dropCallers(stack, own);
  }
  for (int i = 0; i < kCallArguments; ++i) {
    Handed& h = handed[i];
    h.what = call.arguments[i];
    if (!h.what.isAddress()) continue;
    Scope scope;
    const Region* r = pageRegion(uintptr_t(a[i]));
    if (r == nullptr || r->alias == 0) continue;
    h.used = true;
    h.address = uintptr_t(a[i]);
    // How much the kernel will at most touch.
    size_t limit = ((r->end + 4095) & ~uintptr_t{4095}) - h.address;
    // While a thread waits at a futex others write around it: none of that is the call's.
    size_t wanted = h.what.unit == 0                           ? kUnknownSize
                    : h.what.kind == CallArgument::Kind::Bytes ? h.what.number
                                                               : h.what.bytes(a, limit);
    h.size = wanted < limit ? wanted : limit;
    h.place = reach(*r, h.address);
    h.aside = nullptr;
    h.before = nullptr;
    h.compared = !isKnown(h.what) || (i == 0 && locksFutex(call.number, a));
  }
  for (Handed& h : handed) {
    if (!h.used) continue;
    blackout_site site{};
    site.id = trappedId(uintptr_t(g[REG_RIP]) - 2, BLACKOUT_SITE_Library);
    const Stack* outer = self.trapped;
    self.trapped = &stack;
    if (observesCrash() && h.what.kind != CallArgument::Kind::Writes)
      observe(reinterpret_cast<void*>(h.address), h.size, recordsEvents() ? nullptr : &site, nullptr, newGroup());
    self.trapped = outer;
    Scope scope;
    if (alikeBytes(h.address, h.size) != h.size || h.compared) {
      size_t room = h.size;
      void* p = reinterpret_cast<void*>(
          syscall(SYS_mmap, nullptr, 2 * room, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1L, 0L));
      if (p == MAP_FAILED) continue;
      readThrough(p, h.address, room);
      h.aside = p;
      if (h.compared) {
        h.before = static_cast<uint8_t*>(p) + room;
        memcpy(h.before, p, room);
      }
      if (alikeBytes(h.address, h.size) != h.size) h.place = reinterpret_cast<uintptr_t>(p);
    }
  }
  for (int i = 0; i < kCallArguments; ++i)
    if (handed[i].used) passed[i] = long(handed[i].place);

  long result;
  {
    ProgramMask mask(u);
    result = rawCall(call.number, passed);
  }

  for (Handed& h : handed) {
    if (!h.used) continue;
    Scope scope;
    uint32_t where = 0;
    if (recordsEvents() && !scope.nested)
      where = whereOf(
          passedOn ? librarySite(call.name) : trappedSite(uintptr_t(g[REG_RIP]) - 2, BLACKOUT_SITE_Library, 0), stack);
    auto wrote = [&](size_t from, size_t n) {
      auto* to = reinterpret_cast<void*>(h.address + from);
      if (observesCrash()) overwrite(to, n);
      if (h.aside != nullptr && h.place == reinterpret_cast<uintptr_t>(h.aside))
        writeThrough(h.address + from, static_cast<uint8_t*>(h.aside) + from, n);
      else
        notePageWrites(h.address + from, n);
      if (!recordsEvents() || scope.nested) return;
      // The bytes are where the kernel put them.
      const auto* bytes = reinterpret_cast<const uint8_t*>(h.place) + from;
      recordStore(BLACKOUT_EV_Store, to, bytes, n, where);
    };
    if (h.what.kind == CallArgument::Kind::Writes && result > 0)
      wrote(0, size_t(result) < h.size ? size_t(result) : h.size);
    if (h.before != nullptr) {
      const auto* now = reinterpret_cast<const uint8_t*>(h.place);
      for (size_t from = 0; from < h.size;) {
        if (now[from] == h.before[from]) {
          ++from;
          continue;
        }
        size_t to = from;
        while (to < h.size && now[to] != h.before[to]) ++to;
        wrote(from, to - from);
        from = to;
      }
    }
    if (h.aside != nullptr) syscall(SYS_munmap, h.aside, 2 * h.size);
  }
  return result;
}

// --- instructions that make calls ---

struct Instructions {
  const uintptr_t* after;  // the addresses behind them, in order
  size_t count;
  Caller caller;
};
constexpr int kMaxInstructions = 1024;
Instructions instructions[kMaxInstructions];
int instructionsCount = 0;

// The latest file that has one there.
const Instructions* instructionsAt(uintptr_t after) {
  for (int i = __atomic_load_n(&instructionsCount, __ATOMIC_ACQUIRE) - 1; i >= 0; --i) {
    const Instructions& list = instructions[i];
    if (after < list.after[0] || after > list.after[list.count - 1]) continue;
    size_t from = 0, to = list.count;
    while (to - from > 1) {
      size_t middle = (from + to) / 2;
      if (list.after[middle] <= after)
        from = middle;
      else
        to = middle;
    }
    if (list.after[from] == after) return &list;
  }
  return nullptr;
}

// A call that makes a thread returns twice, on two stacks. It is made by the same instruction elsewhere, which no
// filter knows, and both go on behind the program's own. So are calls of another kind. False: there is no memory.
bool letThrough(ucontext_t& u, long number) {
  struct Elsewhere {
    uintptr_t after;
    uintptr_t place;
  };
  constexpr int kMaxElsewhere = 32;
  static Elsewhere known[kMaxElsewhere];
  auto& g = u.uc_mcontext.gregs;
  auto after = uintptr_t(g[REG_RIP]);
  Elsewhere* free = nullptr;
  for (Elsewhere& e : known) {
    if (__atomic_load_n(&e.after, __ATOMIC_ACQUIRE) == 0) {
      free = &e;
      break;
    }
    if (e.after != after) continue;
    g[REG_RIP] = greg_t(e.place);
    g[REG_RAX] = number;
    return true;
  }
  if (free == nullptr) return false;
  // The instruction; jmp to the address behind it.
  uint8_t code[] = {0, 0, 0xff, 0x25, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0};
  memcpy(code, reinterpret_cast<const void*>(after - 2), 2);
  memcpy(code + 8, &after, sizeof after);
  long page = syscall(SYS_mmap, nullptr, 4096L, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1L, 0L);
  if (page == -1) return false;
  memcpy(reinterpret_cast<void*>(page), code, sizeof code);
  if (syscall(SYS_mprotect, page, 4096L, PROT_READ | PROT_EXEC) != 0) return false;
  // Two threads at once make two; one of them is forgotten.
  free->place = uintptr_t(page);
  __atomic_store_n(&free->after, after, __ATOMIC_RELEASE);
  g[REG_RIP] = greg_t(page);
  g[REG_RAX] = number;
  return true;
}

// One of them, and what came of it.
struct Made {
  long number;
  const long (&a)[kCallArguments];
  long result;
};
void make(Made& m) {
  errno = 0;
  long r;
  if (!makeByNumber(m.number, m.a, r)) r = callForProgram(m.number, m.a[0], m.a[1], m.a[2], m.a[3], m.a[4], m.a[5]);
  m.result = r == -1 && errno != 0 ? -errno : r;
}

Caller programCaller() {
  return options.zygote != nullptr || options.worker != nullptr ? Caller::Restart : Caller::Program;
}

long makeForProgram(ucontext_t& u, Caller caller, long number, const long (&a)[kCallArguments]) {
  // The instruction stands for the function of libc that would have been called: it is the first of the callers, unless
  // it is libc's own.
  Stack stack;
  if (caller == Caller::Libc)
    walkFrom(stack, frameOf(u));
  else
    walkFromCall(stack, frameOf(u));
  const Stack* outer = self.trapped;
  self.trapped = &stack;
  Made made{number, a, 0};
  {
    ProgramMask mask(u);
    withStack([&] { make(made); });
  }
  self.trapped = outer;
  return made.result;
}

// Calls of programs for 32 bits that take the same arguments in this kind: the numbers of both.
struct OldCall {
  long old;
  long number;
};
constexpr OldCall kOldCalls[] = {
    {1, SYS_exit},         {3, SYS_read},        {4, SYS_write},         {5, SYS_open},       {6, SYS_close},
    {8, SYS_creat},        {9, SYS_link},        {10, SYS_unlink},       {12, SYS_chdir},     {15, SYS_chmod},
    {20, SYS_getpid},      {24, SYS_getuid},     {33, SYS_access},       {36, SYS_sync},      {38, SYS_rename},
    {39, SYS_mkdir},       {40, SYS_rmdir},      {41, SYS_dup},          {42, SYS_pipe},      {47, SYS_getgid},
    {49, SYS_geteuid},     {50, SYS_getegid},    {63, SYS_dup2},         {64, SYS_getppid},   {83, SYS_symlink},
    {85, SYS_readlink},    {92, SYS_truncate},   {93, SYS_ftruncate},    {94, SYS_fchmod},    {118, SYS_fsync},
    {133, SYS_fchdir},     {148, SYS_fdatasync}, {158, SYS_sched_yield}, {199, SYS_getuid},   {224, SYS_gettid},
    {252, SYS_exit_group}, {295, SYS_openat},    {296, SYS_mkdirat},     {301, SYS_unlinkat}, {302, SYS_renameat},
    {303, SYS_linkat},     {304, SYS_symlinkat}, {305, SYS_readlinkat},
};
long numberOfOld(long old) {
  for (const OldCall& call : kOldCalls)
    if (call.old == old) return call.number;
  return -1;
}
// Half of a register. Descriptors, flags and AT_FDCWD are as narrow in this kind; addresses and sizes have no sign.
long oldArgument(greg_t value) {
  auto half = uint32_t(value);
  constexpr uint32_t kHere = uint32_t(AT_FDCWD);
  return half == kHere ? long{AT_FDCWD} : long{half};
}

void onCall(int signal, siginfo_t* info, void* context) {
  auto& u = *static_cast<ucontext_t*>(context);
  auto& g = u.uc_mcontext.gregs;
  constexpr int kBySeccomp = 1;  // SYS_SECCOMP
  if (info->si_code != kBySeccomp || unsigned(info->si_errno) != kHandedOver) return deliver(signal, info, context);
  int saved = errno;
  long number = info->si_syscall;
  const long a[kCallArguments] = {long(g[REG_RDI]), long(g[REG_RSI]), long(g[REG_RDX]),
                                  long(g[REG_R10]), long(g[REG_R8]),  long(g[REG_R9])};
  const Instructions* by = instructionsAt(uintptr_t(g[REG_RIP]));
  bool byNumber = by != nullptr && handsOver(by->caller, number);
  long result;
  bool old = info->si_arch != AUDIT_ARCH_X86_64;
  if (long known = old && inRun() ? numberOfOld(number) : -1; known >= 0) {
    const long b[kCallArguments] = {oldArgument(g[REG_RBX]), oldArgument(g[REG_RCX]), oldArgument(g[REG_RDX]),
                                    oldArgument(g[REG_RSI]), oldArgument(g[REG_RDI]), oldArgument(g[REG_RBP])};
    result = makeForProgram(u, programCaller(), known, b);
  } else if (old || (byNumber && makesTask(number, a))) {
    constexpr const char* kOld = "it makes system calls as programs for 32 bits do (int 0x80), which are not followed";
    // It may be any call, and reach any file of the user's.
    if (isRestart() && old) endRun(BLACKOUT_ENDED_BROKEN, kOld, nullptr);
    if (inRun() && old) unfollowed(kOld);
    if (inRun() && !old) unfollowedTask();
    errno = saved;
    if (letThrough(u, number)) return;
    result = -ENOMEM;
  } else if (!inRun()) {
    ProgramMask mask(u);
    result = rawCall(number == SYS_vfork ? long{SYS_fork} : number, a);
  } else if (byNumber) {
    result = makeForProgram(u, by->caller, number, a);
  } else {
    result = callWithBuffers(*systemCall(number), u, a);
  }
  g[REG_RAX] = result;
  errno = saved;
}

// What the filters that are there look for.
struct Followed {
  uintptr_t begin;
  uintptr_t end;
};
constexpr int kMaxFollowed = 32;
Followed followed[kMaxFollowed];
int followedCount = 0;

CallFilter filter;

bool install() {
  struct sock_fprog program{static_cast<unsigned short>(filter.size), filter.code};
  syscall(SYS_prctl, PR_SET_NO_NEW_PRIVS, 1L, 0L, 0L, 0L);
  return syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_TSYNC, &program) == 0;
}

// Calls body(address) behind every pair of bytes that is a system call instruction (syscall, int 0x80), or looks like
// one.
template <class Body>
void forEachInstruction(uintptr_t begin, uintptr_t end, Body body) {
  uintptr_t p = begin;
  auto all = [](uint8_t byte) { return _mm_set1_epi8(char(byte)); };
  for (; p + sizeof(__m128i) + 1 <= end; p += sizeof(__m128i)) {
    __m128i first = _mm_loadu_si128(reinterpret_cast<const __m128i*>(p));
    __m128i second = _mm_loadu_si128(reinterpret_cast<const __m128i*>(p + 1));
    __m128i call = _mm_and_si128(_mm_cmpeq_epi8(first, all(0x0f)), _mm_cmpeq_epi8(second, all(0x05)));
    __m128i old = _mm_and_si128(_mm_cmpeq_epi8(first, all(0xcd)), _mm_cmpeq_epi8(second, all(0x80)));
    for (auto bits = unsigned(_mm_movemask_epi8(_mm_or_si128(call, old))); bits != 0; bits &= bits - 1)
      body(p + uintptr_t(__builtin_ctz(bits)) + 2);
  }
  for (; p + 2 <= end; ++p) {
    const auto* bytes = reinterpret_cast<const uint8_t*>(p);
    if ((bytes[0] == 0x0f && bytes[1] == 0x05) || (bytes[0] == 0xcd && bytes[1] == 0x80)) body(p + 2);
  }
}

// Addresses behind such instructions, in their order, that stay where they are.
void followAll(Caller caller, const uintptr_t* after, size_t count) {
  constexpr const char* kNot = "system calls that it makes without libc can't be followed here";
  if (count == 0) return;
  if (instructionsCount == kMaxInstructions) return unfollowed(kNot);
  instructions[instructionsCount] = {after, count, caller};
  __atomic_store_n(&instructionsCount, instructionsCount + 1, __ATOMIC_RELEASE);
  for (size_t from = 0; from < count;) {
    size_t to = from;
    while (to < count && to - from < kMostInstructions && after[to] >> 32 == after[from] >> 32) ++to;
    filterInstructions(filter, caller, after + from, to - from);
    if (!install()) return unfollowed(kNot);
    from = to;
  }
}

void followIn(uintptr_t begin, uintptr_t end) {
  size_t count = 0;
  forEachInstruction(begin, end, [&](uintptr_t) { ++count; });
  if (count == 0) return;
  size_t bytes = (count * sizeof(uintptr_t) + 4095) & ~size_t{4095};
  long memory = syscall(SYS_mmap, nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1L, 0L);
  if (memory == -1) return unfollowed("there is no memory to follow the system calls that it makes without libc");
  auto* after = reinterpret_cast<uintptr_t*>(memory);
  size_t n = 0;
  forEachInstruction(begin, end, [&](uintptr_t address) { after[n++] = address; });
  // A file that comes and goes lies at the same place each time.
  for (int i = 0; i < instructionsCount; ++i)
    if (instructions[i].count == count && memcmp(instructions[i].after, after, count * sizeof *after) == 0) {
      syscall(SYS_munmap, memory, bytes);
      return;
    }
  followAll(programCaller(), after, count);
}

}  // namespace

void takeSystemCalls() { takeSignal(SIGSYS, onCall); }

void followSystemCalls(uintptr_t begin, uintptr_t end) {
  for (int i = 0; i < followedCount; ++i)
    if (followed[i].begin <= begin && end <= followed[i].end) return;
  if (followedCount == kMaxFollowed)
    return unfollowed("it maps PM at so many places that system calls are not followed");
  followed[followedCount++] = {begin, end};
  filterAddresses(filter, reinterpret_cast<uintptr_t>(blackout_after_syscall), begin, end);
  if (!install()) unfollowed("system calls that are handed PM can't be followed here (seccomp)");
}

void followInstructions(const dl_phdr_info& info) {
  // Not those of a sanitizer: its own threads make calls where no signal can be handled.
  FunctionRange sanitizer = sanitizerCode(info);
  for (int i = 0; i < info.dlpi_phnum; ++i) {
    const ElfW(Phdr)& p = info.dlpi_phdr[i];
    if (p.p_type != PT_LOAD || (p.p_flags & PF_X) == 0 || (p.p_flags & PF_R) == 0) continue;
    uintptr_t begin = info.dlpi_addr + p.p_vaddr;
    uintptr_t end = begin + p.p_filesz;
    bool has = sanitizer.begin < sanitizer.end && sanitizer.begin >= begin && sanitizer.end <= end;
    followIn(begin, has ? sanitizer.begin : end);
    if (has) followIn(sanitizer.end, end);
  }
}

void followLibc() {
  constexpr uintptr_t kLength = 40;  // of the functions that are no more than a call
  auto behindCall = [](const char* name) {
    uintptr_t after = 0;
    if (auto at = reinterpret_cast<uintptr_t>(dlsym(RTLD_NEXT, name)); at != 0)
      forEachInstruction(at, at + kLength, [&](uintptr_t a) { after = after == 0 ? a : after; });
    return after;
  };
  static uintptr_t own[kSystemCallCount];
  size_t count = 0;
  for (const SystemCall& call : kSystemCalls) {
    if (!handsOver(Caller::Libc, call.number)) continue;
    uintptr_t after = behindCall(call.name);
    size_t at = count;
    while (at > 0 && own[at - 1] > after) --at;
    if (after == 0 || (at > 0 && own[at - 1] == after)) continue;
    memmove(own + at + 1, own + at, (count - at) * sizeof *own);
    own[at] = after;
    ++count;
  }
  followAll(Caller::Libc, own, count);
  // For whoever looks it up past ours: what it is asked for is the program's.
  static uintptr_t general;
  general = behindCall("syscall");
  if (general != 0) followAll(programCaller(), &general, 1);
}

bool (*makeByNumber)(long number, const long (&a)[kCallArguments], long& result) = nullptr;

bool makesTask(long number, const long (&a)[kCallArguments]) {
  constexpr uint64_t kSignal = 0xff, kVfork = CLONE_VM | CLONE_VFORK;
  uint64_t flags = 0, stack = 0;
  if (number == SYS_clone) {
    flags = uint64_t(a[0]) & ~kSignal;
    stack = uint64_t(a[1]);
  } else if (number == SYS_clone3) {
    const auto* asked = reinterpret_cast<const clone_args*>(a[0]);
    flags = asked->flags;
    stack = asked->stack;
  } else {
    return false;
  }
  return stack != 0 || (flags != 0 && flags != kVfork);
}

void unfollowedTask() {
  expectRealNumbers();
  unfollowed(
      "it makes threads or processes without libc (clone): what they do to PM can't be told from what others do");
}

}  // namespace blackout::rt
