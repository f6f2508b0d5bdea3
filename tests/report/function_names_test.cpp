// Long names of templates, as a report prints them.
#include "report/function_names.h"

#include <gtest/gtest.h>

namespace blackout {
namespace {

const std::string kLong =
    "std::vector<std::pair<unsigned long, unsigned long>, std::allocator<std::pair<unsigned long, unsigned long>>>";

TEST(FunctionNames, ShortOnesStay) {
  for (const char* name : {"main", "void f<int>(std::vector<int> const&)", "operator<(A, B)"})
    EXPECT_EQ(readableName(name), name);
}

TEST(FunctionNames, LongOnesLoseReturnTypeArgumentsAndParameters) {
  EXPECT_EQ(
      readableName("std::pair<" + kLong + ", bool> kv::tree<" + kLong + ">::insert<int>(" + kLong + " const&) const"),
      "kv::tree<...>::insert<int>(...) const");
  EXPECT_EQ(readableName("(anonymous namespace)::Index::find(" + kLong + ")::'lambda'()::operator()() const"),
            "(anonymous namespace)::Index::find(...)::'lambda'()::operator()() const");
}

TEST(FunctionNames, BracketsOfOperatorsAreNone) {
  EXPECT_EQ(readableName("bool A<" + kLong + ">::operator<(A const&)"), "A<...>::operator<(A const&)");
  EXPECT_EQ(readableName("std::ostream& operator<<<char>(" + kLong + ")"), "operator<<<char>(...)");
  EXPECT_EQ(readableName("X* P<" + kLong + ">::operator->() const"), "P<...>::operator->() const");
  EXPECT_EQ(readableName("A<" + kLong + ">::operator bool() const"), "A<...>::operator bool() const");
}

// What was cut or is no C++ name stays as it is.
TEST(FunctionNames, WhatIsNotUnderstoodStays) {
  EXPECT_EQ(readableName(kLong.substr(0, 105)), kLong.substr(0, 105));
  EXPECT_EQ(readableName(">" + kLong), ">" + kLong);
}

}  // namespace
}  // namespace blackout
