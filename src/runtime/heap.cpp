#include "runtime/heap.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <link.h>
#include <malloc.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "runtime/access.h"
#include "runtime/options.h"
#include "runtime/real.h"
#include "runtime/recorder.h"
#include "runtime/recovery.h"
#include "runtime/regions.h"
#include "runtime/trap/loaded.h"
#include "runtime/trap/pages.h"

using namespace blackout::rt;

extern "C" {
void* __libc_malloc(size_t);
void* __libc_calloc(size_t, size_t);
void* __libc_realloc(void*, size_t);
void __libc_free(void*);
}

namespace {

constexpr size_t kSpan = size_t{64} << 10;
constexpr size_t kLargestSmall = kSpan / 4;
constexpr size_t kRoots = 64;
constexpr size_t kTop = kRoots * 8;  // offset: the first span free for a recovery, if one before it opened any
constexpr size_t kTable =
    4096;  // offset: 8 bytes per span, the size of its blocks; 0: not opened, or inside a large block

uintptr_t base = 0;
size_t heapSize = 0;       // 0: no such heap
uint8_t* freed = nullptr;  // a bit per 16 bytes: freed by this process
bool isVolatile = false;   // in a forked child

// The next span to open; 0: not known yet.
size_t nextSpan = 0;
struct Open {
  uintptr_t next;
  uintptr_t end;
};
Open spans[2][64];  // by size class; the second ones for calloc

// Words of the allocator's own in PM, by address.
uintptr_t tableOf(size_t span) { return base + kTable + span * 8; }
uintptr_t top() { return base + kTop; }
uint64_t wordAt(uintptr_t at) {
  uint64_t word;
  Scope scope;
  readThrough(&word, at, sizeof word);
  return word;
}
size_t firstSpan() { return (kTable + heapSize / kSpan * 8 + kSpan - 1) / kSpan; }

// The first span that neither the recording nor a recovery before this one opened.
size_t freeSpan() {
  size_t span = firstSpan();
  if (!isRestart()) return span;
  size_t recorded = (options.heaptop + kSpan - 1) / kSpan;
  if (recorded > span) span = recorded;
  uint64_t opened = wordAt(top());
  return opened > span && opened <= heapSize / kSpan ? opened : span;
}

bool inHeap(const void* p) { return reinterpret_cast<uintptr_t>(p) - base < heapSize; }

// Sizes of small blocks: steps of 16 up to 256, then four to each doubling. All are multiples of 16.
size_t blockSize(size_t size) {
  if (size <= 256) return size == 0 ? 16 : (size + 15) & ~size_t{15};
  size_t step = (size_t{1} << (63 - __builtin_clzl(size - 1))) / 4;
  return (size + step - 1) / step * step;
}
size_t classOf(size_t block) {
  if (block <= 256) return block / 16 - 1;
  size_t power = 63 - size_t(__builtin_clzl(block - 1));
  size_t step = (size_t{1} << power) / 4;
  return 16 + (power - 8) * 4 + (block - (size_t{1} << power)) / step - 1;
}

uint32_t hereOf(const char* function, const void* frame) {
  if (!recordsEvents() || isVolatile) return 0;
  Stack stack;
  walkCallers(stack, frame);
  return whereOf(librarySite(function), stack);
}

// Such a word is durable at once. Inside a Scope.
void settle(uintptr_t at, uint64_t value, uint32_t where) {
  auto* word = reinterpret_cast<void*>(at);
  if (observesCrash()) overwrite(word, sizeof value);
  if (!recordsEvents() || isVolatile) return writeThrough(at, &value, sizeof value);
  storeBytes(word, &value, sizeof value, where);
  recordFlush(BLACKOUT_EV_Clflush, word, where);
}
uint64_t consult(uintptr_t at, const char* function, const void* frame) {
  if (observesCrash()) observe(reinterpret_cast<void*>(at), sizeof(uint64_t), librarySite(function), frame);
  return wordAt(at);
}

[[noreturn]] void broken(const char* text) { stop(text, nullptr, 3); }
[[noreturn]] void full() {
  broken("the persistent heap is full; it never gives memory out twice, so give it more (--heap MiB)");
}

// Fresh memory of a recording has a content that nobody takes for an initialised one: a store of zero that is lost
// shows. It is what the heap held before the recording, so no crash comes before it.
void fillSpans(uintptr_t at, size_t size) {
  if (options.heapfill == 0 || isRestart() || isVolatile) return;
  const Region* r = findRegion(reinterpret_cast<void*>(at));
  if (r == nullptr) return;
  fillThrough(reinterpret_cast<void*>(at), int(options.heapfill), size);
  uint8_t page[4096];
  memset(page, int(options.heapfill), sizeof page);
  for (size_t done = 0; done < size; done += sizeof page)
    appendBlob(BLACKOUT_EV_FileData, 0, pmAddressOf(*r, at + done), page, sizeof page);
}

// What an allocation promises of its content.
enum class Fresh { Anything, Zeros };

// Opens `count` spans, the first at a multiple of `align`, for blocks of `size`.
uintptr_t openSpans(size_t count, size_t size, size_t align, Fresh fresh, const char* function, const void* frame,
                    uint32_t where) {
  if (nextSpan == 0) {
    if (isRestart()) consult(top(), function, frame);
    nextSpan = freeSpan();
  }
  size_t span = nextSpan;
  while (((base + span * kSpan) & (align - 1)) != 0) ++span;
  if (count > heapSize / kSpan || span + count > heapSize / kSpan) full();
  nextSpan = span + count;
  settle(tableOf(span), size, where);
  if (isRestart()) settle(top(), nextSpan, where);
  if (fresh == Fresh::Anything) fillSpans(base + span * kSpan, count * kSpan);
  return base + span * kSpan;
}

// Null in a signal handler that interrupted an event.
void* allocate(size_t size, size_t align, const char* function, const void* frame, Fresh fresh = Fresh::Anything) {
  if (size > heapSize || align > heapSize) full();
  Scope scope;
  if (scope.nested) return nullptr;
  uint32_t where = hereOf(function, frame);
  size_t block = blockSize(size);
  while ((block & (align - 1)) != 0 && block <= kLargestSmall) block = blockSize(block + 1);
  uintptr_t at;
  if (block > kLargestSmall) {
    block = (size + 15) & ~size_t{15};
    at = openSpans((block + kSpan - 1) / kSpan, block, align < kSpan ? kSpan : align, fresh, function, frame, where);
  } else {
    Open& open = spans[fresh == Fresh::Zeros ? 1 : 0][classOf(block)];
    if (open.next + block > open.end) {
      open.next = openSpans(1, block, kSpan, fresh, function, frame, where);
      open.end = open.next + kSpan;
    }
    at = open.next;
    open.next += block;
  }
  if (recordsEvents() && !isVolatile) append(BLACKOUT_EV_Alloc, 0, where, at, size);
  return reinterpret_cast<void*>(at);
}

[[noreturn]] void wrong(const char* function, const char* what) {
  char text[128];
  snprintf(text, sizeof text, "%s(): %s of the persistent heap", function, what);
  say(text);
  abort();
}

// The block that begins at p.
size_t sizeOf(const void* p, const char* function, const void* frame) {
  uintptr_t offset = reinterpret_cast<uintptr_t>(p) - base;
  uint64_t size = consult(tableOf(offset / kSpan), function, frame);
  uintptr_t inside = offset % kSpan;
  if (size == 0 || (size > kLargestSmall ? inside != 0 : inside % size != 0)) wrong(function, "a pointer to no block");
  return size;
}

void release(void* p, const char* function, const void* frame) {
  size_t size = sizeOf(p, function, frame);
  uintptr_t unit = (reinterpret_cast<uintptr_t>(p) - base) / 16;
  uint8_t bit = uint8_t(1 << (unit % 8));
  if ((__atomic_fetch_or(&freed[unit / 8], bit, __ATOMIC_RELAXED) & bit) != 0) wrong(function, "a second release");
  if (!recordsEvents() || isVolatile) return;
  Scope scope;
  if (scope.nested) return;
  append(BLACKOUT_EV_Free, 0, hereOf(function, frame), reinterpret_cast<uint64_t>(p), 0);
  if (const Region* r = findRegion(p))
    append(BLACKOUT_EV_Discard, 0, 0, pmAddressOf(*r, reinterpret_cast<uintptr_t>(p)), size);
}

// --- libc's own, or that of another allocator behind us. Looked up by the first call, whoever makes it. ---

void* firstMalloc(size_t size);
void* firstCalloc(size_t count, size_t size);
void* firstRealloc(void* p, size_t size);
void firstFree(void* p);

struct Next {
  void* (*malloc)(size_t) = firstMalloc;
  void* (*calloc)(size_t, size_t) = firstCalloc;
  void* (*realloc)(void*, size_t) = firstRealloc;
  void (*free)(void*) = firstFree;
};
constinit Next next;

void lookUp() {
  // dlsym may allocate: from libc meanwhile.
  next = {__libc_malloc, __libc_calloc, __libc_realloc, __libc_free};
  Next found;
  found.malloc = reinterpret_cast<void* (*)(size_t)>(dlsym(RTLD_NEXT, "malloc"));
  found.calloc = reinterpret_cast<void* (*)(size_t, size_t)>(dlsym(RTLD_NEXT, "calloc"));
  found.realloc = reinterpret_cast<void* (*)(void*, size_t)>(dlsym(RTLD_NEXT, "realloc"));
  found.free = reinterpret_cast<void (*)(void*)>(dlsym(RTLD_NEXT, "free"));
  if (found.malloc != nullptr && found.calloc != nullptr && found.realloc != nullptr && found.free != nullptr)
    next = found;
}
void* firstMalloc(size_t size) { return lookUp(), next.malloc(size); }
void* firstCalloc(size_t count, size_t size) { return lookUp(), next.calloc(count, size); }
void* firstRealloc(void* p, size_t size) { return lookUp(), next.realloc(p, size); }
void firstFree(void* p) { lookUp(), next.free(p); }

// Members of std::string are in libstdc++, but what they allocate is the program's string. Others of its functions, and
// libc's, allocate for themselves: buffers of streams, locales, exceptions. The last
// place of a call is remembered.
bool isInString(void* caller) {
  static constinit thread_local __attribute__((tls_model("initial-exec"))) void* last = nullptr;
  static constinit thread_local __attribute__((tls_model("initial-exec"))) bool answer = false;
  if (caller == last) return answer;
  Dl_info info;
  void* entry = nullptr;
  bool found = dladdr1(caller, &info, &entry, RTLD_DL_SYMENT) != 0 && entry != nullptr && info.dli_sname != nullptr;
  auto inside = reinterpret_cast<uintptr_t>(caller) - reinterpret_cast<uintptr_t>(info.dli_saddr);
  constexpr char kString[] = "_ZNSt7__cxx1112basic_stringI";
  answer = found && inside <= static_cast<const Elf64_Sym*>(entry)->st_size &&
           strncmp(info.dli_sname, kString, sizeof kString - 1) == 0;
  last = caller;
  return answer;
}

// Whether the code that called allocates from the persistent heap: it is instrumented, or in the program itself if that
// is not. Only yes is remembered: a program file may register later.
struct Known {
  uintptr_t begin;
  uintptr_t end;
};
constinit thread_local __attribute__((tls_model("initial-exec"))) Known lastCaller{0, 0};
bool allocatesHere(void* caller) {
  auto pc = reinterpret_cast<uintptr_t>(caller);
  if (pc >= lastCaller.begin && pc < lastCaller.end) return true;
  dl_find_object found;
  if (_dl_find_object(caller, &found) != 0) return false;
  auto begin = reinterpret_cast<uintptr_t>(found.dlfo_map_start);
  auto end = reinterpret_cast<uintptr_t>(found.dlfo_map_end);
  if (!isInstrumented(begin, end) && !isPlainProgram(begin, end)) return false;
  lastCaller = {begin, end};
  return true;
}

// A heap of the child's own, with what is in it now.
void inChild() {
  Scope scope;
  size_t usedBytes = (nextSpan == 0 ? freeSpan() : nextSpan) * kSpan;
  int fd = int(syscall(SYS_memfd_create, "heap", MFD_CLOEXEC));
  long copy = fd < 0 || syscall(SYS_ftruncate, fd, off_t(heapSize)) != 0
                  ? -1
                  : syscall(SYS_mmap, nullptr, heapSize, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_NORESERVE, fd, 0L);
  if (copy == -1) broken("no memory for a child's heap");
  readThrough(reinterpret_cast<void*>(copy), base, usedBytes);
  if (syscall(SYS_mremap, copy, heapSize, heapSize, MREMAP_MAYMOVE | MREMAP_FIXED, base) == -1)
    broken("no memory for a child's heap");
  isVolatile = true;
  for (int i = 0; i < regionCount; ++i) {
    Region& r = regions[i];
    if (r.begin != base) continue;
    if (isRestart()) {
      // What a restart reads of the crash is observed, in its children too.
      r.alias = 0;
      r.pages = nullptr;
      trapRegion(r, fd, true);
      break;
    }
    memmove(&regions[i], &regions[i + 1], size_t(regionCount - i - 1) * sizeof(Region));
    --regionCount;
    break;
  }
  syscall(SYS_close, fd);
}

// One process has it: the first with code that allocates from it, whatever scripts it was started by.
bool isFirst() {
  if (isRestart())
    return (__atomic_fetch_or(&worker->used, BLACKOUT_USED_HEAP, __ATOMIC_RELAXED) & BLACKOUT_USED_HEAP) == 0;
  char mark[PATH_MAX];
  if (snprintf(mark, sizeof mark, "%s/heap-taken", options.shadow) >= PATH_MAX) return false;
  int fd = int(syscall(SYS_openat, AT_FDCWD, mark, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600));
  if (fd >= 0) syscall(SYS_close, fd);
  return fd >= 0;
}

void mapHeap() {
  if (options.patternCount == kMaxPatterns) broken("--pm has too many patterns for a persistent heap");
  options.patterns[options.patternCount++] = {BLACKOUT_HEAP_PATH, false};
  char folder[PATH_MAX];
  snprintf(folder, sizeof folder, "%s/heap", options.shadow);
  syscall(SYS_mkdir, folder, 0700);
  size_t size = options.heap << 20;
  // As a program opens its pool. The tool has made it, so that it is there at every crash; it is made here for a
  // recording that was started by hand.
  struct stat st;
  int fd = open(BLACKOUT_HEAP_PATH, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
  if (fd < 0 || fstat(fd, &st) != 0 || (size_t(st.st_size) != size && ftruncate(fd, off_t(size)) != 0))
    broken("the persistent heap can't be made");
  void* p = mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  if (p == MAP_FAILED) broken("the persistent heap can't be mapped");
  close(fd);
  long bits = syscall(SYS_mmap, nullptr, size / 128 + 1, PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1L, 0L);
  if (bits == -1) broken("no memory for the persistent heap");
  freed = reinterpret_cast<uint8_t*>(bits);
  base = reinterpret_cast<uintptr_t>(p);
  pthread_atfork(nullptr, nullptr, inChild);
  heapSize = size;
}

// The beginning of every allocating function: a block of the persistent heap, if it is to come from there.
#define BLACKOUT_FROM_HEAP(function, size, align, ...)                                                                \
  if (__builtin_expect(heapSize != 0, 0) && allocatesHere(__builtin_return_address(0))) {                             \
    if (void* block = allocate(size, align, function, BLACKOUT_FRAME() __VA_OPT__(, ) __VA_ARGS__); block != nullptr) \
      return block;                                                                                                   \
  }

// As one of libc's functions would copy, with the calls that led to it: from here on they can't be walked, because the
// runtime's own code has no tables.
void copyFor(const char* function, void* to, const void* from, size_t n, const void* frame) {
  Stack stack;
  walkCallers(stack, frame);
  const Stack* outer = self.trapped;
  self.trapped = &stack;
  __blackout_memcpy(librarySite(function), to, from, n);
  self.trapped = outer;
}

bool powerOfTwo(size_t n) { return n != 0 && (n & (n - 1)) == 0; }

}  // namespace

namespace blackout::rt {

char* duplicate(const char* text, size_t size, const char* function, void* caller, const void* frame) {
  if (heapSize == 0 || !allocatesHere(caller)) return nullptr;
  auto* copy = static_cast<char*>(allocate(size + 1, 16, function, frame));
  if (copy == nullptr) return nullptr;
  copyFor(function, copy, text, size, frame);
  char end = '\0';
  copyFor(function, copy + size, &end, 1, frame);
  return copy;
}

void beginHeap() {
  static bool asked = false;
  if (asked || options.heap == 0) return;
  asked = true;
  if (isFirst()) mapHeap();
}

}  // namespace blackout::rt

#define HEAP BLACKOUT_EXPORT __attribute__((noinline))

HEAP void* malloc(size_t size) {
  BLACKOUT_FROM_HEAP("malloc", size, 16)
  return next.malloc(size);
}
HEAP void* calloc(size_t count, size_t size) {
  size_t total;
  if (!__builtin_mul_overflow(count, size, &total)) {
    BLACKOUT_FROM_HEAP("calloc", total, 16, Fresh::Zeros)
  }
  return next.calloc(count, size);
}
HEAP void free(void* p) {
  if (__builtin_expect(inHeap(p), 0)) return release(p, "free", BLACKOUT_FRAME());
  next.free(p);
}
HEAP void* realloc(void* p, size_t size) {
  if (p == nullptr) {
    BLACKOUT_FROM_HEAP("realloc", size, 16)
  }
  if (!inHeap(p)) return next.realloc(p, size);
  size_t old = sizeOf(p, "realloc", BLACKOUT_FRAME());
  if (size == 0) {
    release(p, "realloc", BLACKOUT_FRAME());
    return nullptr;
  }
  if (size <= old) return p;
  void* made = allocate(size, 16, "realloc", BLACKOUT_FRAME());
  if (made == nullptr) return errno = ENOMEM, nullptr;
  copyFor("realloc", made, p, old, BLACKOUT_FRAME());
  release(p, "realloc", BLACKOUT_FRAME());
  return made;
}
HEAP void* reallocarray(void* p, size_t count, size_t size) {
  size_t total;
  if (__builtin_mul_overflow(count, size, &total)) return errno = ENOMEM, nullptr;
  if (p == nullptr) {
    BLACKOUT_FROM_HEAP("reallocarray", total, 16)
  }
  return inHeap(p) ? realloc(p, total) : next.realloc(p, total);
}
HEAP void* memalign(size_t align, size_t size) {
  if (powerOfTwo(align)) {
    BLACKOUT_FROM_HEAP("memalign", size, align)
  }
  return BLACKOUT_REAL(memalign)(align, size);
}
HEAP void* aligned_alloc(size_t align, size_t size) {
  if (powerOfTwo(align)) {
    BLACKOUT_FROM_HEAP("aligned_alloc", size, align)
  }
  return BLACKOUT_REAL(aligned_alloc)(align, size);
}
HEAP int posix_memalign(void** out, size_t align, size_t size) {
  if (heapSize != 0 && powerOfTwo(align) && align >= sizeof(void*) && allocatesHere(__builtin_return_address(0))) {
    if (void* block = allocate(size, align, "posix_memalign", BLACKOUT_FRAME()); block != nullptr) {
      copyFor("posix_memalign", out, &block, sizeof block, BLACKOUT_FRAME());
      return 0;
    }
  }
  return BLACKOUT_REAL(posix_memalign)(out, align, size);
}
HEAP void* valloc(size_t size) {
  BLACKOUT_FROM_HEAP("valloc", size, 4096)
  return BLACKOUT_REAL(valloc)(size);
}
HEAP size_t malloc_usable_size(void* p) {
  if (!inHeap(p)) return BLACKOUT_REAL(malloc_usable_size)(p);
  return sizeOf(p, "malloc_usable_size", BLACKOUT_FRAME());
}
HEAP char* strdup(const char* text) {
  char* copy = duplicate(text, strlen(text), "strdup", __builtin_return_address(0), BLACKOUT_FRAME());
  return copy != nullptr ? copy : BLACKOUT_REAL(strdup)(text);
}
HEAP char* strndup(const char* text, size_t limit) {
  char* copy = duplicate(text, strnlen(text, limit), "strndup", __builtin_return_address(0), BLACKOUT_FRAME());
  return copy != nullptr ? copy : BLACKOUT_REAL(strndup)(text, limit);
}

// The text is made in ordinary memory first, as libc does.
static int print(char** out, const char* f, va_list arguments, const void* frame) {
  char* text = nullptr;
  int n = BLACKOUT_REAL(vasprintf)(&text, f, arguments);
  if (n < 0) return n;
  auto* block = static_cast<char*>(allocate(size_t(n) + 1, 16, "asprintf", frame));
  if (block != nullptr) {
    __blackout_memcpy(librarySite("asprintf"), block, text, size_t(n) + 1);
    next.free(text);
    text = block;
  }
  __blackout_memcpy(librarySite("asprintf"), out, &text, sizeof text);
  return n;
}
HEAP int vasprintf(char** out, const char* f, va_list arguments) {
  bool here = heapSize != 0 && allocatesHere(__builtin_return_address(0));
  return here ? print(out, f, arguments, BLACKOUT_FRAME()) : BLACKOUT_REAL(vasprintf)(out, f, arguments);
}
HEAP int asprintf(char** out, const char* f, ...) {
  bool here = heapSize != 0 && allocatesHere(__builtin_return_address(0));
  va_list arguments;
  va_start(arguments, f);
  int n = here ? print(out, f, arguments, BLACKOUT_FRAME()) : BLACKOUT_REAL(vasprintf)(out, f, arguments);
  va_end(arguments);
  return n;
}
extern "C" {
int __vasprintf_chk(char** out, int flag, const char* f, va_list arguments);
int __asprintf_chk(char** out, int flag, const char* f, ...);
}
HEAP int __vasprintf_chk(char** out, int flag, const char* f, va_list arguments) {
  bool here = heapSize != 0 && allocatesHere(__builtin_return_address(0));
  return here ? print(out, f, arguments, BLACKOUT_FRAME()) : BLACKOUT_REAL(__vasprintf_chk)(out, flag, f, arguments);
}
HEAP int __asprintf_chk(char** out, int flag, const char* f, ...) {
  bool here = heapSize != 0 && allocatesHere(__builtin_return_address(0));
  va_list arguments;
  va_start(arguments, f);
  int n = here ? print(out, f, arguments, BLACKOUT_FRAME()) : BLACKOUT_REAL(__vasprintf_chk)(out, flag, f, arguments);
  va_end(arguments);
  return n;
}

// operator new in its forms, by their linkage names; every operator delete of the library ends in free().
#define BLACKOUT_NEW(name, align, PARAMETERS, ARGUMENTS)                                                         \
  HEAP void* name PARAMETERS {                                                                                   \
    void* caller = __builtin_return_address(0);                                                                  \
    if (__builtin_expect(heapSize != 0, 0) && (allocatesHere(caller) || isInString(caller)))                     \
      if (void* block = allocate(size, align, "operator new", BLACKOUT_FRAME()); block != nullptr) return block; \
    static void*(*real)PARAMETERS = nullptr;                                                                     \
    if (real == nullptr) real = reinterpret_cast<void*(*)PARAMETERS>(dlsym(RTLD_NEXT, #name));                   \
    return real ARGUMENTS;                                                                                       \
  }
BLACKOUT_NEW(_Znwm, 16, (size_t size), (size))
BLACKOUT_NEW(_Znam, 16, (size_t size), (size))
BLACKOUT_NEW(_ZnwmRKSt9nothrow_t, 16, (size_t size, const void* nothrow), (size, nothrow))
BLACKOUT_NEW(_ZnamRKSt9nothrow_t, 16, (size_t size, const void* nothrow), (size, nothrow))
BLACKOUT_NEW(_ZnwmSt11align_val_t, align, (size_t size, size_t align), (size, align))
BLACKOUT_NEW(_ZnamSt11align_val_t, align, (size_t size, size_t align), (size, align))
BLACKOUT_NEW(_ZnwmSt11align_val_tRKSt9nothrow_t, align, (size_t size, size_t align, const void* nothrow),
             (size, align, nothrow))
BLACKOUT_NEW(_ZnamSt11align_val_tRKSt9nothrow_t, align, (size_t size, size_t align, const void* nothrow),
             (size, align, nothrow))

BLACKOUT_EXPORT void** blackout_root(unsigned i) {
  static void* slots[kRoots];
  if (heapSize == 0) return &slots[i % kRoots];
  return reinterpret_cast<void**>(base) + i % kRoots;
}
