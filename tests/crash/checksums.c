// Records of 20 lines that a crash may have lost in any combination. Of some nothing is used but a checksum: the kept
// bitcode says so, and so does what a restart reads. They are taken for checksummed, which is named, and the result is
// clean. Of others something more is used, or their sums are too weak: these are not.
//
// RUN: rm -rf %t.dir && mkdir %t.dir && cd %t.dir && %cc -O1 -g -I%S/../record %s -o program
//
// RUN: for mode in fnv scan bits; do rm -f pool; %blackout check --detect=none --pm pool -- ./program pool $mode > out 2>&1 || { echo $mode; cat out; exit 1; }; FileCheck %s --check-prefix=SUMMED < out || exit 1; done
// SUMMED: assumed: {{ *}}the record at checksums.c:[[#]] is checksummed: it has up to {{[0-9]+}} lines that a crash may have lost, at {{.*}} combinations were tried, and nothing is done with its bytes but to compare a sum of them.
// SUMMED: if what was assumed holds
// SUMMED: SUMMARY: blackout: no findings; {{.*}}; assumed: the record at checksums.c:[[#]] is checksummed;
//
// RUN: for mode in sum again; do rm -f pool; %blackout check --detect=none --pm pool -- ./program pool $mode > out 2>&1; test $? -eq 3 || { echo $mode; cat out; exit 1; }; FileCheck %s --check-prefix=USED < out || exit 1; done
// USED: The record at checksums.c:[[#]] may be checksummed
// USED: SUMMARY: blackout: inconclusive, nothing found
//
// All modes are in checksums_all.test.
#include "Inputs/pool.h"

enum { kWords = 160, kRecords = 2 };
struct record {
  uint64_t words[kWords];
  uint64_t sum;
  uint64_t apart[7];
};
static const char* mode;
static int is(const char* name) { return strcmp(mode, name) == 0; }

static uint64_t table[256];
static void makeTable(void) {
  for (uint64_t i = 0; i < 256; ++i) {
    uint64_t v = i;
    for (int k = 0; k < 8; ++k) v = (v >> 1) ^ (v & 1 ? 0xc96c5795d7870f42ull : 0);
    table[i] = v;
  }
}
static uint64_t crc(const uint64_t* w) {
  uint64_t h = ~0ull;
  for (int i = 0; i < kWords; ++i)
    for (int k = 0; k < 64; k += 8) h = table[(h ^ (w[i] >> k)) & 255] ^ (h >> 8);
  return ~h;
}
// Without a table.
static uint64_t bitByBit(const uint64_t* w) {
  uint64_t h = ~0ull;
  for (int i = 0; i < kWords; ++i) {
    h ^= w[i];
    for (int k = 0; k < 64; ++k) h = (h >> 1) ^ (0xc96c5795d7870f42ull & -(h & 1));
  }
  return ~h;
}
static uint64_t branches(const uint64_t* w) {
  uint64_t h = ~0ull;
  for (int i = 0; i < kWords; ++i) {
    h ^= w[i];
    for (int k = 0; k < 64; ++k)
      if (h & 1)
        h = (h >> 1) ^ 0xc96c5795d7870f42ull;
      else
        h >>= 1;
  }
  return ~h;
}
static uint64_t fletcher(const uint64_t* w) {
  uint64_t a = 1, b = 0;
  for (int i = 0; i < kWords; ++i) {
    a = (a + w[i]) % 0xfffffffb;
    b = (b + a) % 0xfffffffb;
  }
  return b << 32 | a;
}
static uint64_t fnv(const uint64_t* w) {
  uint64_t h = 14695981039346656037ull;
  for (int i = 0; i < kWords; ++i) h = (h ^ w[i]) * 1099511628211ull;
  return h;
}
__attribute__((noinline)) static uint64_t called(const uint64_t* w, int words) {
  uint64_t h = 14695981039346656037ull;
  for (int i = 0; i < words; ++i) h = (h ^ w[i]) * 1099511628211ull;
  return h;
}
static uint64_t added(const uint64_t* w) {
  uint64_t h = 0;
  for (int i = 0; i < kWords; ++i) h += w[i];
  return h;
}
static uint64_t xored(const uint64_t* w) {
  uint64_t h = 0;
  for (int i = 0; i < kWords; ++i) h ^= w[i];
  return h;
}
static uint64_t small(const uint64_t* w) {
  uint64_t h = 0;
  for (int i = 0; i < kWords; ++i) h = 31 * h + w[i];
  return h;
}

static uint64_t sumOf(const uint64_t* w) {
  if (is("crc")) return crc(w);
  if (is("sum")) return added(w);
  if (is("xor")) return xored(w);
  if (is("small")) return small(w);
  if (is("bits") || is("branches")) return bitByBit(w);
  if (is("fletcher")) return fletcher(w);
  return called(w, kWords);
}

// Each mode reads by instructions of its own.
static int check(struct record* r) {
  if (is("fnv")) return fnv(r->words) == r->sum;
  if (is("crc")) return crc(r->words) == r->sum;
  if (is("called")) return called(r->words, kWords) == r->sum;
  if (is("sum")) return added(r->words) == r->sum;
  if (is("xor")) return xored(r->words) == r->sum;
  if (is("small")) return small(r->words) == r->sum;
  if (is("bits")) return bitByBit(r->words) == r->sum;
  if (is("branches")) return branches(r->words) == r->sum;
  if (is("fletcher")) return fletcher(r->words) == r->sum;
  // Too few bits of it are looked at.
  if (is("byte")) return (uint8_t)fnv(r->words) == (uint8_t)r->sum;
  // What is refused is told by its words all the same: one combination in some hundred thousand would be printed.
  if (is("printed")) {
    uint64_t h = 7, lost = 0;
    for (int i = 0; i < kWords; ++i) {
      uint64_t w = r->words[i];
      h = (h ^ w) * 1099511628211ull;
      lost |= (uint64_t)(w == 0) << (i / 8);
    }
    if (lost == 0x51234) puts("an odd one");
    return h == r->sum;
  }
  // The same by other reads.
  if (is("again")) {
    if (fnv(r->words) == r->sum) return 1;
    uint64_t lost = 0;
    for (int i = 0; i < 20; ++i) lost |= (uint64_t)(r->words[8 * i] == 0) << i;
    if (lost == 0x51234) puts("an odd one");
    return 0;
  }
  // A sum that is kept may be looked at later.
  if (is("sealed")) {
    uint64_t h = fnv(r->words);
    if (h == r->sum) return 1;
    r->apart[0] = h;
    return 0;
  }
  // Many comparisons, of which each tells something.
  if (is("turns")) {
    uint64_t h = 14695981039346656037ull;
    int met = 0;
    for (int i = 0; i < kWords; ++i) {
      h = (h ^ r->words[i]) * 1099511628211ull;
      met += h == 4711;
    }
    return h == r->sum && met == 0;
  }
  return 0;
}

int main(int argc, char** argv) {
  mode = argv[2];
  int made = access(argv[1], F_OK) == 0;
  struct record* r = mapPool(argv[1], 8192);
  makeTable();
  int records = is("scan") ? kRecords : 1;
  if (!made) {
    for (int k = 0; k < records; ++k) {
      for (int i = 0; i < kWords; ++i) r[k].words[i] = (uint64_t)(i + 1 + 1000 * k);
      r[k].sum = sumOf(r[k].words);
    }
    return argc - 3;
  }
  int whole = 0;
  if (is("scan")) {
    while (whole < kRecords && fnv(r[whole].words) == r[whole].sum) ++whole;
  } else {
    whole = check(r);
  }
  // Whoever trusts it may read it.
  uint64_t last = 0;
  for (int k = 0; k < whole; ++k) last = r[k].words[kWords - 1];
  return last != 0 && last != (uint64_t)(kWords + 1000 * (whole - 1));
}
