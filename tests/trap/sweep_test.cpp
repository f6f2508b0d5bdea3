// A function from its first byte to its last: what is proved, what is a fence, where branches lead; and the cheaper
// questions, which must never say no where the sweep finds a fence.
#include "runtime/trap/sweep.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <random>
#include <vector>

#include "events/contract.h"
#include "runtime/recorder.h"

namespace blackout::rt {
constinit thread_local ThreadState self = {};

namespace {

using Code = std::vector<std::uint8_t>;

struct SweepTest : testing::Test {
  static void SetUpTestSuite() { ASSERT_TRUE(loadZydis()) << "install libzydis4.0"; }

  // What stands behind the function is not its own.
  static FunctionRange rangeOf(const Code& code) {
    auto begin = reinterpret_cast<std::uintptr_t>(code.data());
    return {begin, begin + code.size()};
  }
  bool over(const Code& code) {
    begin_ = rangeOf(code).begin;
    return sweep_.over(rangeOf(code));
  }
  bool startsAt(std::size_t n) { return sweep_.starts.get(begin_ + n); }
  bool entered(std::size_t n) { return sweep_.targets.get(begin_ + n); }
  std::vector<std::uintptr_t> fencesAt() {
    std::vector<std::uintptr_t> at;
    for (const Fence& f : sweep_.fences) at.push_back(f.pc - begin_);
    return at;
  }
  // Of one instruction that is a whole function.
  int kindOf(const Code& code) {
    Decoded d;
    EXPECT_TRUE(d.at(rangeOf(code).begin, rangeOf(code).end));
    EXPECT_EQ(d.instruction.length, code.size());
    return fenceKind(d);
  }
  bool canMove(const Code& code) {
    Decoded d;
    EXPECT_TRUE(d.at(rangeOf(code).begin, rangeOf(code).end));
    return movable(d);
  }

  Sweep sweep_;
  std::uintptr_t begin_ = 0;
};

const Code kRet = {0xc3};
const Code kRequestBytes = {0x48, 0xc1, 0xc7, 0x03, 0x48, 0xc1, 0xc7, 0x0d, 0x48, 0xc1,
                            0xc7, 0x3d, 0x48, 0xc1, 0xc7, 0x33, 0x48, 0x87, 0xdb};

Code operator+(Code a, const Code& b) {
  a.insert(a.end(), b.begin(), b.end());
  return a;
}

struct Case {
  const char* name;
  Code code;
  int kind;
  bool writesFlags;
};
const std::vector<Case>& cases() {
  static const std::vector<Case> all = {
      {"sfence", {0x0f, 0xae, 0xf8}, BLACKOUT_SITE_Sfence, false},
      {"mfence", {0x0f, 0xae, 0xf0}, BLACKOUT_SITE_Mfence, false},
      {"clflush", {0x0f, 0xae, 0x3f}, BLACKOUT_SITE_Clflush, false},
      {"clflushopt", {0x66, 0x0f, 0xae, 0x3f}, BLACKOUT_SITE_Clflushopt, false},
      {"clwb", {0x66, 0x0f, 0xae, 0x37}, BLACKOUT_SITE_Clwb, false},
      {"clwb of r8", {0x66, 0x41, 0x0f, 0xae, 0x30}, BLACKOUT_SITE_Clwb, false},
      {"pause", {0xf3, 0x90}, kPauseKind, false},
      {"xchg r64, m", {0x48, 0x87, 0x07}, BLACKOUT_SITE_Rmw, false},
      {"xchg r8, m", {0x86, 0x07}, BLACKOUT_SITE_Rmw, false},
      {"lock add m, r", {0xf0, 0x48, 0x01, 0x07}, BLACKOUT_SITE_Rmw, true},
      {"lock add m, imm8", {0xf0, 0x83, 0x07, 0x01}, BLACKOUT_SITE_Rmw, true},
      {"lock add m8, imm", {0xf0, 0x80, 0x07, 0x01}, BLACKOUT_SITE_Rmw, true},
      {"lock add m, imm32", {0xf0, 0x81, 0x07, 1, 0, 0, 0}, BLACKOUT_SITE_Rmw, true},
      {"lock or m, r", {0xf0, 0x09, 0x07}, BLACKOUT_SITE_Rmw, true},
      {"lock and m, r", {0xf0, 0x21, 0x07}, BLACKOUT_SITE_Rmw, true},
      {"lock sub m, r", {0xf0, 0x29, 0x07}, BLACKOUT_SITE_Rmw, true},
      {"lock xor m, r", {0xf0, 0x31, 0x07}, BLACKOUT_SITE_Rmw, true},
      {"lock adc m, r", {0xf0, 0x11, 0x07}, BLACKOUT_SITE_Rmw, false},
      {"lock sbb m, r", {0xf0, 0x19, 0x07}, BLACKOUT_SITE_Rmw, false},
      {"lock neg m", {0xf0, 0xf7, 0x1f}, BLACKOUT_SITE_Rmw, true},
      {"lock not m8", {0xf0, 0xf6, 0x17}, BLACKOUT_SITE_Rmw, false},
      {"lock inc m", {0xf0, 0xff, 0x07}, BLACKOUT_SITE_Rmw, false},
      {"lock dec m8", {0xf0, 0xfe, 0x0f}, BLACKOUT_SITE_Rmw, false},
      {"lock xadd m, r", {0xf0, 0x48, 0x0f, 0xc1, 0x07}, BLACKOUT_SITE_Rmw, true},
      {"lock xadd m8, r", {0xf0, 0x0f, 0xc0, 0x07}, BLACKOUT_SITE_Rmw, true},
      {"lock bts m, r", {0xf0, 0x0f, 0xab, 0x07}, BLACKOUT_SITE_Rmw, false},
      {"lock btr m, r", {0xf0, 0x0f, 0xb3, 0x07}, BLACKOUT_SITE_Rmw, false},
      {"lock btc m, r", {0xf0, 0x0f, 0xbb, 0x07}, BLACKOUT_SITE_Rmw, false},
      {"lock bts m, imm", {0xf0, 0x0f, 0xba, 0x2f, 0x01}, BLACKOUT_SITE_Rmw, false},
      {"lock cmpxchg m, r", {0xf0, 0x48, 0x0f, 0xb1, 0x0f}, BLACKOUT_SITE_CmpXchg, true},
      {"lock cmpxchg m8, r", {0xf0, 0x0f, 0xb0, 0x0f}, BLACKOUT_SITE_CmpXchg, true},
      {"lock cmpxchg8b", {0xf0, 0x0f, 0xc7, 0x0f}, BLACKOUT_SITE_CmpXchg, false},
      {"lock cmpxchg16b", {0xf0, 0x48, 0x0f, 0xc7, 0x0f}, BLACKOUT_SITE_CmpXchg, false},
  };
  return all;
}

TEST_F(SweepTest, EveryKindOfFence) {
  for (const Case& c : cases()) {
    EXPECT_EQ(kindOf(c.code), c.kind) << c.name;
    EXPECT_FALSE(canMove(c.code)) << c.name;
    // Between others; what is cheaper to ask must not deny it.
    Code function = Code{0x90, 0x48, 0x89, 0xc3} + c.code + kRet;
    ASSERT_TRUE(over(function)) << c.name;
    ASSERT_EQ(fencesAt(), (std::vector<std::uintptr_t>{4})) << c.name;
    EXPECT_EQ(sweep_.fences[0].kind, c.kind) << c.name;
    EXPECT_EQ(sweep_.fences[0].length, c.code.size()) << c.name;
    EXPECT_EQ(sweep_.fences[0].room, c.code.size()) << c.name;
    EXPECT_EQ(sweep_.fences[0].writesFlags, c.writesFlags) << c.name;
    EXPECT_TRUE(mayHaveFences(rangeOf(function))) << c.name;
    // As the last one of all, with no byte behind it.
    EXPECT_TRUE(mayHaveFences(rangeOf(c.code))) << c.name;
  }
}

TEST_F(SweepTest, WhatOnlyLooksLikeOne) {
  const std::vector<std::pair<const char*, Code>> others = {{"xchg of registers", {0x48, 0x87, 0xc3}},
                                                            {"cmpxchg without lock", {0x48, 0x0f, 0xb1, 0x0f}},
                                                            {"add without lock", {0x48, 0x01, 0x07}},
                                                            {"cmpxchg16b without lock", {0x48, 0x0f, 0xc7, 0x0f}},
                                                            {"fxsave", {0x0f, 0xae, 0x07}},
                                                            {"ldmxcsr", {0x0f, 0xae, 0x17}},
                                                            {"nop", {0x90}},
                                                            {"an immediate", {0xb8, 0x0f, 0xae, 0xf8, 0x00}},
                                                            {"a part of a request", {0x48, 0x87, 0xdb}}};
  for (const auto& [name, code] : others) {
    Code function = code + kRet;
    ASSERT_TRUE(over(function)) << name;
    EXPECT_EQ(sweep_.fences.size(), 0U) << name;
    EXPECT_EQ(kindOf(code), 0) << name;
    EXPECT_TRUE(canMove(code)) << name;
  }
  EXPECT_FALSE(mayHaveFences(rangeOf(Code{0x90, 0x48, 0x01, 0x07, 0xc3})));
  // The bytes of sfence inside of another instruction: told by the lengths of all before it.
  EXPECT_FALSE(mayHaveFences(rangeOf(Code{0xb8, 0x0f, 0xae, 0xf8, 0x00, 0xc3})));
}

TEST_F(SweepTest, BytesThatFillUpAreAllAlike) {
  // No instruction by themselves where they are cut off at the end: 00 wants one more byte.
  EXPECT_TRUE(over(kRet + Code{0x00}));
  EXPECT_TRUE(over(kRet + Code{0x00, 0x00, 0x00}));
  EXPECT_TRUE(startsAt(0));
  EXPECT_TRUE(startsAt(1));   // add %al, (%rax)
  EXPECT_FALSE(startsAt(3));  // the last one, which is none
  EXPECT_TRUE(over(kRet + Code{0x90, 0xcc, 0xcc}));
  // Not an instruction (06 is none in 64-bit code), and no filling.
  EXPECT_FALSE(over(kRet + Code{0x06}));
  EXPECT_FALSE(over(kRet + Code{0x06, 0x06}));
  // An instruction that is cut off begins with a byte that fills up nowhere.
  EXPECT_FALSE(over(kRet + Code{0x0f}));
  EXPECT_FALSE(over(kRet + Code{0xe8, 0x00, 0x00}));
  // 00 05 takes a displacement of four bytes: cut off, it begins as filling does and goes on otherwise.
  EXPECT_FALSE(over(kRet + Code{0x00, 0x05, 0x00, 0x00}));
}

TEST_F(SweepTest, BranchesInsideLeadToInstructions) {
  // jmp +1 over a nop: to the ret.
  ASSERT_TRUE(over({0xeb, 0x01, 0x90, 0xc3}));
  EXPECT_TRUE(entered(3));
  EXPECT_FALSE(entered(2));
  for (std::size_t n : {0U, 2U, 3U}) EXPECT_TRUE(startsAt(n)) << n;
  EXPECT_FALSE(startsAt(1));
  EXPECT_EQ(sweep_.outside.size(), 0U);
  EXPECT_FALSE(sweep_.jumpsAnywhere);
  // To its own first byte.
  ASSERT_TRUE(over({0xeb, 0xfe}));
  EXPECT_TRUE(entered(0));
  // Into the middle of mov $imm: these bytes are not what is executed.
  EXPECT_FALSE(over({0xeb, 0x01, 0xb8, 0x90, 0x90, 0x90, 0x90, 0xc3}));
  // The sweep begins anew each time.
  ASSERT_TRUE(over({0x90, 0xc3}));
  EXPECT_FALSE(entered(0));
}

TEST_F(SweepTest, JumpsOutsideAreKeptAndCallsAreNot) {
  ASSERT_TRUE(over({0x75, 0x02, 0xc3}));  // jne to behind the end by one byte
  ASSERT_EQ(sweep_.outside.size(), 1U);
  EXPECT_EQ(sweep_.outside[0], begin_ + 4);
  ASSERT_TRUE(over({0x75, 0x01, 0xc3}));  // to the end itself, which is the next function's
  ASSERT_EQ(sweep_.outside.size(), 1U);
  EXPECT_EQ(sweep_.outside[0], begin_ + 3);
  ASSERT_TRUE(over({0xeb, 0xf0, 0xc3}));  // to before its begin
  ASSERT_EQ(sweep_.outside.size(), 1U);
  EXPECT_EQ(sweep_.outside[0], begin_ - 14);
  ASSERT_TRUE(over({0xe8, 0x00, 0x10, 0x00, 0x00, 0xc3}));  // call
  EXPECT_EQ(sweep_.outside.size(), 0U);
  ASSERT_TRUE(over({0xe8, 0x00, 0x00, 0x00, 0x00, 0xc3}));  // call of what stands behind it
  EXPECT_TRUE(entered(5));
}

TEST_F(SweepTest, JumpsToAddressesThatAreNotThere) {
  ASSERT_TRUE(over({0xff, 0xe0}));  // jmp *%rax
  EXPECT_TRUE(sweep_.jumpsAnywhere);
  ASSERT_TRUE(over({0xff, 0xe0, 0x90, 0xc3}));
  EXPECT_TRUE(sweep_.jumpsAnywhere) << "forgotten with the next instruction";
  ASSERT_TRUE(over({0xff, 0x24, 0xc7}));  // jmp *(%rdi,%rax,8)
  EXPECT_TRUE(sweep_.jumpsAnywhere);
  ASSERT_TRUE(over({0xff, 0x25, 0x00, 0x00, 0x00, 0x00}));  // jmp *0(%rip), as in .plt
  EXPECT_FALSE(sweep_.jumpsAnywhere);
  ASSERT_TRUE(over({0xff, 0xd0, 0xc3}));  // call *%rax
  EXPECT_FALSE(sweep_.jumpsAnywhere);
  ASSERT_TRUE(over(kRet));
  EXPECT_FALSE(sweep_.jumpsAnywhere);
}

TEST_F(SweepTest, ARequestIsItsNineteenBytes) {
  Code function = Code{0x90} + kRequestBytes + kRet;
  ASSERT_TRUE(over(function));
  ASSERT_EQ(fencesAt(), (std::vector<std::uintptr_t>{1}));
  EXPECT_EQ(sweep_.fences[0].kind, BLACKOUT_SITE_Request);
  EXPECT_EQ(sweep_.fences[0].length, kRequestLength);
  EXPECT_TRUE(mayHaveFences(rangeOf(function)));
  FunctionRange r = rangeOf(function);
  EXPECT_FALSE(isRequest(r.begin, r.end));
  EXPECT_TRUE(isRequest(r.begin + 1, r.end));
  EXPECT_TRUE(isRequest(r.begin + 1, r.begin + 1 + kRequestLength));
  EXPECT_FALSE(isRequest(r.begin + 1, r.begin + kRequestLength));  // its last byte is somebody else's
  for (std::size_t n = 0; n < kRequestBytes.size(); ++n) {
    Code wrong = kRequestBytes;
    wrong[n] ^= 0x01;
    EXPECT_FALSE(isRequest(rangeOf(wrong).begin, rangeOf(wrong).end)) << n;
  }
  // A jump to its first byte; one to its second instruction, which can't be replaced then.
  EXPECT_TRUE(over(Code{0xeb, 0x00} + kRequestBytes + kRet));
  EXPECT_FALSE(over(Code{0xeb, 0x04} + kRequestBytes + kRet));
  EXPECT_FALSE(over(Code{0xeb, 0x10} + kRequestBytes + kRet));
  EXPECT_TRUE(over(Code{0xeb, 0x13} + kRequestBytes + kRet));  // behind it
}

TEST_F(SweepTest, WhatCanBeMoved) {
  for (const Code& code : std::vector<Code>{{0x48, 0x89, 0xc3},                          // mov
                                            {0x48, 0x8b, 0x05, 0x00, 0x00, 0x00, 0x00},  // mov 0(%rip), %rax
                                            {0x50},                                      // push
                                            {0x48, 0x8d, 0x04, 0x37}})                   // lea
    EXPECT_TRUE(canMove(code)) << int(code[0]);
  for (const Code& code : std::vector<Code>{{0xe8, 0, 0, 0, 0},               // call
                                            {0xff, 0xd0},                     // call *%rax
                                            {0xc3},                           // ret
                                            {0xeb, 0x00},                     // jmp
                                            {0xff, 0xe0},                     // jmp *%rax
                                            {0x75, 0x00},                     // jne
                                            {0xe3, 0x00},                     // jrcxz
                                            {0xcc},                           // int3
                                            {0x0f, 0x05},                     // syscall
                                            {0xf4},                           // hlt
                                            {0xf3, 0x0f, 0x1e, 0xfa},         // endbr64
                                            {0x0f, 0x0b},                     // ud2
                                            {0x67, 0x8b, 0x05, 0, 0, 0, 0}})  // mov 0(%eip), %eax
    EXPECT_FALSE(canMove(code)) << int(code[0]);
  // A fence whose operand can't be reached from elsewhere proves nothing.
  EXPECT_FALSE(over(Code{0x67, 0xf0, 0x01, 0x05, 0, 0, 0, 0} + kRet));
  EXPECT_TRUE(over(Code{0xf0, 0x01, 0x05, 0, 0, 0, 0} + kRet));
}

// Functions of random instructions: starts are where they were put, and each fence is found.
TEST_F(SweepTest, RandomFunctions) {
  const std::vector<Code> plain = {{0x90},
                                   {0x48, 0x89, 0xc3},
                                   {0xb8, 0x0f, 0xae, 0xf8, 0xf0},
                                   {0x48, 0x8b, 0x05, 0x86, 0x07, 0xf3, 0x90},
                                   {0x0f, 0x1f, 0x44, 0x00, 0x00},
                                   {0xc5, 0xfe, 0x6f, 0x07},
                                   {0x50}};
  std::mt19937 random(7);
  for (int round = 0; round < 300; ++round) {
    Code function;
    std::vector<std::uintptr_t> starts, fences;
    for (unsigned n = 1 + random() % 40; n > 0; --n) {
      starts.push_back(function.size());
      bool fence = random() % 8 == 0;
      if (fence) fences.push_back(function.size());
      function = function + (fence ? cases()[random() % cases().size()].code : plain[random() % plain.size()]);
    }
    ASSERT_TRUE(over(function));
    std::vector<std::uintptr_t> found;
    for (std::size_t n = 0; n < function.size(); ++n)
      if (startsAt(n)) found.push_back(n);
    EXPECT_EQ(found, starts);
    EXPECT_EQ(fencesAt(), fences);
    if (!fences.empty()) EXPECT_TRUE(mayHaveFences(rangeOf(function)));
  }
}

}  // namespace
}  // namespace blackout::rt
