#include "run/schedule.h"

#include <gtest/gtest.h>

#include <set>

namespace blackout {
namespace {

TEST(Schedule, TextAndBack) {
  for (const char* text : {"system", "random,7,64", "random,1,1", "turns,5", "priorities,3,4,1000", "list",
                           "list,12>2,40>1", "list,2s14>3,99>1", "list,1n7>2", "random,1,64+2s14>3,3n5>2",
                           "turns,5+9>1", "priorities,3,4,1000+1>2", "random,1,64/8", "random,1,64/0+2s14>3",
                           "turns,5/2", "priorities,3,4,1000/32+4e1", "list/0", "list/0,12e2,12e1,12>2,1n7e3"}) {
    auto s = Schedule::parse(text);
    ASSERT_TRUE(s) << text;
    EXPECT_EQ(s->text(), text);
  }
  EXPECT_EQ(Schedule::parse("random,7")->text(), "random,7,64");
}

TEST(Schedule, WhatIsNone) {
  for (const char* text : {"",
                           "random",
                           "random,",
                           "random,x",
                           "random,1,2,3",
                           "random,1,0",
                           "turns",
                           "turns,0",
                           "priorities,1,2",
                           "priorities,1,0,5",
                           "list,",
                           "list,1",
                           "list,1>",
                           "list,1>0",
                           "list,>2",
                           "list,1s>2",
                           "list,0s1>2",
                           "list+1>2",
                           "random,1+",
                           "random,1,2+1>2,",
                           "system+1>2",
                           "list12>2",
                           "list,1>2,",
                           "sometimes",
                           "system,1",
                           "list,1>99999999999",
                           "list/8",
                           "list/0,1s2e3",
                           "list,12e2",
                           "random,1,64/",
                           "random,1,64/x",
                           "random,1,64/8,1>2",
                           "system/8",
                           "random,99999999999999999999999"}) {
    auto s = Schedule::parse(text);
    ASSERT_FALSE(s) << text;
    EXPECT_NE(s.error().sentence.find("there are: system; random,SEED"), std::string::npos) << s.error().sentence;
  }
}

TEST(Schedule, ManySwitches) {
  std::string text = "list";
  for (int i = 0; i < 1000; ++i) text += ",1>2";
  EXPECT_TRUE(Schedule::parse(text));
  EXPECT_FALSE(Schedule::parse(text + ",1>2"));
}

TEST(Schedule, WithBuffers) {
  EXPECT_EQ(Schedule::usual().withBuffers().text(), "random,1,64/8");
  EXPECT_EQ(Schedule::parse("list,1>2")->withBuffers(2).text(), "list/0,1>2");
  EXPECT_EQ(Schedule::parse("random,1,64/3")->withBuffers().text(), "random,1,64/3");
  EXPECT_EQ(Schedule().withBuffers(), Schedule());
  EXPECT_NE(Schedule::usual(), Schedule::usual().withBuffers());
}

TEST(Schedule, VariedOnesDiffer) {
  std::set<std::string> texts;
  for (std::uint64_t n = 0; n < 200; ++n) texts.insert(Schedule::varied(n, 1, 5000).text());
  EXPECT_EQ(texts.size(), 200U);
  EXPECT_EQ(Schedule::varied(0, 9, 5000), Schedule::usual());
  EXPECT_TRUE(Schedule::usual().controlled());
  EXPECT_FALSE(Schedule().controlled());
}

}  // namespace
}  // namespace blackout
