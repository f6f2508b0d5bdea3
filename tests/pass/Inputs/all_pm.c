// A runtime for tests of the pass alone: with ALL_PM=1 in the environment every address is PM, so that
// every access goes through its hook. Hooks make the access as the contract says, check that
// brackets are closed, and leave garbage in every register that the calling convention lets them
// change. With EVENTS=1 they print what happened, in the words of the site table.
#define _GNU_SOURCE
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>
#include <wchar.h>

#include "events/contract.h"

static int printing;
static __thread int depth;

static const char *nameOf(int kind) {
  switch (kind) {
#define BLACKOUT_SITE(code, Name, text, Class) \
  case code: return text;
#include "events/site_kinds.def"
  }
  return "?";
}

// Not buffered: the program may end in any way.
__attribute__((noinline)) static void say(const blackout_site *s, const char *what, size_t size) {
  char line[160];
  int line_number = 0;
  if (s->place_count > 0)
    line_number = (int)((const blackout_place *)((const char *)&s->places + s->places))->line;
  int n = snprintf(line, sizeof line, "event %d: %s%s %zu\n", line_number, nameOf(s->kind), what, size);
  if (write(1, line, (size_t)n) != n) abort();
}
static void must(int holds, const char *what) {
  if (holds) return;
  dprintf(2, "all_pm: %s\n", what);
  abort();
}

// preserve_most keeps the general registers except r11; vector registers are the callee's.
#define GARBAGE                                                                                                  \
  __asm__ volatile(                                                                                              \
      "movq $-1, %%r11; movq %%r11, %%xmm0; movq %%r11, %%xmm1; movq %%r11, %%xmm2; movq %%r11, %%xmm3;"         \
      "movq %%r11, %%xmm4; movq %%r11, %%xmm5; movq %%r11, %%xmm6; movq %%r11, %%xmm7; movq %%r11, %%xmm8;"      \
      "movq %%r11, %%xmm9; movq %%r11, %%xmm10; movq %%r11, %%xmm11; movq %%r11, %%xmm12; movq %%r11, %%xmm13;"  \
      "movq %%r11, %%xmm14; movq %%r11, %%xmm15" ::                                                              \
          : "r11", "xmm0", "xmm1", "xmm2", "xmm3", "xmm4", "xmm5", "xmm6", "xmm7", "xmm8", "xmm9", "xmm10", "xmm11", \
            "xmm12", "xmm13", "xmm14", "xmm15", "memory")

// For a test that wants a window of its own.
static blackout_module *module;
void all_pm_stores(void *base, size_t size) { module->stores = (blackout_window){(uintptr_t)base, size}; }

// Turns of loops: the hook is called in every third, and counts itself.
static int64_t turnsLeft = 2;
int64_t all_pm_turns;

// The events of a locked instruction on memory that no window holds want `recording` too.
void __blackout_register_module(blackout_module *m, blackout_site *begin, blackout_site *end) {
  must(m->version == BLACKOUT_CONTRACT_VERSION, "another version of the contract");
  m->switches = 1;
  must(begin <= end, "no table");
  module = m;
  const char *events = getenv("EVENTS");
  printing = events != NULL && *events == '1';
  const char *all = getenv("ALL_PM");
  if (all == NULL || *all != '1') return;
  m->stores = m->loads = (blackout_window){0, ~(uintptr_t)0};
  m->recording = 1;
  m->turns = &turnsLeft;
}
void __blackout_unregister_module(blackout_module *m) { (void)m; }

#define WORD(n, type)                                                            \
  BLACKOUT_HOOK void __blackout_store##n(void *p, type v, blackout_site *s) {    \
    must(s->size == n, "size of a store");                                       \
    if (printing) say(s, "", n);                                                 \
    memcpy(p, &v, n);                                                            \
    GARBAGE;                                                                     \
  }                                                                              \
  BLACKOUT_HOOK type __blackout_load##n(const void *p, blackout_site *s) {       \
    must(s->size == n, "size of a load");                                        \
    type v;                                                                      \
    memcpy(&v, p, n);                                                            \
    if (printing) say(s, "", n);                                                 \
    GARBAGE;                                                                     \
    return v;                                                                    \
  }
WORD(1, uint8_t)
WORD(2, uint16_t)
WORD(4, uint32_t)
WORD(8, uint64_t)

BLACKOUT_HOOK void *__blackout_enter(void *p, size_t size, blackout_site *s) {
  (void)size, (void)s;
  ++depth;
  GARBAGE;
  return p;
}
BLACKOUT_HOOK void __blackout_leave(void *p, size_t size, blackout_site *s, int stored) {
  must(depth-- > 0, "leave without enter");
  must(s->size == 0 || s->size == size, "size of an access");
  (void)p;
  if (printing) say(s, stored ? "" : " failed", size);
  GARBAGE;
}
BLACKOUT_HOOK void __blackout_store_lanes(void *const *pointers, const void *data, uint64_t mask, size_t element,
                                          blackout_site *s) {
  must(s->size == element, "size of a lane");
  for (int lane = 0; lane < 64; ++lane) {
    if ((mask >> lane & 1) == 0) continue;
    memcpy(pointers[lane], (const char *)data + (size_t)lane * element, element);
    if (printing) say(s, "", element);
  }
  GARBAGE;
}
BLACKOUT_HOOK void __blackout_rmw_fence(void *p, blackout_site *s) {
  (void)p;
  if (printing) say(s, " fence", 0);
  GARBAGE;
}
BLACKOUT_HOOK void __blackout_flush(const void *p, blackout_site *s) {
  (void)p;
  if (printing) say(s, "", 0);
  GARBAGE;
}
BLACKOUT_HOOK void *__blackout_flush_place(void *p) {
  GARBAGE;
  return p;
}
BLACKOUT_HOOK void __blackout_fence(blackout_site *s) {
  if (printing) say(s, "", 0);
  GARBAGE;
}
// Threads are under control: nobody is there to switch to.
BLACKOUT_HOOK void __blackout_switch(const void *p) { (void)p; }
BLACKOUT_HOOK void __blackout_yield(void) {}

BLACKOUT_HOOK void __blackout_turns_over(void) {
  turnsLeft = 2;
  ++all_pm_turns;
  GARBAGE;
}
void __blackout_unfollowed(blackout_site *s) {
  (void)s;
  GARBAGE;
}
uint64_t __blackout_request(uint64_t unanswered, uint64_t *args, blackout_site *s) {
  if (printing) say(s, "", args[0]);
  return unanswered;
}
void __blackout_call(const void *callee, blackout_site *s) {
  must(callee != NULL, "a call of nothing");
  if (printing) say(s, "", 0);
}
void __blackout_branch(int taken, blackout_site *s) {
  if (printing) say(s, taken ? " taken" : " not taken", 0);
}
void __blackout_alloc(const void *p, size_t size, blackout_site *s) {
  (void)p;
  if (printing) say(s, "", size);
}
void __blackout_free(const void *p, blackout_site *s) {
  (void)p;
  if (printing) say(s, "", 0);
}
void __blackout_lock(const void *p, blackout_site *s) {
  (void)p;
  if (printing) say(s, "", 0);
}
void __blackout_unlock(const void *p, blackout_site *s) {
  (void)p;
  if (printing) say(s, "", 0);
}

// libc's functions: as they are.
#define SAY(n) \
  if (printing) say(s, "", n)
#define LIBC(result, name, params, ...)                  \
  result __blackout_##name params {                      \
    SAY(0);                                              \
    return __VA_ARGS__;                                  \
  }
#define S blackout_site *s
LIBC(void *, memcpy, (S, void *d, const void *f, size_t n), memcpy(d, f, n))
LIBC(void *, memmove, (S, void *d, const void *f, size_t n), memmove(d, f, n))
LIBC(void *, memset, (S, void *d, int c, size_t n), memset(d, c, n))
LIBC(void *, mempcpy, (S, void *d, const void *f, size_t n), mempcpy(d, f, n))
LIBC(void *, memccpy, (S, void *d, const void *f, int c, size_t n), memccpy(d, f, c, n))
LIBC(void, bcopy, (S, const void *f, void *d, size_t n), (void)memmove(d, f, n))
LIBC(void, bzero, (S, void *d, size_t n), (void)memset(d, 0, n))
LIBC(wchar_t *, wmemcpy, (S, wchar_t *d, const wchar_t *f, size_t n), wmemcpy(d, f, n))
LIBC(wchar_t *, wmemmove, (S, wchar_t *d, const wchar_t *f, size_t n), wmemmove(d, f, n))
LIBC(wchar_t *, wmemset, (S, wchar_t *d, wchar_t c, size_t n), wmemset(d, c, n))
LIBC(void *, memcpy_chk, (S, void *d, const void *f, size_t n, size_t r), ((void)r, memcpy(d, f, n)))
LIBC(void *, memmove_chk, (S, void *d, const void *f, size_t n, size_t r), ((void)r, memmove(d, f, n)))
LIBC(void *, memset_chk, (S, void *d, int c, size_t n, size_t r), ((void)r, memset(d, c, n)))
LIBC(char *, strcpy, (S, char *d, const char *f), strcpy(d, f))
LIBC(char *, strcpy_chk, (S, char *d, const char *f, size_t r), ((void)r, strcpy(d, f)))
LIBC(char *, stpcpy, (S, char *d, const char *f), stpcpy(d, f))
LIBC(char *, strncpy, (S, char *d, const char *f, size_t n), strncpy(d, f, n))
LIBC(char *, strncpy_chk, (S, char *d, const char *f, size_t n, size_t r), ((void)r, strncpy(d, f, n)))
LIBC(char *, stpncpy, (S, char *d, const char *f, size_t n), stpncpy(d, f, n))
LIBC(char *, strcat, (S, char *d, const char *f), strcat(d, f))
LIBC(char *, strcat_chk, (S, char *d, const char *f, size_t r), ((void)r, strcat(d, f)))
LIBC(char *, strncat, (S, char *d, const char *f, size_t n), strncat(d, f, n))
LIBC(int, vsnprintf, (S, char *d, size_t n, const char *f, va_list a), vsnprintf(d, n, f, a))
LIBC(int, vsprintf, (S, char *d, const char *f, va_list a), vsprintf(d, f, a))
#define VARIADIC(name, params, last, call)               \
  int __blackout_##name params {                         \
    SAY(0);                                              \
    va_list a;                                           \
    va_start(a, last);                                   \
    int result = call;                                   \
    va_end(a);                                           \
    return result;                                       \
  }
VARIADIC(snprintf, (S, char *d, size_t n, const char *f, ...), f, vsnprintf(d, n, f, a))
VARIADIC(sprintf, (S, char *d, const char *f, ...), f, vsprintf(d, f, a))
VARIADIC(snprintf_chk, (S, char *d, size_t n, int x, size_t r, const char *f, ...), f, ((void)r, (void)x, vsnprintf(d, n, f, a)))
VARIADIC(sprintf_chk, (S, char *d, int x, size_t r, const char *f, ...), f, ((void)r, (void)x, vsprintf(d, f, a)))
LIBC(int, memcmp, (S, const void *a, const void *b, size_t n), memcmp(a, b, n))
LIBC(void *, memchr, (S, const void *p, int c, size_t n), memchr(p, c, n))
LIBC(size_t, strlen, (S, const char *p), strlen(p))
LIBC(size_t, strnlen, (S, const char *p, size_t n), strnlen(p, n))
LIBC(int, strcmp, (S, const char *a, const char *b), strcmp(a, b))
LIBC(int, strncmp, (S, const char *a, const char *b, size_t n), strncmp(a, b, n))
LIBC(char *, strchr, (S, const char *p, int c), strchr(p, c))
LIBC(char *, strrchr, (S, const char *p, int c), strrchr(p, c))
LIBC(char *, strdup, (S, const char *p), strdup(p))
