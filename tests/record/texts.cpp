// What libc's functions over memory and texts do in compiled code, whether libc's own instructions are followed or the
// runtime stands in for them: on persistent memory each has the effect that it has elsewhere, and the trace explains it
// ('blackout record' fails if it does not).
//
// RUN: %cxx -O1 -fno-builtin %s -o %t && %cxx -O2 -fno-builtin -D_FORTIFY_SOURCE=2 %s -o %t.fortified
// RUN: for p in %t %t.fortified; do for trap in always never; do rm -f %t.img; \
// RUN:   %blackout record --trap $trap --pm %t.img -o %t.trace -- $p %t.img > %t.out 2>&1 || { cat %t.out; exit 1; }; \
// RUN:   grep -x "29 functions" %t.out || { cat %t.out; exit 1; }; not grep -E "wrong|inconclusive" %t.out || exit 1; done; done
// RUN: %blackout trace --kind stores --count-by kind %t.trace | FileCheck %s
// CHECK: store
#include <stdio.h>
#include <strings.h>
#include <wchar.h>

#include <random>

#include "Inputs/pool.h"

// Each gets what it writes to (a text of up to 40 characters), a text or bytes, and a number up to 64; it says how far what it
// returned is from what it was given.
using Function = long (*)(char* d, const char* s, size_t n);
static long apart(const void* p, const void* from) {
  return p == nullptr ? -1 : static_cast<const char*>(p) - static_cast<const char*>(from);
}
static const Function kFunctions[] = {
    [](char* d, const char* s, size_t n) { return apart(memcpy(d, s, n), d); },
    [](char* d, const char*, size_t n) { return apart(memmove(d + 3, d, n), d); },
    [](char* d, const char*, size_t n) { return apart(memmove(d, d + 3, n), d); },
    [](char* d, const char* s, size_t n) { return apart(memset(d, s[0], n), d); },
    [](char* d, const char* s, size_t n) { return apart(mempcpy(d, s, n), d); },
    [](char* d, const char* s, size_t n) { return apart(memccpy(d, s, s[n / 2], n), d); },
    [](char* d, const char* s, size_t n) { return bcopy(s, d, n), 0L; },
    [](char* d, const char*, size_t n) { return bzero(d, n), 0L; },
    [](char* d, const char*, size_t n) { return explicit_bzero(d, n), 0L; },
    [](char* d, const char* s, size_t n) { return apart(wmemcpy((wchar_t*)d, (const wchar_t*)s, n / 4), d); },
    [](char* d, const char*, size_t n) { return apart(wmemset((wchar_t*)d, L'w', n / 4), d); },
    [](char* d, const char* s, size_t) { return apart(strcpy(d, s), d); },
    [](char* d, const char* s, size_t) { return apart(stpcpy(d, s), d); },
    [](char* d, const char* s, size_t n) { return apart(strncpy(d, s, n), d); },
    [](char* d, const char* s, size_t n) { return apart(stpncpy(d, s, n), d); },
    [](char* d, const char* s, size_t) { return apart(strcat(d, s), d); },
    [](char* d, const char* s, size_t n) { return apart(strncat(d, s, n), d); },
    [](char* d, const char* s, size_t n) { return long(sprintf(d, "%s %zu", s, n)); },
    [](char* d, const char* s, size_t n) { return long(snprintf(d, n, "%zu %s", n, s)); },
    [](char* d, const char* s, size_t n) { return long(memcmp(d, s, n) != 0); },
    [](char* d, const char* s, size_t n) { return apart(memchr(d, s[n / 2], n), d); },
    [](char* d, const char*, size_t) { return long(strlen(d)); },
    [](char* d, const char*, size_t n) { return long(strnlen(d, n)); },
    [](char* d, const char* s, size_t) { return long(strcmp(d, s) > 0); },
    [](char* d, const char* s, size_t n) { return long(strncmp(d, s, n) > 0); },
    [](char* d, const char* s, size_t) { return apart(strchr(d, s[0]), d); },
    [](char* d, const char* s, size_t) { return apart(strrchr(d, s[0]), d); },
    [](char* d, const char*, size_t) {
      char* copy = strdup(d);
      long same = strcmp(copy, d);
      free(copy);
      return same;
    },
    [](char* d, const char* s, size_t n) { return apart(memcpy(memcpy(d, s, n), d + 64, n / 2), d); },
};

int main(int, char** argv) {
  constexpr size_t kSize = 256;
  auto* pool = static_cast<char*>(mapPool(argv[1], 8192));
  std::mt19937 random(11);
  int functions = 0;
  for (Function f : kFunctions) {
    ++functions;
    for (int round = 0; round < 12; ++round) {
      char start[kSize], s[80], ordinary[kSize];
      for (char& c : start) c = char('a' + random() % 26);
      for (char& c : s) c = char('a' + random() % 26);
      start[random() % 40] = 0;
      s[1 + random() % 60] = s[79] = 0;
      size_t n = random() % 65, at = random() % 64;
      memcpy(ordinary, start, kSize);
      memcpy(pool + at, start, kSize);
      long expected = f(ordinary, s, n), got = f(pool + at, s, n);
      if (expected != got) printf("wrong: function %d returns %ld instead of %ld\n", functions, got, expected);
      for (size_t i = 0; i < kSize; ++i)
        if (ordinary[i] != pool[at + i]) {
          printf("wrong: function %d, byte %zu, n %zu\n", functions, i, n);
          break;
        }
    }
  }
  printf("%d functions\n", functions);
}
