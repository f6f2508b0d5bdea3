// Reads whose length depends on what is read, and loops over flags: what a restart can distinguish is explored, and a text
// that survived by half is seen by every function that reads texts. Each mode fails on one state only.
// RUN: %cxx -O1 -g -fno-builtin -I%include %s -o %t && rm -rf %t.img %t.dir && mkdir %t.dir && cd %t.dir
// RUN: for m in strlen strnlen strcmp strncmp strdup strcpy strncpy strcat strchr memchr memcmp memcpy memmove struct straddle flags pair \
// RUN:   operation; do \
// RUN:   not %blackout check --detect=none --pm %t.img -- %t %t.img $m > %t.out 2>&1 || { echo $m; cat %t.out; exit 1; }; \
// RUN:   FileCheck %s < %t.out || { echo $m; exit 1; }; done
// CHECK-NOT: inconclusive
// CHECK: exits with 5
// CHECK: SUMMARY: blackout: 1 shown
#include <blackout/blackout.h>
#include <emmintrin.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

static bool reads(const char* p, const char* mode) {
  auto is = [&](const char* m) { return strcmp(mode, m) == 0; };
  char copy[8] = "x";
  if (is("strlen")) return strlen(p) == 1;
  if (is("strnlen")) return strnlen(p, 4) == 1;
  if (is("strcmp")) return strcmp(p, "a") == 0;
  if (is("strncmp")) return strncmp(p, "ax", 2) < 0 && strncmp(p, "a", 3) == 0;
  if (is("strdup")) return strdup(p)[0] == 'a' && strdup(p)[1] == 0;
  if (is("strcpy")) return strcpy(copy, p)[0] == 'a' && copy[1] == 0;
  if (is("strncpy")) return strncpy(copy, p, 4)[0] == 'a' && copy[1] == 0;
  if (is("strcat")) return strcmp(strcat(copy, p), "xa") == 0;
  if (is("strchr")) return strchr(p, 'a') != nullptr && strchr(p, 'b') == nullptr;
  if (is("memchr")) return memchr(p, 'a', 4) != nullptr && memchr(p, 'b', 4) == nullptr;
  if (is("memcpy")) return memcpy(copy, p, 2), copy[0] == 'a' && copy[1] == 0;
  if (is("memmove")) return memmove(copy, p, 2), copy[0] == 'a' && copy[1] == 0;
  if (is("struct")) {
    struct Words {
      char bytes[24];
    };
    volatile Words local = *reinterpret_cast<const Words*>(p);  // copied by the compiler
    return local.bytes[0] == 'a' && local.bytes[1] == 0;
  }
  if (is("straddle")) {
    uint64_t word = 0;  // one load, from a line that nobody wrote into one that is uncertain
    __asm__ volatile("" : "+r"(p));
    struct __attribute__((packed)) Unaligned {
      uint64_t word;
    };
    word = reinterpret_cast<const volatile Unaligned*>(p - 4)->word;
    return word >> 32 == 'a';
  }
  return memcmp(p, "a\0", 2) == 0;
}

int main(int, char** argv) {
  int fd = open(argv[1], O_RDWR | O_CREAT, 0600);
  if (ftruncate(fd, 4096) != 0) return 9;
  auto* p = static_cast<char*>(mmap(nullptr, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0));
  auto* flags = reinterpret_cast<volatile uint64_t*>(p);
  bool operation = strcmp(argv[2], "operation") == 0;
  bool many = strcmp(argv[2], "flags") == 0 || strcmp(argv[2], "pair") == 0;
  constexpr int kFlags = 7;
  if (blackout_recovering()) {
    // Both are asked of one operation, and only the second has another answer at the end.
    if (operation) return blackout_op_begun(0) && blackout_op_ended(0) && flags[0] == 0 ? 5 : 0;
    if (!many) return reads(p + 64, argv[2]) ? 5 : 0;
    unsigned found = 0;
    for (int i = 0; i < kFlags; ++i) found |= static_cast<unsigned>(flags[i * 8]) << i;
    return found == (strcmp(argv[2], "pair") == 0 ? 3U : 0x55U) ? 5 : 0;
  }
  if (many) {
    for (int i = 0; i < kFlags; ++i) flags[i * 8] = 1;
    for (int i = 0; i < kFlags; ++i) _mm_clflush(p + 64 * i);
  } else if (operation) {
    blackout_op_begin("set", 0);
    flags[8] = 1;
    _mm_clflush(p + 64);
    flags[0] = 1;
    blackout_op_end(0);  // it is lost if the power fails here
    _mm_clflush(p);
  } else {
    volatile char* text = p + 64;
    text[0] = 'a';
    text[1] = 'b';
    _mm_clflush(p + 64);
  }
  _mm_sfence();
}
