#include "runtime/recorder.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "events/address_map.h"
#include "runtime/options.h"

extern "C" void* __libc_stack_end;

namespace blackout::rt {

constinit thread_local __attribute__((tls_model("initial-exec"))) ThreadState self;
blackout_trace_header* header = nullptr;
uint32_t processNumber = 0;

namespace {

int traceFd = -1;
uint8_t* traceBase = nullptr;       // of the reservation; the header lies first
uint64_t mappedEnd = 0;             // bytes of the file that this process has mapped
uint64_t reservation = kTraceSpan;  // less where the program's address space is limited
constexpr uint64_t kFirstChunk = uint64_t{4} << 20;
constexpr uint64_t kLargestChunk = uint64_t{64} << 20;
bool full = false;  // no more room: nothing is appended any more

void* rawMmap(void* at, size_t size, int prot, int flags, int fd, off_t offset) {
  return reinterpret_cast<void*>(syscall(SYS_mmap, at, size, prot, flags, fd, offset));
}

int openTrace() {
  int fd = int(syscall(SYS_openat, AT_FDCWD, options.trace, O_RDWR | O_CLOEXEC));
  if (fd < 0) return -1;
  // A high number, so that the program's own descriptors get the numbers that they would have without Blackout.
  int high = int(syscall(SYS_fcntl, fd, F_DUPFD_CLOEXEC, 900));
  if (high >= 0) {
    syscall(SYS_close, fd);
    return high;
  }
  return fd;
}

// Maps [mappedEnd, end) of the trace, with room on the disk behind it.
bool grow(uint64_t end) {
  uint64_t chunk = mappedEnd < kFirstChunk ? kFirstChunk : mappedEnd;
  if (chunk > kLargestChunk) chunk = kLargestChunk;
  uint64_t target = (end + chunk - 1) / chunk * chunk;
  if (target > reservation) return false;
  // Past the limit the kernel would end the program with SIGXFSZ.
  struct rlimit limit;
  if (getrlimit(RLIMIT_FSIZE, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY && target > limit.rlim_cur) return false;
  struct stat st;
  for (int attempt = 0;; ++attempt) {
    // The program may have closed our descriptor, or another file may have taken its number.
    struct stat named;
    bool ours = syscall(SYS_fstat, traceFd, &st) == 0 && stat(options.trace, &named) == 0 &&
                st.st_ino == named.st_ino && st.st_dev == named.st_dev;
    if (ours) break;
    if (attempt > 0) return false;
    traceFd = openTrace();
  }
  if (uint64_t(st.st_size) < target) {
    // Without blocks of its own a full disk would end the program with SIGBUS.
    long r = syscall(SYS_fallocate, traceFd, 0, off_t(st.st_size), off_t(target - uint64_t(st.st_size)));
    if (r != 0 && errno == EOPNOTSUPP) r = ftruncate(traceFd, off_t(target));
    if (r != 0) return false;
  }
  void* at = rawMmap(traceBase + mappedEnd, target - mappedEnd, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, traceFd,
                     off_t(mappedEnd));
  if (at == MAP_FAILED) return false;
  mappedEnd = target;
  return true;
}

// Room for `bytes` more; null once the disk is full.
uint8_t* reserve(uint64_t bytes) {
  if (__builtin_expect(full, 0)) return nullptr;
  uint64_t at = BLACKOUT_HEADER_SIZE + header->committed;
  if (__builtin_expect(at + bytes > mappedEnd, 0)) {
    if (!grow(at + bytes)) {
      full = true;
      problem(BLACKOUT_PROBLEM_DISK);
      return nullptr;
    }
  }
  if (__builtin_expect((header->problems & BLACKOUT_PROBLEM_DISK) != 0, 0)) {
    full = true;
    return nullptr;
  }
  return traceBase + at;
}

void commit(uint64_t bytes) { __atomic_store_n(&header->committed, header->committed + bytes, __ATOMIC_RELEASE); }

uint32_t currentTid() { return uint32_t(syscall(SYS_gettid)); }

void nameThread() {
  if (self.process != processNumber) {
    // A new thread, or the only one of a forked child.
    self.number = 0;
    self.active = false;
    self.tid = currentTid();
    self.process = processNumber;
  }
  uint32_t n = header->next_thread++;
  if (n >= 0xffff) {
    header->next_thread = 0xffff;
    n = 0xffff;
    problem(BLACKOUT_PROBLEM_THREADS);
  }
  self.number = uint16_t(n);
  append(BLACKOUT_EV_ThreadBegin, 0, 0, processNumber, self.tid);
}

}  // namespace

void attach(Role as) {
  traceFd = openTrace();
  struct stat st;
  if (traceFd < 0 || syscall(SYS_fstat, traceFd, &st) != 0 || st.st_size < off_t(BLACKOUT_HEADER_SIZE))
    stop("the trace can't be opened; run the program with 'blackout check' or 'blackout record':", options.trace, 2);
  int flags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE;
  for (;; reservation /= 4) {
    traceBase = static_cast<uint8_t*>(
        rawMmap(reinterpret_cast<void*>(kTraceBase), reservation, PROT_NONE, flags | MAP_FIXED_NOREPLACE, -1, 0));
    if (traceBase == MAP_FAILED)
      traceBase = static_cast<uint8_t*>(rawMmap(nullptr, reservation, PROT_NONE, flags, -1, 0));
    if (traceBase != MAP_FAILED || reservation < (uint64_t{64} << 20)) break;
  }
  if (traceBase == MAP_FAILED) stop("no address space for the trace", nullptr, 3);
  if (!grow(uint64_t(st.st_size))) stop("no room on the disk for the trace:", options.trace, 3);
  auto* h = reinterpret_cast<blackout_trace_header*>(traceBase);
  if (memcmp(h->magic, BLACKOUT_TRACE_MAGIC, sizeof h->magic) != 0 || h->version != BLACKOUT_TRACE_VERSION ||
      h->state != BLACKOUT_RECORDING)
    stop("not a trace that can be appended to:", options.trace, 2);
  processNumber = __atomic_fetch_add(&h->next_process, 1, __ATOMIC_SEQ_CST);
  // A second process: the first one (which made this one) locks already.
  if (processNumber > 1) __atomic_store_n(&h->shared, 1, __ATOMIC_SEQ_CST);
  beginThread();
  full = false;
  header = h;
  role = as;
  // A restart's has been set.
  if (toldOfStop == nullptr) toldOfStop = [](const char*) { problem(BLACKOUT_PROBLEM_STOPPED); };
}

void beginThread() {
  self.tid = currentTid();
  self.process = processNumber;
  self.stackTop = reinterpret_cast<uintptr_t>(__libc_stack_end);
  struct rlimit limit;
  uintptr_t size = uintptr_t{8} << 20;
  if (getrlimit(RLIMIT_STACK, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY) size = limit.rlim_cur;
  self.stackLow = self.stackTop - size;
}

void attachTable(const char* path) {
  int fd = int(syscall(SYS_openat, AT_FDCWD, path, O_RDONLY | O_CLOEXEC));
  void* p = fd < 0 ? MAP_FAILED
                   : rawMmap(reinterpret_cast<void*>(kTableBase), BLACKOUT_HEADER_SIZE, PROT_READ | PROT_WRITE,
                             MAP_PRIVATE, fd, 0);
  if (fd >= 0) syscall(SYS_close, fd);
  if (p == MAP_FAILED) stop("the file table of a recovery can't be mapped:", path, 3);
  header = static_cast<blackout_trace_header*>(p);
  full = true;
}

void attachChild() {
  processNumber = __atomic_fetch_add(&header->next_process, 1, __ATOMIC_SEQ_CST);
  self.busy = false;
  self.number = 0;
  self.inHistory = 0;
  self.active = false;
  self.tid = currentTid();
  self.process = processNumber;
}

void setShared() {
  // Announced before the second writer exists, so nobody appends without the lock beside it.
  __atomic_store_n(&header->shared, 1, __ATOMIC_SEQ_CST);
}

bool isDead(uint32_t tid) {
  if (syscall(SYS_tkill, tid, 0) != 0) return errno == ESRCH;
  char path[64], text[512];
  snprintf(path, sizeof path, "/proc/%u/stat", tid);
  int fd = int(syscall(SYS_openat, AT_FDCWD, path, O_RDONLY | O_CLOEXEC));
  if (fd < 0) return false;
  long n = syscall(SYS_read, fd, text, sizeof text - 1);
  syscall(SYS_close, fd);
  if (n <= 0) return false;
  text[n] = '\0';
  const char* state = strrchr(text, ')');  // the name before it may hold anything
  return state != nullptr && (state[2] == 'Z' || state[2] == 'X');
}

bool tryLockTrace() {
  if (self.tid == 0) return false;
  for (int spins = 0; spins < 256; ++spins) {
    uint32_t expected = 0;
    if (__atomic_compare_exchange_n(&header->lock, &expected, self.tid, false, __ATOMIC_ACQUIRE, __ATOMIC_RELAXED))
      return true;
    __builtin_ia32_pause();
  }
  return false;
}

namespace {

bool takeFreeLock() {
  uint32_t expected = 0;
  return self.tid != 0 &&
         __atomic_compare_exchange_n(&header->lock, &expected, self.tid, false, __ATOMIC_ACQUIRE, __ATOMIC_RELAXED);
}

__attribute__((noinline)) void waitForLock() {
  int saved = errno;
  if (self.tid == 0) self.tid = currentTid();
  uint32_t expected = 0;
  time_t began = 0;
  bool said = false;
  for (uint64_t spins = 1;
       !__atomic_compare_exchange_n(&header->lock, &expected, self.tid, false, __ATOMIC_ACQUIRE, __ATOMIC_RELAXED);
       ++spins) {
    if (spins % 64 == 0)
      sched_yield();
    else
      __builtin_ia32_pause();
    if (spins % (1 << 16) == 0) {
      // A signal handler that waits inside another thread's store keeps the lock from us.
      struct timespec now;
      syscall(SYS_clock_gettime, CLOCK_MONOTONIC, &now);
      if (began == 0) began = now.tv_sec;
      if (!said && now.tv_sec - began >= 10) {
        say("a thread has been stopped in the middle of a store for 10 seconds, and all others that store wait for it; "
            "signal handlers that stop threads are not supported");
        said = true;
      }
      // Killed while it held the lock? Its event is not committed, so nothing is torn.
      uint32_t owner = expected;
      if (owner != 0 && isDead(owner) &&
          __atomic_compare_exchange_n(&header->lock, &owner, self.tid, false, __ATOMIC_ACQUIRE, __ATOMIC_RELAXED))
        break;
    }
    expected = 0;
  }
  errno = saved;
}

}  // namespace

void (*emptyBufferFirst)() = nullptr;

void lockTrace() {
  if (__builtin_expect(!takeFreeLock(), 0)) waitForLock();
}

void lockTraceInOrder() {
  lockTrace();
  if (__builtin_expect(emptyBufferFirst != nullptr, 0)) emptyBufferFirst();
}

void unlockTrace() { __atomic_store_n(&header->lock, 0, __ATOMIC_RELEASE); }

void append(uint8_t kind, uint8_t len, uint32_t where, uint64_t addr, uint64_t value) {
  if (__builtin_expect(full, 0)) return;
  if (__builtin_expect(self.number == 0, 0)) {
    if (kind != BLACKOUT_EV_ThreadBegin) nameThread();
  }
  auto* e = reinterpret_cast<blackout_event*>(reserve(sizeof(blackout_event)));
  if (e == nullptr) return;
  self.stores += kind <= BLACKOUT_EV_Rmw ? 1 : 0;
  e->kind = kind;
  e->len = len;
  e->thread = self.number;
  e->where = where;
  e->addr = addr;
  e->value = value;
  commit(sizeof *e);
}

void appendAs(uint16_t thread, uint8_t kind, uint8_t len, uint32_t where, uint64_t addr, uint64_t value) {
  if (full) return;
  auto* e = reinterpret_cast<blackout_event*>(reserve(sizeof(blackout_event)));
  if (e == nullptr) return;
  *e = {kind, len, thread, where, addr, value};
  commit(sizeof *e);
}

uint16_t threadNumber() {
  if (self.number == 0) nameThread();
  return self.number;
}

void appendRun(uint8_t kind, uint32_t where, uint64_t addr, const uint8_t* bytes, size_t size) {
  if (__builtin_expect(full, 0)) return;
  if (self.number == 0) nameThread();
  constexpr size_t kMost = 4096;  // at once
  while (size > 0) {
    size_t first = 8 - (addr & 7);
    if (first > size) first = size;
    size_t count = 1 + (size - first) / 8;
    if (count > kMost) count = kMost;
    auto* e = reinterpret_cast<blackout_event*>(reserve(count * sizeof(blackout_event)));
    if (e == nullptr) return;
    for (size_t n = 0; n < count; ++n) {
      size_t len = n == 0 ? first : 8;
      uint64_t value = 0;
      if (len == 8)
        memcpy(&value, bytes, 8);
      else
        memcpy(&value, bytes, len);
      e[n] = {kind, uint8_t(len | BLACKOUT_WIDE), self.number, where, addr, value};
      addr += len;
      bytes += len;
      size -= len;
    }
    self.stores += count;
    commit(count * sizeof *e);
  }
}

bool hasRoom(uint64_t events) {
  return !full && self.number != 0 && self.process == processNumber &&
         BLACKOUT_HEADER_SIZE + header->committed + events * sizeof(blackout_event) <= mappedEnd &&
         (header->problems & BLACKOUT_PROBLEM_DISK) == 0;
}

void appendJoined(uint8_t kind, uint32_t where, uint64_t addr, const uint64_t values[2]) {
  if (__builtin_expect(full, 0)) return;
  if (self.number == 0) nameThread();
  auto* e = reinterpret_cast<blackout_event*>(reserve(2 * sizeof(blackout_event)));
  if (e == nullptr) return;
  self.stores += 2;
  e[0] = {kind, 8 | BLACKOUT_JOINED, self.number, where, addr, values[0]};
  e[1] = {kind, 8, self.number, where, addr + 8, values[1]};
  commit(2 * sizeof *e);
}

static size_t blobSize(size_t size) {
  return (size + sizeof(blackout_event) - 1) / sizeof(blackout_event) * sizeof(blackout_event);
}

uint8_t* beginBlob(uint8_t kind, uint8_t len, uint64_t addr, size_t size, uint32_t where) {
  if (__builtin_expect(full, 0)) return nullptr;
  if (self.number == 0) nameThread();
  uint8_t* at = reserve(sizeof(blackout_event) + blobSize(size));
  if (at == nullptr) return nullptr;
  auto* e = reinterpret_cast<blackout_event*>(at);
  *e = {kind, len, self.number, where, addr, size};
  memset(at + sizeof *e + size, 0, blobSize(size) - size);
  return at + sizeof *e;
}

void commitBlob(size_t size) { commit(sizeof(blackout_event) + blobSize(size)); }

void appendBlob2(uint8_t kind, uint8_t len, uint64_t addr, const void* a, size_t na, const void* b, size_t nb,
                 uint32_t where) {
  uint8_t* at = beginBlob(kind, len, addr, na + nb, where);
  if (at == nullptr) return;
  memcpy(at, a, na);
  if (nb != 0) memcpy(at + na, b, nb);
  commitBlob(na + nb);
}

void appendBlob(uint8_t kind, uint8_t len, uint64_t addr, const void* payload, size_t size, uint32_t where) {
  appendBlob2(kind, len, addr, payload, size, nullptr, 0, where);
}

void appendWords(uint8_t kind, uint64_t addr, const uint64_t* words, size_t count, uint32_t where) {
  if (__builtin_expect(full, 0)) return;
  if (self.number == 0) nameThread();
  size_t size = count * sizeof *words;
  uint8_t* at = reserve(sizeof(blackout_event) + blobSize(size));
  if (at == nullptr) return;
  auto* e = reinterpret_cast<blackout_event*>(at);
  *e = {kind, 0, self.number, where, addr, size};
  auto* to = reinterpret_cast<volatile uint64_t*>(at + sizeof *e);  // volatile: no memcpy() is made of it
  for (size_t n = 0; n < blobSize(size) / sizeof *words; ++n) to[n] = n < count ? words[n] : 0;
  commitBlob(size);
}

void problem(uint32_t bit) { __atomic_fetch_or(&header->problems, bit, __ATOMIC_RELAXED); }

void lost(uint64_t events) { __atomic_fetch_add(&header->lost, events, __ATOMIC_RELAXED); }

namespace {

constexpr uint64_t kNoFrames = 0x9e3779b97f4a7c15ull;
inline uint64_t withFrame(uint64_t hash, uint64_t pc) {
  hash = (hash ^ pc) * 0xff51afd7ed558ccdull;
  return hash ^ hash >> 32;
}

void setHash(Stack& stack) {
  stack.hash = kNoFrames;
  for (int i = 0; i < stack.count; ++i) stack.hash = withFrame(stack.hash, stack.frames[i]);
}

// Frame pointers, which the wrappers keep: [rbp] is the caller's, [rbp + 8] the return address.
// Uninstrumented frames in between may hold anything in rbp, so only addresses further up the
// same stack are followed. The hash grows with the walk, which every recorded event of compiled code makes.
inline int walkPointers(uintptr_t at, uint64_t* frames, int limit, uint64_t& hash) {
  int n = 0;
  hash = kNoFrames;
  // The first frame is the hook's: it returns into the instrumented function, whose place the site knows.
  uintptr_t next = *reinterpret_cast<const uintptr_t*>(at);
  while (n < limit && next > at && next < self.stackTop - 16 && (next & 7) == 0) {
    at = next;
    uint64_t pc = reinterpret_cast<const uint64_t*>(at)[1];
    if (pc == 0) break;
    frames[n++] = pc;
    hash = withFrame(hash, pc);
    next = *reinterpret_cast<const uintptr_t*>(at);
  }
  return n;
}

// A program that is trapped has code without frame pointers; unwind tables lead through both.
int walkTables(uintptr_t at, uint64_t* frames, int limit) {
  const auto* hook = reinterpret_cast<const uintptr_t*>(at);
  Frame caller{};
  caller.pc = hook[1] - 1;  // the call
  caller.sp = at + 16;
  caller.rbp = hook[0];
  return unwind(caller, self.stackLow, self.stackTop, frames, limit);
}

}  // namespace

void walkStack(Stack& stack, const void* hookFrame) {
  if (__builtin_expect(self.trapped != nullptr, 0)) {
    stack = *self.trapped;
    return;
  }
  auto at = reinterpret_cast<uintptr_t>(hookFrame);
  stack.count = 0;
  bool inside = at >= self.stackLow && at < self.stackTop;
  if (__builtin_expect(inside && !plainCode, 1)) {
    stack.count = walkPointers(at, stack.frames, int(options.stack), stack.hash);
    return;
  }
  if (inside) stack.count = walkTables(at, stack.frames, int(options.stack));
  setHash(stack);
}

static void walkCallersBy(bool tables, Stack& stack, const void* frame) {
  if (__builtin_expect(self.trapped != nullptr && frame != nullptr, 0)) {
    stack = *self.trapped;
    return;
  }
  auto at = reinterpret_cast<uintptr_t>(frame);
  stack.count = 0;
  if (options.stack != 0 && at >= self.stackLow && at < self.stackTop) {
    stack.frames[0] = reinterpret_cast<const uint64_t*>(at)[1];
    int rest = int(options.stack) - 1;
    stack.count =
        1 + (tables ? walkTables(at, stack.frames + 1, rest) : walkPointers(at, stack.frames + 1, rest, stack.hash));
  }
  setHash(stack);
}

void walkCallers(Stack& stack, const void* frame) { walkCallersBy(plainCode, stack, frame); }

void walkCallersInAnyCode(Stack& stack, const void* frame) { walkCallersBy(plainCode || trapping, stack, frame); }

void walkFrom(Stack& stack, const Frame& from, Trail* trail) {
  stack.count = unwind(from, self.stackLow, self.stackTop, stack.frames, int(options.stack), trail);
  setHash(stack);
}

void dropCallers(Stack& stack, int count) {
  stack.count -= count;
  memmove(stack.frames, stack.frames + count, size_t(stack.count) * sizeof *stack.frames);
  setHash(stack);
}

void walkFromCall(Stack& stack, const Frame& from) {
  stack.count = 0;
  if (options.stack != 0) {
    stack.frames[0] = from.pc;
    stack.count = 1 + unwind(from, self.stackLow, self.stackTop, stack.frames + 1, int(options.stack) - 1);
  }
  setHash(stack);
}

namespace {

// Raised when a program file goes: another one's sites may come to lie at the same addresses.
uint16_t siteGeneration = 0;

struct WhereSlot {
  uint64_t hash;
  uint32_t number;
};
constexpr size_t kWhereSlots = size_t{1} << 20;
WhereSlot* whereTable = nullptr;
size_t whereCount = 0;

const char* relativeText(const int32_t& field) {
  return field == 0 ? "" : reinterpret_cast<const char*>(&field) + field;
}

// The payload of a site record: see decodeSite in events/table_payloads.cpp.
void writeSite(blackout_site* site) {
  static char payload[65536];  // under the lock
  size_t n = 0;
  auto put = [&](const void* p, size_t size) {
    if (n + size > sizeof payload) return;
    memcpy(payload + n, p, size);
    n += size;
  };
  uint32_t count = site->place_count;
  const auto* places =
      reinterpret_cast<const blackout_place*>(reinterpret_cast<const char*>(&site->places) + site->places);
  // A chain too long for the buffer is cut, never the record.
  size_t room = sizeof payload - 512;
  uint32_t kept = 0;
  size_t need = 0;
  for (; kept < count; ++kept) {
    need += sizeof(uint64_t) + 4 * sizeof(uint32_t) + strlen(relativeText(places[kept].function)) +
            strlen(relativeText(places[kept].file)) + 2;
    if (need > room) break;
  }
  put(&site->id, 8);
  put(&site->size, 2);
  put(&site->kind, 1);
  put(&site->flags, 1);
  put(&kept, 4);
  for (uint32_t i = 0; i < kept; ++i) {
    const blackout_place& p = places[i];
    put(&p.id, 8);
    put(&p.line, 4);
    put(&p.column, 4);
    put(&p.discriminator, 4);
    put(&p.flags, 4);
    const char* function = relativeText(p.function);
    const char* file = relativeText(p.file);
    put(function, strlen(function) + 1);
    put(file, strlen(file) + 1);
  }
  const char* type = relativeText(site->type);
  size_t typeLength = strlen(type);
  if (typeLength > 400) type = "", typeLength = 0;
  put(type, typeLength + 1);
  if ((site->flags & BLACKOUT_SITE_TRAPPED) != 0) put("", 1);  // its program file: the tool's to say
  appendBlob(BLACKOUT_EV_Site, 0, site->number, payload, n);
}

}  // namespace

uint32_t whereOf(blackout_site* site, const Stack& stack) {
  if (site == nullptr || full) return 0;
  uint64_t hash =
      (stack.hash ^ reinterpret_cast<uint64_t>(site) ^ (uint64_t{siteGeneration} << 48)) * 0xc4ceb9fe1a85ec53ull;
  hash ^= hash >> 29;
  if (hash == 0) hash = 1;
  if (__builtin_expect(whereTable == nullptr, 0)) {
    // A hint only, beside the trace.
    void* p = rawMmap(traceBase + reservation, kWhereSlots * sizeof(WhereSlot), PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (p == MAP_FAILED) return 0;
    whereTable = static_cast<WhereSlot*>(p);
  }
  size_t i = hash & (kWhereSlots - 1);
  while (whereTable[i].hash != 0) {
    if (whereTable[i].hash == hash) return whereTable[i].number;
    i = (i + 1) & (kWhereSlots - 1);
  }
  if (whereCount > kWhereSlots / 4 * 3) {
    // So many stacks: from here on the place without its callers.
    if (stack.count == 0) return 0;
    Stack none;
    none.count = 0;
    none.hash = 0;
    return whereOf(site, none);
  }
  if (site->number == 0) {
    site->number = header->next_site++;
    writeSite(site);
  }
  uint32_t number = header->next_where++;
  uint32_t head[2] = {site->number, uint32_t(stack.count)};
  appendBlob2(BLACKOUT_EV_Where, 0, number, head, sizeof head, stack.frames, size_t(stack.count) * 8);
  whereTable[i] = {hash, number};
  ++whereCount;
  return number;
}

void forgetSites() { ++siteGeneration; }
uint16_t sitesGeneration() { return siteGeneration; }

blackout_site* librarySite(const char* function) {
  // One row per libc function, made on first use; its place is the function's name.
  struct Row {
    blackout_site site;
    blackout_place place;
    const char* key;
    char text[48];
  };
  static Row rows[96];
  for (Row& row : rows) {
    if (row.key == function) return &row.site;
    if (row.key != nullptr) continue;
    row.key = function;
    snprintf(row.text, sizeof row.text, "%s", function);
    uint64_t id = 14695981039346656037ull;
    for (const char* c = function; *c != '\0'; ++c) id = (id ^ uint8_t(*c)) * 1099511628211ull;
    row.place = {};
    row.place.id = id;
    row.place.flags = BLACKOUT_PLACE_SOURCE;
    row.place.function = int32_t(row.text - reinterpret_cast<char*>(&row.place.function));
    row.site = {};
    row.site.id = id;
    row.site.kind = BLACKOUT_SITE_Library;
    row.site.place_count = 1;
    row.site.places = int32_t(reinterpret_cast<char*>(&row.place) - reinterpret_cast<char*>(&row.site.places));
    return &row.site;
  }
  return nullptr;
}

}  // namespace blackout::rt
