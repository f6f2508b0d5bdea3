#include "runtime/trap/instruction_run.h"

#include <stddef.h>

namespace blackout::rt {

// On the stack below the saved registers: the Run, then the code's address, then (inside the code) the return address.
// After the restore no instruction here may touch a vector register or, after the flags are set, change a flag.
__attribute__((naked, noinline)) void run(Run*) {
  __asm__ volatile(
      R"(
      pushq %%rbp
      pushq %%rbx
      pushq %%r12
      pushq %%r13
      pushq %%r14
      pushq %%r15
      pushq %%rdi
      pushq %c[code](%%rdi)
      leaq 5f(%%rip), %%rax
      movq %%rax, %c[resume](%%rdi)
      cmpq $0, %c[restored](%%rdi)
      je 2f
      stmxcsr %c[mxcsr](%%rdi)
      fnstcw %c[control](%%rdi)
      movq %c[state](%%rdi), %%rcx
      cmpb $0, %c[fxsave](%%rdi)
      je 1f
      fxrstor64 (%%rcx)
      jmp 2f
    1:
      movl %c[restored](%%rdi), %%eax
      xorl %%edx, %%edx
      xrstor64 (%%rcx)
    2:
      cmpb $0, %c[loadFlags](%%rdi)
      je 3f
      pushq %c[flags](%%rdi)
      popfq
    3:
      movq 0(%%rdi), %%rax
      movq 8(%%rdi), %%rcx
      movq 16(%%rdi), %%rdx
      movq 24(%%rdi), %%rbx
      movq 40(%%rdi), %%rbp
      movq 48(%%rdi), %%rsi
      movq 64(%%rdi), %%r8
      movq 72(%%rdi), %%r9
      movq 80(%%rdi), %%r10
      movq 88(%%rdi), %%r11
      movq 96(%%rdi), %%r12
      movq 104(%%rdi), %%r13
      movq 112(%%rdi), %%r14
      movq 120(%%rdi), %%r15
      movq 56(%%rdi), %%rdi
      callq *(%%rsp)
      movq %%rdi, (%%rsp)
      movq 8(%%rsp), %%rdi
      movq %%rax, 0(%%rdi)
      movq %%rcx, 8(%%rdi)
      movq %%rdx, 16(%%rdi)
      movq %%rbx, 24(%%rdi)
      movq %%rbp, 40(%%rdi)
      movq %%rsi, 48(%%rdi)
      movq %%r8, 64(%%rdi)
      movq %%r9, 72(%%rdi)
      movq %%r10, 80(%%rdi)
      movq %%r11, 88(%%rdi)
      movq %%r12, 96(%%rdi)
      movq %%r13, 104(%%rdi)
      movq %%r14, 112(%%rdi)
      movq %%r15, 120(%%rdi)
      pushfq
      popq %c[flags](%%rdi)
      cld
      movq (%%rsp), %%rax
      movq %%rax, 56(%%rdi)
      cmpq $0, %c[saved](%%rdi)
      je 5f
      movq %c[state](%%rdi), %%rcx
      cmpb $0, %c[fxsave](%%rdi)
      je 4f
      fxsave64 (%%rcx)
      jmp 5f
    4:
      movl %c[saved](%%rdi), %%eax
      xorl %%edx, %%edx
      xsave64 (%%rcx)
    5:
      movq %c[restored](%%rdi), %%rax
      testq %%rax, %%rax
      je 8f
      testb $4, %%al
      je 6f
      vzeroupper
    6:
      testb $1, %%al
      je 7f
      fninit
      fldcw %c[control](%%rdi)
    7:
      ldmxcsr %c[mxcsr](%%rdi)
    8:
      addq $16, %%rsp
      popq %%r15
      popq %%r14
      popq %%r13
      popq %%r12
      popq %%rbx
      popq %%rbp
      retq
  )" ::[code] "i"(offsetof(Run, code)),
      [flags] "i"(offsetof(Run, flags)), [state] "i"(offsetof(Run, state)), [restored] "i"(offsetof(Run, restored)),
      [saved] "i"(offsetof(Run, saved)), [resume] "i"(offsetof(Run, resume)), [mxcsr] "i"(offsetof(Run, mxcsr)),
      [control] "i"(offsetof(Run, x87Control)), [loadFlags] "i"(offsetof(Run, loadFlags)),
      [fxsave] "i"(offsetof(Run, fxsave)));
}

Run* runAt(uintptr_t sp) { return *reinterpret_cast<Run**>(sp + 16); }

}  // namespace blackout::rt
