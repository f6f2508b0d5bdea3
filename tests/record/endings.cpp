// However the program ends, the trace holds everything up to there, and the recording checks itself.
//
// RUN: %cxx -O2 %s -o %t
// RUN: for how in return exit _exit abort kill segv quick child; do rm -f %t.img; %blackout record --pm %t.img -o %t.trace -- %t %t.img $how; %blackout trace %t.trace; done 2>&1 | FileCheck %s
// CHECK: store {{.*}} = 0x1 {{.*}}endings.cpp
// CHECK: store {{.*}} = 0x2a
// CHECK-NEXT: end {{.*}}exit code 0
// CHECK: store {{.*}} = 0x2a
// CHECK-NEXT: end {{.*}}exit code 3
// CHECK: store {{.*}} = 0x2a
// CHECK-NEXT: end {{.*}}exit code 4
// CHECK: store {{.*}} = 0x2a
// CHECK-NEXT: end {{.*}}SIGABRT
// CHECK: store {{.*}} = 0x2a
// CHECK-NEXT: end {{.*}}SIGKILL
// CHECK: store {{.*}} = 0x2a
// CHECK-NEXT: end {{.*}}SIGSEGV
// CHECK: store {{.*}} = 0x2a
// CHECK-NEXT: end {{.*}}exit code 5
// CHECK: store {{.*}} = 0x2a
// CHECK: end {{.*}}exit code 0
#include <signal.h>
#include <sys/wait.h>

#include "Inputs/pool.h"

int main(int, char** argv) {
  auto* pool = static_cast<volatile uint64_t*>(mapPool(argv[1], 4096));
  const char* how = argv[2];
  pool[0] = 1;
  if (strcmp(how, "child") == 0) {
    pid_t child = fork();
    if (child != 0) {
      int status;
      waitpid(child, &status, 0);
      return WEXITSTATUS(status);
    }
  }
  pool[1] = 42;
  if (strcmp(how, "exit") == 0) exit(3);
  if (strcmp(how, "_exit") == 0) _exit(4);
  if (strcmp(how, "quick") == 0) quick_exit(5);
  if (strcmp(how, "abort") == 0) abort();
  if (strcmp(how, "kill") == 0) kill(getpid(), SIGKILL);
  if (strcmp(how, "segv") == 0) *reinterpret_cast<volatile int*>(8) = 1;
  return 0;
}
