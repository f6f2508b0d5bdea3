// clang-format off
// Threads of OpenMP wait in ways of their own, and threads that a program switches by itself are no steps of a schedule: both are said.
//
// RUN: %plain-cxx -std=c++20 -O1 -pthread %s -o %t
// RUN: rm -f %t.img; not %blackout check --no-explore --schedule random,1 --fail-on shown --pm %t.img -- %t %t.img > %t.out 2>&1
// RUN: FileCheck %s < %t.out
// CHECK: it switches between threads of its own (swapcontext), which is no step of a schedule
// CHECK: inconclusive
// RUN: rm -f %t.img; %blackout check --no-explore --fail-on shown --pm %t.img -- %t %t.img > %t.out 2>&1
//
// RUN: g++ -fopenmp -O1 -DOPENMP %s -o %t.omp
// RUN: rm -f %t.img; %blackout check --no-explore --fail-on shown --pm %t.img -- %t.omp %t.img > %t.out 2>&1 || [ $? = 3 ]
// RUN: FileCheck --check-prefix=OPENMP %s < %t.out
// OPENMP: The program's threads are those of OpenMP (libgomp.so
// clang-format on
#include "../record/Inputs/pool.h"

#ifdef OPENMP
int main(int, char** argv) {
  auto* pool = static_cast<char*>(mapPool(argv[1], 4096));
#pragma omp parallel for num_threads(2)
  for (int i = 0; i < 8; ++i) pool[64 * i] = 1;
}
#else
#include <ucontext.h>

#include <thread>

static ucontext_t first, second;
static char stack[65536];
static char* pool;

int main(int, char** argv) {
  pool = static_cast<char*>(mapPool(argv[1], 4096));
  std::thread([] { pool[64] = 1; }).join();
  getcontext(&second);
  second.uc_stack.ss_sp = stack;
  second.uc_stack.ss_size = sizeof stack;
  second.uc_link = &first;
  makecontext(&second, [] { pool[0] = 1; }, 0);
  swapcontext(&first, &second);
}
#endif
