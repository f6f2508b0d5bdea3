// What is told to the runtime comes through whole, whatever is in it.

#include "run/runtime_options.h"

#include <gtest/gtest.h>

namespace blackout {

namespace {

TEST(RuntimeOptions, SeparatorsInValuesAreEscaped) {
  RuntimeOptions options;
  options.set("trace", "/a:b%c").set("stack", 7).set(Trap::IfNeeded);
  EXPECT_EQ(options.text(), ":trace=/a%3Ab%25c:stack=7:trap=2");
}

TEST(RuntimeOptions, PoolsAreFilesOrGlobs) {
  std::vector<PoolPattern> pools = {{"/p/pool", false}, {"/p/*.img", true}};
  EXPECT_EQ(RuntimeOptions().pools(pools).text(), ":pm=/p/pool:glob=/p/*.img");
}

// The number of words first, then each with its end, as runtime/zygote.cpp reads it.
TEST(RuntimeOptions, AClientKeepsItsWords) {
  EXPECT_EQ(RuntimeOptions().client({"/bin/client", "put a:b", ""}).text(), ":drive=3%00/bin/client%00put a%3Ab%00%00");
}

TEST(RuntimeOptions, FurtherOnesComeLast) {
  RuntimeOptions options("loads=1");
  EXPECT_EQ(options.append(RuntimeOptions(":pin=0")).text(), "loads=1:pin=0");
}

}  // namespace

}  // namespace blackout
