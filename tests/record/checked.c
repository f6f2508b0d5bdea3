// The functions of libc that check sizes (_FORTIFY_SOURCE) store and return what the others do. Without optimisation: the
// compiler knows what they return.
//
// RUN: %cc -O0 %s -o %t && rm -f %t.img && %blackout record --pm %t.img -o %t.trace -- %t %t.img
// RUN: %blackout trace %t.trace | FileCheck %s
#include "Inputs/pool.h"

void* __memcpy_chk(void*, const void*, size_t, size_t);
void* __memmove_chk(void*, const void*, size_t, size_t);
void* __memset_chk(void*, int, size_t, size_t);
char* __strcpy_chk(char*, const char*, size_t);
char* __strncpy_chk(char*, const char*, size_t, size_t);
char* __strcat_chk(char*, const char*, size_t);

int main(int argc, char** argv) {
  char* p = mapPool(argv[1], 4096);
  // CHECK: store 1:0x0 8 bytes = 0x6867666564636261
  if (__memcpy_chk(p, "abcdefgh", 8, 4096) != p) return 1;
  // CHECK-NEXT: store 1:0x40 8 bytes = 0x6867666564636261
  if (__memmove_chk(p + 64, p, 8, 4096 - 64) != p + 64) return 2;
  // CHECK-NEXT: store 1:0x80 8 bytes = 0x707070707070707
  if (__memset_chk(p + 128, 7, 8, 4096 - 128) != p + 128) return 3;
  if (__strcpy_chk(p + 192, "abcdefg", 4096 - 192) != p + 192) return 4;
  if (__strncpy_chk(p + 256, "abc", 8, 4096 - 256) != p + 256) return 5;
  if (__strcat_chk(p + 256, "de", 4096 - 256) != p + 256) return 6;
  // CHECK: end exit code 0
  return 0;
}
