// The beginning: options, trace, descriptors, program files. It runs as the first constructor of the
// library, before those of the program.

#include <stdlib.h>
#include <unistd.h>

#include "runtime/heap.h"
#include "runtime/modules.h"
#include "runtime/options.h"
#include "runtime/pools.h"
#include "runtime/recorder.h"
#include "runtime/recovery.h"
#include "runtime/trap/loaded.h"
#include "runtime/trap/trap.h"

namespace blackout::rt {

// Called before all constructors (trap/first.cpp), when libc has no environment yet.
extern "C" __attribute__((visibility("default"))) void __blackout_before_constructors(char** environment) {
  environ = environment;
  readOptions();
  prepareTraps();
}

__attribute__((constructor(101))) static void begin() {
  readOptions();
  if (options.zygote != nullptr) becomeZygote();
  if (options.worker != nullptr) joinRun();
  if (quiet()) {
    beginTraps();
    if (options.worker != nullptr) {
      findInheritedDescriptors();
      noteRunModules();
    }
    if (options.heap != 0 && isPlainProgram()) beginHeap();
    return;
  }
  if (!attach()) return;
  beginTraps();
  {
    Scope scope;
    if (processNumber > 1) findInheritedDescriptors();
  }
  if (options.heap != 0 && isPlainProgram()) beginHeap();
  noteModules();
}

}  // namespace blackout::rt
