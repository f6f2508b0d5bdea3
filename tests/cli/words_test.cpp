// Commands in one option's value.
#include "cli/words.h"

#include <gtest/gtest.h>

namespace blackout::cli {
namespace {

using Words = std::vector<std::string>;

void expectWords(std::string_view text, const Words& words) {
  auto split = splitWords(text, "--recover");
  ASSERT_TRUE(split) << text << ": " << split.error().sentence;
  EXPECT_EQ(*split, words) << text;
}

TEST(Words, AsAShellSplitsThem) {
  expectWords("./map --fsck pool.img", {"./map", "--fsck", "pool.img"});
  expectWords("  a\t b\nc ", {"a", "b", "c"});
  expectWords("a 'b c' \"d e\"", {"a", "b c", "d e"});
  expectWords("a b\\ c", {"a", "b c"});
  expectWords("a x'y'\"z\"", {"a", "xyz"});
  expectWords("a '' \"\"", {"a", "", ""});
  expectWords("a '$x | y' \"\\$x \\\" \\\\ \\n\"", {"a", "$x | y", "$x \" \\ \\n"});
  expectWords("a \\* x#y x~", {"a", "*", "x#y", "x~"});
  expectWords("sh -c './map pool; ./check pool'", {"sh", "-c", "./map pool; ./check pool"});
}

TEST(Words, WhatOnlyAShellCanDoIsRefused) {
  for (std::string_view text : {"a | b", "a > b", "a $HOME", "a *.img", "a; b", "a `b`", "a & b", "a ~/x", "\"$x\""}) {
    auto split = splitWords(text, "--recover");
    ASSERT_FALSE(split) << text;
    EXPECT_NE(split.error().sentence.find("no shell is run"), std::string::npos) << split.error().sentence;
  }
  EXPECT_FALSE(splitWords("a 'b", "--recover"));
  EXPECT_FALSE(splitWords("a \"b", "--recover"));
  EXPECT_FALSE(splitWords("a\\", "--recover"));
  EXPECT_FALSE(splitWords("  ", "--recover"));
}

}  // namespace
}  // namespace blackout::cli
