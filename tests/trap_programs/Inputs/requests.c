// A program by gcc that carries pmemcheck's annotations, and flushes by nothing else.
#include <valgrind/valgrind.h>

#include "Inputs/pool.h"

#define ASK(number, a, b) VALGRIND_DO_CLIENT_REQUEST_EXPR(0, 0x50430000u + (number), a, b, 0, 0, 0)
#define TELL(number, a, b) VALGRIND_DO_CLIENT_REQUEST_STMT(0x50430000u + (number), a, b, 0, 0, 0)

int main(int argc, char** argv) {
  volatile uint64_t* p = (volatile uint64_t*)mapPool(argv[1], 4096);
  char* bytes = (char*)p;
  int here = (int)RUNNING_ON_VALGRIND;
  int whole = (int)ASK(3, bytes, 4096);
  int none = (int)ASK(3, &whole, 4);
  // CHECK: tx-begin the thread's own {{.*}}requests.c:[[# @LINE + 1]]:
  TELL(18, 0, 0);
  // CHECK: tx-add 1:0x8 8 bytes of the thread's own transaction {{.*}}requests.c:[[# @LINE + 1]]:
  TELL(22, bytes + 8, 8);
  // CHECK: store 1:0x8 8 bytes = 0x1
  p[1] = 1;
  // CHECK: clwb 1:0x8 {{.*}}requests.c:[[# @LINE + 1]]:
  TELL(5, bytes + 8, 8);
  // CHECK: sfence {{.*}}requests.c:[[# @LINE + 1]]:
  TELL(6, 0, 0);
  // CHECK: tx-end the thread's own {{.*}}requests.c:[[# @LINE + 1]]:
  TELL(20, 0, 0);
  // CHECK: discard 1:0x80 64 bytes {{.*}}requests.c:[[# @LINE + 1]]:
  TELL(17, bytes + 128, 64);
  // CHECK: end exit code 0
  printf("answers %d, %d %d\n", here, whole, none);
  return argc < 2;
}
