// clang-format off
// Two operations at the same time, of which the second kills the program while the first one is under way: no run in
// which it waited for it. The result is inconclusive, and names the schedule.
//
// RUN: %cxx -std=c++20 -O1 -g -I%include %s -o %t
// RUN: rm -rf %t.pool; not %blackout lin --operations 3 --threads 2 --schedules 2 --findings %t.findings --pm %t.pool -- %t %t.pool > %t.out 2>&1
// RUN: FileCheck %s < %t.out
// CHECK-DAG: The program itself ended with signal SIGABRT (Aborted), without a simulated crash.
// CHECK-DAG: {{[0-9]+}} runs of two operations did not end well, the first under --schedule list,2s{{[0-9]+}}>3 -- {{.*}} --race {{[0-9]+}} {{[0-9]+}}.
// CHECK-DAG: Two operations at the same time: {{[0-9]+}} directed tests; in 0 more the second operation waited
// CHECK: SUMMARY: blackout: inconclusive, nothing found;
// clang-format on
#include <atomic>
#include <blackout/lin.hpp>

#include "../lin_command/Inputs/pool.h"

struct alignas(64) Root {
  uint64_t value;
};
static std::atomic<bool> busy = false;

class Register {
 public:
  static Register* open(const char* pool) { return new Register(mapPool<Root>(pool)); }
  void write(uint64_t value) {
    if (busy) abort();
    busy = true;
    root_->value = value;
    persist(root_);
    busy = false;
  }
  uint64_t read() {
    if (busy) abort();
    return root_->value;
  }

 private:
  explicit Register(Root* root) : root_(root) {}
  Root* root_;
};

BLACKOUT_REGISTER(Register)
