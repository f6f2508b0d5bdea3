// The beginning: options, trace, descriptors, program files. It runs as the first constructor of the
// library, before those of the program.

#include <stdlib.h>

#include "runtime/modules.h"
#include "runtime/options.h"
#include "runtime/pools.h"
#include "runtime/recorder.h"
#include "runtime/recovery.h"

namespace blackout::rt {

__attribute__((constructor(101))) static void begin() {
  readOptions();
  if (options.zygote != nullptr) becomeZygote();
  if (options.worker != nullptr) joinRun();
  if (quiet()) {
    if (options.worker != nullptr) findInheritedDescriptors();
    return;
  }
  if (!attach()) return;
  {
    Scope scope;
    if (processNumber > 1) findInheritedDescriptors();
  }
  noteModules();
}

}  // namespace blackout::rt
