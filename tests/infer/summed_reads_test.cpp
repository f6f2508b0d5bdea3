// Reads of which nothing is used but a checksum, on hand-written modules: a loop that adds words to a sum, and what is
// done with it. What drops or repeats bits, or is used for anything else, must not be taken for one.
#include "infer/summed_reads.h"

#include <gtest/gtest.h>

#include "llvm/AsmParser/Parser.h"
#include "llvm/Bitcode/BitcodeWriter.h"
#include "llvm/IR/LLVMContext.h"
#include "llvm/IR/Module.h"
#include "llvm/Support/SourceMgr.h"
#include "llvm/Support/raw_ostream.h"

namespace blackout {
namespace {

constexpr const char* kRest = R"(
@table = global [256 x i64] zeroinitializer
@small = global [16 x i64] zeroinitializer
@kept = global i64 0
declare i64 @llvm.fshl.i64(i64, i64, i64)
declare void @llvm.x86.clwb(ptr)
declare void @take(i64)
define void @flush(ptr %p) {
  call void @llvm.x86.clwb(ptr %p), !blackout.field !10
  ret void
}
!blackout.prepared = !{!0}
!0 = !{i32 1}
!10 = !{!"N"}
!1 = !{!"N.words[]"}
!2 = !{!"N.sum"}
)";

// A function whose loop makes %next of %h and the word %w, and that does `after` with the sum %h.
std::string function(const std::string& turn, const std::string& after, const std::string& name = "f") {
  return "define i64 @" + name + R"((ptr %p, i64 %n, i64 %want) {
entry:
  br label %head
head:
  %i = phi i64 [ 0, %entry ], [ %i1, %body ]
  %h = phi i64 [ 7, %entry ], [ %next, %body ]
  %go = icmp ult i64 %i, %n
  br i1 %go, label %body, label %end
body:
  %at = getelementptr i64, ptr %p, i64 %i
  %w = load i64, ptr %at, !blackout.field !1
)" + turn +
         R"(
  %i1 = add i64 %i, 1
  br label %head
end:
)" + after +
         "\n}\n";
}

constexpr const char* kCompare = "%same = icmp eq i64 %h, %want\n %told = zext i1 %same to i64\n ret i64 %told";
constexpr const char* kFnv = "%x = xor i64 %h, %w\n %next = mul i64 %x, 1099511628211";

std::vector<SummedRead> readsOf(const std::string& functions) {
  llvm::LLVMContext context;
  llvm::SMDiagnostic error;
  std::unique_ptr<llvm::Module> m = llvm::parseAssemblyString(functions + kRest, error, context);
  if (m == nullptr) {
    ADD_FAILURE() << error.getLineNo() << ": " << error.getMessage().str();
    return {};
  }
  std::string bitcode;
  llvm::raw_string_ostream out(bitcode);
  llvm::WriteBitcodeToFile(*m, out);
  ProgramBitcode program;
  program.units.push_back({"sum", "sum", bitcode});
  return summedReads(program);
}

// Whether the words are only summed, on all ways.
bool onlySummed(const std::string& functions) {
  std::vector<SummedRead> reads = readsOf(functions);
  return reads.size() == 1 && reads[0].used.empty();
}
bool mixes(const std::string& turn) { return onlySummed(function(turn, kCompare)); }

TEST(SummedReads, WhatMixes) {
  EXPECT_TRUE(mixes(kFnv));
  EXPECT_TRUE(mixes("%r = call i64 @llvm.fshl.i64(i64 %h, i64 %h, i64 5)\n %next = add i64 %r, %w"));
  EXPECT_TRUE(mixes("%a = shl i64 %h, 5\n %b = lshr i64 %h, 59\n %r = or i64 %a, %b\n %next = xor i64 %r, %w"));
  EXPECT_TRUE(mixes("%x = add i64 %h, %w\n %s = lshr i64 %x, 29\n %next = xor i64 %x, %s"));
  EXPECT_TRUE(
      mixes("%x = xor i64 %h, %w\n %k = and i64 %x, 255\n %e = getelementptr [256 x i64], ptr @table, i64 0, i64 "
            "%k\n %t = load i64, ptr %e\n %s = lshr i64 %h, 8\n %next = xor i64 %t, %s"));
}

TEST(SummedReads, WhatDoesNotMix) {
  EXPECT_FALSE(mixes("%next = add i64 %h, %w"));
  EXPECT_FALSE(mixes("%next = xor i64 %h, %w"));
  EXPECT_FALSE(mixes("%next = or i64 %h, %w"));
  EXPECT_FALSE(mixes("%m = mul i64 %h, 31\n %next = add i64 %m, %w"));             // differences stay small
  EXPECT_FALSE(mixes("%m = mul i64 %h, 1099511628210\n %next = add i64 %m, %w"));  // an even factor drops bits
  EXPECT_FALSE(mixes("%s = shl i64 %h, 8\n %next = xor i64 %s, %w"));              // the last words only
  EXPECT_FALSE(mixes("%x = xor i64 %h, %w\n %m = mul i64 %x, 1099511628211\n %next = and i64 %m, 255"));
  EXPECT_FALSE(
      mixes("%x = xor i64 %h, %w\n %k = and i64 %x, 15\n %e = getelementptr [16 x i64], ptr @small, i64 0, i64 "
            "%k\n %t = load i64, ptr %e\n %next = xor i64 %t, %h"));
}

// As function(), with a loop of bits in each turn: %x goes in, %c is so far, `step` makes %d of it.
std::string bitByBit(const std::string& step, const std::string& after) {
  return R"(define i64 @f(ptr %p, i64 %n, i64 %want) {
entry:
  br label %head
head:
  %i = phi i64 [ 0, %entry ], [ %i1, %more ]
  %h = phi i64 [ 7, %entry ], [ %d, %more ]
  %go = icmp ult i64 %i, %n
  br i1 %go, label %body, label %end
body:
  %at = getelementptr i64, ptr %p, i64 %i
  %w = load i64, ptr %at, !blackout.field !1
  %x = xor i64 %h, %w
  br label %bits
bits:
  %c = phi i64 [ %x, %body ], [ %d, %bits ]
  %k = phi i64 [ 0, %body ], [ %k1, %bits ]
)" + step +
         R"(
  %k1 = add i64 %k, 1
  %again = icmp ult i64 %k1, 64
  br i1 %again, label %bits, label %more
more:
  %i1 = add i64 %i, 1
  br label %head
end:
)" + after +
         "\n}\n";
}

TEST(SummedReads, BitByBit) {
  const std::string down = "%s = lshr i64 %c, 1\n %b = and i64 %c, 1\n ";
  const std::string chosen =
      down + "%t = icmp ne i64 %b, 0\n %y = xor i64 %s, -3932672073523589310\n %d = select i1 %t, i64 %y, i64 %s";
  const std::string masked = down + "%m = sub i64 0, %b\n %a = and i64 %m, -3932672073523589310\n %d = xor i64 %s, %a";
  const std::string up =
      "%s = shl i64 %c, 1\n %t = icmp slt i64 %c, 0\n %y = select i1 %t, i64 4823603603198064275, i64 0\n %d = xor i64 "
      "%s, %y";
  for (const std::string& step : {chosen, masked, up}) EXPECT_TRUE(onlySummed(bitByBit(step, kCompare))) << step;
  EXPECT_FALSE(onlySummed(bitByBit(chosen, "store i64 %h, ptr @kept\n ret i64 0")));
  // A constant without its highest bit makes one sum of two.
  EXPECT_FALSE(onlySummed(
      bitByBit(down + "%m = sub i64 0, %b\n %a = and i64 %m, 5290699963331186498\n %d = xor i64 %s, %a", kCompare)));
  // Shifted, and no more; a bit that is looked at; one bit for a whole word.
  EXPECT_FALSE(onlySummed(bitByBit("%d = lshr i64 %c, 1", kCompare)));
  EXPECT_FALSE(onlySummed(bitByBit(chosen + "\n %q = zext i1 %t to i64\n store i64 %q, ptr @kept", kCompare)));
  EXPECT_FALSE(
      mixes("%c = xor i64 %h, %w\n %s = lshr i64 %c, 1\n %b = and i64 %c, 1\n %m = sub i64 0, %b\n %a = and i64 %m, "
            "-3932672073523589310\n %next = xor i64 %s, %a"));
}

// As bitByBit(), with a branch in the loop of bits: `odd` and `even` are what the two ways do.
std::string byBranch(const std::string& odd, const std::string& even, const std::string& met,
                     const std::string& after) {
  std::string f = bitByBit("%b = and i64 %c, 1\n %t = icmp ne i64 %b, 0\n br i1 %t, label %odd, label %even\nodd:\n" +
                               odd + "\n br label %met\neven:\n" + even + "\n br label %met\nmet:\n" + met,
                           after);
  // The loop's turn ends in another block now.
  auto replace = [&](const std::string& what, const std::string& by) { f.replace(f.find(what), what.size(), by); };
  replace("[ %d, %bits ]", "[ %d, %met ]");
  replace("[ %k1, %bits ]", "[ %k1, %met ]");
  return f;
}

TEST(SummedReads, BitByBitByABranch) {
  const std::string odd = "%s = lshr i64 %c, 1\n %y = xor i64 %s, -3932672073523589310", even = "%z = lshr i64 %c, 1",
                    met = "%d = phi i64 [ %y, %odd ], [ %z, %even ]";
  EXPECT_TRUE(onlySummed(byBranch(odd, even, met, kCompare)));
  // One way does nothing.
  const std::string shifted = "%s = lshr i64 %c, 1\n ";
  std::string f = bitByBit(shifted +
                               "%b = and i64 %c, 1\n %t = icmp ne i64 %b, 0\n br i1 %t, label %odd, label "
                               "%met\nodd:\n %y = xor i64 %s, -3932672073523589310\n br label %met\nmet:\n %d = phi "
                               "i64 [ %y, %odd ], [ %s, %bits ]",
                           kCompare);
  for (const char* name : {"[ %d, %bits ]", "[ %k1, %bits ]"}) {
    std::string by = name;
    by.replace(by.find("%bits"), 5, "%met");
    f.replace(f.find(name), by.size() + 1, by);
  }
  EXPECT_TRUE(onlySummed(f)) << f;
  // A way that does something else, or tells which way it was; a constant without its highest bit; no constant at all.
  EXPECT_FALSE(onlySummed(byBranch(odd + "\n store i64 1, ptr @kept", even, met, kCompare)));
  EXPECT_FALSE(onlySummed(byBranch(odd, even + "\n call void @take(i64 0)", met, kCompare)));
  EXPECT_FALSE(onlySummed(
      byBranch(odd, even, met + "\n %q = phi i64 [ 1, %odd ], [ 0, %even ]\n store i64 %q, ptr @kept", kCompare)));
  EXPECT_FALSE(onlySummed(byBranch("%s = lshr i64 %c, 1\n %y = xor i64 %s, 5290699963331186498", even, met, kCompare)));
  EXPECT_FALSE(onlySummed(byBranch("%y = lshr i64 %c, 1", even, met, kCompare)));
}

// Fletcher's and Adler's sums: three neighbours can make up for each other.
TEST(SummedReads, TwoPlainSums) {
  EXPECT_FALSE(onlySummed(R"(define i64 @f(ptr %p, i64 %n, i64 %want) {
entry:
  br label %head
head:
  %i = phi i64 [ 0, %entry ], [ %i1, %body ]
  %a = phi i64 [ 1, %entry ], [ %a1, %body ]
  %b = phi i64 [ 0, %entry ], [ %b1, %body ]
  %go = icmp ult i64 %i, %n
  br i1 %go, label %body, label %end
body:
  %at = getelementptr i64, ptr %p, i64 %i
  %w = load i64, ptr %at, !blackout.field !1
  %a1 = add i64 %a, %w
  %b1 = add i64 %b, %a1
  %i1 = add i64 %i, 1
  br label %head
end:
  %s = shl i64 %b, 32
  %h = xor i64 %a, %s
)" + std::string(kCompare) +
                          "\n}\n"));
}

TEST(SummedReads, WhatElseIsDoneWithThem) {
  auto used = [](const std::string& more) { return !mixes(std::string(kFnv) + "\n" + more); };
  EXPECT_TRUE(used("store i64 %w, ptr @kept"));
  EXPECT_TRUE(used("call void @take(i64 %w)"));
  EXPECT_TRUE(used("%z = icmp eq i64 %w, 0\n %q = zext i1 %z to i64\n store i64 %q, ptr @kept"));
  EXPECT_TRUE(used("%e = getelementptr i64, ptr %p, i64 %w\n %t = load i64, ptr %e\n store i64 %t, ptr @kept"));
  // The sum is looked at in each turn.
  EXPECT_TRUE(used("%z = icmp eq i64 %h, %want\n %q = zext i1 %z to i64\n store i64 %q, ptr @kept"));
}

TEST(SummedReads, WhatIsDoneWithTheSum) {
  auto ends = [](const std::string& after) { return onlySummed(function(kFnv, after)); };
  EXPECT_TRUE(ends(kCompare));
  EXPECT_TRUE(
      ends("%s = lshr i64 %h, 33\n %y = xor i64 %h, %s\n %same = icmp ne i64 %y, %want\n %r = zext i1 %same to "
           "i64\n ret i64 %r"));
  EXPECT_FALSE(ends("%b = and i64 %h, 255\n %same = icmp eq i64 %b, %want\n %r = zext i1 %same to i64\n ret i64 %r"));
  EXPECT_FALSE(ends("%t = trunc i64 %h to i8\n %same = icmp eq i8 %t, 7\n %r = zext i1 %same to i64\n ret i64 %r"));
  EXPECT_FALSE(ends("%less = icmp ult i64 %h, %want\n %r = zext i1 %less to i64\n ret i64 %r"));
  EXPECT_FALSE(ends("store i64 %h, ptr @kept\n ret i64 0"));
  EXPECT_FALSE(ends("ret i64 0"));
  EXPECT_FALSE(ends("ret i64 %h"));  // nobody calls it
}

TEST(SummedReads, WhoCalls) {
  std::string sum = function(kFnv, "ret i64 %h");
  std::string checks = R"(define i1 @checks(ptr %p, i64 %want) {
  %h = call i64 @f(ptr %p, i64 9, i64 0)
  %same = icmp eq i64 %h, %want
  ret i1 %same
}
)";
  std::string seals = R"(define void @seals(ptr %p) {
  %h = call i64 @f(ptr %p, i64 9, i64 0)
  store i64 %h, ptr %p, !blackout.field !2
  ret void
}
)";
  EXPECT_TRUE(onlySummed(sum + checks));
  EXPECT_FALSE(onlySummed(sum + seals));
  std::vector<SummedRead> both = readsOf(sum + checks + seals);
  ASSERT_EQ(both.size(), 1U);
  EXPECT_EQ(both[0].compared.size(), 1U);
  EXPECT_EQ(both[0].used.size(), 1U);
  EXPECT_FALSE(onlySummed(sum + checks + "@taken = global ptr @f\n"));
}

// In a loop around it, it must be compared with something that is read each time.
TEST(SummedReads, InALoop) {
  auto scan = [](const std::string& stored) {
    return readsOf(function(kFnv, "ret i64 %h") + R"(define void @scan(ptr %p, i64 %want) {
entry:
  br label %head
head:
  %i = phi i64 [ 0, %entry ], [ %i1, %head ]
  %at = getelementptr i64, ptr %p, i64 %i
  %h = call i64 @f(ptr %at, i64 9, i64 0)
)" + stored + R"(
  %same = icmp eq i64 %h, %s
  %i1 = add i64 %i, 10
  br i1 %same, label %head, label %end
end:
  ret void
}
)");
  };
  auto each = scan("%e = getelementptr i64, ptr %at, i64 9\n %s = load i64, ptr %e, !blackout.field !2");
  ASSERT_EQ(each.size(), 1U);
  ASSERT_EQ(each[0].compared.size(), 1U);
  EXPECT_TRUE(each[0].compared[0].inLoop);
  EXPECT_EQ(each[0].compared[0].comparedWith.size(), 1U);
  EXPECT_TRUE(each[0].used.empty());
  EXPECT_TRUE(scan("%s = add i64 %want, 0").empty());
  EXPECT_TRUE(scan("%s = load i64, ptr %p, !blackout.field !2").empty());  // once would be enough for that
}

}  // namespace
}  // namespace blackout
