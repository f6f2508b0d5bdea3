// What a recovery run observes. A query is the first read of tracked bytes that the run has neither read
// nor written before; it goes to the worker's control block, where the tool finds it. Nothing is chosen
// here: the memory already holds one crash state, and what else the read could have given is the tool's to know.
//
// All processes of a run have one log and one account of what was seen. While there is only one process, the account
// is its own memory; before the second is made it moves to a file below run/, which executed programs find.

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/single_threaded.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "events/address_map.h"
#include "runtime/options.h"
#include "runtime/real.h"
#include "runtime/recorder.h"
#include "runtime/recovery.h"
#include "runtime/regions.h"
#include "runtime/schedule.h"
#include "runtime/stages.h"

namespace blackout::rt {

namespace {

// Whether the run logs every read of tracked bytes, not only what it has not seen.
inline bool logsEveryRead() { return __builtin_expect(worker->traced == BLACKOUT_TRACED_READS, 0); }

constexpr size_t kMaxTracked = size_t{1} << 24;
constexpr uint32_t kMaxProcesses = 256;

// One process of a run with several, and when it touched a pool last, in the run's own time.
struct Process {
  uint32_t number;  // the kernel's; 0: none
  uint32_t born;
  uint32_t touched;  // + 1; 0: never, or it is gone
};

// What the run has observed so far. Zero pages until it does.
struct Observed {
  uint32_t groups;
  uint32_t time;          // counts the processes that were made
  uint32_t processCount;  // in use; only ever grows
  uint32_t teller;        // the process that says that there are too many; 0: none
  Process processes[kMaxProcesses];
  bool made[BLACKOUT_MAX_FILES];  // by this run
  uint32_t paths[1024];           // asked already, a bit each: paths beyond are asked again, which is harmless
  uint8_t operations[BLACKOUT_MAX_OPERATIONS / 4];  // questions that were asked already: two bits each
  uint64_t seen[kMaxTracked];                       // bytes that were read or written, per tracked line
};
Observed* observed = nullptr;
bool shared = false;        // by several processes
Process* myself = nullptr;  // in a run with several

// Ranges announced by blackout_checksum, the newest in a ring.
struct Checksum {
  uintptr_t begin;
  uintptr_t end;
  uint32_t group;
};
constexpr int kMaxChecksums = 16;
Checksum checksums[kMaxChecksums];
int checksumCount = 0;

const uint8_t* planBytes() { return reinterpret_cast<const uint8_t*>(plan); }

inline uint64_t maskOf(uint64_t from, uint64_t to) {  // bytes [from, to) of a line
  uint64_t up = to >= 64 ? ~uint64_t{0} : (uint64_t{1} << to) - 1;
  return up & ~((uint64_t{1} << from) - 1);
}

// Of a restart whose events are recorded. Apart from the rest: it is not for stubs (tests/layout/vectors.py).
[[gnu::noinline]] void addPlace(blackout_query& q, blackout_site* site, const void* frame) {
  Stack stack;
  walkStack(stack, frame);
  Scope scope;
  if (!scope.nested) q.where = whereOf(site, stack);
  q.event = uint32_t(header->committed / sizeof(blackout_event));
}

void log(uint32_t kind, uint32_t subject, uint64_t mask, blackout_site* site, const void* frame, uint32_t group) {
  uint64_t n = __atomic_fetch_add(&worker->query_count, 1, __ATOMIC_RELAXED);
  if (n >= BLACKOUT_MAX_QUERIES)
    endRun(BLACKOUT_ENDED_BROKEN, "a restart with more than 4 million observations", frame);
  blackout_query& q = worker->queries[n];
  q = {kind, subject, mask, site == nullptr ? 0 : site->id, group, 0, 0, stageFlags()};
  if (recordsEvents()) addPlace(q, site, frame);
}

// Calls body(tracked line, mask of its bytes) for the tracked bytes of a file's range.
template <class Body>
inline void forEachTracked(const uint32_t* slots, uint64_t lines, uint64_t offset, uint64_t size, Body body) {
  if (slots == nullptr || size == 0) return;
  const auto* masks = reinterpret_cast<const uint64_t*>(planBytes() + plan->masks);
  uint64_t end = offset + size;
  for (uint64_t line = offset / 64; line * 64 < end && line < lines; ++line) {
    uint32_t slot = slots[line];
    if (__builtin_expect(slot == 0, 1)) continue;
    uint64_t from = line * 64 < offset ? offset - line * 64 : 0;
    uint64_t to = end - line * 64 < 64 ? end - line * 64 : 64;
    uint64_t mask = maskOf(from, to) & masks[slot - 1];
    if (mask != 0) body(slot - 1, mask);
  }
}

// The bits of `mask` that were not seen, which are from now on.
inline uint64_t see(uint32_t tracked, uint64_t mask) {
  uint64_t& s = observed->seen[tracked];
  if ((mask & ~s) == 0) return 0;
  uint64_t before = __libc_single_threaded != 0 && !shared ? s : __atomic_fetch_or(&s, mask, __ATOMIC_RELAXED);
  s |= mask;
  return mask & ~before;
}

}  // namespace

void noteMadeFile(uint32_t file) { observed->made[file] = true; }

namespace {

void* mapObserved(int flags, int fd) {
  long p = syscall(SYS_mmap, kObservedBase, sizeof(Observed), PROT_READ | PROT_WRITE, flags | MAP_NORESERVE, fd, 0L);
  if (p == -1) stop("no memory for a recovery run", nullptr, 3);
  return reinterpret_cast<void*>(p);
}

int openObserved(int flags) {
  char path[4200];
  snprintf(path, sizeof path, "%s/run/observed", workerFolder);
  return int(syscall(SYS_openat, AT_FDCWD, path, flags | O_RDWR | O_CLOEXEC, 0600));
}

// There is no room for another process. Many that are there at a time are more than a restart may have; one after the
// other they can't be followed.
[[noreturn]] void endCrowded() {
  uint32_t alive = 0;
  for (const Process& p : observed->processes) alive += syscall(SYS_kill, p.number, 0) == 0 ? 1 : 0;
  bool many = alive > kMaxProcesses / 2;
  uint32_t how = many ? BLACKOUT_ENDED_BOUND : BLACKOUT_ENDED_BROKEN;
  // The first one says it, and the others wait until it has: the worker ends the run as soon as it sees `ended`, or the
  // end of the run's first process, and on a busy machine that may be long before the next line here.
  uint32_t me = uint32_t(syscall(SYS_getpid)), teller = 0;
  while (!__atomic_compare_exchange_n(&observed->teller, &teller, me, false, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE)) {
    if (__atomic_load_n(&worker->ended, __ATOMIC_ACQUIRE) != 0) syscall(SYS_exit_group, 0);
    if (isDead(teller)) continue;  // somebody else says it in its place
    struct timespec moment{0, 1000000};
    syscall(SYS_nanosleep, &moment, nullptr);
    teller = 0;
  }
  endRun(how, many ? "it has more than 128 processes" : "a restart with more than 256 processes", nullptr);
}

Process& processOf(uint32_t number, uint32_t born) {
  for (;;) {
    uint32_t n = __atomic_load_n(&observed->processCount, __ATOMIC_ACQUIRE);
    for (uint32_t i = 0; i < n; ++i)
      if (observed->processes[i].number == number) return observed->processes[i];
    if (n == kMaxProcesses) endCrowded();
    uint32_t none = 0;
    Process& fresh = observed->processes[n];
    if (!__atomic_compare_exchange_n(&fresh.number, &none, number, false, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE)) continue;
    fresh.born = born;
    fresh.touched = 0;
    __atomic_store_n(&observed->processCount, n + 1, __ATOMIC_RELEASE);
    return fresh;
  }
}

// This process touches a pool. One that is alive and touched one since this process was made may do so again: what
// comes first is chance.
void noteTouch() {
  uint32_t now = __atomic_load_n(&observed->time, __ATOMIC_ACQUIRE);
  __atomic_store_n(&myself->touched, now + 1, __ATOMIC_RELEASE);
  uint32_t n = __atomic_load_n(&observed->processCount, __ATOMIC_ACQUIRE);
  for (uint32_t i = 0; i < n; ++i) {
    Process& other = observed->processes[i];
    if (&other == myself || other.touched <= myself->born) continue;
    if (isDead(other.number)) {
      __atomic_store_n(&other.touched, 0, __ATOMIC_RELEASE);
      continue;
    }
    unseen(
        "Processes of a restart work on the pool at the same time; which of them comes first is chance, and one order "
        "of them was tried.",
        nullptr);
  }
}
inline void touch() {
  if (__builtin_expect(shared, 0)) noteTouch();
}

}  // namespace

void mapSeen() {
  int fd = options.worker != nullptr && options.client == 0 ? openObserved(0) : -1;
  shared = fd >= 0;
  observed = static_cast<Observed*>(mapObserved(fd >= 0 ? MAP_SHARED : MAP_PRIVATE | MAP_ANONYMOUS, fd));
  madeFiles = observed->made;
  if (fd < 0) return;
  syscall(SYS_close, fd);
  // It executed this program, or was started by somebody that gave no word of it.
  myself = &processOf(uint32_t(syscall(SYS_getpid)), __atomic_load_n(&observed->time, __ATOMIC_ACQUIRE));
}

void shareObserved() {
  if (!shared) {
    int fd = openObserved(O_CREAT | O_TRUNC);
    if (fd < 0 || syscall(SYS_ftruncate, fd, sizeof(Observed)) != 0)
      endRun(BLACKOUT_ENDED_BROKEN, "what it observed can't be shared with its processes", nullptr);
    const auto* bytes = reinterpret_cast<const uint8_t*>(observed);
    size_t size = offsetof(Observed, seen) + plan->tracked * sizeof(uint64_t);
    static const uint8_t zero[4096] = {};
    for (size_t at = 0; at < size; at += sizeof zero) {
      size_t n = size - at < sizeof zero ? size - at : sizeof zero;
      if (memcmp(bytes + at, zero, n) != 0 && syscall(SYS_pwrite64, fd, bytes + at, n, off_t(at)) != long(n))
        endRun(BLACKOUT_ENDED_BROKEN, "what it observed can't be shared with its processes", nullptr);
    }
    mapObserved(MAP_SHARED | MAP_FIXED, fd);
    syscall(SYS_close, fd);
    shared = true;
    myself = &processOf(uint32_t(syscall(SYS_getpid)), 0);
    myself->touched = (worker->query_count != 0 || (worker->used & BLACKOUT_USED_STORED) != 0) ? 1 : 0;
  }
  // Whoever makes another one ends, not only the one that is made: nobody may ever wait for those.
  if (__atomic_load_n(&observed->processCount, __ATOMIC_ACQUIRE) == kMaxProcesses) endCrowded();
  __atomic_add_fetch(&observed->time, 1, __ATOMIC_ACQ_REL);
}

void joinObserved() {
  if (shared) myself = &processOf(uint32_t(syscall(SYS_getpid)), __atomic_load_n(&observed->time, __ATOMIC_ACQUIRE));
}

bool observesAlone() { return !shared; }

uint32_t newGroup() { return __atomic_add_fetch(&observed->groups, 1, __ATOMIC_RELAXED); }

bool observe(const void* p, size_t size, blackout_site* site, const void* frame, uint32_t group) {
  step(frame);
  touch();
  auto a = reinterpret_cast<uintptr_t>(p);
  if (__builtin_expect(checksumCount != 0, 0)) {
    for (const Checksum& c : checksums)
      if (a >= c.begin && a < c.end) group = c.group;
  }
  bool any = false;
  auto look = [&](const Region& r, uintptr_t from, uintptr_t to) {
    forEachTracked(r.tracked, r.trackedLines, r.offset + (from - r.begin), to - from, [&](uint32_t w, uint64_t mask) {
      uint64_t fresh = see(w, mask);
      any |= fresh != 0;
      if (logsEveryRead()) fresh = mask;
      if (fresh == 0) return;
      log(BLACKOUT_QUERY_BYTES, w, fresh, site, frame, group);
    });
  };
  const Region* r = findRegion(p);
  if (__builtin_expect(r != nullptr && a + size <= r->end, 1)) {
    // Most loads are inside one line, and most lines are not tracked.
    uint64_t offset = r->offset + (a - r->begin);
    uint64_t line = offset / 64;
    if (r->tracked == nullptr || line >= r->trackedLines || (r->tracked[line] == 0 && offset % 64 + size <= 64))
      return false;
    look(*r, a, a + size);
  } else {
    forEachRegion(a, a + size, look);
  }
  return any;
}

bool overwrite(const void* p, size_t size) {
  step(nullptr);
  touch();
  uint32_t stored = BLACKOUT_USED_STORED | (__builtin_expect(othersCanGoOn(), 0) ? BLACKOUT_USED_BESIDE : 0);
  if ((worker->used & stored) != stored) __atomic_fetch_or(&worker->used, stored, __ATOMIC_RELAXED);
  auto a = reinterpret_cast<uintptr_t>(p);
  bool any = false;
  auto own = [&](const Region& r, uintptr_t from, uintptr_t to) {
    if (r.copied) return;
    forEachTracked(r.tracked, r.trackedLines, r.offset + (from - r.begin), to - from,
                   [&](uint32_t w, uint64_t mask) { any |= see(w, mask) != 0; });
  };
  const Region* r = findRegion(p);
  if (__builtin_expect(r != nullptr && a + size <= r->end, 1))
    own(*r, a, a + size);
  else
    forEachRegion(a, a + size, own);
  return any;
}

bool allSeen(const Region& r, uintptr_t begin, uintptr_t end) {
  if (begin < r.begin) begin = r.begin;
  if (end > r.end) end = r.end;
  bool all = !logsEveryRead();  // whoever looks again is to be seen
  forEachTracked(r.tracked, r.trackedLines, r.offset + (begin - r.begin), end - begin,
                 [&](uint32_t w, uint64_t mask) { all &= (mask & ~observed->seen[w]) == 0; });
  return all;
}

void observeFile(uint32_t file, uint64_t offset, uint64_t size) {
  touch();
  uint64_t lines = 0;
  const uint32_t* slots = trackedSlots(file, lines);
  forEachTracked(slots, lines, offset, size, [&](uint32_t w, uint64_t mask) {
    uint64_t fresh = see(w, mask);
    if (logsEveryRead()) fresh = mask;
    if (fresh != 0) log(BLACKOUT_QUERY_BYTES, w, fresh, nullptr, BLACKOUT_FRAME(), 0);
  });
}

void overwriteFile(uint32_t file, uint64_t offset, uint64_t size) {
  touch();
  uint64_t lines = 0;
  const uint32_t* slots = trackedSlots(file, lines);
  forEachTracked(slots, lines, offset, size, [&](uint32_t w, uint64_t mask) { see(w, mask); });
}

static void askPath(uint32_t i) {
  constexpr uint32_t kPaths = 8 * sizeof observed->paths;
  if (i < kPaths && (observed->paths[i / 32] >> (i % 32) & 1) != 0) return;
  if (i < kPaths) observed->paths[i / 32] |= 1u << (i % 32);
  log(BLACKOUT_QUERY_PATH, i, 0, nullptr, BLACKOUT_FRAME(), 0);
}

void observePath(const char* canonicalPath) {
  // What the run itself made there it has asked for before: a file is looked for when it is made.
  const auto* offsets = reinterpret_cast<const uint32_t*>(planBytes() + plan->paths);
  uint32_t low = 0, high = plan->path_count;
  while (low < high) {
    uint32_t middle = (low + high) / 2;
    int order = strcmp(reinterpret_cast<const char*>(planBytes() + offsets[middle]), canonicalPath);
    if (order == 0) return askPath(middle);
    if (order < 0)
      low = middle + 1;
    else
      high = middle;
  }
}

void observeAllPaths() {
  for (uint32_t i = 0; i < plan->path_count; ++i) askPath(i);
}

uintptr_t recordedAddress(uint32_t file, uint64_t offset, size_t size) {
  const auto* m = reinterpret_cast<const blackout_plan_mapping*>(planBytes() + plan->mappings);
  for (uint32_t i = 0; i < plan->mapping_count; ++i) {
    if (m[i].file != file || m[i].offset > offset || m[i].offset + m[i].size <= offset) continue;
    uintptr_t at = m[i].address + (offset - m[i].offset);
    if (!overlapsRegion(at, at + size)) return at;
  }
  return 0;
}

bool operationReached(uint64_t n, unsigned question, const void* frame) {
  if (n >= plan->operations) return false;
  unsigned bit = 1u << (2 * (n % 4) + question - 1);
  if ((observed->operations[n / 4] & bit) == 0) {
    observed->operations[n / 4] |= uint8_t(bit);
    log(BLACKOUT_QUERY_OP, uint32_t(n), question, nullptr, frame, 0);
  }
  return worker->operations[n] >= question;
}

}  // namespace blackout::rt

using namespace blackout::rt;

BLACKOUT_EXPORT int blackout_recovering() { return isRestart() ? 1 : 0; }

BLACKOUT_EXPORT void blackout_checksum(const void* p, size_t size) {
  if (!isRestart()) return;
  auto a = reinterpret_cast<uintptr_t>(p);
  checksums[checksumCount % kMaxChecksums] = {a, a + size, newGroup() | BLACKOUT_GROUP_CHECKSUM};
  ++checksumCount;
}

BLACKOUT_EXPORT void blackout_expect(int condition, const char* what) {
  if (condition != 0 || !inRun()) return;
  if (isRestart()) endRun(BLACKOUT_ENDED_EXPECTATION, what == nullptr ? "" : what, BLACKOUT_FRAME());
  say("an expectation does not hold:", what);
  syscall(SYS_tgkill, syscall(SYS_getpid), syscall(SYS_gettid), 6 /* SIGABRT */);
}
