#include "runtime/modules.h"

#include <limits.h>
#include <link.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "events/contract.h"
#include "runtime/heap.h"
#include "runtime/options.h"
#include "runtime/real.h"
#include "runtime/recorder.h"
#include "runtime/recovery.h"
#include "runtime/regions.h"
#include "runtime/trap/loaded.h"

namespace blackout::rt {

namespace {

constexpr int kMaxNoted = 1024;
// Recorded before; again if it has become instrumented since (its constructor ran).
struct Noted {
  uintptr_t begin;
  uintptr_t end;
  bool instrumented;
};
Noted noted[kMaxNoted];
int notedCount = 0;

int noteModule(dl_phdr_info* info, size_t, void*) {
  uintptr_t begin = UINTPTR_MAX;
  uintptr_t end = 0;
  for (int i = 0; i < info->dlpi_phnum; ++i) {
    const ElfW(Phdr)& p = info->dlpi_phdr[i];
    if (p.p_type != PT_LOAD) continue;
    uintptr_t from = info->dlpi_addr + p.p_vaddr;
    if (from < begin) begin = from;
    if (from + p.p_memsz > end) end = from + p.p_memsz;
  }
  if (end == 0) return 0;
  // Inside the loader's lock, as every callback of the program's: never the other way round.
  Scope scope;
  if (scope.nested) return 0;
  bool instrumented = isInstrumented(begin, end);
  for (int i = 0; i < notedCount; ++i)
    if (noted[i].begin == begin && noted[i].instrumented == instrumented) return 0;
  if (notedCount == kMaxNoted) return 0;
  noted[notedCount++] = {begin, end, instrumented};
  char path[PATH_MAX];
  const char* name = moduleName(*info, path);
  uint64_t range[2] = {begin, end};
  const PatchCount* patches = trapping ? patchesOf(begin) : nullptr;
  uint8_t bits = uint8_t((instrumented ? 1 : 0) | (trapping ? 2 : 0));
  appendBlob2(BLACKOUT_EV_Module, bits, info->dlpi_addr, range, sizeof range, name, strlen(name) + 1);
  if (patches != nullptr) {
    uint32_t counts[3] = {patches->patched, patches->jumps, patches->unproved};
    appendBlob(BLACKOUT_EV_Patched, 0, begin, counts, sizeof counts);
  }
  return 0;
}

int noteOfRun(dl_phdr_info* info, size_t, void*) {
  char path[PATH_MAX];
  noteRunModule(moduleName(*info, path));
  return 0;
}

}  // namespace

void noteRunModules() { dl_iterate_phdr(noteOfRun, nullptr); }

bool inInstrumented(uintptr_t address) {
  for (int i = 0; i < notedCount; ++i)
    if (noted[i].instrumented && address >= noted[i].begin && address < noted[i].end) return true;
  return false;
}

void noteModules() {
  if (recordsEvents()) dl_iterate_phdr(noteModule, nullptr);
}

void forgetModule(uintptr_t begin) {
  if (!inRun()) return;
  Scope scope;
  if (scope.nested) return;
  for (int i = 0; i < notedCount; ++i)
    if (noted[i].begin == begin) noted[i] = {};
}

}  // namespace blackout::rt

using namespace blackout::rt;

extern "C" {

__attribute__((visibility("default"))) void __blackout_register_module(blackout_module* m, blackout_site* begin,
                                                                       blackout_site* end) {
  if (m->version != BLACKOUT_CONTRACT_VERSION) {
    if (inRun()) {
      Scope scope;
      problem(BLACKOUT_PROBLEM_CONTRACT);
    }
    return;
  }
  if (!inRun()) return;
  beginHeap();
  if (isRestart()) worker->instrumented = 1;
  if (trapping && recordsEvents())
    searchInstrumented(reinterpret_cast<uintptr_t>(m), reinterpret_cast<uintptr_t>(begin),
                       reinterpret_cast<uintptr_t>(end));
  {
    Scope scope;
    if (scope.nested) return;
    registerWindow(m);
  }
  noteModules();
}

__attribute__((visibility("default"))) void __blackout_unregister_module(blackout_module* m) {
  if (!inRun()) return;
  Scope scope;
  if (scope.nested) return;
  unregisterWindow(m);
  forgetSites();
  auto at = reinterpret_cast<uintptr_t>(m);
  for (int i = 0; i < notedCount; ++i)
    if (noted[i].begin <= at && at < noted[i].end) noted[i] = {};
}

}  // extern "C"
