// Which lines of an answer count.
#include "judge/answer_lines.h"

#include <gtest/gtest.h>

namespace blackout {
namespace {

using Right = AnswerLines::Right;

AnswerLines of(std::initializer_list<std::string_view> settled, std::initializer_list<std::string_view> others = {},
               std::string_view final = "") {
  AnswerLines lines;
  for (std::string_view s : settled) lines.add(s, Right::Settled);
  for (std::string_view s : others) lines.add(s, Right::Any);
  lines.add(final, Right::Final);
  return lines;
}

TEST(AnswerLines, AFormLeavesOutNumbersAndQuotedText) {
  EXPECT_EQ(formOf("entry 17"), "entry #");
  EXPECT_EQ(formOf("key12abc=0x7f, -3.5"), "key#=#, -#.#");
  EXPECT_EQ(formOf("key \"a b\" is 'c'"), "key \"\" is \"\"");
  EXPECT_EQ(formOf("it can't be 'read'"), "it can't be \"\"");
  EXPECT_EQ(formOf("an odd \" is itself"), "an odd \" is itself");
  EXPECT_EQ(formOf(""), "");
}

// What a recovery says of itself is in no answer of a restart that has nothing to recover.
TEST(AnswerLines, WordsOfAFormThatNoRightAnswerHasAreTheRestartsOwn) {
  AnswerLines lines = of({"1 2\n", "1 3\n"});
  EXPECT_TRUE(lines.same("rolled back\n1 2\n", "1 2\n", true));
  EXPECT_TRUE(lines.same("1 2\nreplayed record 1\n", "1 2\n", true));
  EXPECT_FALSE(lines.same("rolled back\n1 2\n", "1 2\n", false));
  EXPECT_FALSE(lines.same("rolled back\n1 4\n", "1 2\n", true));
  EXPECT_FALSE(lines.same("rolled back\n", "1 2\n", true));
}

TEST(AnswerLines, AnEntryThatNoRightAnswerHasIsNoMessage) {
  AnswerLines lines = of({"entry 100\n", "entry 100\nentry 200\n"});
  EXPECT_TRUE(lines.same("entry 100\n", "entry 100\n", true));
  EXPECT_FALSE(lines.same("entry 0\nentry 100\n", "entry 100\n", true));
  EXPECT_FALSE(lines.same("entry 100\nentry 100\n", "entry 100\n", true));
  EXPECT_FALSE(lines.same("entry 200\nentry 100\n", "entry 100\nentry 200\n", true));
}

// Without operations that are marked, right answers have such messages too, and others don't.
TEST(AnswerLines, AMessageThatSomeRightAnswerHasIsNoDifference) {
  AnswerLines lines = of({}, {"count dirty, recalculating\ncount 3\n", "count 3\n", "count 4\n"}, "count 4\n");
  EXPECT_TRUE(lines.isMessage("count dirty, recalculating"));
  EXPECT_TRUE(lines.same("count dirty, recalculating\ncount 4\n", "count 4\n", false));
  EXPECT_TRUE(lines.same("count 3\n", "count dirty, recalculating\ncount 3\n", false));
  EXPECT_FALSE(lines.same("count dirty, recalculating\ncount 5\n", "count 4\n", true));
}

// Names that come and go are data, though nothing in them varies.
TEST(AnswerLines, WhatASettledAnswerHasIsNoMessage) {
  AnswerLines lines = of({"apple\n", "apple\nbanana\n"});
  EXPECT_FALSE(lines.isMessage("banana"));
  EXPECT_FALSE(lines.same("banana\n", "apple\nbanana\n", true));
  AnswerLines last = of({}, {"", "apple\n", "apple\nbanana\n"}, "apple\nbanana\n");
  EXPECT_FALSE(last.same("banana\n", "apple\nbanana\n", true));
  EXPECT_FALSE(last.same("apple\nbanana\n", "apple\n", true));
}

// As many lines in every answer: one stands for another, none is added.
TEST(AnswerLines, ALineThatStandsForAnotherIsNoMessage) {
  AnswerLines lines = of({}, {"there\nnot there\n", "not there\nthere\n", "there\nthere\n"}, "there\nthere\n");
  EXPECT_FALSE(lines.isMessage("not there"));
  EXPECT_FALSE(lines.same("not there\nnot there\n", "there\nthere\n", true));
}

TEST(AnswerLines, AMixtureHasWhatBothHaveAndNothingElse) {
  AnswerLines lines = of({"a 1\n", "a 1\nb 2\nc 3\n"});
  EXPECT_TRUE(lines.mixes("a 1\nc 3\n", "a 1\n", "a 1\nb 2\nc 3\n", false));
  EXPECT_FALSE(lines.mixes("c 3\n", "a 1\n", "a 1\nb 2\nc 3\n", false));
  EXPECT_FALSE(lines.mixes("a 1\nc 4\n", "a 1\n", "a 1\nb 2\nc 3\n", true));
  EXPECT_TRUE(lines.mixes("a 1\nd 4\n", "a 1\n", "a 1\nb 2\nc 3\n", true));
  EXPECT_FALSE(lines.mixes("a 1\nd 4\n", "a 1\n", "a 1\nb 2\nc 3\n", false));
}

std::vector<std::string> wrong(const AnswerLines& lines, std::string_view a, std::string_view b, std::string_view c) {
  std::vector<std::string> out;
  for (const WrongLine& l : lines.wrong(a, b, c))
    out.push_back(std::to_string(l.is) + " " + std::to_string(l.number) + " " + l.text);
  return out;
}

TEST(AnswerLines, SayWhichLineIsWrong) {
  using Lines = std::vector<std::string>;
  AnswerLines lines = of({"a 1\n", "a 1\nb 2\nc 3\n", "a 1\nb 1\nc 1\n"});
  EXPECT_EQ(wrong(lines, "a 0\na 1\n", "a 1\n", "a 1\nb 2\nc 3\n"), Lines{"0 1 a 0"});
  EXPECT_EQ(wrong(lines, "oops\nb 2\nc 3\n", "a 1\n", "a 1\nb 2\nc 3\n"), Lines{"1 1 a 1"});
  EXPECT_EQ(wrong(lines, "a 1\nb 2\nc 1\n", "a 1\nb 1\nc 1\n", "a 1\nb 2\nc 3\n"), (Lines{"2 3 c 1", "3 2 b 2"}));
  // Twice is once too often.
  EXPECT_EQ(wrong(lines, "a 1\na 1\n", "a 1\n", "a 1\n"), Lines{"0 2 a 1"});
  // Of one line there is nothing to tell.
  EXPECT_EQ(wrong(lines, "a 0\n", "a 1\n", "a 2\n"), Lines{});
}

TEST(AnswerLines, TheValueItselfIsToldFromWhatFollowsFromIt) {
  EXPECT_TRUE(differOnlyByValue("dirty 1\nsum 3\n", 1, "dirty 0\nsum 3\n", 0));
  EXPECT_TRUE(differOnlyByValue("log: 0x10\n", 16, "log: 0\n", 0));
  EXPECT_TRUE(differOnlyByValue("state: recovering\n3\n", 1, "state: clean\n3\n", 0));
  EXPECT_FALSE(differOnlyByValue("dirty 1\nsum 4\n", 1, "dirty 0\nsum 3\n", 0));
  EXPECT_FALSE(differOnlyByValue("sum 4\n", 1, "sum 3\n", 0));
  EXPECT_FALSE(differOnlyByValue("crash occurred\n", 1, "key 1\nkey 2\n", 0));
  EXPECT_FALSE(differOnlyByValue("crash\n", 1, "apple\n", 0));
  EXPECT_FALSE(differOnlyByValue("key 5: apple\n", 1, "key 5: banana\n", 0));
}

TEST(Variation, IsThatOfALineInQuotesOrInNumbers) {
  EXPECT_EQ(variationOf("a\nleft 'x' of 2\n", "a\nleft 'y' of 2\n"), Variation::Quotes);
  EXPECT_EQ(variationOf("a\nleft 1\n", "left 2\nb\n"), Variation::Numbers);
  EXPECT_EQ(variationOf("left 1\nleft 2\n", "left 1\n"), Variation::None);
  EXPECT_EQ(variationOf("it's 1 man's\n", "it's 2 man's\n"), Variation::Numbers);
  EXPECT_EQ(variationOf("left 1\n", "right 2\n"), Variation::None);
}

}  // namespace
}  // namespace blackout
