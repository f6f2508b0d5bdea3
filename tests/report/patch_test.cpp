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
  fix.where = Fix::Where::AfterStore;
  fix.at = {at(11, 46)};
  EXPECT_EQ(diffOf(fix), "none") << "what follows the line is not in the loop";
}

TEST_F(PatchTest, AFence) {
  Fix fix;
  fix.where = Fix::Where::AfterFlush;
  fix.at = {at(10, 14)};
  EXPECT_THAT(patched(diffOf(fix)), HasSubstr("  node->next = *link;\n  fence();\n"));
}

TEST_F(PatchTest, NoneWhereTheTextDoesNotTell) {
  Fix fix;
  fix.where = Fix::Where::AfterStore;
  fix.stores = {{at(14, 11), "", 8}};
  fix.at = {at(14, 11)};
  EXPECT_EQ(diffOf(fix), "none") << "all that the condition has";
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
  before.at = {at(14, 11)};
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
