// System calls that are handed PM. The kernel does not fault on protected pages, it answers EFAULT; so a seccomp filter
// hands every call with an argument inside PM to us, whoever makes it, and we make it on the second mapping. What the
// kernel read counts as observed and what it wrote is recorded. Only our own call is let through (by its address), so
// the filter costs others a few comparisons. Vectors of buffers are not seen by a filter: interpose_io.cpp has them.

#include "runtime/trap/syscalls.h"

#include <errno.h>
#include <linux/filter.h>
#include <linux/futex.h>
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
#include "runtime/recorder.h"
#include "runtime/recovery.h"
#include "runtime/regions.h"
#include "runtime/trap/pages.h"
#include "runtime/trap/signals.h"
#include "runtime/trap/sites.h"
#include "runtime/unfollowed.h"

// The address behind the runtime's own system call instruction (interpose_syscall.cpp).
extern "C" char blackout_after_syscall[];

namespace blackout::rt {

namespace {

constexpr int kArguments = 6;

// The calls whose arguments may be addresses of a program's data: which arguments. All other registers hold whatever
// they happen to hold. Calls about mappings (mmap, mprotect, msync ...) mean the address itself and are left alone.
struct Call {
  int number;
  uint8_t addresses;  // a bit per argument
};
constexpr Call kCalls[] = {
    {SYS_read, 2},
    {SYS_write, 2},
    {SYS_pread64, 2},
    {SYS_pwrite64, 2},
    {SYS_readv, 2},
    {SYS_writev, 2},
    {SYS_preadv, 2},
    {SYS_pwritev, 2},
    {SYS_preadv2, 2},
    {SYS_pwritev2, 2},
    {SYS_futex, 1 | 8 | 16},
    {SYS_recvfrom, 2 | 16 | 32},
    {SYS_sendto, 2 | 16},
    {SYS_recvmsg, 2},
    {SYS_sendmsg, 2},
    {SYS_getrandom, 1},
    {SYS_open, 1},
    {SYS_openat, 2},
    {SYS_stat, 1 | 2},
    {SYS_lstat, 1 | 2},
    {SYS_fstat, 2},
    {SYS_newfstatat, 2 | 4},
    {SYS_statx, 2 | 16},
    {SYS_access, 1},
    {SYS_faccessat, 2},
    {SYS_faccessat2, 2},
    {SYS_readlink, 1 | 2},
    {SYS_readlinkat, 2 | 4},
    {SYS_unlink, 1},
    {SYS_unlinkat, 2},
    {SYS_rename, 1 | 2},
    {SYS_renameat, 2 | 8},
    {SYS_renameat2, 2 | 8},
    {SYS_mkdir, 1},
    {SYS_mkdirat, 2},
    {SYS_rmdir, 1},
    {SYS_fchmodat, 2},
    {SYS_fchownat, 2},
    {SYS_mknodat, 2},
    {SYS_symlinkat, 1 | 4},
    {SYS_linkat, 2 | 8},
    {SYS_utime, 1 | 2},
    {SYS_utimes, 1 | 2},
    {SYS_link, 1 | 2},
    {SYS_symlink, 1 | 2},
    {SYS_chdir, 1},
    {SYS_getcwd, 1},
    {SYS_truncate, 1},
    {SYS_getdents64, 2},
    {SYS_ioctl, 4},
    {SYS_poll, 1},
    {SYS_ppoll, 1 | 4},
    {SYS_select, 2 | 4 | 8 | 16},
    {SYS_pselect6, 2 | 4 | 8 | 16},
    {SYS_epoll_ctl, 8},
    {SYS_epoll_wait, 2},
    {SYS_epoll_pwait, 2},
    {SYS_pipe, 1},
    {SYS_pipe2, 1},
    {SYS_nanosleep, 1 | 2},
    {SYS_clock_nanosleep, 4 | 8},
    {SYS_clock_gettime, 2},
    {SYS_clock_getres, 2},
    {SYS_gettimeofday, 1 | 2},
    {SYS_time, 1},
    {SYS_times, 1},
    {SYS_getrusage, 2},
    {SYS_getrlimit, 2},
    {SYS_prlimit64, 4 | 8},
    {SYS_uname, 1},
    {SYS_sysinfo, 1},
    {SYS_wait4, 2 | 8},
    {SYS_waitid, 4},
    {SYS_bind, 2},
    {SYS_connect, 2},
    {SYS_accept, 2 | 4},
    {SYS_accept4, 2 | 4},
    {SYS_getsockname, 2 | 4},
    {SYS_getpeername, 2 | 4},
    {SYS_setsockopt, 8},
    {SYS_getsockopt, 8 | 16},
    {SYS_socketpair, 8},
    {SYS_sched_getaffinity, 4},
    {SYS_getgroups, 2},
    {SYS_memfd_create, 1},
    {SYS_sendfile, 4},
    {SYS_copy_file_range, 2 | 8},
    {SYS_splice, 2 | 8},
    {SYS_setxattr, 1 | 2 | 4},
    {SYS_getxattr, 1 | 2 | 4},
    {SYS_statfs, 1 | 2},
    {SYS_fstatfs, 2},
    {SYS_utimensat, 2 | 4},
    {SYS_io_submit, 4},
    {SYS_io_getevents, 8},
};

constexpr size_t kCallCount = sizeof kCalls / sizeof *kCalls;
struct Sorted {
  Call calls[kCallCount];
  constexpr Sorted() : calls() {
    for (size_t i = 0; i < kCallCount; ++i) {
      size_t at = i;
      for (; at > 0 && calls[at - 1].number > kCalls[i].number; --at) calls[at] = calls[at - 1];
      calls[at] = kCalls[i];
    }
  }
};
constexpr Sorted kSorted;

// Of most calls what the kernel touches is not known in advance: a page is compared before and after. Of these it is.
enum class Use : uint8_t { Unknown, Reads, Writes };
struct Argument {
  Use use;
  int size;  // the argument that is the buffer's size; of what is written, what the call returns counts
  // 0, or the size itself. While a thread waits at a futex others write around it: none of that is the call's.
  uint32_t bytes = 0;
};
Argument argumentOf(long number, int argument) {
  struct Known {
    int number;
    int argument;
    Argument what;
  };
  constexpr Known kKnown[] = {
      {SYS_read, 1, {Use::Writes, 2}},       {SYS_pread64, 1, {Use::Writes, 2}},    {SYS_write, 1, {Use::Reads, 2}},
      {SYS_pwrite64, 1, {Use::Reads, 2}},    {SYS_recvfrom, 1, {Use::Writes, 2}},   {SYS_sendto, 1, {Use::Reads, 2}},
      {SYS_getrandom, 0, {Use::Writes, 1}},  {SYS_readlink, 1, {Use::Writes, 2}},   {SYS_getcwd, 0, {Use::Writes, 1}},
      {SYS_readlinkat, 2, {Use::Writes, 3}}, {SYS_getdents64, 1, {Use::Writes, 2}}, {SYS_futex, 0, {Use::Reads, 0, 4}},
  };
  for (const Known& k : kKnown)
    if (k.number == number && k.argument == argument) return k.what;
  return {Use::Unknown, 0};
}
uint8_t addressesOf(long number) {
  for (const Call& c : kCalls)
    if (c.number == number) return c.addresses;
  return 0;
}

constexpr size_t kUnknownSize = 4096;

long rawCall(long number, const long* a) {
  int saved = errno;
  long r = syscall(number, a[0], a[1], a[2], a[3], a[4], a[5]);
  if (r == -1 && errno != 0) r = -errno;
  errno = saved;
  return r;
}

struct Handed {
  bool used = false;
  uintptr_t address;  // the program's
  size_t size;
  Argument what;
  uintptr_t place;  // what the kernel gets
  void* aside;      // memory for it, if the pages are reached in different ways
  uint8_t* before;  // of an unknown size: what was there
};

void onCall(int signal, siginfo_t* info, void* context) {
  auto& u = *static_cast<ucontext_t*>(context);
  auto& g = u.uc_mcontext.gregs;
  constexpr int kBySeccomp = 1;  // SYS_SECCOMP
  if (info->si_code != kBySeccomp || !inRun()) return deliver(signal, info, context);
  int saved = errno;
  long number = info->si_syscall;
  long a[kArguments] = {long(g[REG_RDI]), long(g[REG_RSI]), long(g[REG_RDX]),
                        long(g[REG_R10]), long(g[REG_R8]),  long(g[REG_R9])};
  long passed[kArguments];
  memcpy(passed, a, sizeof a);
  Handed handed[kArguments];
  Stack stack;
  walkFrom(stack, frameOf(u));
  for (int i = 0; i < kArguments; ++i) {
    Handed& h = handed[i];
    if ((addressesOf(number) >> i & 1) == 0) continue;
    h.what = argumentOf(number, i);
    Scope scope;
    const Region* r = pageRegion(uintptr_t(a[i]));
    if (r == nullptr || r->alias == 0) continue;
    h.used = true;
    h.address = uintptr_t(a[i]);
    // How much the kernel will at most touch.
    size_t limit = ((r->end + 4095) & ~uintptr_t{4095}) - h.address;
    size_t wanted = h.what.use == Use::Unknown ? kUnknownSize
                    : h.what.bytes != 0        ? h.what.bytes
                                               : size_t(a[h.what.size]);
    h.size = wanted < limit ? wanted : limit;
    h.place = reach(*r, h.address);
    h.aside = nullptr;
    h.before = nullptr;
  }
  for (Handed& h : handed) {
    if (!h.used) continue;
    blackout_site site{};
    site.id = trappedId(uintptr_t(g[REG_RIP]) - 2, BLACKOUT_SITE_Library);
    self.trapped = &stack;
    if (observesCrash() && h.what.use != Use::Writes)
      observe(reinterpret_cast<void*>(h.address), h.size, recordsEvents() ? nullptr : &site, nullptr, newGroup());
    self.trapped = nullptr;
    Scope scope;
    if (alikeBytes(h.address, h.size) != h.size || h.what.use == Use::Unknown) {
      size_t room = h.size;
      void* p = reinterpret_cast<void*>(
          syscall(SYS_mmap, nullptr, 2 * room, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1L, 0L));
      if (p == MAP_FAILED) continue;
      readThrough(p, h.address, room);
      h.aside = p;
      if (h.what.use == Use::Unknown) {
        h.before = static_cast<uint8_t*>(p) + room;
        memcpy(h.before, p, room);
      }
      if (alikeBytes(h.address, h.size) != h.size) h.place = reinterpret_cast<uintptr_t>(p);
    }
  }
  for (int i = 0; i < kArguments; ++i)
    if (handed[i].used) passed[i] = long(handed[i].place);

  // The program's own signals may interrupt it, as they would have.
  uint64_t mask, inside;
  memcpy(&mask, &u.uc_sigmask, sizeof mask);
  syscall(SYS_rt_sigprocmask, SIG_SETMASK, &mask, &inside, sizeof mask);
  long result = rawCall(number, passed);
  syscall(SYS_rt_sigprocmask, SIG_SETMASK, &inside, nullptr, sizeof inside);

  for (Handed& h : handed) {
    if (!h.used) continue;
    Scope scope;
    uint32_t where = 0;
    if (recordsEvents() && !scope.nested)
      where = whereOf(trappedSite(uintptr_t(g[REG_RIP]) - 2, BLACKOUT_SITE_Library, 0), stack);
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
    if (h.what.use == Use::Writes && result > 0) wrote(0, size_t(result) < h.size ? size_t(result) : h.size);
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
  if (number == SYS_io_uring_setup || number == SYS_io_setup)
    unfollowed("it uses io_uring or kernel AIO: what the kernel reads from and writes to PM that way is not seen");
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

}  // namespace

void takeSystemCalls() { takeSignal(SIGSYS, onCall); }

void followSystemCalls(uintptr_t begin, uintptr_t end) {
  for (int i = 0; i < followedCount; ++i)
    if (followed[i].begin <= begin && end <= followed[i].end) return;
  bool first = followedCount == 0;
  if (followedCount == kMaxFollowed)
    return unfollowed("it maps PM at so many places that system calls are not followed");
  followed[followedCount++] = {begin, end};
  auto high = uint32_t(begin >> 32);
  auto highEnd = uint32_t((end - 1) >> 32);

  constexpr unsigned short kLoad = BPF_LD | BPF_W | BPF_ABS;
  constexpr unsigned short kEqual = BPF_JMP | BPF_JEQ | BPF_K;
  constexpr unsigned short kAtLeast = BPF_JMP | BPF_JGE | BPF_K;
  constexpr unsigned short kAbove = BPF_JMP | BPF_JGT | BPF_K;
  auto after = reinterpret_cast<uintptr_t>(blackout_after_syscall);
  // Per call at most: one comparison, and six instructions for each of its arguments, and two of the tree.
  constexpr size_t kMost = 16 + kCallCount * 30;
  static struct sock_filter code[kMost];
  unsigned n = 0;
  auto put = [&](unsigned short op, unsigned char yes, unsigned char no, uint32_t k) { code[n++] = {op, yes, no, k}; };
  // Our own call is let through.
  put(kLoad, 0, 0, offsetof(struct seccomp_data, instruction_pointer));
  put(kEqual, 0, 3, uint32_t(after));
  put(kLoad, 0, 0, offsetof(struct seccomp_data, instruction_pointer) + 4);
  put(kEqual, 0, 1, uint32_t(after >> 32));
  put(BPF_RET | BPF_K, 0, 0, SECCOMP_RET_ALLOW);
  put(kLoad, 0, 0, offsetof(struct seccomp_data, nr));
  if (first) {
    put(kEqual, 1, 0, SYS_io_uring_setup);
    put(kEqual, 0, 1, SYS_io_setup);
    put(BPF_RET | BPF_K, 0, 0, SECCOMP_RET_TRAP);
  }
  // A tree over the calls' numbers: most calls are told apart by a few comparisons.
  auto leaf = [&](const Call& c) {
    unsigned at = n;
    put(kEqual, 0, 0, uint32_t(c.number));
    for (int i = 0; i < kArguments; ++i) {
      if ((c.addresses >> i & 1) == 0) continue;
      auto low = uint32_t(offsetof(struct seccomp_data, args) + 8 * size_t(i));
      put(kLoad, 0, 0, low + 4);
      if (high == highEnd) {
        put(kEqual, 0, 4, high);
        put(kLoad, 0, 0, low);
        put(kAtLeast, 0, 2, uint32_t(begin));
        put(kAbove, 1, 0, uint32_t(end - 1));
      } else {
        // So large a stretch is ours, and nothing else lies in its first and last 4 GiB.
        put(kAtLeast, 0, 2, high);
        put(kAbove, 1, 0, highEnd);
      }
      put(BPF_RET | BPF_K, 0, 0, SECCOMP_RET_TRAP);
    }
    code[at].jf = static_cast<unsigned char>(n - at - 1);
    put(BPF_RET | BPF_K, 0, 0, SECCOMP_RET_ALLOW);
  };
  auto tree = [&](auto& self, size_t from, size_t to) -> void {
    if (to - from == 1) return leaf(kSorted.calls[from]);
    size_t middle = (from + to) / 2;
    put(kAtLeast, 0, 1, uint32_t(kSorted.calls[middle].number));
    unsigned jump = n;
    put(BPF_JMP | BPF_JA, 0, 0, 0);
    self(self, from, middle);
    code[jump].k = n - jump - 1;
    self(self, middle, to);
  };
  tree(tree, 0, kCallCount);
  struct sock_fprog program{static_cast<unsigned short>(n), code};
  syscall(SYS_prctl, PR_SET_NO_NEW_PRIVS, 1L, 0L, 0L, 0L);
  if (syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_TSYNC, &program) != 0)
    unfollowed("system calls that are handed PM can't be followed here (seccomp)");
}

}  // namespace blackout::rt
