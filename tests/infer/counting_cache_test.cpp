// What was inferred, kept: the same comes back, a changed program finds nothing, and what is damaged or somebody
// else's is as good as none.
#include "infer/counting_cache.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <filesystem>
#include <fstream>

namespace blackout {
namespace {

namespace fs = std::filesystem;

CountingProperties sample() {
  Source place{7, {{"f", "a.c", 3, 4, 5}, {"g", "b.c", 6, 7, 0}}};
  CountingProperty p;
  p.rule = CountingRule::Complement;
  p.array = "Node.item[]";
  p.counter = "Node.left";
  p.start = "Node.first";
  p.pointer = "Node.item";
  p.constant = -9;
  p.mask = 255;
  p.counterAt = -16;
  p.arrayBytes = 64;
  p.notZero = true;
  p.reads = {{place, ReadProof::Proven, ""}, {place, ReadProof::Refuted, "Node.left = 0"}};
  p.proven = p.refuted = 1;
  p.arrayWrites = p.pointerWrites = p.counterWrites = {place};
  CountingProperties all;
  all.properties = {p};
  all.dropped = {{"A.b[]", "A.c", "nothing updates both", {{place, ReadProof::Unknown, "the solver gave up"}}}};
  all.arrays = 2;
  all.reads = 3;
  all.questions = 400;
  return all;
}

class CountingCacheTest : public testing::Test {
 protected:
  void SetUp() override {
    std::string name = (fs::temp_directory_path() / "blackout-cache-XXXXXX").native();
    ASSERT_NE(mkdtemp(name.data()), nullptr);
    parent = name;
    folder = name + "/blackout";
  }
  void TearDown() override { fs::remove_all(parent); }
  std::size_t files() const {
    return static_cast<std::size_t>(std::distance(fs::directory_iterator(folder), fs::directory_iterator()));
  }
  std::string parent, folder;
};

TEST_F(CountingCacheTest, WhatIsKeptComesBack) {
  CountingCache cache(folder);
  EXPECT_FALSE(cache.find("one"));
  cache.keep("one", sample());
  auto found = cache.find("one");
  ASSERT_TRUE(found);
  EXPECT_EQ(*found, sample());
  EXPECT_FALSE(cache.find("two"));
  struct stat status{};
  ASSERT_EQ(stat(folder.c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 0777, 0700u);
}

TEST_F(CountingCacheTest, WhatWasCutShortIsNotKept) {
  CountingProperties part = sample();
  part.incomplete.emplace_back("the time was over");
  CountingCache(folder).keep("one", part);
  EXPECT_FALSE(CountingCache(folder).find("one"));
}

TEST_F(CountingCacheTest, ADamagedFileIsNone) {
  CountingCache cache(folder);
  cache.keep("one", sample());
  const std::string path = fs::directory_iterator(folder)->path();
  std::string bytes;
  {
    std::ifstream in(path, std::ios::binary);
    bytes.assign(std::istreambuf_iterator<char>(in), {});
  }
  auto write = [&](const std::string& text) { std::ofstream(path, std::ios::binary) << text; };
  for (std::size_t k = 0; k < bytes.size(); ++k) {
    std::string wrong = bytes;
    wrong[k] = static_cast<char>(wrong[k] ^ 0x55);
    write(wrong);
    EXPECT_FALSE(cache.find("one")) << k;
    write(bytes.substr(0, k));
    EXPECT_FALSE(cache.find("one")) << k;
  }
  cache.keep("one", sample());
  EXPECT_EQ(cache.find("one"), sample());
}

// Past the checksum, as somebody who means it would write it: never more than the bytes have, and nothing crashes.
TEST_F(CountingCacheTest, BytesThatMakeNoSense) {
  const std::string bytes = toBytes(sample());
  EXPECT_EQ(fromBytes(bytes), sample());
  for (std::size_t k = 0; k < bytes.size(); ++k) {
    EXPECT_FALSE(fromBytes(std::string_view(bytes).substr(0, k))) << k;
    std::string wrong = bytes;
    wrong[k] = static_cast<char>(0xff);
    (void)fromBytes(wrong);
  }
  EXPECT_FALSE(fromBytes(bytes + "x"));
}

TEST_F(CountingCacheTest, FoldersThatOthersMayWriteToAreLeftAlone) {
  CountingCache cache(folder);
  cache.keep("one", sample());
  ASSERT_EQ(chmod(folder.c_str(), 0777), 0);
  EXPECT_FALSE(cache.find("one"));
  cache.keep("two", sample());
  EXPECT_EQ(files(), 1u);
  ASSERT_EQ(chmod(folder.c_str(), 0700), 0);
  fs::rename(folder, folder + ".real");
  fs::create_directory_symlink(folder + ".real", folder);
  EXPECT_FALSE(cache.find("one"));
}

TEST_F(CountingCacheTest, ThereAreFewFiles) {
  CountingCache cache(folder);
  for (int k = 0; k < 80; ++k) cache.keep("key" + std::to_string(k), sample());
  EXPECT_EQ(files(), CountingCache::kMostFiles);
  EXPECT_EQ(cache.find("key79"), sample());
}

TEST(CountingCacheKey, SaysWhatWasAsked) {
  ProgramBitcode program;
  program.units.push_back({"a.c", "a.o", "bitcode"});
  const std::string key = cacheKey(program, false);
  EXPECT_EQ(key.size(), 32u);
  EXPECT_EQ(cacheKey(program, false), key);
  EXPECT_NE(cacheKey(program, true), key);
  program.units[0].bitcode = "bitcodf";
  EXPECT_NE(cacheKey(program, false), key);
}

}  // namespace
}  // namespace blackout
