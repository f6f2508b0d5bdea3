// The program's registers put into a ucontext_t on its own stack, and taken back from there: what stubs do around a
// call of the runtime's code. Saved are x87 (MMX), SSE, AVX and AVX-512 too, which that code may change behind the
// program's back; not the tiles of AMX, which no compiler touches unasked and which would take 8 KB of the program's
// stack.
#pragma once

#include <cpuid.h>
#include <stddef.h>
#include <stdint.h>
#include <ucontext.h>

namespace blackout::rt {

constexpr int kRedZone = 128;
constexpr int kGregs = offsetof(ucontext_t, uc_mcontext.gregs);

// What XSAVE saves, and the size of it; 0: not asked for yet.
[[gnu::visibility("hidden")]] inline constinit uint32_t savedComponents = 0;
[[gnu::visibility("hidden")]] inline constinit uint64_t savedSize = 0;

// Before the first stub. False: the processor can't save its vector registers.
inline bool prepareSaving() {
  constexpr uint32_t kSaved = 0xe7;
  if (savedSize != 0) return true;
  uint32_t a, b, c, d;
  if (__get_cpuid(1, &a, &b, &c, &d) == 0 || (c & bit_OSXSAVE) == 0) return false;
  asm("xgetbv" : "=a"(a), "=d"(d) : "c"(0));
  savedComponents = a & kSaved;
  uint64_t size = 576;  // the legacy area and the header
  for (uint32_t i = 2; i < 32; ++i) {
    if ((savedComponents >> i & 1) == 0) continue;
    if (__get_cpuid_count(0xd, i, &a, &b, &c, &d) == 0) return false;
    if (b + a > size) size = b + a;
  }
  savedSize = size;
  return true;
}

}  // namespace blackout::rt

// For naked functions that are called below the red zone with one word on the stack. Afterwards rbx is the context and
// rsp the area of XSAVE; from rbp upwards: rbp, flags, the return address, the word, the red zone, and the program's
// stack. A trap flag of who steps through this is not restored.
#define BLACKOUT_SAVE_REGISTERS \
  R"(
      pushfq
      andq $-257, (%%rsp)
      cld
      pushq %%rbp
      movq %%rsp, %%rbp
      subq %[context], %%rsp
      andq $-64, %%rsp
      movq %%r8, %c[gregs]+8*%c[r8](%%rsp)
      movq %%r9, %c[gregs]+8*%c[r9](%%rsp)
      movq %%r10, %c[gregs]+8*%c[r10](%%rsp)
      movq %%r11, %c[gregs]+8*%c[r11](%%rsp)
      movq %%r12, %c[gregs]+8*%c[r12](%%rsp)
      movq %%r13, %c[gregs]+8*%c[r13](%%rsp)
      movq %%r14, %c[gregs]+8*%c[r14](%%rsp)
      movq %%r15, %c[gregs]+8*%c[r15](%%rsp)
      movq %%rdi, %c[gregs]+8*%c[rdi](%%rsp)
      movq %%rsi, %c[gregs]+8*%c[rsi](%%rsp)
      movq %%rbx, %c[gregs]+8*%c[rbx](%%rsp)
      movq %%rdx, %c[gregs]+8*%c[rdx](%%rsp)
      movq %%rax, %c[gregs]+8*%c[rax](%%rsp)
      movq %%rcx, %c[gregs]+8*%c[rcx](%%rsp)
      movq (%%rbp), %%rax
      movq %%rax, %c[gregs]+8*%c[rbp](%%rsp)
      movq 8(%%rbp), %%rax
      movq %%rax, %c[gregs]+8*%c[efl](%%rsp)
      leaq 32+%c[redZone](%%rbp), %%rax
      movq %%rax, %c[gregs]+8*%c[rsp](%%rsp)
      movq %%rsp, %%rbx

      subq %c[saveSize](%%rip), %%rsp
      andq $-64, %%rsp
      xorl %%eax, %%eax
      movq %%rax, 512(%%rsp)
      movq %%rax, 520(%%rsp)
      movq %%rax, 528(%%rsp)
      movq %%rax, 536(%%rsp)
      movq %%rax, 544(%%rsp)
      movq %%rax, 552(%%rsp)
      movq %%rax, 560(%%rsp)
      movq %%rax, 568(%%rsp)
      xorl %%edx, %%edx
      movl %c[components](%%rip), %%eax
      xsave64 (%%rsp)
)"
// What the context holds by then. The return address is on top of the stack.
#define BLACKOUT_RESTORE_REGISTERS \
  R"(
      xorl %%edx, %%edx
      movl %c[components](%%rip), %%eax
      xrstor64 (%%rsp)
      movq %%rbx, %%rsp
      movq %c[gregs]+8*%c[rbp](%%rsp), %%rax
      movq %%rax, (%%rbp)
      movq %c[gregs]+8*%c[efl](%%rsp), %%rax
      movq %%rax, 8(%%rbp)
      movq %c[gregs]+8*%c[r8](%%rsp), %%r8
      movq %c[gregs]+8*%c[r9](%%rsp), %%r9
      movq %c[gregs]+8*%c[r10](%%rsp), %%r10
      movq %c[gregs]+8*%c[r11](%%rsp), %%r11
      movq %c[gregs]+8*%c[r12](%%rsp), %%r12
      movq %c[gregs]+8*%c[r13](%%rsp), %%r13
      movq %c[gregs]+8*%c[r14](%%rsp), %%r14
      movq %c[gregs]+8*%c[r15](%%rsp), %%r15
      movq %c[gregs]+8*%c[rdi](%%rsp), %%rdi
      movq %c[gregs]+8*%c[rsi](%%rsp), %%rsi
      movq %c[gregs]+8*%c[rbx](%%rsp), %%rbx
      movq %c[gregs]+8*%c[rdx](%%rsp), %%rdx
      movq %c[gregs]+8*%c[rax](%%rsp), %%rax
      movq %c[gregs]+8*%c[rcx](%%rsp), %%rcx
      movq %%rbp, %%rsp
      popq %%rbp
      popfq
)"
#define BLACKOUT_SAVED_OPERANDS                                                                                       \
  [context] "i"(sizeof(ucontext_t)), [gregs] "i"(kGregs), [redZone] "i"(kRedZone), [saveSize] "i"(&savedSize),        \
      [components] "i"(&savedComponents), [r8] "i"(REG_R8), [r9] "i"(REG_R9), [r10] "i"(REG_R10), [r11] "i"(REG_R11), \
      [r12] "i"(REG_R12), [r13] "i"(REG_R13), [r14] "i"(REG_R14), [r15] "i"(REG_R15), [rdi] "i"(REG_RDI),             \
      [rsi] "i"(REG_RSI), [rbp] "i"(REG_RBP), [rbx] "i"(REG_RBX), [rdx] "i"(REG_RDX), [rax] "i"(REG_RAX),             \
      [rcx] "i"(REG_RCX), [rsp] "i"(REG_RSP), [efl] "i"(REG_EFL)

// For naked functions that are called below the red zone with rcx and a word on the stack (AccessFrame): calls a
// function with the general registers, and returns to where that says, with the word and rcx still on the stack. Flags
// are restored without popfq: it is slow, and who steps through this (loop_proof.h) would leave the trap flag.
#define BLACKOUT_CALL_WITHOUT_VECTORS(function) \
  asm volatile(                                 \
      R"(
      pushfq
      pushq %%rax
      pushq %%rdx
      pushq %%rbx
      pushq %%rbp
      pushq %%rsi
      pushq %%rdi
      pushq %%r8
      pushq %%r9
      pushq %%r10
      pushq %%r11
      pushq %%r12
      pushq %%r13
      pushq %%r14
      pushq %%r15
      movq %%rsp, %%rdi
      movq %%rsp, %%rbx
      andq $-16, %%rsp
      cld
      call %P[to]
      movq %%rax, 120(%%rbx)
      movq %%rbx, %%rsp
      popq %%r15
      popq %%r14
      popq %%r13
      popq %%r12
      popq %%r11
      popq %%r10
      popq %%r9
      popq %%r8
      popq %%rdi
      popq %%rsi
      popq %%rbp
      popq %%rbx
      popq %%rdx
      movl 8(%%rsp), %%eax
      testl $0x400, %%eax
      je 1f
      std
    1:
      shrl $11, %%eax
      andl $1, %%eax
      addb $0x7f, %%al
      movb 8(%%rsp), %%ah
      sahf
      popq %%rax
      leaq 8(%%rsp), %%rsp
      retq
      )"                                       \
      :                                         \
      : [to] "i"(&function))

// What such a function calls may become a part of it, and must not be compiled for vector registers there either.
#define BLACKOUT_NO_VECTORS __attribute__((used, target("no-sse,no-mmx")))
