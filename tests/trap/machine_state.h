// Calling code with every register given: general registers, flags, and vector registers as an XSAVE area.
#pragma once

#include <cpuid.h>
#include <stdint.h>
#include <string.h>

#include <random>

struct MachineState {
  struct General {
    uint64_t rax, rbx, rcx, rdx, rsi, rdi, rbp, r8, r9, r10, r11, r12, r13, r14, r15, flags;
    uint64_t rsp;  // on entry; set by the call
  } general = {};
  alignas(64) uint8_t vectors[16384] = {};
};

constexpr uint32_t kVectorComponents = 0xe6;  // SSE, AVX, AVX-512
constexpr uint64_t kArithmeticFlags = 0x8d5;

inline void fillRandomly(MachineState& state, std::mt19937_64& random) {
  for (uint64_t* r = &state.general.rax; r <= &state.general.r15; ++r) *r = random();
  state.general.flags = (random() & kArithmeticFlags) | 0x202;
  uint32_t a, b, c, d;
  __cpuid_count(0xd, 0, a, b, c, d);
  memset(state.vectors, 0, sizeof state.vectors);
  for (uint32_t i = 160; i < b; ++i)
    if (i < 416 || i >= 576) state.vectors[i] = uint8_t(random());
  uint32_t mxcsr = 0x1f80;
  memcpy(state.vectors + 24, &mxcsr, sizeof mxcsr);
  uint64_t present = kVectorComponents & a;
  memcpy(state.vectors + 512, &present, sizeof present);
}

inline void loadVectors(const MachineState& state) {
  asm volatile("xrstor64 %0"
               :
               : "m"(state.vectors), "a"(kVectorComponents), "d"(0)
               : "memory", "xmm0", "xmm1", "xmm2", "xmm3", "xmm4", "xmm5", "xmm6", "xmm7", "xmm8", "xmm9", "xmm10",
                 "xmm11", "xmm12", "xmm13", "xmm14", "xmm15");
}

// Calls code with `from`; `to.vectors` gets the vector registers, and general the other ones.
[[gnu::naked]] inline void callWith(MachineState::General* general, void (*code)(), const uint8_t* from, uint8_t* to) {
  asm volatile(R"(
      pushq %rbx
      pushq %rbp
      pushq %r12
      pushq %r13
      pushq %r14
      pushq %r15
      pushq %rdi
      pushq %rcx
      pushq %rsi
      movq %rdx, %r8
      movl $0xe6, %eax
      xorl %edx, %edx
      xrstor64 (%r8)
      movq %rdi, %rax
      leaq -8(%rsp), %rbx
      movq %rbx, 128(%rax)
      pushq 120(%rax)
      popfq
      movq 8(%rax), %rbx
      movq 16(%rax), %rcx
      movq 24(%rax), %rdx
      movq 32(%rax), %rsi
      movq 40(%rax), %rdi
      movq 48(%rax), %rbp
      movq 56(%rax), %r8
      movq 64(%rax), %r9
      movq 72(%rax), %r10
      movq 80(%rax), %r11
      movq 88(%rax), %r12
      movq 96(%rax), %r13
      movq 104(%rax), %r14
      movq 112(%rax), %r15
      movq (%rax), %rax
      call *(%rsp)
      pushq %rax
      movq 24(%rsp), %rax
      pushfq
      popq 120(%rax)
      movq %rbx, 8(%rax)
      movq %rcx, 16(%rax)
      movq %rdx, 24(%rax)
      movq %rsi, 32(%rax)
      movq %rdi, 40(%rax)
      movq %rbp, 48(%rax)
      movq %r8, 56(%rax)
      movq %r9, 64(%rax)
      movq %r10, 72(%rax)
      movq %r11, 80(%rax)
      movq %r12, 88(%rax)
      movq %r13, 96(%rax)
      movq %r14, 104(%rax)
      movq %r15, 112(%rax)
      popq (%rax)
      movq 8(%rsp), %r8
      movl $0xe6, %eax
      xorl %edx, %edx
      xsave64 (%r8)
      addq $24, %rsp
      popq %r15
      popq %r14
      popq %r13
      popq %r12
      popq %rbp
      popq %rbx
      retq
  )");
}
