// dlsym, dlvsym, dlopen, dlmopen: ways to libc's functions past ours. A function that is looked up in libc itself is
// ours, if we have one of the name; a library that is bound to libc's own is not followed, and that is said.
//
// What the loader does depends on who calls it (RTLD_NEXT, the folders that are searched), by the return address. So
// these are stubs that look at the arguments and jump to the loader's own functions.

#include <dlfcn.h>
#include <link.h>
#include <stdint.h>

#include "runtime/real.h"
#include "runtime/trap/functions.h"
#include "runtime/trap/loaded.h"
#include "runtime/unfollowed.h"

extern "C" {
// Of this library; made by the linker.
extern const char __ehdr_start[] __attribute__((visibility("hidden")));
extern const char _end[] __attribute__((visibility("hidden")));

// The loader's own, for the stubs.
__attribute__((visibility("hidden"), used)) void* blackout_real_dlsym = nullptr;
__attribute__((visibility("hidden"), used)) void* blackout_real_dlvsym = nullptr;
__attribute__((visibility("hidden"), used)) void* blackout_real_dlopen = nullptr;
__attribute__((visibility("hidden"), used)) void* blackout_real_dlmopen = nullptr;
}

namespace blackout::rt {

namespace {

using LookUp = void* (*)(void*, const char*);
using LookUpVersion = void* (*)(void*, const char*, const char*);

// The next definitions behind ours. All ways to ask the loader for them are functions of ours, and a sanitizer has
// others that do not work yet when it asks.
void findLoader() {
  if (__atomic_load_n(&blackout_real_dlsym, __ATOMIC_ACQUIRE) != nullptr) return;
  const link_map* file = _r_debug.r_map;
  while (file != nullptr && file->l_ld != _DYNAMIC) file = file->l_next;
  void* lookUp = nullptr;
  auto find = [&](void*& found, const char* name) {
    if (found == nullptr) found = reinterpret_cast<void*>(exportedFunction(*file, name));
  };
  while (file != nullptr && (file = file->l_next) != nullptr) {
    find(blackout_real_dlopen, "dlopen");
    find(blackout_real_dlmopen, "dlmopen");
    find(blackout_real_dlvsym, "dlvsym");
    find(lookUp, "dlsym");
  }
  if (lookUp == nullptr) __builtin_trap();
  __atomic_store_n(&blackout_real_dlsym, lookUp, __ATOMIC_RELEASE);
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

// The loader's function, called as if from `caller`'s file: what is next depends on who asks. It returns there, to an
// instruction that does nothing but return.
extern "C" [[gnu::naked]] void* callAsIfFrom(void*, const char*, const char*, const void*, const void*) {
  __asm__(
      "leaq 1f(%rip), %rax\n"
      "pushq %rax\n"
      "pushq %rcx\n"
      "jmpq *%r8\n"
      "1: ret");
}
const void* returnNear(const void* caller) {
  CodeFile file;
  if (!patchableCode(reinterpret_cast<uintptr_t>(caller), file)) return nullptr;
  constexpr uint8_t kReturn = 0xc3;
  for (const auto* p = static_cast<const uint8_t*>(caller); p < reinterpret_cast<const uint8_t*>(file.end); ++p)
    if (*p == kReturn) return p;
  return nullptr;
}

}  // namespace

// What is looked up; null: the loader says it, to whom it was asked by. `version` is null for dlsym.
extern "C" __attribute__((visibility("hidden"), used)) void* blackout_look_up(void* handle, const char* name,
                                                                              const char* version, const void* caller) {
  findLoader();
  if (isOurs(caller) || (handle == RTLD_DEFAULT && version == nullptr)) return nullptr;
  void* real = version == nullptr ? blackout_real_dlsym : blackout_real_dlvsym;
  void* found = nullptr;
  if (handle == RTLD_NEXT || handle == RTLD_DEFAULT) {
    const void* back = returnNear(caller);
    if (back == nullptr) return nullptr;
    found = callAsIfFrom(handle, name, version, back, real);
  } else {
    found = version == nullptr ? reinterpret_cast<LookUp>(real)(handle, name)
                               : reinterpret_cast<LookUpVersion>(real)(handle, name, version);
  }
  if (found == nullptr || isOurs(found) || !inRuntime(reinterpret_cast<uintptr_t>(found))) return found;
  void* own = ownFunction(name);
  if (own == nullptr) return found;
  // A library with such a function of its own, which ours calls: it must not be led back to ours.
  void* next = reinterpret_cast<LookUp>(blackout_real_dlsym)(RTLD_NEXT, name);
  return handle == RTLD_NEXT && !inRuntime(reinterpret_cast<uintptr_t>(next)) ? found : own;
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
      "xorl %edx, %edx\n"
      "movq 24(%rsp), %rcx\n"
      "call blackout_look_up\n"
      "addq $8, %rsp\n"
      "popq %rsi\n"
      "popq %rdi\n"
      "testq %rax, %rax\n"
      "jne 1f\n"
      "jmpq *blackout_real_dlsym(%rip)\n"
      "1: ret");
}

extern "C" [[gnu::naked, gnu::visibility("default")]] void* dlvsym(void*, const char*, const char*) noexcept {
  __asm__(
      "pushq %rdi\n"
      "pushq %rsi\n"
      "pushq %rdx\n"
      "movq 24(%rsp), %rcx\n"
      "call blackout_look_up\n"
      "popq %rdx\n"
      "popq %rsi\n"
      "popq %rdi\n"
      "testq %rax, %rax\n"
      "jne 1f\n"
      "jmpq *blackout_real_dlvsym(%rip)\n"
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
