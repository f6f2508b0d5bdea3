// Assembly whose addresses can't be told is left alone, and the compiler says so in a note (a warning
// would stop builds with -Werror).
// RUN: %plain-cc -Wall -Werror -O2 -g -fpass-plugin=%pass -c %s -o %t.o 2>&1 | FileCheck %s
// CHECK: note: blackout: can't tell which memory this assembly writes or flushes
void loop(char *p, long n, long v) {
  __asm__ volatile("1: movnti %2, (%0); add $8, %0; dec %1; jnz 1b" : "+r"(p), "+r"(n) : "r"(v) : "memory", "cc");
}
