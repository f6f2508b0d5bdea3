// Loops in machine code, of which one sums and does nothing else with what it reads.
#include "binary/summing_loop.h"

#include <dlfcn.h>
#include <gtest/gtest.h>

// As gcc makes them of PMDK's util_checksum_compute and util_checksum_seq, and what they are not.
asm(R"(
  .text
  .globl loop_compute, loop_seq, loop_xors, loop_one_sum, loop_compares, loop_keeps, loop_wide, loop_skips, loop_ends
  .globl loop_looks, loop_moves_first, loop_stores_first
loop_compute:
  add (%rdi), %r8d
  add $4, %rdi
  add %r8d, %ecx
  cmp %rsi, %rdi
  jae 1f
  cmp %rdi, %rdx
  je 1f
  cmp %r9, %rdi
  jb loop_compute
1: ret
loop_seq:
  add (%rdi), %ecx
  add $4, %rdi
  add %ecx, %r8d
  cmp %rsi, %rdi
  jb loop_seq
  ret
loop_xors:
  xor (%rdi), %ecx
  add $4, %rdi
  add %ecx, %r8d
  cmp %rsi, %rdi
  jb loop_xors
  ret
loop_one_sum:
  add (%rdi), %ecx
  add $4, %rdi
  cmp %rsi, %rdi
  jb loop_one_sum
  ret
loop_compares:
  add (%rdi), %ecx
  add $4, %rdi
  add %ecx, %r8d
  cmp $77, %ecx
  je 1f
  cmp %rsi, %rdi
  jb loop_compares
1: ret
loop_keeps:
  add (%rdi), %ecx
  add $4, %rdi
  add %ecx, %r8d
  mov %ecx, (%rdx)
  cmp %rsi, %rdi
  jb loop_keeps
  ret
loop_wide:
  add (%rdi), %rcx
  add $8, %rdi
  add %rcx, %r8
  cmp %rsi, %rdi
  jb loop_wide
  ret
loop_skips:
  add (%rdi), %ecx
  add $8, %rdi
  add %ecx, %r8d
  cmp %rsi, %rdi
  jb loop_skips
  ret
loop_ends:
  add (%rdi), %ecx
  add $4, %rdi
  add %ecx, %r8d
  ret
loop_looks:
  add (%rdi), %ecx
  add $4, %rdi
  add %ecx, %r8d
  cmpl $0, (%rdi)
  je 1f
  cmp %rsi, %rdi
  jb loop_looks
1: ret
loop_moves_first:
  add $4, %rdi
  add -4(%rdi), %eax
  add %eax, %ecx
  cmp %rsi, %rdi
  jb loop_moves_first
  ret
loop_stores_first:
  mov %eax, (%rdx)
  add -4(%rdi), %eax
  add $4, %rdi
  add %eax, %ecx
  cmp %rsi, %rdi
  jb loop_stores_first
  ret
)");
extern "C" {
extern const char loop_compute, loop_seq, loop_xors, loop_one_sum, loop_compares, loop_keeps, loop_wide, loop_skips,
    loop_ends, loop_looks, loop_moves_first, loop_stores_first;
}

namespace blackout {
namespace {

bool sums(const char& at, int behind = 0) {
  Dl_info info;
  EXPECT_NE(dladdr(&at, &info), 0);
  return readsForFletcher("/proc/self/exe", reinterpret_cast<std::uint64_t>(&at) -
                                                reinterpret_cast<std::uint64_t>(info.dli_fbase) +
                                                static_cast<std::uint64_t>(behind));
}

TEST(SummingLoop, PmdksLoopsAreKnown) {
  EXPECT_TRUE(sums(loop_compute));
  EXPECT_TRUE(sums(loop_seq));
  EXPECT_TRUE(sums(loop_moves_first, 4));
}

TEST(SummingLoop, AllElseIsNot) {
  EXPECT_FALSE(sums(loop_xors));
  EXPECT_FALSE(sums(loop_one_sum));
  EXPECT_FALSE(sums(loop_compares));
  EXPECT_FALSE(sums(loop_keeps));
  EXPECT_FALSE(sums(loop_wide));
  EXPECT_FALSE(sums(loop_skips));
  EXPECT_FALSE(sums(loop_ends));
  EXPECT_FALSE(sums(loop_looks));
  EXPECT_FALSE(sums(loop_stores_first, 2));
  EXPECT_FALSE(sums(loop_seq, 2));  // the next instruction
}

TEST(SummingLoop, FilesAndPlacesThatAreNotThere) {
  EXPECT_FALSE(readsForFletcher("/nowhere", 0));
  EXPECT_FALSE(readsForFletcher("/proc/self/status", 0));
  EXPECT_FALSE(readsForFletcher("/proc/self/exe", ~std::uint64_t{0}));
}

}  // namespace
}  // namespace blackout
