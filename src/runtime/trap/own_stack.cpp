#include "runtime/trap/own_stack.h"

#include <signal.h>
#include <stdint.h>
#include <sys/mman.h>
#include <sys/syscall.h>

#include "runtime/real.h"
#include "runtime/recorder.h"

namespace blackout::rt {

namespace {

struct Call {
  void (*function)(void*);
  void* argument;
};

// Who leaves an alternate stack is taken for somebody who is not on it, and his frames there are overwritten: so there
// is none until he is back.
void callThere(const Call* call) {
  stack_t none{}, before{};
  none.ss_flags = SS_DISABLE;
  bool changed = syscall(SYS_sigaltstack, &none, &before) == 0 && (before.ss_flags & SS_DISABLE) == 0;
  call->function(call->argument);
  before.ss_flags = 0;
  if (changed) syscall(SYS_sigaltstack, &before, nullptr);
}

}  // namespace

void withStack(void (*function)(void*), void* argument) {
  auto here = reinterpret_cast<uintptr_t>(__builtin_frame_address(0));
  if (here < self.stackTop && here > self.stackLow + kStackWanted) return function(argument);
  long memory = syscall(SYS_mmap, nullptr, kStackWanted, PROT_READ | PROT_WRITE,
                        MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_STACK, -1L, 0L);
  if (memory == -1) return function(argument);
  Call given{function, argument};
  const Call* first = &given;
  void (*call)(const Call*) = callThere;
  uintptr_t top = uintptr_t(memory) + kStackWanted;
  __asm__ volatile(
      "mov %%rsp, %%rbx\n"
      "mov %[top], %%rsp\n"
      "call *%[call]\n"
      "mov %%rbx, %%rsp"
      : "+D"(first), [top] "+r"(top), [call] "+r"(call)
      :
      : "rax", "rbx", "rcx", "rdx", "rsi", "r8", "r9", "r10", "r11", "memory", "cc", "xmm0", "xmm1", "xmm2", "xmm3",
        "xmm4", "xmm5", "xmm6", "xmm7", "xmm8", "xmm9", "xmm10", "xmm11", "xmm12", "xmm13", "xmm14", "xmm15");
  syscall(SYS_munmap, memory, kStackWanted);
}

}  // namespace blackout::rt
