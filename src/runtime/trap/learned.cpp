#include "runtime/trap/learned.h"

#include "runtime/options.h"
#include "runtime/own_memory.h"
#include "runtime/trap/access_patches.h"
#include "runtime/trap/instruction_parts.h"
#include "runtime/trap/loaded.h"
#include "runtime/trap/patches.h"

namespace blackout::rt {

namespace {

constexpr uint32_t kOften = 1;

struct Learned {
  uint64_t offset;
  uint32_t file;     // the hash of its name
  uint32_t written;  // last
};
struct Shared {
  static constexpr uint32_t kMost = 16384;
  uint32_t count;  // may exceed kMost: the rest was not kept
  Learned all[kMost];
};
Shared* shared = nullptr;
uint32_t applied = 0;

}  // namespace

void shareLearned() { shared = static_cast<Shared*>(takeMemory(sizeof(Shared), PROT_READ | PROT_WRITE, MAP_SHARED)); }

void learnOf(const Instruction& i, uintptr_t pc, uint32_t faults) {
  if (shared == nullptr || faults != kOften || i.told) return;
  uint32_t file = 0;
  uintptr_t bias = 0;
  uintptr_t place = programPlace(pc);
  if (!locate(place, file, bias)) return;
  uint32_t n = __atomic_load_n(&shared->count, __ATOMIC_ACQUIRE);
  for (uint32_t k = 0; k < n && k < Shared::kMost; ++k)
    if (shared->all[k].offset == place - bias && shared->all[k].file == file) return;
  n = __atomic_fetch_add(&shared->count, 1, __ATOMIC_ACQ_REL);
  if (n >= Shared::kMost) return;
  shared->all[n].offset = place - bias;
  shared->all[n].file = file;
  __atomic_store_n(&shared->all[n].written, 1, __ATOMIC_RELEASE);
}

void applyLearned(bool again) {
  if (shared == nullptr || options.patches == 0) return;
  if (again) applied = 0;
  uint32_t n = __atomic_load_n(&shared->count, __ATOMIC_ACQUIRE);
  // One that a run was ended in the middle of is passed over when others stand behind it.
  for (; applied < n && applied < Shared::kMost; ++applied) {
    const Learned& learned = shared->all[applied];
    uintptr_t bias = 0;
    if (__atomic_load_n(&learned.written, __ATOMIC_ACQUIRE) == 0 || !biasOf(learned.file, bias)) continue;
    // What lies at a fence is patched in that one's stub.
    uintptr_t pc = placeOfOriginal(bias + learned.offset);
    const Instruction* i = instructionAt(pc, originalAt(pc));
    if (i != nullptr) i->told = true;
    patchAccess(pc);
  }
}

}  // namespace blackout::rt
