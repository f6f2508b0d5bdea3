// Places lead with the reader's own line, and show his call however deep in a library the instruction is; likely
// linearization points are counted.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "report/text.h"

namespace blackout {
namespace {

using testing::HasSubstr;
using testing::Not;

std::string textOf(std::vector<Frame> stack, bool incidental) {
  Finding f = makeFinding(FindingKind::CleanFlush);
  NumberedPlace place;
  place.label = "here";
  place.incidental = incidental;
  place.stack = std::move(stack);
  f.places.push_back(std::move(place));
  Report report;
  report.findings.push_back(std::move(f));
  return renderText(report, {.color = false, .root = {}, .detail = Detail::Verbose});
}

TEST(Places, LeadWithTheReadersLine) {
  std::string text =
      textOf({{"std::atomic<int>::store", "/usr/include/c++/12/bits/atomic_base.h", 464, 1, "/bin/mail", true},
              {"send", "/home/me/mail.cpp", 28, 3, "/bin/mail", false},
              {"main", "/home/me/mail.cpp", 60, 3, "/bin/mail", false}},
             false);
  EXPECT_THAT(text, HasSubstr("(1) here: /home/me/mail.cpp:28:3 in send"));
  EXPECT_THAT(text, HasSubstr("in what it calls: /usr/include/c++/12/bits/atomic_base.h:464:1"));
  EXPECT_THAT(text, HasSubstr("called from /home/me/mail.cpp:60:3 in main"));
}

// libc has lines where its debug information is installed; the reader's is the call of it.
TEST(Places, LinesOfLibcAreNotTheReaders) {
  const char* libc = "/usr/lib/x86_64-linux-gnu/libc.so.6";
  std::string text = textOf({{"_IO_default_xsputn", "./libio/genops.c", 394, 8, libc, false},
                             {"", "", 0, 0, libc, false},
                             {"open_account", "/home/me/bank.c", 35, 5, "/bin/bank", false}},
                            false);
  EXPECT_THAT(text, HasSubstr("(1) here: /home/me/bank.c:35:5 in open_account"));
  EXPECT_THAT(text, HasSubstr("in what it calls: ./libio/genops.c:394:8"));
  text = textOf({{"_IO_default_xsputn", "./libio/genops.c", 394, 8, libc, false}}, false);
  EXPECT_THAT(text, HasSubstr("(1) here: ./libio/genops.c:394:8"));
}

TEST(Places, ShowTheProgramsOwnCall) {
  std::vector<Frame> stack;
  for (std::uint32_t i = 0; i < 6; ++i)
    stack.push_back({"inner" + std::to_string(i), "/src/pmdk/tx.c", 10 + i, 1, "/usr/lib/libpmemobj.so.1", false});
  stack.push_back({"transfer", "/home/me/bank.c", 28, 3, "/bin/bank", false});
  stack.push_back({"main", "/home/me/bank.c", 60, 3, "/bin/bank", false});
  std::string text = textOf(stack, true);
  EXPECT_THAT(text, HasSubstr("called from /home/me/bank.c:28:3 in transfer"));
  EXPECT_THAT(text, HasSubstr("... 3 more calls ..."));
  EXPECT_THAT(text, HasSubstr("... and 1 more call\n"));
  EXPECT_THAT(text, Not(HasSubstr("inner4")));
}

// How many stores are likely to make an operation visible, and what was tested around them.
TEST(Explored, LikelyPointsAreCounted) {
  Report report;
  TestedPoints& points = report.exploration.emplace().likely.emplace();
  points.stores = 40;
  points.inferred = 3;
  points.marked = 2;
  points.incompleteTests = 5;
  points.unrecoveredTests = 7;
  std::string text = renderText(report, {});
  EXPECT_THAT(text, HasSubstr("points first:   3 of 40 stores are likely to be linearization points (8%); 2 marked by "
                              "hand, of which none is missed\n"));
  EXPECT_THAT(text, HasSubstr("tests there:    5 incompletely durable, 7 unrecovered durable"));
  EXPECT_THAT(text, Not(HasSubstr("by rules:"))) << "only if asked for";
  points.inferred = points.missed = 1;
  points.guardians = true;
  points.lines = {{}};
  text = renderText(report, {});
  EXPECT_THAT(text, HasSubstr("1 of 40 stores is likely"));
  EXPECT_THAT(text, HasSubstr("of which 1 is missed"));
  EXPECT_THAT(text, HasSubstr("by rules:       0 to guardians or by atomic instructions, 0 to what can be reached"));
  EXPECT_THAT(text, HasSubstr("point:          an unknown place"));
  points.guardians = false;
  EXPECT_THAT(renderText(report, {}), HasSubstr("guardians are not known"));
}

}  // namespace
}  // namespace blackout
