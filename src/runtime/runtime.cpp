// The beginning: options, trace, descriptors, program files. It runs as the first constructor of the
// library, before those of the program.

#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "runtime/calls_by_number.h"
#include "runtime/heap.h"
#include "runtime/modules.h"
#include "runtime/options.h"
#include "runtime/pool_locks.h"
#include "runtime/pools.h"
#include "runtime/recorder.h"
#include "runtime/recovery.h"
#include "runtime/schedule.h"
#include "runtime/trap/loaded.h"
#include "runtime/trap/syscalls.h"
#include "runtime/trap/trap.h"

namespace blackout::rt {

// In a restart the heap lies elsewhere than in the recording, and nothing where it was: a pointer into it that was
// stored in a pool leads nowhere, as it does in a new process.
static void moveHeap() {
  constexpr intptr_t kGap = intptr_t{256} << 20;
  constexpr uintptr_t kPageMask = 4095;
  auto begin = (reinterpret_cast<uintptr_t>(sbrk(0)) + kPageMask) & ~kPageMask;
  if (reinterpret_cast<intptr_t>(sbrk(kGap)) == -1) return;
  auto end = reinterpret_cast<uintptr_t>(sbrk(0)) & ~kPageMask;
  if (end > begin) syscall(SYS_mprotect, begin, end - begin, PROT_NONE);
}

// Called before all constructors (trap/first.cpp), when libc has no environment yet.
extern "C" __attribute__((visibility("default"))) void __blackout_before_constructors(char** environment) {
  environ = environment;
  readOptions();
  if (options.zygote != nullptr || options.worker != nullptr) moveHeap();
  makeByNumber = callByNumber;
  prepareTraps();
}

__attribute__((constructor(101))) static void begin() {
  readOptions();
  readSchedule();
  if (options.zygote != nullptr) becomeZygote();
  if (options.worker != nullptr) joinRun();
  if (options.trace == nullptr) {
    if (!inRun()) return;
    beginTraps();
    if (options.worker != nullptr) {
      findInheritedDescriptors();
      inheritLocks();
      noteRunModules();
    }
    if (options.heap != 0 && isPlainProgram()) beginHeap();
    return;
  }
  attach(worker == nullptr ? Role::Recording : Role::TracedRestart);
  beginTraps();
  {
    Scope scope;
    if (processNumber > 1) {
      findInheritedDescriptors();
      inheritLocks();
    }
  }
  if (options.heap != 0 && isPlainProgram()) beginHeap();
  noteModules();
}

}  // namespace blackout::rt
