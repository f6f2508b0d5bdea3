// dlsym, dlopen, dlmopen: ways to libc's functions past ours. A function that is looked up in libc itself is ours, if
// we have one of the name; a library that is bound to libc's own is not followed, and that is said.
//
// What the loader does depends on who calls it (RTLD_NEXT, the folders that are searched), by the return address. So
// these are stubs that look at the arguments and jump to the loader's own functions.

#include <dlfcn.h>
#include <stdint.h>

#include "runtime/real.h"
#include "runtime/trap/loaded.h"
#include "runtime/unfollowed.h"

extern "C" {
// Of this library; made by the linker.
extern const char __ehdr_start[] __attribute__((visibility("hidden")));
extern const char _end[] __attribute__((visibility("hidden")));

// The loader's own, for the stubs.
__attribute__((visibility("hidden"), used)) void* blackout_real_dlsym = nullptr;
__attribute__((visibility("hidden"), used)) void* blackout_real_dlopen = nullptr;
__attribute__((visibility("hidden"), used)) void* blackout_real_dlmopen = nullptr;
}

namespace blackout::rt {

namespace {

using LookUp = void* (*)(void*, const char*);

void findLoader() {
  if (blackout_real_dlsym != nullptr) return;
  constexpr const char* kVersions[] = {"GLIBC_2.34", "GLIBC_2.2.5"};  // the first since they are in libc itself
  void* found = nullptr;
  for (const char* version : kVersions)
    if (found == nullptr) found = dlvsym(RTLD_NEXT, "dlsym", version);
  if (found == nullptr) __builtin_trap();
  auto* lookUpReal = reinterpret_cast<LookUp>(found);
  blackout_real_dlopen = lookUpReal(RTLD_NEXT, "dlopen");
  blackout_real_dlmopen = lookUpReal(RTLD_NEXT, "dlmopen");
  __atomic_store_n(&blackout_real_dlsym, found, __ATOMIC_RELEASE);
}

bool isOurs(const void* p) { return p >= __ehdr_start && p < _end; }

// The function of ours with this name; null: there is none.
void* ownFunction(const char* name) {
  static void* own = nullptr;
  if (own == nullptr) {
    Dl_info info;
    if (dladdr(__ehdr_start, &info) == 0) return nullptr;
    own = reinterpret_cast<void* (*)(const char*, int)>(blackout_real_dlopen)(info.dli_fname, RTLD_LAZY | RTLD_NOLOAD);
  }
  void* found = own == nullptr ? nullptr : reinterpret_cast<LookUp>(blackout_real_dlsym)(own, name);
  return isOurs(found) ? found : nullptr;
}

}  // namespace

// What is looked up by a handle; null: the loader says it, to whom it was asked by.
extern "C" __attribute__((visibility("hidden"), used)) void* blackout_look_up(void* handle, const char* name) {
  findLoader();
  if (handle == RTLD_NEXT || handle == RTLD_DEFAULT) return nullptr;
  void* found = reinterpret_cast<LookUp>(blackout_real_dlsym)(handle, name);
  if (found == nullptr || isOurs(found) || !inRuntime(reinterpret_cast<uintptr_t>(found))) return found;
  void* own = ownFunction(name);
  return own != nullptr ? own : found;
}

extern "C" __attribute__((visibility("hidden"), used)) void blackout_loads(int mode, const void* caller) {
  findLoader();
  if ((mode & RTLD_DEEPBIND) != 0 && !isOurs(caller))
    unfollowed("it loads a library with RTLD_DEEPBIND, whose calls of libc's functions are not seen");
}

extern "C" __attribute__((visibility("hidden"), used)) void blackout_loads_apart(Lmid_t space) {
  findLoader();
  if (space != LM_ID_BASE)
    unfollowed("it loads a library into a namespace of its own (dlmopen), with a libc whose calls are not seen");
}

}  // namespace blackout::rt

extern "C" [[gnu::naked, gnu::visibility("default")]] void* dlsym(void*, const char*) noexcept {
  __asm__(
      "pushq %rdi\n"
      "pushq %rsi\n"
      "subq $8, %rsp\n"
      "call blackout_look_up\n"
      "addq $8, %rsp\n"
      "popq %rsi\n"
      "popq %rdi\n"
      "testq %rax, %rax\n"
      "jne 1f\n"
      "jmpq *blackout_real_dlsym(%rip)\n"
      "1: ret");
}

extern "C" [[gnu::naked, gnu::visibility("default")]] void* dlopen(const char*, int) noexcept {
  __asm__(
      "pushq %rdi\n"
      "pushq %rsi\n"
      "subq $8, %rsp\n"
      "movl %esi, %edi\n"
      "movq 24(%rsp), %rsi\n"
      "call blackout_loads\n"
      "addq $8, %rsp\n"
      "popq %rsi\n"
      "popq %rdi\n"
      "jmpq *blackout_real_dlopen(%rip)");
}

extern "C" [[gnu::naked, gnu::visibility("default")]] void* dlmopen(Lmid_t, const char*, int) noexcept {
  __asm__(
      "pushq %rdi\n"
      "pushq %rsi\n"
      "pushq %rdx\n"
      "call blackout_loads_apart\n"
      "popq %rdx\n"
      "popq %rsi\n"
      "popq %rdi\n"
      "jmpq *blackout_real_dlmopen(%rip)");
}
