// What instructions are said to be, and executing them where something goes wrong: unmapped operands, ends of pages,
// threads, code that was unloaded.

#include "runtime/trap/instruction.h"

#include <gtest/gtest.h>
#include <limits.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>

#include <algorithm>
#include <chrono>
#include <initializer_list>
#include <thread>
#include <vector>

#include "instruction_trapping.h"

namespace {

using namespace blackout::rt;

constexpr size_t kPage = 4096;

class Instructions : public ::testing::Test {
 protected:
  static void SetUpTestSuite() {
    ASSERT_TRUE(prepareInstructions());
    memory = trappedMemory(0, 16 * kPage);
    catchTraps();
    code = static_cast<uint8_t*>(
        mmap(nullptr, 2 * kPage, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
    ASSERT_NE(code, MAP_FAILED);
  }
  void TearDown() override { protect(memory, false); }

  // At a place of its own, because what is decoded stays.
  static uintptr_t put(std::initializer_list<int> bytes) {
    static size_t next = 0;
    uint8_t* at = code + next;
    for (int b : bytes) code[next++] = uint8_t(b);
    return reinterpret_cast<uintptr_t>(at);
  }
  static const Instruction& make(std::initializer_list<int> bytes) {
    const Instruction* i = instructionAt(put(bytes));
    if (i == nullptr) abort();
    return *i;
  }
  static Trapped memory;
  static uint8_t* code;
};
Trapped Instructions::memory;
uint8_t* Instructions::code;

ucontext_t contextAt(uintptr_t pc) {
  ucontext_t context = {};
  context.uc_mcontext.gregs[REG_RIP] = greg_t(pc);
  return context;
}

TEST_F(Instructions, HaveTheirKinds) {
  EXPECT_EQ(kindOf(make({0x48, 0x89, 0x01})), BLACKOUT_SITE_Store);                      // mov %rax,(%rcx)
  EXPECT_EQ(kindOf(make({0x48, 0x8b, 0x01})), BLACKOUT_SITE_Load);                       // mov (%rcx),%rax
  EXPECT_EQ(kindOf(make({0x48, 0x01, 0x01})), BLACKOUT_SITE_Store);                      // add %rax,(%rcx)
  EXPECT_EQ(kindOf(make({0x48, 0x39, 0x01})), BLACKOUT_SITE_Load);                       // cmp %rax,(%rcx)
  EXPECT_EQ(kindOf(make({0xf0, 0x48, 0x01, 0x01})), BLACKOUT_SITE_Rmw);                  // lock add %rax,(%rcx)
  EXPECT_EQ(kindOf(make({0x48, 0x87, 0x01})), BLACKOUT_SITE_Rmw);                        // xchg %rax,(%rcx)
  EXPECT_EQ(kindOf(make({0xf0, 0x0f, 0xb1, 0x11})), BLACKOUT_SITE_CmpXchg);              // lock cmpxchg %edx,(%rcx)
  EXPECT_EQ(kindOf(make({0x0f, 0xb1, 0x11})), BLACKOUT_SITE_Store);                      // cmpxchg %edx,(%rcx)
  EXPECT_EQ(kindOf(make({0xf0, 0x48, 0x0f, 0xc7, 0x0f})), BLACKOUT_SITE_CmpXchg);        // lock cmpxchg16b (%rdi)
  EXPECT_EQ(kindOf(make({0x48, 0x0f, 0xc3, 0x01})), BLACKOUT_SITE_StoreNt);              // movnti
  EXPECT_EQ(kindOf(make({0x66, 0x0f, 0xe7, 0x01})), BLACKOUT_SITE_StoreNt);              // movntdq
  EXPECT_EQ(kindOf(make({0x0f, 0x2b, 0x01})), BLACKOUT_SITE_StoreNt);                    // movntps
  EXPECT_EQ(kindOf(make({0x66, 0x0f, 0x2b, 0x01})), BLACKOUT_SITE_StoreNt);              // movntpd
  EXPECT_EQ(kindOf(make({0x0f, 0xe7, 0x01})), BLACKOUT_SITE_StoreNt);                    // movntq
  EXPECT_EQ(kindOf(make({0xc5, 0xfd, 0xe7, 0x01})), BLACKOUT_SITE_StoreNt);              // vmovntdq %ymm0
  EXPECT_EQ(kindOf(make({0x62, 0xf1, 0x7d, 0x48, 0xe7, 0x01})), BLACKOUT_SITE_StoreNt);  // vmovntdq %zmm0
  EXPECT_EQ(kindOf(make({0x66, 0x0f, 0xf7, 0xd1})), BLACKOUT_SITE_StoreNt);              // maskmovdqu
  EXPECT_EQ(kindOf(make({0x0f, 0x38, 0xf9, 0x01})), BLACKOUT_SITE_StoreNt);              // movdiri
  EXPECT_EQ(kindOf(make({0x66, 0x0f, 0x38, 0xf8, 0x01})), BLACKOUT_SITE_StoreNt);        // movdir64b
  EXPECT_EQ(kindOf(make({0x66, 0x0f, 0x38, 0x2a, 0x01})), BLACKOUT_SITE_Load);           // movntdqa
  EXPECT_EQ(kindOf(make({0x0f, 0xae, 0x39})), BLACKOUT_SITE_Clflush);                    // clflush (%rcx)
  EXPECT_EQ(kindOf(make({0x66, 0x0f, 0xae, 0x39})), BLACKOUT_SITE_Clflushopt);           // clflushopt (%rcx)
  EXPECT_EQ(kindOf(make({0x66, 0x0f, 0xae, 0x31})), BLACKOUT_SITE_Clwb);                 // clwb (%rcx)
  EXPECT_EQ(kindOf(make({0x0f, 0xae, 0xf8})), BLACKOUT_SITE_Sfence);
  EXPECT_EQ(kindOf(make({0x0f, 0xae, 0xf0})), BLACKOUT_SITE_Mfence);
  EXPECT_EQ(kindOf(make({0x0f, 0xae, 0xe8})), BLACKOUT_SITE_Lfence);
  EXPECT_EQ(kindOf(make({0xf3, 0xa4})), BLACKOUT_SITE_Copy);        // rep movsb
  EXPECT_EQ(kindOf(make({0xf3, 0x48, 0xab})), BLACKOUT_SITE_Fill);  // rep stosq
  EXPECT_EQ(kindOf(make({0xac})), BLACKOUT_SITE_MemoryRead);        // lodsb
  EXPECT_EQ(kindOf(make({0xf2, 0xae})), BLACKOUT_SITE_MemoryRead);  // repne scasb
  EXPECT_EQ(kindOf(make({0xf3, 0xa6})), BLACKOUT_SITE_MemoryRead);  // repe cmpsb
  EXPECT_EQ(kindOf(make({0xff, 0x31})), BLACKOUT_SITE_Load);        // push (%rcx)
  EXPECT_EQ(kindOf(make({0x8f, 0x01})), BLACKOUT_SITE_Store);       // pop (%rcx)
  EXPECT_EQ(int(kindOf(make({0x0f, 0x1f, 0x00}))), 0);              // nop (%rax)
}

TEST_F(Instructions, NameTheirOperands) {
  uintptr_t pc = put({0xff, 0x25, 0x10, 0, 0, 0});  // jmp *0x10(%rip)
  Access a = accessOf(*instructionAt(pc), contextAt(pc));
  ASSERT_EQ(a.count, 1);
  EXPECT_EQ(a.operands[0].address, pc + 6 + 0x10);
  EXPECT_EQ(a.operands[0].size, 8u);
  EXPECT_TRUE(a.operands[0].read && !a.operands[0].written);

  pc = put({0x66, 0x0f, 0x38, 0xf8, 0x42, 0x08});  // movdir64b 8(%rdx),%rax
  ucontext_t context = contextAt(pc);
  context.uc_mcontext.gregs[REG_RAX] = 0x1000;
  context.uc_mcontext.gregs[REG_RDX] = 0x2000;
  a = accessOf(*instructionAt(pc), context);
  ASSERT_EQ(a.count, 2);
  EXPECT_EQ(a.operands[0].address, 0x1000u);
  EXPECT_TRUE(a.operands[0].written);
  EXPECT_EQ(a.operands[1].address, 0x2008u);
  EXPECT_TRUE(a.operands[1].read);
  EXPECT_EQ(a.operands[1].size, 64u);

  pc = put({0x66, 0x0f, 0xae, 0x31});  // clwb (%rcx)
  context = contextAt(pc);
  context.uc_mcontext.gregs[REG_RCX] = 0x1234;
  a = accessOf(*instructionAt(pc), context);
  ASSERT_EQ(a.count, 1);
  EXPECT_EQ(a.operands[0].address, 0x1200u);
  EXPECT_EQ(a.operands[0].size, 64u);
  EXPECT_FALSE(a.operands[0].read || a.operands[0].written);

  EXPECT_EQ(accessOf(make({0x0f, 0x18, 0x09}), context).count, 0);  // prefetcht0 (%rcx)
  EXPECT_EQ(accessOf(make({0x48, 0x8d, 0x01}), context).count, 0);  // lea (%rcx),%rax
  EXPECT_EQ(accessOf(make({0x0f, 0xae, 0xf8}), context).count, 0);  // sfence

  pc = put({0x50});  // push %rax
  context = contextAt(pc);
  context.uc_mcontext.gregs[REG_RSP] = 0x3000;
  a = accessOf(*instructionAt(pc), context);
  ASSERT_EQ(a.count, 1);
  EXPECT_EQ(a.operands[0].address, 0x2ff8u);
}

TEST_F(Instructions, WhoseStackIsTheOperandAreLeftToTheCaller) {
  for (const Instruction* i : {&make({0x50}), &make({0x58}), &make({0xc3}), &make({0xc9}), &make({0xe8, 0, 0, 0, 0})}) {
    ucontext_t context = contextAt(0x1000);
    ucontext_t before = context;
    uintptr_t places[kMaxOperands] = {};
    Stored stored;
    EXPECT_EQ(execute(*i, context, places, 1, stored), Executed::Unsupported);
    EXPECT_EQ(memcmp(&context.uc_mcontext.gregs, &before.uc_mcontext.gregs, sizeof(gregset_t)), 0);
  }
}

TEST_F(Instructions, AreReadToTheEndOfTheirPage) {
  auto* pages =
      static_cast<uint8_t*>(mmap(nullptr, 2 * kPage, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
  ASSERT_NE(pages, MAP_FAILED);
  const uint8_t store[] = {0x48, 0xc7, 0x07, 1, 2, 3, 4};  // movq $0x4030201,(%rdi)
  auto end = reinterpret_cast<uintptr_t>(pages) + kPage;
  memcpy(pages + kPage - 7, store, 7);
  ASSERT_EQ(mprotect(pages + kPage, kPage, PROT_NONE), 0);
  const Instruction* last = instructionAt(end - 7);
  ASSERT_NE(last, nullptr);
  EXPECT_EQ(lengthOf(*last), 7);
  // One that would go on in the page that isn't there, and the same when it is.
  memcpy(pages + kPage - 3, store, 3);
  EXPECT_EQ(instructionAt(end - 3), nullptr);
  ASSERT_EQ(mprotect(pages + kPage, kPage, PROT_READ | PROT_WRITE), 0);
  memcpy(pages + kPage, store + 3, 4);
  const Instruction* across = instructionAt(end - 3);
  ASSERT_NE(across, nullptr);
  EXPECT_EQ(lengthOf(*across), 7);
  forgetInstructions(end - kPage, end + kPage);
  munmap(pages, 2 * kPage);
}

TEST_F(Instructions, AreForgottenWithTheirCode) {
  uintptr_t pc = put({0x48, 0x89, 0x07, 0x90, 0x90});  // mov %rax,(%rdi)
  const Instruction* store = instructionAt(pc);
  auto* bytes = reinterpret_cast<uint8_t*>(pc);
  const uint8_t load[] = {0x48, 0x8b, 0x47, 0x08, 0x90};  // mov 8(%rdi),%rax
  forgetInstructions(pc, pc + 1);
  memcpy(bytes, load, 5);
  const Instruction* other = instructionAt(pc);
  ASSERT_NE(other, nullptr);
  EXPECT_NE(other, store);
  EXPECT_EQ(kindOf(*other), BLACKOUT_SITE_Load);
  EXPECT_EQ(lengthOf(*other), 4);
  // The same code again, as when a library is loaded once more: no memory is used up.
  forgetInstructions(pc, pc + 1);
  EXPECT_EQ(instructionAt(pc), other);
  // Where a patch lies over it, its own bytes are given.
  uint8_t original[15] = {0x0f, 0xae, 0xf8};
  uintptr_t patched = put({0xcc, 0xae, 0xf8});
  EXPECT_EQ(kindOf(*instructionAt(patched, original)), BLACKOUT_SITE_Sfence);
}

TEST_F(Instructions, CopyAsFarAsTheirSourceGoes) {
  constexpr size_t kReadable = 100;
  auto* source =
      static_cast<uint8_t*>(mmap(nullptr, 2 * kPage, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
  ASSERT_NE(source, MAP_FAILED);
  for (size_t n = 0; n < kPage; ++n) source[n] = uint8_t(n * 7 + 1);
  ASSERT_EQ(mprotect(source + kPage, kPage, PROT_NONE), 0);
  memset(memory.second, 0, memory.size);
  protect(memory, true);
  const uint8_t* from = source + kPage - kReadable;
  uint8_t* to = memory.memory + 5;
  size_t left = 300;
  trap = {};
  __asm__ volatile(
      "leaq 1f(%%rip), %%rax\n\t"
      "movq %%rax, %[unexecuted]\n\t"
      "rep movsb\n\t"
      "1:"
      : "+S"(from), "+D"(to), "+c"(left), [unexecuted] "=m"(unexecuted)
      :
      : "rax", "memory", "cc");
  unexecuted = nullptr;
  EXPECT_EQ(trap.count, 1);
  EXPECT_EQ(trap.executed, Executed::Faulted);
  EXPECT_EQ(from, source + kPage);
  EXPECT_EQ(to, memory.memory + 5 + kReadable);
  EXPECT_EQ(left, 300 - kReadable);
  EXPECT_EQ(memcmp(memory.second + 5, source + kPage - kReadable, kReadable), 0);
  EXPECT_EQ(memory.second[5 + kReadable], 0);
  munmap(source, 2 * kPage);
}

// Calls body with the context of a store of the xmm0 register, in the handler of its fault. All of k1 is set.
void (*inHandler)(ucontext_t& context);
void handleOnce(int, siginfo_t*, void* c) {
  auto& context = *static_cast<ucontext_t*>(c);
  if (executionFaulted(context)) return;
  inHandler(context);
  context.uc_mcontext.gregs[REG_RIP] = greg_t(reinterpret_cast<uintptr_t>(unexecuted));
}
void withContext(void (*body)(ucontext_t&), uint8_t* address) {
  struct sigaction action = {};
  struct sigaction before;
  action.sa_sigaction = handleOnce;
  action.sa_flags = SA_SIGINFO | SA_ONSTACK | SA_NODEFER;
  sigaction(SIGSEGV, &action, &before);
  struct sigaction arithmetic;
  sigaction(SIGFPE, &action, &arithmetic);
  inHandler = body;
  __asm__ volatile(
      "leaq 1f(%%rip), %%rax\n\t"
      "movq %%rax, %[unexecuted]\n\t"
      "testl %[masks], %[masks]\n\t"
      "je 2f\n\t"
      "kxnorw %%k1, %%k1, %%k1\n\t"
      "2:\n\t"
      "movdqu %%xmm0, (%[address])\n\t"
      "1:"
      : [unexecuted] "=m"(unexecuted)
      : [address] "r"(address), [masks] "r"(int{__builtin_cpu_supports("avx512f")})
      : "rax", "memory", "cc");
  unexecuted = nullptr;
  sigaction(SIGSEGV, &before, nullptr);
  sigaction(SIGFPE, &arithmetic, nullptr);
}

TEST_F(Instructions, ChangeNothingWhereTheirPlaceIsNotMapped) {
  protect(memory, true);
  static bool called;
  called = false;
  withContext(
      [](ucontext_t& context) {
        called = true;
        ucontext_t before = context;
        uintptr_t places[kMaxOperands] = {reinterpret_cast<uintptr_t>(memory.memory), 0};
        Stored stored;
        uintptr_t pc = uintptr_t(context.uc_mcontext.gregs[REG_RIP]);
        // The store itself; a push of memory; a load; a masked store.
        for (const Instruction* i : {instructionAt(pc), &make({0xff, 0x31}), &make({0x48, 0x8b, 0x01}),
                                     &make({0x66, 0x0f, 0xf7, 0xc0}), &make({0xdd, 0x01})}) {
          bool masked = kindOf(*i) == BLACKOUT_SITE_StoreNt;
          Executed executed = execute(*i, context, places, 1, stored);
          // A masked store may have nothing to store.
          EXPECT_TRUE(executed == Executed::Faulted || (masked && !stored.any && executed == Executed::Done));
          if (masked) context.uc_mcontext.gregs[REG_RIP] = before.uc_mcontext.gregs[REG_RIP];
          EXPECT_EQ(memcmp(&context.uc_mcontext.gregs, &before.uc_mcontext.gregs, sizeof(gregset_t)), 0);
        }
      },
      memory.memory);
  EXPECT_TRUE(called);
}

TEST_F(Instructions, ChangeNothingWhereTheyDivideByZero) {
  memset(memory.second, 0, 8);
  protect(memory, true);
  static bool called;
  called = false;
  withContext(
      [](ucontext_t& context) {
        called = true;
        ucontext_t before = context;
        uintptr_t places[kMaxOperands] = {reinterpret_cast<uintptr_t>(memory.second), 0};
        Stored stored;
        EXPECT_EQ(execute(make({0x48, 0xf7, 0x31}), context, places, 1, stored), Executed::Faulted);  // divq (%rcx)
        EXPECT_EQ(memcmp(&context.uc_mcontext.gregs, &before.uc_mcontext.gregs, sizeof(gregset_t)), 0);
      },
      memory.memory);
  EXPECT_TRUE(called);
}

// What a mask leaves out may not be there.
TEST_F(Instructions, TouchNoElementThatTheirMaskLeavesOut) {
  if (!__builtin_cpu_supports("avx512bw")) GTEST_SKIP() << "no AVX-512";
  protect(memory, true);
  static uint8_t* pages;
  pages = static_cast<uint8_t*>(mmap(nullptr, 2 * kPage, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
  ASSERT_NE(pages, MAP_FAILED);
  ASSERT_EQ(mprotect(pages + kPage, kPage, PROT_NONE), 0);
  withContext(
      [](ucontext_t& context) {
        context.uc_mcontext.gregs[REG_RCX] = 0x5000;
        uintptr_t places[kMaxOperands] = {reinterpret_cast<uintptr_t>(pages) + kPage - 16, 0};
        // vmovdqu8 %zmm0,(%rcx){%k1}, where 16 of the 64 bytes have their mask set; and back to %zmm1.
        for (const Instruction* i :
             {&make({0x62, 0xf1, 0x7f, 0x49, 0x7f, 0x01}), &make({0x62, 0xf1, 0x7f, 0x49, 0x6f, 0x09})}) {
          Access a = accessOf(*i, context);
          EXPECT_EQ(a.count, 1);
          EXPECT_EQ(a.operands[0].address, 0x5000u);
          EXPECT_EQ(a.operands[0].size, 16u);
          Stored stored;
          EXPECT_EQ(execute(*i, context, places, 1, stored), Executed::Done);
          if (a.operands[0].written) EXPECT_EQ(stored.mask, 0xffffu);
        }
        const auto* registers = reinterpret_cast<const uint8_t*>(context.uc_mcontext.fpregs) + 160;
        EXPECT_EQ(memcmp(pages + kPage - 16, registers, 16), 0);
        EXPECT_EQ(memcmp(pages + kPage - 16, registers + 16, 16), 0);
      },
      memory.memory);
  munmap(pages, 2 * kPage);
}

// A processor without XSAVE: the frame has an FXSAVE area only.
TEST_F(Instructions, WithTheOldStateOnly) {
  protect(memory, true);
  static bool called;
  called = false;
  withContext(
      [](ucontext_t& context) {
        called = true;
        alignas(64) uint8_t area[512];
        memcpy(area, context.uc_mcontext.fpregs, sizeof area);
        memset(area + 464, 0, 48);
        for (int n = 0; n < 16; ++n) area[160 + 3 * 16 + n] = uint8_t(n + 1);  // xmm3
        ucontext_t old = context;
        old.uc_mcontext.fpregs = reinterpret_cast<fpregset_t>(area);
        old.uc_mcontext.gregs[REG_RCX] = greg_t(reinterpret_cast<uintptr_t>(memory.memory));
        uintptr_t places[kMaxOperands] = {reinterpret_cast<uintptr_t>(memory.second), 0};
        Stored stored;
        EXPECT_EQ(execute(make({0xf3, 0x0f, 0x7f, 0x19}), old, places, 1, stored), Executed::Done);  // movdqu %xmm3
        EXPECT_EQ(memcmp(memory.second, area + 160 + 3 * 16, 16), 0);
        EXPECT_EQ(execute(make({0xf3, 0x0f, 0x6f, 0x29}), old, places, 1, stored), Executed::Done);  // movdqu ,%xmm5
        EXPECT_EQ(memcmp(memory.second, area + 160 + 5 * 16, 16), 0);
        EXPECT_EQ(execute(make({0xc5, 0xfe, 0x6f, 0x01}), old, places, 1, stored), Executed::Unsupported);  // ymm
        old.uc_mcontext.fpregs = nullptr;
        EXPECT_EQ(execute(make({0xf3, 0x0f, 0x7f, 0x19}), old, places, 1, stored), Executed::Unsupported);
      },
      memory.memory);
  EXPECT_TRUE(called);
}

TEST_F(Instructions, WithoutMemoryAreFencesOnly) {
  uintptr_t pc = put({0x0f, 0xae, 0xf8});  // sfence
  ucontext_t context = contextAt(pc);
  uintptr_t places[kMaxOperands] = {};
  Stored stored;
  EXPECT_EQ(execute(*instructionAt(pc), context, places, 1, stored), Executed::Done);
  EXPECT_EQ(uintptr_t(context.uc_mcontext.gregs[REG_RIP]), pc + 3);
  EXPECT_FALSE(stored.any);
  EXPECT_EQ(execute(make({0x48, 0x89, 0xc8}), context, places, 1, stored), Executed::Unsupported);  // mov %rcx,%rax
}

TEST_F(Instructions, OfSeveralThreadsAtOnce) {
  constexpr int kThreads = 4;
  constexpr int kTimes = 5000;
  memset(memory.second, 0, memory.size);
  protect(memory, true);
  std::vector<std::thread> threads;
  for (int t = 0; t < kThreads; ++t)
    threads.emplace_back([t] {
      catchTraps();
      auto* shared = reinterpret_cast<uint64_t*>(memory.memory);
      auto* own = memory.memory + kPage * size_t(t + 1);
      for (uint64_t n = 0; n < kTimes; ++n) {
        uint64_t words[2] = {n, n * uint64_t(t + 3)};
        uint64_t back[2];
        __asm__ volatile(
            "lock incq (%[shared])\n\t"
            "movdqu (%[words]), %%xmm7\n\t"
            "movdqu %%xmm7, 16(%[own])\n\t"
            "pxor %%xmm7, %%xmm7\n\t"
            "movdqu 16(%[own]), %%xmm9\n\t"
            "movdqu %%xmm9, (%[back])"
            :
            : [shared] "r"(shared), [own] "r"(own), [words] "r"(words), [back] "r"(back)
            : "memory", "cc", "xmm7", "xmm9");
        if (memcmp(words, back, sizeof words) != 0) {
          ADD_FAILURE() << "thread " << t << " read back something else";
          return;
        }
      }
    });
  for (std::thread& t : threads) t.join();
  uint64_t sum;
  memcpy(&sum, memory.second, 8);
  EXPECT_EQ(sum, uint64_t(kThreads) * kTimes);
}

// Figures for bench/run, which has their limits.
TEST_F(Instructions, Figures) {
  protect(memory, true);
  withContext(
      [](ucontext_t& context) {
        struct Case {
          const char* name;
          const Instruction* i;
        };
        std::vector<Case> cases = {{"mov store", &make({0x48, 0x89, 0x01})},
                                   {"lock xadd", &make({0xf0, 0x48, 0x0f, 0xc1, 0x01})},
                                   {"movdqu store", &make({0xf3, 0x0f, 0x7f, 0x01})},
                                   {"movdqu load", &make({0xf3, 0x0f, 0x6f, 0x01})}};
        if (__builtin_cpu_supports("avx")) cases.push_back({"vmovdqu ymm load", &make({0xc5, 0xfe, 0x6f, 0x01})});
        if (__builtin_cpu_supports("avx512f")) {
          cases.push_back({"vmovdqu64 zmm store", &make({0x62, 0xf1, 0xfe, 0x48, 0x7f, 0x01})});
          cases.push_back({"vmovdqu64 zmm load", &make({0x62, 0xf1, 0xfe, 0x48, 0x6f, 0x01})});
          cases.push_back({"vmovdqu64 zmm masked store", &make({0x62, 0xf1, 0xfe, 0x49, 0x7f, 0x01})});
        }
        greg_t pc = context.uc_mcontext.gregs[REG_RIP];
        for (const Case& c : cases) {
          // The best of several: the machine has other things to do.
          constexpr int kTimes = 1000;
          long each = LONG_MAX;
          for (int turn = 0; turn < 20; ++turn) {
            auto start = std::chrono::steady_clock::now();
            for (int n = 0; n < kTimes; ++n) {
              Access a = accessOf(*c.i, context);
              uintptr_t places[kMaxOperands] = {reinterpret_cast<uintptr_t>(memory.second), 0};
              Stored stored;
              if (a.count != 1 || execute(*c.i, context, places, 1, stored) != Executed::Done) ADD_FAILURE() << c.name;
            }
            auto time = std::chrono::steady_clock::now() - start;
            each = std::min(each, long(std::chrono::duration_cast<std::chrono::nanoseconds>(time).count() / kTimes));
          }
          printf("%s: %d ns\n", c.name, int(each));
        }
        context.uc_mcontext.gregs[REG_RIP] = pc;
      },
      memory.memory);
}

}  // namespace
