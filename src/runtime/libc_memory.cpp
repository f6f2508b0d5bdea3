// mem* and str* of instrumented code. One that writes PM is recorded as the stores that libc, or the compiler, would
// make and is made under the lock; everything else goes to libc. Strings are measured first and then copied. What libc
// reads on the way of such a call is the runtime's own access: what the program reads by the call is said here.

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <wchar.h>

#include "events/contract.h"
#include "runtime/access.h"
#include "runtime/buffers.h"
#include "runtime/copy_shape.h"
#include "runtime/heap.h"
#include "runtime/options.h"
#include "runtime/real.h"
#include "runtime/recorder.h"
#include "runtime/recovery.h"
#include "runtime/regions.h"
#include "runtime/trap/pages.h"

using namespace blackout::rt;

namespace {

// Calls libc on memory that may be protected.
template <class Call>
auto own(Call call) {
  if (!trapping || !inRun()) return call();
  Scope scope;
  return call();
}
size_t length(const char* s) {
  return own([&] { return strlen(s); });
}
size_t bounded(const char* s, size_t n) {
  return own([&] { return strnlen(s, n); });
}
void move(void* d, const void* s, size_t n) {
  if (!trapping || !(mayBePm(d, n) || mayBePm(s, n))) return void(memmove(d, s, n));
  Scope scope;
  moveThrough(d, s, n);
}
void set(void* d, int c, size_t n) {
  if (!trapping || !mayBePm(d, n)) return void(memset(d, c, n));
  Scope scope;
  fillThrough(d, c, n);
}

bool wantsLoad(const void* p, size_t n) { return (options.loads == 1 || observesCrash()) && mayBePm(p, n); }

// Reads [p, p + n): recorded if loads are.
void reading(blackout_site* site, const void* p, size_t n, const void* frame) {
  if (n == 0 || !wantsLoad(p, n)) return;
  // One call is one group: a record that is compared or copied whole.
  if (observesCrash()) return void(observe(p, n, site, frame, newGroup()));
  Stack stack;
  walkStack(stack, frame);
  Scope scope;
  if (!scope.nested) recordLoad(p, n, whereOf(site, stack));
}

// The same for a text, whose length is part of what is read: byte by byte, so that what is asked next depends only on
// what was read before.
void readingText(blackout_site* site, const char* p, size_t n, const void* frame) {
  if (!observesCrash()) return reading(site, p, n, frame);
  if (!mayBePm(p, n)) return;
  for (size_t i = 0; i < n; ++i) observe(p + i, 1, site, frame);
}
void readingTexts(blackout_site* site, const char* a, const char* b, size_t n, const void* frame) {
  if (!observesCrash()) {
    reading(site, a, n, frame);
    return reading(site, b, n, frame);
  }
  for (size_t i = 0; i < n; ++i) {
    if (mayBePm(a + i, 1)) observe(a + i, 1, site, frame);
    if (mayBePm(b + i, 1)) observe(b + i, 1, site, frame);
  }
}
// In front of a copy of n bytes of a text.
void copiedText(blackout_site* site, const char* p, size_t n, const void* frame) {
  if (observesCrash()) readingText(site, p, n, frame);
}

// Writes d[0..n) by `make()`, after `record(where)` if PM is touched.
template <class Record, class Make>
void writing(blackout_site* site, void* d, size_t n, const void* frame, Record record, Make make) {
  if (n == 0 || !mayBePm(d, n)) {
    if (waitsInBuffer()) emptyBuffer();  // it must not overtake what the thread stored before
    return make();
  }
  if (observesCrash()) {
    overwrite(d, n);
    if (!recordsEvents()) return make();
  }
  Stack stack;
  walkStack(stack, frame);
  Scope scope;
  auto a = reinterpret_cast<uintptr_t>(d);
  if (scope.nested) {
    problem(BLACKOUT_PROBLEM_SIGNAL);
    lost(1);
  } else if (overlapsRegion(a, a + n)) {
    record(whereOf(site, stack));
  }
  make();
}

// Sizes that the compiler knows and makes stores of itself, whatever the processor: the site has the size.
constexpr size_t kInlinedCopy = 128;
constexpr size_t kInlinedFill = 256;
bool isInlined(const blackout_site* site, size_t n, size_t limit) { return site->size == n && n <= limit; }

enum class Copied { Memory, Text };

// d[0..n) = s[0..n), as memmove.
void copy(blackout_site* site, void* d, const void* s, size_t n, const void* frame, Copied what = Copied::Memory) {
  reading(site, s, n, frame);
  auto record = [&](uint32_t where) {
    Pieces pieces(BLACKOUT_EV_Store, where);
    auto store = [&](size_t offset, size_t size) {
      pieces.add(static_cast<char*>(d) + offset, static_cast<const char*>(s) + offset, size);
    };
    auto from = reinterpret_cast<uintptr_t>(s);
    if (what == Copied::Text)
      storesOfText(from, n, store);
    else if (isInlined(site, n, kInlinedCopy))
      storesOfInlined(n, store);
    else
      storesOfCopy(reinterpret_cast<uintptr_t>(d), from, n, store);
  };
  writing(site, d, n, frame, record, [&] { move(d, s, n); });
}

void fill(blackout_site* site, void* d, int c, size_t n, const void* frame) {
  auto record = [&](uint32_t where) {
    Pieces pieces(BLACKOUT_EV_Store, where);
    uint8_t bytes[kInlinedFill];
    memset(bytes, c, n < sizeof bytes ? n : sizeof bytes);
    auto store = [&](size_t offset, size_t size) { pieces.add(static_cast<char*>(d) + offset, bytes, size); };
    if (isInlined(site, n, kInlinedFill))
      storesOfInlined(n, store);
    else
      storesOfFill(reinterpret_cast<uintptr_t>(d), n, store);
  };
  writing(site, d, n, frame, record, [&] { set(d, c, n); });
}

// strncpy: the text, and zeros behind it. Returns the text's length.
size_t copyBounded(blackout_site* site, char* d, const char* from, size_t n, const void* frame) {
  size_t size = bounded(from, n);
  size_t whole = size < n ? size + 1 : size;
  copiedText(site, from, whole, frame);
  copy(site, d, from, whole, frame, Copied::Text);
  fill(site, d + whole, 0, n - whole, frame);
  return size;
}

int format(blackout_site* site, char* d, size_t n, const char* f, va_list arguments, const void* frame) {
  // libc ends the text first and writes byte by byte: where that is followed, it is recorded as it is.
  if (!mayBePm(d, 1) || trapping) return vsnprintf(d, n, f, arguments);
  va_list again;
  va_copy(again, arguments);
  int need = vsnprintf(nullptr, 0, f, again);
  va_end(again);
  if (need < 0 || n == 0) return need;
  size_t size = size_t(need) + 1;
  auto* text = static_cast<char*>(malloc(size));
  if (text == nullptr) return vsnprintf(d, n, f, arguments);
  vsnprintf(text, size, f, arguments);
  if (size > n) {
    text[n - 1] = '\0';
    size = n;
  }
  copy(site, d, text, size, frame);
  free(text);
  return need;
}

}  // namespace

#define HOOK BLACKOUT_EXPORT
#define FRAME BLACKOUT_FRAME()

HOOK void* __blackout_memcpy(blackout_site* s, void* d, const void* from, size_t n) {
  copy(s, d, from, n, FRAME);
  return d;
}
HOOK void* __blackout_memmove(blackout_site* s, void* d, const void* from, size_t n) {
  copy(s, d, from, n, FRAME);
  return d;
}
HOOK void* __blackout_memset(blackout_site* s, void* d, int c, size_t n) {
  fill(s, d, c, n, FRAME);
  return d;
}
HOOK void* __blackout_mempcpy(blackout_site* s, void* d, const void* from, size_t n) {
  copy(s, d, from, n, FRAME);
  return static_cast<char*>(d) + n;
}
HOOK void* __blackout_memccpy(blackout_site* s, void* d, const void* from, int c, size_t n) {
  const void* end = own([&] { return memchr(from, c, n); });
  size_t size = end == nullptr ? n : size_t(static_cast<const char*>(end) - static_cast<const char*>(from)) + 1;
  copiedText(s, static_cast<const char*>(from), size, FRAME);
  copy(s, d, from, size, FRAME);
  return end == nullptr ? nullptr : static_cast<char*>(d) + size;
}
HOOK void __blackout_bcopy(blackout_site* s, const void* from, void* d, size_t n) { copy(s, d, from, n, FRAME); }
HOOK void __blackout_bzero(blackout_site* s, void* d, size_t n) { fill(s, d, 0, n, FRAME); }
HOOK wchar_t* __blackout_wmemcpy(blackout_site* s, wchar_t* d, const wchar_t* from, size_t n) {
  copy(s, d, from, n * sizeof(wchar_t), FRAME);
  return d;
}
HOOK wchar_t* __blackout_wmemmove(blackout_site* s, wchar_t* d, const wchar_t* from, size_t n) {
  copy(s, d, from, n * sizeof(wchar_t), FRAME);
  return d;
}
// How libc stores a text depends on where it lies and on what is behind it. Where libc's own stores to PM are followed,
// it makes them.
static bool libcStores(const void* d) { return trapping && mayBePm(d, 1); }

HOOK wchar_t* __blackout_wmemset(blackout_site* s, wchar_t* d, wchar_t c, size_t n) {
  if (libcStores(d)) return wmemset(d, c, n);
  for (size_t i = 0; i < n; ++i) copy(s, d + i, &c, sizeof c, FRAME);
  return d;
}
// Fortified calls: the check first, by libc's own sentence.
static void check(size_t n, size_t room) {
  if (n <= room) return;
  say("buffer overflow detected in a fortified call");
  abort();
}
HOOK void* __blackout_memcpy_chk(blackout_site* s, void* d, const void* from, size_t n, size_t room) {
  check(n, room);
  copy(s, d, from, n, FRAME);
  return d;
}
HOOK void* __blackout_memmove_chk(blackout_site* s, void* d, const void* from, size_t n, size_t room) {
  check(n, room);
  copy(s, d, from, n, FRAME);
  return d;
}
HOOK void* __blackout_memset_chk(blackout_site* s, void* d, int c, size_t n, size_t room) {
  check(n, room);
  fill(s, d, c, n, FRAME);
  return d;
}

HOOK char* __blackout_strcpy(blackout_site* s, char* d, const char* from) {
  if (libcStores(d)) return strcpy(d, from);
  copiedText(s, from, length(from) + 1, FRAME);
  copy(s, d, from, length(from) + 1, FRAME, Copied::Text);
  return d;
}
HOOK char* __blackout_strcpy_chk(blackout_site* s, char* d, const char* from, size_t room) {
  check(length(from) + 1, room);
  if (libcStores(d)) return strcpy(d, from);
  copiedText(s, from, length(from) + 1, FRAME);
  copy(s, d, from, length(from) + 1, FRAME, Copied::Text);
  return d;
}
HOOK char* __blackout_stpcpy(blackout_site* s, char* d, const char* from) {
  if (libcStores(d)) return stpcpy(d, from);
  size_t n = length(from);
  copiedText(s, from, n + 1, FRAME);
  copy(s, d, from, n + 1, FRAME, Copied::Text);
  return d + n;
}
HOOK char* __blackout_strncpy(blackout_site* s, char* d, const char* from, size_t n) {
  if (libcStores(d)) return strncpy(d, from, n);
  copyBounded(s, d, from, n, FRAME);
  return d;
}
HOOK char* __blackout_strncpy_chk(blackout_site* s, char* d, const char* from, size_t n, size_t room) {
  check(n, room);
  if (libcStores(d)) return strncpy(d, from, n);
  copyBounded(s, d, from, n, FRAME);
  return d;
}
HOOK char* __blackout_stpncpy(blackout_site* s, char* d, const char* from, size_t n) {
  if (libcStores(d)) return stpncpy(d, from, n);
  return d + copyBounded(s, d, from, n, FRAME);
}
HOOK char* __blackout_strcat(blackout_site* s, char* d, const char* from) {
  if (libcStores(d)) return strcat(d, from);
  copiedText(s, d, length(d) + 1, FRAME);
  copiedText(s, from, length(from) + 1, FRAME);
  copy(s, d + length(d), from, length(from) + 1, FRAME, Copied::Text);
  return d;
}
HOOK char* __blackout_strcat_chk(blackout_site* s, char* d, const char* from, size_t room) {
  check(length(d) + length(from) + 1, room);
  if (libcStores(d)) return strcat(d, from);
  copiedText(s, d, length(d) + 1, FRAME);
  copiedText(s, from, length(from) + 1, FRAME);
  copy(s, d + length(d), from, length(from) + 1, FRAME, Copied::Text);
  return d;
}
HOOK char* __blackout_strncat(blackout_site* s, char* d, const char* from, size_t n) {
  if (libcStores(d)) return strncat(d, from, n);
  char* end = d + length(d);
  copiedText(s, d, length(d) + 1, FRAME);
  size_t size = bounded(from, n);
  size_t whole = size < n ? size + 1 : size;
  copiedText(s, from, whole, FRAME);
  copy(s, end, from, whole, FRAME, Copied::Text);
  if (whole == size) fill(s, end + size, 0, 1, FRAME);
  return d;
}
HOOK int __blackout_vsnprintf(blackout_site* s, char* d, size_t n, const char* f, va_list arguments) {
  return format(s, d, n, f, arguments, FRAME);
}
HOOK int __blackout_vsprintf(blackout_site* s, char* d, const char* f, va_list arguments) {
  return format(s, d, size_t(1) << 30, f, arguments, FRAME);
}
HOOK int __blackout_snprintf(blackout_site* s, char* d, size_t n, const char* f, ...) {
  va_list arguments;
  va_start(arguments, f);
  int r = format(s, d, n, f, arguments, FRAME);
  va_end(arguments);
  return r;
}
HOOK int __blackout_sprintf(blackout_site* s, char* d, const char* f, ...) {
  va_list arguments;
  va_start(arguments, f);
  int r = format(s, d, size_t(1) << 30, f, arguments, FRAME);
  va_end(arguments);
  return r;
}
HOOK int __blackout_snprintf_chk(blackout_site* s, char* d, size_t n, int, size_t room, const char* f, ...) {
  check(n, room);
  va_list arguments;
  va_start(arguments, f);
  int r = format(s, d, n, f, arguments, FRAME);
  va_end(arguments);
  return r;
}
HOOK int __blackout_sprintf_chk(blackout_site* s, char* d, int, size_t room, const char* f, ...) {
  va_list arguments;
  va_start(arguments, f);
  int r = format(s, d, room, f, arguments, FRAME);
  va_end(arguments);
  return r;
}

HOOK int __blackout_memcmp(blackout_site* s, const void* a, const void* b, size_t n) {
  reading(s, a, n, FRAME);
  reading(s, b, n, FRAME);
  return own([&] { return memcmp(a, b, n); });
}
HOOK void* __blackout_memchr(blackout_site* s, const void* p, int c, size_t n) {
  auto* found = own([&] { return memchr(const_cast<void*>(p), c, n); });
  readingText(s, static_cast<const char*>(p),
              found == nullptr ? n : size_t(static_cast<const char*>(found) - static_cast<const char*>(p)) + 1, FRAME);
  return found;
}
HOOK size_t __blackout_strlen(blackout_site* s, const char* p) {
  size_t n = length(p);
  readingText(s, p, n + 1, FRAME);
  return n;
}
HOOK size_t __blackout_strnlen(blackout_site* s, const char* p, size_t limit) {
  size_t n = bounded(p, limit);
  readingText(s, p, n < limit ? n + 1 : n, FRAME);
  return n;
}
static size_t compared(const char* a, const char* b, size_t limit) {
  size_t n = 0;
  while (n < limit && a[n] == b[n] && a[n] != '\0') ++n;
  return n < limit ? n + 1 : n;
}
HOOK int __blackout_strcmp(blackout_site* s, const char* a, const char* b) {
  if (wantsLoad(a, 1) || wantsLoad(b, 1)) {
    size_t n = own([&] { return compared(a, b, SIZE_MAX); });
    readingTexts(s, a, b, n, FRAME);
  }
  return own([&] { return strcmp(a, b); });
}
HOOK int __blackout_strncmp(blackout_site* s, const char* a, const char* b, size_t limit) {
  if (wantsLoad(a, 1) || wantsLoad(b, 1)) {
    size_t n = own([&] { return compared(a, b, limit); });
    readingTexts(s, a, b, n, FRAME);
  }
  return own([&] { return strncmp(a, b, limit); });
}
HOOK char* __blackout_strchr(blackout_site* s, const char* p, int c) {
  auto* found = own([&] { return const_cast<char*>(strchr(p, c)); });
  if (wantsLoad(p, 1)) readingText(s, p, found == nullptr ? length(p) + 1 : size_t(found - p) + 1, FRAME);
  return found;
}
HOOK char* __blackout_strrchr(blackout_site* s, const char* p, int c) {
  if (wantsLoad(p, 1)) readingText(s, p, length(p) + 1, FRAME);
  return own([&] { return const_cast<char*>(strrchr(p, c)); });
}
HOOK char* __blackout_strdup(blackout_site* s, const char* p) {
  size_t n = length(p);
  readingText(s, p, n + 1, FRAME);
  if (char* made = duplicate(p, n, "strdup", __builtin_return_address(0), FRAME)) return made;
  auto* made = static_cast<char*>(malloc(n + 1));
  if (made != nullptr) move(made, p, n + 1);
  return made;
}
