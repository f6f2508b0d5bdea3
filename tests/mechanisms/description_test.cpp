// Descriptions and their expressions: what is wrong is said in a sentence that has the right word.
#include "described_program.h"

namespace blackout::test {
namespace {

StructLayouts structs() {
  DescribedProgram p;
  p.type("journal", 32, {{"base", 0, 8}, {"head", 8, 8}, {"tail", 16, 8}, {"size", 24, 8}});
  p.type("log_entry", 64, {{"addr", 0, 8}, {"data", 16, 1, 48}});
  return p.layouts;
}

std::string wrong(const std::string& text) {
  StructLayouts layouts = structs();
  auto description = Description::parse(text, "m.toml");
  if (!description) return description.error().sentence;
  auto bound = description->bind(layouts);
  return bound ? std::string() : bound.error().sentence;
}

std::optional<std::uint64_t> value(const std::string& text) {
  auto e = Expression::parse(text);
  EXPECT_TRUE(e.has_value()) << (e ? "" : e.error().sentence);
  if (!e) return std::nullopt;
  StructLayouts layouts = structs();
  EXPECT_TRUE(e->bind(layouts).has_value());
  return e->evaluate({[](const FieldRef& f) { return std::optional(1000 + f.place.offset); },
                      [](const FieldRef& f) { return std::optional(f.place.offset); }});
}

TEST(Expressions, Arithmetic) {
  EXPECT_EQ(value("2 + 3 * 4"), 14U);
  EXPECT_EQ(value("(2 + 3) * 4 - 0x10"), 4U);
  EXPECT_EQ(value("7 / 2 + 7 % 2"), 4U);
  EXPECT_EQ(value("journal.head + 1"), 9U);
  EXPECT_EQ(value("&journal.tail"), 1016U);
  EXPECT_EQ(value("sizeof(log_entry) + sizeof(log_entry.data) + sizeof(log_entry.data[0])"), 64U + 48 + 1);
  EXPECT_EQ(value("1 / (journal.head - 8)"), std::nullopt);
}

TEST(Expressions, Errors) {
  auto error = [](const std::string& text) {
    auto e = Expression::parse(text);
    return e ? std::string() : e.error().sentence;
  };
  EXPECT_EQ(error("1 +"), "\"1 +\": it ends where a number or a field is wanted");
  EXPECT_EQ(error("(1"), "\"(1\": a ')' is missing");
  EXPECT_NE(error("1 ? 2").find("is not understood"), std::string::npos);
  EXPECT_NE(error("journal").find("fields are written as struct.field"), std::string::npos);
  EXPECT_NE(error(std::string(100, '(')).find("nested too deep"), std::string::npos);
  EXPECT_NE(error(std::string(2000, '1')).find("longer than"), std::string::npos);
}

TEST(Descriptions, WrongNamesGetTheNearestRightOne) {
  auto log = [](const std::string& tail) { return "[log.one]\ntail = \"" + tail + "\"\n"; };
  EXPECT_EQ(wrong(log("journal.tail")), "");
  EXPECT_EQ(wrong(log("jurnal.tail")),
            "[log.one]: \"jurnal.tail\": the program has no struct 'jurnal'; did you mean 'journal'?");
  EXPECT_EQ(wrong(log("journal.tial")),
            "[log.one]: \"journal.tial\": 'journal' has no field 'tial'; did you mean 'tail'?");
  EXPECT_NE(wrong(log("log_entry.data")).find("has 48 bytes and is no number"), std::string::npos);
  EXPECT_NE(wrong("[jurnal.one]\n").find("did you mean 'journal'?"), std::string::npos);
  EXPECT_EQ(wrong("[log.one]\ntial = \"journal.tail\"\n"),
            "m.toml: [log.one]: there is no 'tial'; did you mean 'tail'?");
  EXPECT_NE(wrong("[log.one\n").find("m.toml:1"), std::string::npos);
  EXPECT_EQ(wrong("# first\n [ (log.one]\n"), "m.toml:2: a table has a name, as [journal.undo]");
  EXPECT_EQ(wrong("\xef\xbb\xbf[log.one]\n"), "m.toml:1: a description is ASCII; other characters are for comments");
  EXPECT_EQ(wrong("# \xc3\xa4\n[log.one]\ntail = \"journal.tail\"\n"), "");
  EXPECT_EQ(wrong("["), "m.toml:1: a table has a name, as [journal.undo]");
}

TEST(Descriptions, WhatIsMissing) {
  EXPECT_EQ(wrong(""), "m.toml: it describes no mechanism");
  EXPECT_EQ(wrong("[journal.undo]\n"), "m.toml: [journal.undo]: tail is missing, or a commit field");
  EXPECT_EQ(wrong("[journal.mine]\n"), "m.toml: [journal.mine]: kind is \"undo\" or \"redo\"");
  EXPECT_NE(wrong("[replica.one]\ncopies = [\"&journal\"]\nsize = 8\n").find("at least two"), std::string::npos);
  EXPECT_NE(wrong("[cow.one]\nsize = 8\n").find("pointer is missing"), std::string::npos);
}

TEST(Descriptions, AStructByItsOffsets) {
  EXPECT_EQ(wrong("[struct.lane]\nsize = 64\nat = [0x1000]\nfields = { tail = { offset = 8, size = 8 } }\n"
                  "[log.one]\ntail = \"lane.tail\"\n"),
            "");
  EXPECT_NE(
      wrong(
          "[struct.lane]\nsize = 64\nfields = { tail = { offset = 60, size = 8 } }\n[log.one]\ntail = \"lane.tail\"\n")
          .find("inside the struct"),
      std::string::npos);
  EXPECT_NE(wrong("[struct.journal]\nsize = 64\n[log.one]\ntail = \"journal.tail\"\n").find("choose another"),
            std::string::npos);
}

// Plain code has no types: offsets in the description are enough.
TEST(Descriptions, CodeWithoutTypes) {
  DescribedProgram p;
  p.store(1, 64, 256, 8);
  p.persist(64);
  EventNo entry = p.store(1, 256, 1, 8);
  p.persist(256);
  p.store(1, 64, 264, 8);
  p.persist(64);
  Phases phases = p.check(
      "[struct.lane]\nsize = 64\nat = 64\nfields = { tail = { offset = 0, size = 8 } }\n"
      "[log.one]\ntail = \"lane.tail\"\n");
  expectHeld(phases, 1);
  EXPECT_EQ(p.phaseOf(phases, entry), MechanismPhase::Append);
  EXPECT_EQ(phases.typed.unknown, 1U);
}

TEST(Descriptions, ThatFitNothing) {
  DescribedProgram p;
  p.type("journal", 32, {{"tail", 16, 8}});
  p.store(1, 64, 1, 8);
  Phases phases = p.check("[log.one]\ntail = \"journal.tail\"\n");
  expectHeld(phases, 0);
  EXPECT_EQ(phases.instances[0], 0U);
  EXPECT_FALSE(phases.isProtected(0));
}

}  // namespace
}  // namespace blackout::test
