// Members by their paths: nested, of bases, elements of arrays, and what a path may not say.
#include "binary/struct_layouts.h"

#include <gtest/gtest.h>

namespace blackout {
namespace {

// struct Base { u64 id; }; struct Entry { u32 key; u16 small[4]; }; struct Log : Base { u64 tail; Entry entry[3]; u64
// rest[]; };
struct Layouts : testing::Test {
  Layouts() {
    base = all.add({.name = "Base", .size = 8, .members = {{.name = "id", .size = 8}}});
    entry = all.add({.name = "Entry",
                     .size = 12,
                     .members = {{.name = "key", .size = 4},
                                 {.name = "small", .offset = 4, .size = 2, .count = 4, .array = true}}});
    log = all.add({.name = "Log",
                   .size = 56,
                   .members = {{.name = "", .size = 8, .type = base},
                               {.name = "tail", .offset = 8, .size = 8},
                               {.name = "entry", .offset = 16, .size = 12, .count = 3, .array = true, .type = entry},
                               {.name = "rest", .offset = 56, .size = 8, .count = 0, .array = true}}});
  }
  // offset, size, stride, count, array
  using Place = std::vector<std::uint64_t>;
  Place at(std::string_view path) {
    auto f = all.field(log, path);
    return f ? Place{f->offset, f->size, f->stride, f->count, f->array} : Place{};
  }

  StructLayouts all;
  LayoutNo base, entry, log;
};

TEST_F(Layouts, Members) {
  EXPECT_EQ(at("tail"), (Place{8, 8, 0, 1, 0}));
  EXPECT_EQ(at("id"), (Place{0, 8, 0, 1, 0})) << "of a base";
  EXPECT_EQ(at("entry"), (Place{16, 36, 0, 1, 0})) << "all of it";
  EXPECT_EQ(all.field(log, "entry[1]")->type, entry);
}

TEST_F(Layouts, ElementsOfArrays) {
  EXPECT_EQ(at("entry[2]"), (Place{40, 12, 0, 1, 0}));
  EXPECT_EQ(at("entry[2].key"), (Place{40, 4, 0, 1, 0}));
  EXPECT_EQ(at("entry[2].small[3]"), (Place{50, 2, 0, 1, 0}));
  EXPECT_EQ(at("entry[3]"), Place{}) << "there are three";
  EXPECT_EQ(at("rest[1000]"), (Place{8056, 8, 0, 1, 0})) << "as many as there is room for";
}

TEST_F(Layouts, StructsInsideOthers) {
  EXPECT_TRUE(all.contains(log, 0, base));
  EXPECT_TRUE(all.contains(log, 28, entry)) << "the second";
  EXPECT_FALSE(all.contains(log, 30, entry)) << "none begins there";
  EXPECT_FALSE(all.contains(log, 8, base));
  LayoutNo outer = base;
  for (int depth = 0; depth < 100; ++depth)
    outer = all.add(
        {.name = "Level" + std::to_string(depth), .size = 8, .members = {{.name = "in", .size = 8, .type = outer}}});
  EXPECT_FALSE(all.contains(outer, 0, log)) << "deeper than anybody looks";
}

TEST_F(Layouts, OneIndexMayBeLeftOpen) {
  EXPECT_EQ(at("entry[]"), (Place{16, 12, 12, 3, 16}));
  EXPECT_EQ(at("entry[].key"), (Place{16, 4, 12, 3, 16}));
  EXPECT_EQ(at("entry[].small"), (Place{20, 8, 12, 3, 16}));
  EXPECT_EQ(at("entry[].small[1]"), (Place{22, 2, 12, 3, 16}));
  EXPECT_EQ(at("entry[1].small[]"), (Place{32, 2, 2, 4, 32}));
  EXPECT_EQ(at("rest[]"), (Place{56, 8, 8, UINT64_MAX, 56}));
  EXPECT_EQ(at("entry[].small[]"), Place{}) << "two";
}

TEST_F(Layouts, WhatIsNoPath) {
  for (const char* path : {"", "none", "tail.key", "tail[0]", "entry.key.key", "entry[", "entry[x]", "entry[1",
                           "entry[1x]", "entry[-1]", "rest[2000000000000]"})
    EXPECT_EQ(at(path), Place{}) << path;
  EXPECT_FALSE(all.field(kNoLayout, "tail"));
}

}  // namespace
}  // namespace blackout
