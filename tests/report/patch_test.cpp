// A fix as a diff against the source, and when there is none.
#include "report/patch.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

namespace blackout {
namespace {

using testing::HasSubstr;

constexpr std::string_view kSource = R"(void persist(const void* at, unsigned long size) {
  flush(at, size);
  fence();
}
static void fence(void) {
  sfence();
}
void put(struct node* node, struct node** link) {
  node->key = 1;
  node->next = *link;
  for (int i = 0; i < 4; ++i) node->words[i] = i;
  *link = node;
  if (node->key)
    *link = 0;
}
)";

class PatchTest : public testing::Test {
 protected:
  void SetUp() override {
    std::string name = std::filesystem::temp_directory_path() / "blackout-patch-XXXXXX";
    folder_ = mkdtemp(name.data());
    write(kSource);
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }
  void write(std::string_view text) { std::ofstream(folder_ + "/map.c") << text; }
  Frame at(std::uint32_t line, std::uint32_t column, const std::string& function = "put") const {
    return {function, folder_ + "/map.c", line, column, "", false};
  }
  std::string diffOf(Fix fix) {
    fix.persists = at(2, 3, "persist");
    fix.fencing = at(6, 3, "fence");
    Finding f = makeFinding(FindingKind::MissingFlush);
    f.fixes = {fix};
    SourceFiles sources;
    auto patch = patchOf(f, sources, folder_);
    return patch ? patch->diff : "none";
  }
  // What `patch` makes of the source.
  std::string patched(const std::string& diff) {
    std::ofstream(folder_ + "/fix.patch") << diff;
    EXPECT_EQ(std::system(("cd '" + folder_ + "' && patch -s -p1 < fix.patch").c_str()), 0) << diff;
    std::ifstream in(folder_ + "/map.c");
    return {std::istreambuf_iterator<char>(in), {}};
  }

  std::string folder_;
};

TEST_F(PatchTest, AfterTheStore) {
  Fix fix;
  fix.where = Fix::Where::AfterStore;
  fix.stores = {{at(9, 13), "node.key", 8}};
  fix.at = {at(9, 13)};
  EXPECT_THAT(patched(diffOf(fix)), HasSubstr("  node->key = 1;\n  persist(&node->key, sizeof(node->key));\n"));
}

TEST_F(PatchTest, SeveralStoresOfOneObjectBeforeWhatReliesOnThem) {
  Fix fix;
  fix.where = Fix::Where::Before;
  fix.stores = {{at(9, 13), "node.key", 8}, {at(10, 14), "node.next", 8}};
  fix.at = {at(12, 9)};
  EXPECT_THAT(patched(diffOf(fix)), HasSubstr("  persist(node, sizeof(*node));\n  *link = node;\n"));
}

// In the loop it would be one element; outside it is the array, whose size its struct gives.
TEST_F(PatchTest, ElementsOfAnArray) {
  Fix fix;
  fix.where = Fix::Where::Before;
  fix.stores = {{at(11, 46), "node.words[]", 8}};
  fix.at = {at(12, 9)};
  EXPECT_THAT(patched(diffOf(fix)), HasSubstr("  persist(&node->words, sizeof(node->words));\n  *link = node;\n"));
  // A pointer's size says nothing of what it points to.
  fix.stores[0].type = "";
  EXPECT_EQ(diffOf(fix), "none");
  write(kSource);
  fix.where = Fix::Where::AfterStore;
  fix.at = {at(11, 46)};
  EXPECT_THAT(patched(diffOf(fix)), HasSubstr("  for (int i = 0; i < 4; ++i) { node->words[i] = i; "
                                              "persist(&node->words[i], sizeof(node->words[i])); }\n  *link = node;\n"))
      << "what follows the line is not in the loop";
}

// The statement is all that a condition has, in a line of its own; two in one line; a function in one line.
TEST_F(PatchTest, WithinLines) {
  Fix fix;
  fix.where = Fix::Where::AfterStore;
  fix.stores = {{at(14, 11), "", 8}};
  fix.at = {at(14, 11)};
  EXPECT_THAT(patched(diffOf(fix)),
              HasSubstr("  if (node->key)\n    { *link = 0; persist(link, sizeof(*link)); }\n}\n"));
  constexpr std::string_view kLines =
      "void persist(const void* at, unsigned long size) {\n  flush(at, size);\n}\n"
      "static void put(struct node* node) { node->a = 1; node->b = 2; /* both */ }\n";
  write(kLines);
  fix.stores = {{at(4, 46), "", 8}, {at(4, 59), "", 8}};
  fix.at = {at(4, 46), at(4, 59)};
  EXPECT_THAT(patched(diffOf(fix)),
              HasSubstr("static void put(struct node* node) { node->a = 1; persist(&node->a, sizeof(node->a)); "
                        "node->b = 2; persist(&node->b, sizeof(node->b)); /* both */ }\n"));
  write(kLines);
  fix.where = Fix::Where::Before;
  fix.stores.clear();
  fix.at = {at(4, 59)};
  EXPECT_THAT(patched(diffOf(fix)), HasSubstr("sfence\" ::: \"memory\"); node->b = 2;"));
}

// Names that `patch` reads otherwise than as they are.
TEST_F(PatchTest, OddNames) {
  for (const std::string name :
       {"a map.c", "a \033[31mmap.c", "\"map\".c", "back\\slash.c", "m\303\244p.c", "two\nlines.c"}) {
    std::ofstream(folder_ + "/" + name) << kSource;
    Fix fix;
    fix.where = Fix::Where::AfterFlush;
    fix.at = {at(10, 14)};
    fix.at[0].file = folder_ + "/" + name;
    patched(diffOf(fix));
    std::ifstream in(folder_ + "/" + name);
    EXPECT_THAT(std::string(std::istreambuf_iterator<char>(in), {}), HasSubstr("  node->next = *link;\n  fence();\n"))
        << name;
  }
}

// A statement that only does wasted work goes, with all of its lines.
TEST_F(PatchTest, AStatementIsTakenOut) {
  write(
      "void put(struct node* node) {\n  node->key = 1;\n  persist(node,\n          sizeof(*node));  // again\n"
      "  persist(next(node), 8);\n  if (node->key)\n    persist(node, 8);\n}\n");
  Fix fix;
  fix.where = Fix::Where::Remove;
  fix.flushes = 2;
  fix.fences = 1;
  auto without = [&](std::uint32_t line) {
    fix.at = {at(line, 3)};
    return diffOf(fix);
  };
  EXPECT_EQ(without(5), "none") << "a call that may do something";
  EXPECT_EQ(without(7), "none") << "all that the condition has";
  EXPECT_EQ(without(2), "none") << "no call";
  EXPECT_THAT(patched(without(3)), HasSubstr("  node->key = 1;\n  persist(next(node), 8);\n"));
  EXPECT_THAT(triedText(fix), HasSubstr("it saves 2 flushes and 1 fence."));
}

// The function is in a header, which this file includes, or another header that it includes.
TEST_F(PatchTest, AFunctionOfAHeader) {
  auto file = [&](const std::string& name, std::string_view text) { std::ofstream(folder_ + "/" + name) << text; };
  file("pm.h", "static inline void persist(const void* at, unsigned long size) {\n  flush(at, size);\n}\n");
  file("tx.h", "#include \"pm.h\"\n");
  Fix fix;
  fix.where = Fix::Where::AfterStore;
  fix.stores = {{at(3, 13), "node.key", 8}};
  fix.at = {at(3, 13)};
  auto diff = [&](std::string_view head) {
    write(std::string(head) + "void put(struct node* node) {\n  node->key = 1;\n}\n");
    fix.persists = {"persist", folder_ + "/pm.h", 2, 3, "", false};
    Finding f = makeFinding(FindingKind::MissingFlush);
    f.fixes = {fix};
    SourceFiles sources;
    auto patch = patchOf(f, sources, folder_);
    return patch ? patch->diff : "none";
  };
  EXPECT_THAT(diff("#include \"pm.h\"\n"), HasSubstr("+  persist(&node->key, sizeof(node->key));\n"));
  EXPECT_THAT(diff("#include \"tx.h\"\n"), HasSubstr("+  persist(&node->key, sizeof(node->key));\n"));
  EXPECT_EQ(diff("#include \"other.h\"\n"), "none") << "nobody knows whether it is declared there";
}

TEST_F(PatchTest, AFence) {
  Fix fix;
  fix.where = Fix::Where::AfterFlush;
  fix.at = {at(10, 14)};
  EXPECT_THAT(patched(diffOf(fix)), HasSubstr("  node->next = *link;\n  fence();\n"));
}

// Bytes are added to the transaction before they change, with the program's own function or libpmemobj's.
TEST_F(PatchTest, ARangeOfATransaction) {
  write(R"(void log_range(void* p, unsigned long size) {
  announce(p, size);
}
void count(void) {
  D_RW(root)->count++;
  root->limit = next();
  *slot(1) = 2;
  TX_END
}
)");
  Fix fix;
  fix.where = Fix::Where::Log;
  fix.stores = {{at(5, 20, "count"), "root.count", 8}};
  fix.at = {at(5, 20, "count")};
  EXPECT_EQ(diffOf(fix), "none") << "nobody is known who adds ranges";
  fix.logging = at(2, 3, "log_range");
  EXPECT_THAT(patched(diffOf(fix)), HasSubstr("  log_range(&D_RW(root)->count, sizeof(D_RW(root)->count));\n"
                                              "  D_RW(root)->count++;\n"));
  fix.stores = {{at(7, 15, "count"), "root.limit", 8}};
  fix.at = {at(7, 15, "count")};
  fix.logging = std::nullopt;
  fix.libpmemobj = true;
  EXPECT_EQ(diffOf(fix), "none") << "of libpmemobj's transactions nothing is called in this file";
  {
    std::ifstream in(folder_ + "/map.c");
    std::string text{std::istreambuf_iterator<char>(in), {}};
    write("TX_BEGIN(pop);\n" + text);
  }
  fix.stores[0].at.line = fix.at[0].line = 8;
  EXPECT_THAT(patched(diffOf(fix)), HasSubstr("  pmemobj_tx_add_range_direct(&root->limit, sizeof(root->limit));\n"
                                              "  root->limit = next();\n"));
  fix.stores = {{at(10, 12, "count"), "", 8}};
  fix.at = {at(10, 12, "count")};
  EXPECT_EQ(diffOf(fix), "none") << "a call that may do something";
}

TEST_F(PatchTest, NoneWhereTheTextDoesNotTell) {
  Fix fix;
  fix.where = Fix::Where::AfterStore;
  fix.stores = {{at(9, 2), "", 8}};
  fix.at = {at(9, 2)};
  EXPECT_EQ(diffOf(fix), "none") << "nothing is stored there";
  fix.stores = {{at(9999, 2), "", 8}};
  fix.at = {at(9999, 2)};
  EXPECT_EQ(diffOf(fix), "none") << "there is no such line";
}

TEST_F(PatchTest, TheCheapestThatCanBeWritten) {
  Fix before, after;
  before.where = Fix::Where::Before;
  before.stores = {{at(12, 9), "", 8}};
  before.at = {at(9, 2)};
  after.where = Fix::Where::AfterStore;
  after.stores = {{at(12, 9), "", 8}};
  after.at = {at(12, 9)};
  after.fences = 7;
  Finding f = makeFinding(FindingKind::MissingFlush);
  for (Fix* fix : {&before, &after}) fix->persists = at(2, 3, "persist");
  f.fixes = {before, after};
  SourceFiles sources;
  auto patch = patchOf(f, sources, folder_);
  ASSERT_TRUE(patch);
  EXPECT_EQ(patch->fix->fences, 7U);
  EXPECT_THAT(patch->diff, HasSubstr("+  persist(link, sizeof(*link));\n"));
}

}  // namespace
}  // namespace blackout
