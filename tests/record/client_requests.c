// pmemcheck's client requests, and those of memcheck and Valgrind's core that speak of memory: each becomes events of the
// trace, at its own place, with the request itself. Answers are pmemcheck's, and the same in a restart (tests/crash).
//
// RUN: %cc -O1 -g %s -o %t && rm -f %t.img %t.other
// RUN: %blackout record --pm %t.img -o %t.trace -- %t %t.img %t.other > %t.out 2>&1 && FileCheck %s --check-prefix=SAID < %t.out
// RUN: %blackout trace %t.trace | FileCheck %s
// SAID: blackout: the program registers a mapping as persistent memory, but its file is not a pool; name it with --pm {{.*}}.other
// SAID-NOT: registers
// SAID: answers 1 2 0, 1 0, 0, 5
// Outside of a recording nobody answers.
// RUN: %t %t.native %t.other | FileCheck %s --check-prefix=NATIVE && rm %t.native
// NATIVE: answers 0 0 0, 0 0, 0, 5
#include <valgrind/memcheck.h>
#include <valgrind/valgrind.h>

#include "Inputs/pool.h"

#define ASK(number, a, b, c, d) VALGRIND_DO_CLIENT_REQUEST_EXPR(0, 0x50430000u + (number), a, b, c, d, 0)
#define TELL(number, a, b, c, d) VALGRIND_DO_CLIENT_REQUEST_STMT(0x50430000u + (number), a, b, c, d, 0)

__attribute__((noinline)) static void fill(uint64_t* memory) { *memory = 5; }

int main(int argc, char** argv) {
  volatile uint64_t* p = (volatile uint64_t*)mapPool(argv[1], 4096);
  char* bytes = (char*)p;
  int whole = (int)ASK(3, bytes, 4096, 0, 0);
  int part = (int)ASK(3, bytes + 4000, 4096, 0, 0);
  int none = (int)ASK(3, &whole, 4, 0, 0);
  // CHECK: store         1:0x8 8 bytes = 0x1
  p[1] = 1;
  // Lines, not ranges: two of them here.
  // CHECK: request       0x50430005 {{.*}} PMC_DO_FLUSH
  // CHECK: clwb          1:0x8 {{.*}}client_requests.c:[[# @LINE + 2]]:
  // CHECK: clwb          1:0x40 {{.*}}client_requests.c:[[# @LINE + 1]]:
  TELL(5, bytes + 8, 64, 0, 0);
  // CHECK: request       0x50430006 {{.*}} PMC_DO_FENCE
  // CHECK: sfence        {{.*}}client_requests.c:[[# @LINE + 1]]:
  TELL(6, 0, 0, 0, 0);
  // Of memory that is not PM there is nothing to tell.
  // CHECK: PMC_DO_FLUSH
  // CHECK-NEXT: PMC_SET_CLEAN
  TELL(5, &whole, 4, 0, 0);
  // CHECK: discard       1:0x80 64 bytes
  TELL(17, bytes + 128, 64, 0, 0);
  // CHECK: tx-begin      the thread's own {{.*}}client_requests.c:[[# @LINE + 1]]:
  TELL(18, 0, 0, 0, 0);
  // CHECK: tx-begin      7 {{.*}}client_requests.c:[[# @LINE + 1]]:
  TELL(19, 7, 0, 0, 0);
  // CHECK: tx-add        1:0x100 128 bytes of the thread's own transaction {{.*}}client_requests.c:[[# @LINE + 1]]:
  TELL(22, bytes + 256, 128, 0, 0);
  // CHECK: tx-add        1:0x200 32 bytes of transaction 7 {{.*}}client_requests.c:[[# @LINE + 1]]:
  TELL(23, 7, bytes + 512, 32, 0);
  // CHECK: tx-remove     1:0x100 64 bytes of the thread's own transaction {{.*}}client_requests.c:[[# @LINE + 1]]:
  TELL(24, bytes + 256, 64, 0, 0);
  // CHECK: tx-remove     1:0x200 16 bytes of transaction 7
  TELL(25, 7, bytes + 512, 16, 0);
  // CHECK: PMC_ADD_THREAD_TO_TX_N
  TELL(26, 7, 0, 0, 0);
  // CHECK-NEXT: PMC_REMOVE_THREAD_FROM_TX_N
  TELL(27, 7, 0, 0, 0);
  // CHECK: tx-ignore     1:0x300 64 bytes
  TELL(28, bytes + 768, 64, 0, 0);
  // CHECK: tx-end        7 {{.*}}client_requests.c:[[# @LINE + 1]]:
  TELL(21, 7, 0, 0, 0);
  // CHECK: tx-end        the thread's own
  TELL(20, 0, 0, 0, 0);
  // CHECK: request       0x5043001e {{.*}} PMC_EMIT_LOG "step 1"
  TELL(30, "step 1", 0, 0, 0);
  // Codes that nobody knows, and those that only pmemcheck's log was for, are kept and mean nothing.
  // CHECK-NEXT: request       0x504300c8 0x1 0x2 0x3 0x4 0x0{{$}}
  TELL(200, 1, 2, 3, 4);
  // CHECK-NEXT: PMC_LOG_STORES
  TELL(9, 0, 0, 0, 0);
  // CHECK-NEXT: MAKE_MEM_UNDEFINED
  // CHECK: discard       1:0x400 64 bytes
  VALGRIND_MAKE_MEM_UNDEFINED(bytes + 1024, 64);
  // CHECK: MEMPOOL_ALLOC
  // CHECK: discard       1:0x440 8 bytes
  VALGRIND_MEMPOOL_ALLOC(bytes, bytes + 1088, 8);
  // Memory of the program's own becomes PM; a file that --pm does not name can't.
  uint64_t* memory = (uint64_t*)mmap(NULL, 8192, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  fill(memory);
  // CHECK: PMC_REGISTER_PMEM_MAPPING
  // CHECK: file-new      file 2 "/registered/2-mapping"
  TELL(0, memory, 8192, 0, 0);
  int registered = (int)ASK(3, memory, 8192, 0, 0);
  // CHECK: store         2:0x8 8 bytes = 0x9
  *(volatile uint64_t*)(memory + 1) = 9;
  // A pool stays one; the rest of it, and a part of registered memory, too.
  TELL(2, bytes, 4096, 0, 0);
  TELL(2, memory, 4096, 0, 0);
  // CHECK: PMC_CHECK_IS_PMEM_MAPPING
  // CHECK: PMC_CHECK_IS_PMEM_MAPPING
  if (ASK(3, bytes, 4096, 0, 0) != (uint64_t)whole || ASK(3, memory, 8192, 0, 0) != (uint64_t)registered) return 1;
  // CHECK-NEXT: PMC_REMOVE_PMEM_MAPPING
  // CHECK-NEXT: file-unlink   file 2
  TELL(2, memory, 8192, 0, 0);
  int removed = (int)ASK(3, memory, 8192, 0, 0);
  int fd = openPool(argv[2], 4096);
  void* other = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  TELL(1, fd, other, 4096, 0);
  TELL(0, other, 4096, 0, 0);
  printf("answers %d %d %d, %d %d, %d, %d\n", whole, part, none, registered, removed, (int)ASK(3, other, 4096, 0, 0),
         (int)*memory);
  return argc < 3;
}
