#include "instruction_forms.h"

#include <cpuid.h>

bool supported(const Form& f) {
  unsigned r[4] = {};
  if (f.leaf == 0) return true;
  if (!__get_cpuid_count(f.leaf, f.subleaf, &r[0], &r[1], &r[2], &r[3])) return false;
  return (r[f.cpuidRegister] >> f.cpuidBit & 1) != 0;
}

uint64_t stateComponents() {
  unsigned low, high;
  __asm__("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
  return low & 0xe7;  // x87, SSE, AVX, masks, the two of AVX-512
}

extern "C" {
// Found by form_exit without a register.
State* formState;
const void* formCode;
uint64_t formComponents;
uint64_t formStack;
uint64_t formRdi;
void formEnter();
}

static_assert(offsetof(State, registers) == 4096 && offsetof(State, flags) == 4224);
__asm__(R"(
  .text
  .globl formEnter
formEnter:
  pushq %rbp
  pushq %rbx
  pushq %r12
  pushq %r13
  pushq %r14
  pushq %r15
  movq %rsp, formStack(%rip)
  movq formState(%rip), %rdi
  movl formComponents(%rip), %eax
  xorl %edx, %edx
  xrstor64 (%rdi)
  pushq 4224(%rdi)
  popfq
  leaq 4096(%rdi), %rdi
  movq 0(%rdi), %rax
  movq 8(%rdi), %rcx
  movq 16(%rdi), %rdx
  movq 24(%rdi), %rbx
  movq 32(%rdi), %rsp
  movq 40(%rdi), %rbp
  movq 48(%rdi), %rsi
  movq 64(%rdi), %r8
  movq 72(%rdi), %r9
  movq 80(%rdi), %r10
  movq 88(%rdi), %r11
  movq 96(%rdi), %r12
  movq 104(%rdi), %r13
  movq 112(%rdi), %r14
  movq 120(%rdi), %r15
  movq 56(%rdi), %rdi
  jmpq *formCode(%rip)

  .globl form_exit
form_exit:
  movq %rdi, formRdi(%rip)
  movq formState(%rip), %rdi
  movq %rax, 4096(%rdi)
  movq %rcx, 4104(%rdi)
  movq %rdx, 4112(%rdi)
  movq %rbx, 4120(%rdi)
  movq %rsp, 4128(%rdi)
  movq %rbp, 4136(%rdi)
  movq %rsi, 4144(%rdi)
  movq %r8, 4160(%rdi)
  movq %r9, 4168(%rdi)
  movq %r10, 4176(%rdi)
  movq %r11, 4184(%rdi)
  movq %r12, 4192(%rdi)
  movq %r13, 4200(%rdi)
  movq %r14, 4208(%rdi)
  movq %r15, 4216(%rdi)
  movq formStack(%rip), %rsp
  pushfq
  popq 4224(%rdi)
  cld
  movq formRdi(%rip), %rax
  movq %rax, 4152(%rdi)
  movl formComponents(%rip), %eax
  xorl %edx, %edx
  xsave64 (%rdi)
  vzeroupper
  fninit
  pushq $0x1f80
  ldmxcsr (%rsp)
  popq %rax
  popq %r15
  popq %r14
  popq %r13
  popq %r12
  popq %rbx
  popq %rbp
  retq
)");

void execute(State& state, const void* code) {
  formState = &state;
  formCode = code;
  formComponents = stateComponents();
  formEnter();
}
