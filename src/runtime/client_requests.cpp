// Client requests: what a program tells Valgrind's tools about its persistent memory. A flush or a fence that is only
// announced becomes an event like a real one, at the request's own site, by which the tool tells the two apart. An
// answer depends on what is mapped and on nothing else, so that it is the same in a recording and in a restart.

#include "runtime/client_requests.h"

#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "runtime/annotations.h"
#include "runtime/options.h"
#include "runtime/recorder.h"
#include "runtime/recovery.h"
#include "runtime/regions.h"

extern "C" void* __libc_stack_end;

namespace blackout::rt {

namespace {

enum class Request : uint64_t {
#define BLACKOUT_REQUEST(code, Name, text, doc) Name = code,
#include "events/client_requests.def"
#undef BLACKOUT_REQUEST
};

struct Range {
  uintptr_t begin;
  uintptr_t end;
};
Range rangeOf(uint64_t address, uint64_t size) {
  return {address, size > UINTPTR_MAX - address ? UINTPTR_MAX : address + size};
}

// Ordinary memory that the program calls PM before anything is recorded, or on a stack: libpmemobj finds out so whether
// pmemcheck is there. It
// doesn't become PM, but it is said to be.
constexpr int kMaxClaims = 16;
Range claims[kMaxClaims];

bool onStack(Range range) {
  auto here = reinterpret_cast<uintptr_t>(__builtin_frame_address(0));
  return range.begin >= here && range.end <= reinterpret_cast<uintptr_t>(__libc_stack_end);
}
bool claim(Range range) {
  if (!onStack(range) && (inRun() || !trapping)) return false;
  for (Range& c : claims)
    if (c.begin == c.end) {
      c = range;
      return true;
    }
  return true;
}
bool isClaimed(Range range) {
  for (const Range& c : claims)
    if (c.begin <= range.begin && range.end <= c.end && range.begin < range.end) return true;
  return false;
}
void unclaim(Range range) {
  for (Range& c : claims)
    if (range.begin <= c.begin && c.end <= range.end) c = {};
}

enum class Backing { Memory, SharedFile, Nothing };

// Calls body(line) for the lines of /proc/self/maps, each ended by a zero, until it returns false.
template <class Body>
void forEachMapping(Body body) {
  static char text[PATH_MAX + 256];  // under the trace's lock
  int fd = int(syscall(SYS_openat, AT_FDCWD, "/proc/self/maps", O_RDONLY | O_CLOEXEC));
  if (fd < 0) return;
  size_t have = 0;
  for (bool more = true; more;) {
    long n = syscall(SYS_read, fd, text + have, sizeof text - 1 - have);
    if (n <= 0) break;
    have += size_t(n);
    text[have] = '\0';
    char* line = text;
    for (char* end; more && (end = strchr(line, '\n')) != nullptr; line = end + 1) {
      *end = '\0';
      more = body(line);
    }
    have -= size_t(line - text);
    memmove(text, line, have);
  }
  syscall(SYS_close, fd);
}

// What lies in the range; `path` (PATH_MAX) gets the name of the first shared file.
Backing backingOf(Range range, char* path) {
  Backing found = Backing::Nothing;
  uintptr_t reached = range.begin;
  // 7f0000000000-7f0000001000 rw-s 00000000 fe:01 4711      /path
  forEachMapping([&](char* line) {
    char* at = line;
    uintptr_t begin = strtoul(at, &at, 16);
    uintptr_t end = strtoul(at + 1, &at, 16);
    if (end <= reached) return true;
    if (begin > reached) return false;
    bool shared = at[4] == 's';
    const char* name = strchr(line, '/');
    // Shared memory without a file is a deleted file of this name.
    if (shared && name != nullptr && strncmp(name, "/dev/zero", 9) != 0) {
      strncpy(path, name, PATH_MAX - 1);
      path[PATH_MAX - 1] = '\0';
      found = Backing::SharedFile;
      return false;
    }
    reached = end;
    if (reached >= range.end) found = Backing::Memory;
    return reached < range.end;
  });
  return found;
}

// The program's word that this is PM. Pools are known; memory of its own becomes one; any other file must be named.
void registerMapping(Range range) {
  static char told[PATH_MAX];
  char path[PATH_MAX];
  Backing backing;
  {
    Scope scope;
    if (scope.nested || range.begin >= range.end || overlapsRegion(range.begin, range.end)) return;
    backing = backingOf(range, path);
    bool again = backing != Backing::SharedFile || strcmp(told, path) == 0;
    if (!isRestart() && !again) {
      strcpy(told, path);
      say("the program registers a mapping as persistent memory, but its file is not a pool; name it with --pm", path);
    }
  }
  if (backing == Backing::Memory)
    registerMemory(reinterpret_cast<void*>(range.begin), range.end - range.begin, "mapping",
                   "VALGRIND_PMC_REGISTER_PMEM_MAPPING");
}

// Only what was registered: a pool is PM as long as it is mapped.
void removeMapping(Range range) {
  for (;;) {
    void* found = nullptr;
    {
      Scope scope;
      if (scope.nested) return;
      forEachRegion(range.begin, range.end, [&](const Region& r, uintptr_t from, uintptr_t to) {
        if (isRegistered(r) && from == r.begin && to == r.end) found = reinterpret_cast<void*>(from);
      });
    }
    if (found == nullptr) return;
    unregisterMemory(found);
  }
}

uint64_t checkMapping(Range range) {
  if (range.begin == range.end) return findRegion(reinterpret_cast<void*>(range.begin)) != nullptr ? 1 : 0;
  uint64_t covered = 0;
  forEachRegion(range.begin, range.end, [&](const Region&, uintptr_t from, uintptr_t to) { covered += to - from; });
  return covered == 0 ? 0 : covered == range.end - range.begin ? 1 : 2;
}

void flush(Range range, uint32_t where) {
  forEachRegion(range.begin, range.end, [&](const Region& r, uintptr_t from, uintptr_t to) {
    for (uintptr_t at = from; at < to; at = (at & ~uintptr_t{BLACKOUT_LINE - 1}) + BLACKOUT_LINE)
      append(BLACKOUT_EV_Clwb, 0, where, pmAddressOf(r, at), 0);
    self.active = true;
  });
}

void fence(uint32_t where) {
  append(BLACKOUT_EV_Sfence, 0, where, 0, 0);
  self.active = false;
}

void markRange(uint8_t kind, Range range, uint32_t where, uint8_t len = 0) {
  forEachRegion(range.begin, range.end, [&](const Region& r, uintptr_t from, uintptr_t to) {
    append(kind, len, where, pmAddressOf(r, from), to - from);
  });
}

void transactionRange(uint8_t kind, uint64_t number, Range range, uint32_t where) {
  forEachRegion(range.begin, range.end, [&](const Region& r, uintptr_t from, uintptr_t to) {
    uint64_t payload[2] = {to - from, number};
    appendWords(kind, pmAddressOf(r, from), payload, 2, where);
  });
}

constexpr size_t kWords = 6;  // of a request

void recordText(const uint64_t* args) {
  constexpr size_t kMaxText = 256;
  const auto* words = reinterpret_cast<const char*>(args[1]);
  appendBlob2(BLACKOUT_EV_Request, 0, 0, args, kWords * sizeof(uint64_t), words,
              words == nullptr ? 0 : strnlen(words, kMaxText));
}

// What it says of memory that is PM. Inside a Scope.
template <class Where>
void recordEffect(const uint64_t* args, Where where) {
  switch (Request{args[0]}) {
    case Request::DoFlush:
      return flush(rangeOf(args[1], args[2]), where());
    case Request::DoFence:
      return fence(where());
    case Request::SetClean:
      return markRange(BLACKOUT_EV_Discard, rangeOf(args[1], args[2]), where(), BLACKOUT_DISCARD_CLEAN);
    case Request::MakeUndefined:
      return markRange(BLACKOUT_EV_Discard, rangeOf(args[1], args[2]), where());
    case Request::MakeDefined:
      return markRange(BLACKOUT_EV_Discard, rangeOf(args[1], args[2]), where(), BLACKOUT_DISCARD_DEFINED);
    case Request::PoolAlloc:
      return markRange(BLACKOUT_EV_Discard, rangeOf(args[2], args[3]), where());
    case Request::StartTx:
      return append(BLACKOUT_EV_TxBegin, 0, where(), 0, 0);
    case Request::StartTxN:
      return append(BLACKOUT_EV_TxBegin, 0, where(), args[1], 0);
    case Request::EndTx:
      return append(BLACKOUT_EV_TxEnd, 0, where(), 0, 0);
    case Request::EndTxN:
      return append(BLACKOUT_EV_TxEnd, 0, where(), args[1], 0);
    case Request::AddToTx:
      if (self.adding) return;
      return transactionRange(BLACKOUT_EV_TxAdd, 0, rangeOf(args[1], args[2]), where());
    case Request::AddToTxN:
      return transactionRange(BLACKOUT_EV_TxAdd, args[1], rangeOf(args[2], args[3]), where());
    case Request::RemoveFromTx:
      return transactionRange(BLACKOUT_EV_TxRemove, 0, rangeOf(args[1], args[2]), where());
    case Request::RemoveFromTxN:
      return transactionRange(BLACKOUT_EV_TxRemove, args[1], rangeOf(args[2], args[3]), where());
    case Request::RemoveMapping: {
      // A pool is PM as long as it is mapped; a part of it that is said to be none (a lock, run-time state) never
      // matters.
      Range range = rangeOf(args[1], args[2]);
      forEachRegion(range.begin, range.end, [&](const Region& r, uintptr_t from, uintptr_t to) {
        if (!isRegistered(r) && (from != r.begin || to != r.end))
          append(BLACKOUT_EV_Ignore, 0, where(), pmAddressOf(r, from), to - from);
      });
      return;
    }
    case Request::IgnoreInTx:
      return markRange(BLACKOUT_EV_TxIgnore, rangeOf(args[1], args[2]), where());
    default:  // an answer, a mapping, nothing, or a request of another tool
      return;
  }
}

}  // namespace

bool isOnlyRecorded(const uint64_t* args) {
  constexpr int kFewRegions = 16;
  constexpr uint64_t kFewBytes = 64 * BLACKOUT_LINE;
  switch (Request{args[0]}) {
    case Request::DoFlush:
      return args[2] <= kFewBytes && regionCount <= kFewRegions;
    case Request::DoFence:
    case Request::SetClean:
    case Request::MakeUndefined:
    case Request::MakeDefined:
    case Request::PoolAlloc:
    case Request::StartTx:
    case Request::StartTxN:
    case Request::EndTx:
    case Request::EndTxN:
    case Request::AddToTx:
    case Request::AddToTxN:
    case Request::RemoveFromTx:
    case Request::RemoveFromTxN:
    case Request::IgnoreInTx:
      return regionCount <= kFewRegions;
    default:
      return false;
  }
}

bool isRecordedWithPlace(const uint64_t* args) { return Request{args[0]} != Request::AddToTx || !self.adding; }

void recordRequest(const uint64_t* args, uint32_t where) {
  appendWords(BLACKOUT_EV_Request, 0, args, kWords);
  recordEffect(args, [&] { return where; });
}

uint64_t clientRequest(uint64_t unanswered, const uint64_t* args, blackout_site* site, const void* frame,
                       uint32_t* where) {
  Range first = rangeOf(args[1], args[2]);
  switch (Request{args[0]}) {
    case Request::RegisterMapping:
      if (claim(first)) return unanswered;
      break;
    case Request::CheckMapping:
      if (isClaimed(first)) return 1;
      break;
    case Request::RemoveMapping:
      unclaim(first);
      break;
    default:
      break;
  }
  if (!inRun()) return unanswered;
  if (recordsEvents()) {
    Stack stack;
    walkStack(stack, frame);
    Scope scope;
    if (scope.nested) {
      problem(BLACKOUT_PROBLEM_SIGNAL);
      lost(1);
      return unanswered;
    }
    if (Request{args[0]} == Request::EmitLog)
      recordText(args);
    else
      appendWords(BLACKOUT_EV_Request, 0, args, kWords);
    recordEffect(args, [&] {
      uint32_t at = whereOf(site, stack);
      if (where != nullptr) *where = at;
      return at;
    });
  }
  switch (Request{args[0]}) {
    case Request::RegisterMapping:
      registerMapping(rangeOf(args[1], args[2]));
      break;
    case Request::RegisterFile:
      registerMapping(rangeOf(args[2], args[3]));
      break;
    case Request::RemoveMapping:
      removeMapping(rangeOf(args[1], args[2]));
      break;
    case Request::CheckMapping: {
      Scope scope;
      return checkMapping(rangeOf(args[1], args[2]));
    }
    default:
      break;
  }
  return unanswered;
}

}  // namespace blackout::rt

extern "C" uint64_t __blackout_request(uint64_t unanswered, uint64_t* args, blackout_site* site) {
  return blackout::rt::clientRequest(unanswered, args, site, BLACKOUT_FRAME());
}
