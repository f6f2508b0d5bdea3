#include "runtime/loop_proof.h"

#include <elf.h>
#include <stddef.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>

#include "events/address_map.h"
#include "events/recovery_contract.h"
#include "runtime/processes.h"

namespace blackout::rt {

namespace {

constexpr uint64_t kPage = 4096;

// Linux 6.7 (linux/fs.h): the pages of some kind in a range, without an entry for each that is not.
struct ScannedRange {
  uint64_t begin, end, kind;
};
struct PageScan {
  uint64_t size, flags, begin, end, walkedTo, ranges, rangeCount, maxPages, inverted, all, any, told;
};
constexpr unsigned long kScan = _IOWR('f', 16, PageScan);
constexpr uint64_t kPresent = 8, kSwapped = 16;

// After so many instructions, and then after twice as many each time, the state to be met again is another one. The
// very first was not reached by a single step, which leaves its mark in a register behind each system call.
constexpr unsigned kAgain = 1000;

// What a process has in its writable memory, as a sum per page.
class MemorySums {
 public:
  MemorySums() = default;
  ~MemorySums() {
    if (pages_ != nullptr) syscall(SYS_munmap, pages_, kMaxPages * sizeof(Page));
  }
  MemorySums(const MemorySums&) = delete;
  MemorySums& operator=(const MemorySums&) = delete;

  // False: there is more of it than so many pages.
  bool take(pid_t process, size_t most) {
    process_ = process;
    count_ = suspect_ = 0;
    if (most > kMaxPages) most = kMaxPages;
    if (pages_ == nullptr && !makeRoom()) return false;
    return visit([&](uint64_t address, uint8_t* bytes) {
      if (count_ == most) return false;
      pages_[count_++] = {address, sumOf(bytes)};
      return true;
    });
  }
  // Whether it still has the same.
  bool same() {
    // What differed before is the first to differ again.
    uint8_t bytes[kPage];
    if (count_ != 0 && (!readPage(pages_[suspect_].address, bytes) || sumOf(bytes) != pages_[suspect_].sum))
      return false;
    size_t at = 0;
    bool equal = visit([&](uint64_t address, uint8_t* now) {
      if (at < count_ && pages_[at].address == address && pages_[at].sum == sumOf(now)) return ++at, true;
      if (at < count_) suspect_ = at;
      return false;
    });
    return equal && at == count_;
  }
  // Whether an address is in code that tells the time from memory that the kernel changes.
  bool inKernelCode(uint64_t address) const { return address >= kernelCode_.begin && address < kernelCode_.end; }
  // Whether it is in code of no file: what was patched goes on there.
  bool inMadeCode(uint64_t address) const {
    for (size_t i = 0; i < madeCount_; ++i)
      if (address >= made_[i].begin && address < made_[i].end) return true;
    return false;
  }

 private:
  struct Page {
    uint64_t address;
    uint64_t sum;
  };
  struct Range {
    uint64_t begin = 0;
    uint64_t end = 0;
  };
  static constexpr size_t kMaxPages = size_t{1} << 18;       // 1 GiB
  static constexpr uint64_t kMaxMapped = uint64_t{1} << 36;  // of addresses

  bool makeRoom() {
    void* room = reinterpret_cast<void*>(syscall(SYS_mmap, nullptr, kMaxPages * sizeof(Page), PROT_READ | PROT_WRITE,
                                                 MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1L, 0L));
    if (room == MAP_FAILED) return false;
    pages_ = static_cast<Page*>(room);
    return true;
  }
  static uint64_t sumOf(const uint8_t* bytes) {
    uint64_t sum[4] = {1, 2, 3, 4};
    for (size_t i = 0; i < kPage; i += 32)
      for (size_t lane = 0; lane < 4; ++lane) {
        uint64_t word;
        memcpy(&word, bytes + i + lane * 8, 8);
        sum[lane] = (sum[lane] ^ word) * 0x9e3779b97f4a7c15u;
        sum[lane] ^= sum[lane] >> 29;
      }
    return ((sum[0] * 31 + sum[1]) * 31 + sum[2]) * 31 + sum[3];
  }

  // The run's own counts of its steps and turns are nothing that it looks at.
  bool readPage(uint64_t address, uint8_t* bytes) const {
    if (!readMemory(process_, address, bytes, kPage)) return false;
    constexpr uint64_t kCounts = kControlBase + offsetof(blackout_worker, steps);
    constexpr uint64_t kSize = offsetof(blackout_worker, query_count) - offsetof(blackout_worker, steps);
    static_assert(kCounts % kPage + kSize <= kPage);
    if (address == (kCounts & ~(kPage - 1))) memset(bytes + kCounts % kPage, 0, kSize);
    return true;
  }

  // Every page that is there, of every mapping that can be written; `body` returns false to stop.
  template <class Body>
  bool visit(Body body) {
    char path[64];
    snprintf(path, sizeof path, "/proc/%d/pagemap", int(process_));
    int table = int(syscall(SYS_openat, AT_FDCWD, path, O_RDONLY | O_CLOEXEC));
    snprintf(path, sizeof path, "/proc/%d/maps", int(process_));
    FILE* maps = fopen(path, "re");
    bool going = table >= 0 && maps != nullptr;
    uint64_t mapped = 0;
    madeCount_ = 0;
    char line[4400];
    while (going && fgets(line, sizeof line, maps) != nullptr) {
      char* at = line;
      uint64_t begin = strtoull(at, &at, 16), end = strtoull(at + 1, &at, 16);
      if (strstr(at, "[vdso]") != nullptr) kernelCode_ = {begin, end};
      if (at[3] == 'x' && strchr(at, '/') == nullptr && madeCount_ < kMaxMade) made_[madeCount_++] = {begin, end};
      if (at[1] != 'r' || at[2] != 'w') continue;
      mapped += end - begin;
      going = mapped <= kMaxMapped && visitMapping(table, begin, end, body);
    }
    if (table >= 0) syscall(SYS_close, table);
    if (maps != nullptr) fclose(maps);
    return going;
  }
  template <class Body>
  bool visitMapping(int table, uint64_t begin, uint64_t end, Body& body) {
    constexpr uint64_t kRanges = 256;
    static ScannedRange ranges[kRanges];
    while (begin < end) {
      PageScan scan{};
      scan.size = sizeof scan;
      scan.begin = begin, scan.end = end;
      scan.ranges = reinterpret_cast<uint64_t>(ranges), scan.rangeCount = kRanges;
      scan.any = scan.told = kPresent | kSwapped;
      long n = syscall(SYS_ioctl, table, kScan, &scan);
      if (n < 0) return visitEntries(table, begin, end, body);
      for (long i = 0; i < n; ++i)
        for (uint64_t at = ranges[i].begin; at < ranges[i].end; at += kPage)
          if (!visitPage(at, body)) return false;
      begin = scan.walkedTo > begin ? scan.walkedTo : end;
    }
    return true;
  }
  template <class Body>
  bool visitEntries(int table, uint64_t begin, uint64_t end, Body& body) {
    constexpr uint64_t kThere = uint64_t{3} << 62;  // in memory, or swapped
    constexpr uint64_t kEntries = 4096;
    static uint64_t entries[kEntries];
    for (uint64_t at = begin; at < end; at += kEntries * kPage) {
      uint64_t wanted = (end - at) / kPage < kEntries ? (end - at) / kPage : kEntries;
      long n = syscall(SYS_pread64, table, entries, wanted * 8, off_t(at / kPage * 8));
      if (n != long(wanted * 8)) return false;
      for (uint64_t i = 0; i < wanted; ++i) {
        if ((entries[i] & kThere) != 0 && !visitPage(at + i * kPage, body)) return false;
      }
    }
    return true;
  }
  template <class Body>
  bool visitPage(uint64_t at, Body& body) {
    static uint8_t bytes[kPage];
    // Past the end of its file there is no page.
    return !readPage(at, bytes) || body(at, bytes);
  }

  pid_t process_ = 0;
  Page* pages_ = nullptr;
  size_t count_ = 0;
  size_t suspect_ = 0;
  Range kernelCode_;
  static constexpr size_t kMaxMade = 64;
  Range made_[kMaxMade];
  size_t madeCount_ = 0;
};

// Whether what an instruction does depends on nothing but registers and memory.
bool isClosed(const uint8_t* code, uint64_t rax) {
  auto isPrefix = [](uint8_t b) {
    return b == 0x66 || b == 0x67 || b == 0xf0 || b == 0xf2 || b == 0xf3 || b == 0x2e || b == 0x36 || b == 0x3e ||
           b == 0x26 || b == 0x64 || b == 0x65 || (b & 0xf0) == 0x40;
  };
  const uint8_t* c = code;
  while (c < code + 12 && isPrefix(*c)) ++c;
  if (*c == 0xcd || *c == 0xf1 || *c == 0xcc) return false;  // interrupts
  if (*c != 0x0f) return *c != 0xc7 || c[1] != 0xf8;         // xbegin
  switch (c[1]) {
    case 0x05:  // syscall: these change nothing
      return rax == SYS_sched_yield || rax == SYS_getpid || rax == SYS_gettid;
    case 0x34:  // sysenter
    case 0x31:  // rdtsc
    case 0x33:  // rdpmc
    case 0xa2:  // cpuid
      return false;
    case 0x01:  // rdtscp and others with a register form
      return c[2] < 0xc0 || c[2] == 0xd0;
    case 0xc7:  // rdrand, rdseed, rdpid
      return c[2] < 0xc0 || ((c[2] >> 3) & 7) < 6;
    case 0xae:  // umonitor, umwait, tpause
      return c[2] < 0xc0 || ((c[2] >> 3) & 7) != 6 || c == code;
    default:
      return true;
  }
}

bool sameRegisters(user_regs_struct a, user_regs_struct b) {
  constexpr unsigned long long kByStepping = 0x10100;  // trap and resume flags
  a.eflags &= ~kByStepping;
  b.eflags &= ~kByStepping;
  a.orig_rax = b.orig_rax = 0;
  return memcmp(&a, &b, sizeof a) == 0;
}

// The worker and the thread take turns: on one processor neither waits for another one to wake up.
class OneProcessor {
 public:
  explicit OneProcessor(pid_t thread) : thread_(thread) {
    unsigned here = 0;
    known_ = syscall(SYS_getcpu, &here, nullptr, nullptr) == 0 && here < kMost && get(0, ours_) && get(thread, theirs_);
    if (!known_) return;
    Set one{};
    one.bits[here / 64] = uint64_t{1} << (here % 64);
    set(0, one);
    set(thread, one);
  }
  ~OneProcessor() {
    if (!known_) return;
    set(thread_, theirs_);
    set(0, ours_);
  }
  OneProcessor(const OneProcessor&) = delete;
  OneProcessor& operator=(const OneProcessor&) = delete;

 private:
  static constexpr unsigned kMost = 8192;
  struct Set {
    uint64_t bits[kMost / 64];
  };
  static bool get(pid_t thread, Set& to) {
    to = {};
    return syscall(SYS_sched_getaffinity, thread, sizeof to, &to) > 0;
  }
  static void set(pid_t thread, const Set& to) { syscall(SYS_sched_setaffinity, thread, sizeof to, &to); }

  pid_t thread_;
  bool known_;
  Set ours_, theirs_;
};

// Instructions that were looked at before.
class Looked {
 public:
  bool known(uint64_t pc) const { return slots_[slotOf(pc)] == pc; }
  void add(uint64_t pc) { slots_[slotOf(pc)] = pc; }
  void add(const Looked& other) {
    for (uint64_t pc : other.slots_)
      if (pc != 0) add(pc);
  }

 private:
  static size_t slotOf(uint64_t pc) { return (pc * 0x9e3779b97f4a7c15u) >> 52; }
  uint64_t slots_[4096] = {};
};

// Instructions of loops that were shown, with what was executed on the way to them, and how many it took at most.
Looked shown;
unsigned shownIn = 0;

}  // namespace

bool anyLoopKnown() { return shownIn != 0; }

unsigned knownLoopAt(const HeldThread& thread) {
  user_regs_struct now;
  return shownIn != 0 && thread.registers(now) && shown.known(now.rip) ? shownIn : 0;
}

bool loopsForEver(HeldThread& thread, unsigned instructions) {
  static VectorRegisters firstVectors, vectors;
  OneProcessor together(thread.id().thread);
  user_regs_struct first, now;
  MemorySums memory;
  Looked looked;
  // Where the loop is, whichever of its instructions it was stopped at: the lowest in its outermost function.
  unsigned long long outermost = 0, lowest = 0;
  constexpr size_t kPagesPerInstruction = 4;
  unsigned begin = 0, again = 1;
  if (!thread.registers(now)) return false;
  for (unsigned i = 0; i < instructions; ++i) {
    // Later it may be in a loop that it has yet to enter now.
    if (i == begin) {
      first = now;
      if (!thread.registers(firstVectors) ||
          !memory.take(thread.id().process, size_t{instructions} * kPagesPerInstruction))
        return false;
      outermost = lowest = 0;
      begin = again;
      again = begin == 1 ? kAgain : begin * 2;
    }
    if (now.rsp > outermost || (now.rsp == outermost && now.rip < lowest))
      if (!memory.inMadeCode(now.rip)) outermost = now.rsp, lowest = now.rip;
    if (!looked.known(now.rip)) {
      uint8_t code[16] = {};
      // The last instruction of a mapping may be shorter.
      size_t size = sizeof code;
      while (size != 0 && !readMemory(thread.id().process, now.rip, code, size)) --size;
      if (size == 0 || memory.inKernelCode(now.rip) || !isClosed(code, now.rax)) return false;
      // Which system call it is may be another one each time.
      if (memchr(code, 0x05, 3) == nullptr) looked.add(now.rip);
    }
    if (!thread.step() || !thread.registers(now)) return false;
    if (now.rip != first.rip || !sameRegisters(now, first)) continue;
    if (!thread.registers(vectors) || !(vectors == firstVectors) || !memory.same()) continue;
    shown.add(looked);
    if (i > shownIn) shownIn = i;
    while (outermost != 0 && (now.rsp != outermost || now.rip != lowest) && thread.step() && thread.registers(now)) {
    }
    return true;
  }
  return false;
}

}  // namespace blackout::rt
