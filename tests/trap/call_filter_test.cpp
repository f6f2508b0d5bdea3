// The table of system calls against the kernel's own list, and the filters made from it against the table: each filter
// is run by a small interpreter over every number and every place that decides.

#include "runtime/trap/call_filter.h"

#include <asm/unistd_64.h>
#include <gtest/gtest.h>
#include <linux/audit.h>
#include <linux/seccomp.h>
#include <sys/mman.h>

#include <cstring>
#include <fstream>
#include <map>
#include <string>
#include <vector>

namespace blackout::rt {
namespace {

// The system calls that <asm/unistd_64.h> names.
std::map<long, std::string> kernelCalls() {
  std::map<long, std::string> calls;
  std::ifstream header(UNISTD_HEADER);
  std::string define, name;
  for (std::string line; std::getline(header, line);) {
    if (line.rfind("#define __NR_", 0) != 0) continue;
    size_t blank = line.find_first_of(" \t", 13);
    calls[std::stol(line.substr(blank))] = line.substr(13, blank - 13);
  }
  return calls;
}

TEST(SystemCalls, EveryNumberOnceInOrder) {
  for (size_t i = 1; i < kSystemCallCount; ++i)
    EXPECT_LT(kSystemCalls[i - 1].number, kSystemCalls[i].number) << kSystemCalls[i].name;
  std::map<long, std::string> kernel = kernelCalls();
  ASSERT_GT(kernel.size(), 300U);
  for (const auto& [number, name] : kernel) {
    const SystemCall* call = systemCall(number);
    ASSERT_NE(call, nullptr) << name;
    EXPECT_EQ(call->name, name);
  }
  EXPECT_EQ(systemCall(335), nullptr);
  EXPECT_EQ(systemCall(-1), nullptr);
}

TEST(SystemCalls, SizesAreArguments) {
  for (const SystemCall& call : kSystemCalls)
    for (const CallArgument& argument : call.arguments) {
      bool sized = argument.kind == CallArgument::Kind::Reads || argument.kind == CallArgument::Kind::Writes;
      if (sized) {
        EXPECT_LT(argument.number, kCallArguments) << call.name;
        EXPECT_EQ(call.arguments[argument.number].kind, CallArgument::Kind::Plain) << call.name;
      }
    }
  EXPECT_EQ(systemCall(__NR_read)->addresses(), 2);
  EXPECT_EQ(systemCall(__NR_mmap)->addresses(), 0);
  EXPECT_EQ(systemCall(__NR_renameat)->addresses(), 2 | 8);
}

uint32_t decide(const CallFilter& filter, const seccomp_data& data) {
  uint32_t a = 0;
  for (unsigned pc = 0; pc < filter.size; ++pc) {
    const sock_filter& i = filter.code[pc];
    bool holds = false;
    switch (i.code) {
      case BPF_LD | BPF_W | BPF_ABS:
        memcpy(&a, reinterpret_cast<const char*>(&data) + i.k, sizeof a);
        continue;
      case BPF_RET | BPF_K:
        return i.k;
      case BPF_JMP | BPF_JA:
        pc += i.k;
        continue;
      case BPF_JMP | BPF_JEQ | BPF_K:
        holds = a == i.k;
        break;
      case BPF_JMP | BPF_JGE | BPF_K:
        holds = a >= i.k;
        break;
      case BPF_JMP | BPF_JGT | BPF_K:
        holds = a > i.k;
        break;
      case BPF_JMP | BPF_JSET | BPF_K:
        holds = (a & i.k) != 0;
        break;
      default:
        ADD_FAILURE() << "an instruction that the interpreter doesn't know: " << i.code;
        return 0;
    }
    pc += holds ? i.jt : i.jf;
  }
  ADD_FAILURE() << "the filter ends without a decision";
  return 0;
}

seccomp_data callOf(long number, uintptr_t place) {
  seccomp_data data{};
  data.nr = int(number);
  data.arch = AUDIT_ARCH_X86_64;
  data.instruction_pointer = place;
  return data;
}

constexpr unsigned kTrap = SECCOMP_RET_TRAP | kHandedOver;
constexpr uintptr_t kOwn = 0x7ffff0001234;
constexpr long kBeyond = 600;

void checkAddresses(uintptr_t begin, uintptr_t end) {
  CallFilter filter;
  filterAddresses(filter, kOwn, begin, end);
  ASSERT_LE(filter.size, 1200U);
  for (long number = 0; number < kBeyond; ++number) {
    const SystemCall* call = systemCall(number);
    uint8_t addresses = call == nullptr ? 0 : call->addresses();
    for (int i = 0; i < kCallArguments; ++i)
      for (uintptr_t address : {begin - 1, begin, end - 1, end, begin + (uint64_t{1} << 40)}) {
        seccomp_data data = callOf(number, kOwn + 1);
        data.args[i] = address;
        bool handed = address >= begin && address < end && (addresses >> i & 1) != 0;
        EXPECT_EQ(decide(filter, data), handed ? kTrap : SECCOMP_RET_ALLOW) << number << " " << i;
        data.instruction_pointer = kOwn;
        EXPECT_EQ(decide(filter, data), SECCOMP_RET_ALLOW);
        data.instruction_pointer = kOwn + (uint64_t{1} << 32);
        EXPECT_EQ(decide(filter, data), handed ? kTrap : SECCOMP_RET_ALLOW);
        data.arch = AUDIT_ARCH_I386;
        EXPECT_EQ(decide(filter, data), SECCOMP_RET_ALLOW);
      }
  }
}
TEST(AddressFilter, DecidesAsTheTableSays) { checkAddresses(0x290000001000, 0x290000009000); }
TEST(AddressFilter, LargeStretch) {
  // The upper halves decide alone.
  CallFilter filter;
  filterAddresses(filter, kOwn, 0x100000000000, 0x200000000000);
  seccomp_data data = callOf(__NR_write, 1);
  data.args[1] = 0x180000000000;
  EXPECT_EQ(decide(filter, data), kTrap);
  data.args[1] = 0x200000000000;
  EXPECT_EQ(decide(filter, data), SECCOMP_RET_ALLOW);
}

void checkInstructions(Caller caller, size_t count) {
  std::vector<uintptr_t> after;
  for (size_t i = 0; i < count; ++i) after.push_back(0x555500001002 + i * 37);
  CallFilter filter;
  filterInstructions(filter, caller, after.data(), after.size());
  ASSERT_LE(filter.size, CallFilter::kMost);
  for (long number = -1; number < kBeyond; ++number) {
    if (number == __NR_mmap) continue;
    for (uintptr_t place : {after.front(), after[count / 2], after.back()}) {
      uint32_t wanted = handsOver(caller, number) ? kTrap : SECCOMP_RET_ALLOW;
      EXPECT_EQ(decide(filter, callOf(number, place)), wanted) << number;
      EXPECT_EQ(decide(filter, callOf(number, place + 1)), SECCOMP_RET_ALLOW);
      EXPECT_EQ(decide(filter, callOf(number, place + (uint64_t{1} << 32))), SECCOMP_RET_ALLOW);
    }
    EXPECT_EQ(decide(filter, callOf(number, after.front() - 1)), SECCOMP_RET_ALLOW);
    EXPECT_EQ(decide(filter, callOf(number, after.back() + 1)), SECCOMP_RET_ALLOW);
  }
  for (uintptr_t place : after) EXPECT_EQ(decide(filter, callOf(__NR_statfs, place)), kTrap);
  seccomp_data other = callOf(__NR_statfs, after[0]);
  other.arch = AUDIT_ARCH_I386;
  EXPECT_EQ(decide(filter, other), kTrap);
  other.instruction_pointer += 1;
  EXPECT_EQ(decide(filter, other), SECCOMP_RET_ALLOW);
}
TEST(InstructionFilter, DecidesAsTheTableSays) {
  for (Caller caller : {Caller::Program, Caller::Restart, Caller::Libc})
    for (size_t count : {size_t{1}, size_t{7}, size_t{8}, size_t{9}, size_t{530}, kMostInstructions})
      checkInstructions(caller, count);
}

TEST(InstructionFilter, WhoHandsOverWhat) {
  EXPECT_TRUE(handsOver(Caller::Program, __NR_openat));
  EXPECT_FALSE(handsOver(Caller::Libc, __NR_close));
  EXPECT_FALSE(handsOver(Caller::Program, __NR_getpid));
  EXPECT_TRUE(handsOver(Caller::Restart, __NR_getpid));
  EXPECT_FALSE(handsOver(Caller::Libc, __NR_getpid));
  EXPECT_FALSE(handsOver(Caller::Restart, __NR_futex));
  for (Caller caller : {Caller::Program, Caller::Restart, Caller::Libc}) {
    EXPECT_TRUE(handsOver(caller, __NR_io_uring_setup));
    EXPECT_TRUE(handsOver(caller, __NR_statfs));
    EXPECT_TRUE(handsOver(caller, 400));   // between two stretches of numbers
    EXPECT_TRUE(handsOver(caller, 9999));  // of a later kernel
    EXPECT_FALSE(handsOver(caller, __NR_exit_group));
    EXPECT_FALSE(handsOver(caller, __NR_rt_sigreturn));
  }
}

TEST(InstructionFilter, AnAllocatorsMemoryIsLetThrough) {
  uintptr_t after = 0x555500001002;
  CallFilter filter;
  filterInstructions(filter, Caller::Program, &after, 1);
  auto mapping = [&](int protection, int flags) {
    seccomp_data data = callOf(__NR_mmap, after);
    data.args[2] = uint64_t(protection);
    data.args[3] = uint64_t(flags);
    return decide(filter, data);
  };
  constexpr int kBoth = PROT_READ | PROT_WRITE;
  EXPECT_EQ(mapping(kBoth, MAP_PRIVATE | MAP_ANONYMOUS), SECCOMP_RET_ALLOW);
  EXPECT_EQ(mapping(kBoth, MAP_SHARED), kTrap);
  EXPECT_EQ(mapping(kBoth, MAP_PRIVATE), kTrap);
  EXPECT_EQ(mapping(kBoth, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED), kTrap);
  EXPECT_EQ(mapping(kBoth, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE), kTrap);
  EXPECT_EQ(mapping(PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS), kTrap);
  EXPECT_EQ(mapping(kBoth | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS), kTrap);
}

}  // namespace
}  // namespace blackout::rt
