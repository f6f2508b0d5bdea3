// What is understood of a line of C or C++, and above all what is not: a change of the source is never a guess.
#include "report/statement.h"

#include <gtest/gtest.h>

namespace blackout {
namespace {

std::string expressionIn(const std::string& line, const std::string& mark) {
  auto stored = storedTo(line, static_cast<std::uint32_t>(line.find(mark)) + 1);
  return stored ? stored->expression : "?";
}

TEST(Statement, WhatALineStoresTo) {
  EXPECT_EQ(expressionIn("  fresh->keys[0] = key;", "= key"), "fresh->keys[0]");
  EXPECT_EQ(expressionIn("  *top = block + size;", "= block"), "*top");
  EXPECT_EQ(expressionIn("  for (unsigned i = 0; i < n; ++i) node->record[i] = f(i);", "= f"), "node->record[i]");
  EXPECT_EQ(expressionIn("  root_->count += 2;", "+="), "root_->count");
  EXPECT_EQ(expressionIn("  ++pool->used;", "++"), "pool->used");
  EXPECT_EQ(expressionIn("  pool->used++;", "++"), "pool->used");
  EXPECT_EQ(expressionIn("  PM_PUBLISH(*link, node);", "PM_PUBLISH"), "*link");
  EXPECT_EQ(expressionIn("  __atomic_store_n(&bank->valid, 0, __ATOMIC_RELEASE);", "__atomic"), "bank->valid");
  EXPECT_EQ(expressionIn("  head_->next.store(n, std::memory_order_release);", "store"), "head_->next");
  auto copied = storedTo("  memcpy(entry->old, place, size);", 3);
  ASSERT_TRUE(copied);
  EXPECT_EQ(copied->expression, "entry->old");
  EXPECT_TRUE(copied->pointer);
  EXPECT_EQ(copied->size, "size");
}

TEST(Statement, WhatWouldBeAGuess) {
  EXPECT_EQ(expressionIn("  next()->key = 1;", "= 1"), "?");    // called once more it may be another
  EXPECT_EQ(expressionIn("  slots[used++] = 1;", "= 1"), "?");  // so may that be
  EXPECT_EQ(expressionIn("  store_word(node, 1);", "store_word"), "?");
  EXPECT_EQ(expressionIn("  memcpy(to, from(1), sizes());", "memcpy"), "?");
  EXPECT_EQ(expressionIn("#define SET(x) x->a = 1 \\", "= 1"), "?");
  EXPECT_FALSE(storedTo("  a = b;", 0));
  EXPECT_FALSE(storedTo("  a = b;", 400));
}

TEST(Statement, PartsOfAnExpression) {
  EXPECT_EQ(pointerOf("node->record[i]"), "node");
  EXPECT_EQ(pointerOf("(*link)->key"), "");
  EXPECT_EQ(pointerOf("x"), "");
  EXPECT_EQ(arrayOf("node->record[a[i]]"), "node->record");
  EXPECT_EQ(arrayOf("node->key"), "");
}

TEST(Statement, WhereAStatementBeginsAndEnds) {
  SourceLines lines = {"void f() {",  "  a = 1;  // why", "  if (x)",          "    b = 2;", "  c = g(1,",
                       "        2);", "  d = 3; e = 4;",  "  for (;;) h = 5;", "#if X",      "  i = 6;"};
  auto at = [&](std::uint32_t line, std::size_t from) { return statementAt(lines, line, from); };
  EXPECT_EQ(at(2, 2), (StatementPlace{true, true, false, 2, 8}));
  EXPECT_TRUE(at(2, 2)->alone());
  EXPECT_EQ(at(4, 4), (StatementPlace{true, true, true, 4, 10}));  // all that the condition has
  EXPECT_EQ(at(5, 2), (StatementPlace{true, true, false, 6, 11}));
  EXPECT_EQ(at(7, 2), (StatementPlace{true, false, false, 7, 8}));  // something follows
  EXPECT_EQ(at(7, 9), (StatementPlace{false, true, false, 7, 15}));
  EXPECT_EQ(at(8, 11), (StatementPlace{false, true, true, 8, 17}));
  EXPECT_EQ(at(10, 2), (StatementPlace{true, true, false, 10, 8}));  // what the preprocessor reads is no statement
  // A file may have become shorter since.
  EXPECT_FALSE(at(11, 0));
  EXPECT_FALSE(at(0, 0));
}

TEST(Statement, WhatIsNone) {
  auto at = [](const std::string& line, std::size_t from) { return statementAt({"{", line}, 2, from); };
  EXPECT_FALSE(at("for (i = 0; x; ++i) f();", 5));
  EXPECT_FALSE(at("for (;; i = 0) f();", 8));
  EXPECT_FALSE(at("while (f(a)) g(), b = 1;", 18));
  EXPECT_FALSE(at("y = (x) b = 1;", 8));
  EXPECT_FALSE(at("// if (x) b = 1;", 10));
  EXPECT_FALSE(at("f(\"{\"); b = 1", 8));
  EXPECT_FALSE(at("b = \\", 0)) << "goes on in the next line";
  EXPECT_TRUE(at("static void f(void) { b = 1; /* why */ }", 22));
  EXPECT_TRUE(at("} else b = 1;", 7)->body);
  EXPECT_FALSE(statementAt({"x = f(a)", "  b = 1;"}, 2, 2)) << "the line before has not ended";
}

TEST(Statement, Includes) {
  SourceLines lines = {"#ifndef A_H", "#define A_H", "#include <stdio.h>", "#if X",  "#include \"x.h\"", "#else",
                       "int y;",      "#endif",      "#include \"y.h\"",   "int z;", "#include \"z.h\"", "#endif"};
  EXPECT_EQ(includesAbove(lines, 10), (std::vector<std::string>{"stdio.h", "y.h"}));
  EXPECT_EQ(includesAbove(lines, 7), (std::vector<std::string>{"stdio.h"})) << "x.h is in the other half";
  EXPECT_EQ(includesAbove(lines, 13), (std::vector<std::string>{"stdio.h", "y.h", "z.h"}));
}

TEST(Statement, Blocks) {
  SourceLines lines = {"{", "  a = 1;", "  if (b) {", "    c = 2;", "  }", "  d = 3;", "}", "e = 4;"};
  EXPECT_TRUE(inSameBlock(lines, 2, 6));
  EXPECT_FALSE(inSameBlock(lines, 4, 6));
  EXPECT_FALSE(inSameBlock(lines, 2, 4));  // it need not come there
  EXPECT_FALSE(inSameBlock(lines, 6, 8));
}

TEST(Statement, Parameters) {
  SourceLines lines = {"static void persist(const void* addr,",
                       "                    size_t len) {",
                       "  flush(addr, len);",
                       "}",
                       "void drain(void)",
                       "{",
                       "  fence();",
                       "}"};
  EXPECT_EQ(parametersOf(lines, 3, "persist"), (std::vector<std::string>{"const void* addr", "size_t len"}));
  EXPECT_EQ(parametersOf(lines, 7, "drain"), std::vector<std::string>());
  EXPECT_EQ(parametersOf(lines, 7, "flush"), std::nullopt);  // only called
  EXPECT_EQ(pointeeOf("const void* addr"), "const void");
  EXPECT_EQ(pointeeOf("size_t len"), "");
  EXPECT_TRUE(hasCall(lines, 3, "flush"));
  EXPECT_FALSE(hasCall(lines, 8, "lush"));
}

}  // namespace
}  // namespace blackout
