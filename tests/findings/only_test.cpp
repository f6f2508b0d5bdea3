// `--only`: which files are at or under its paths.

#include "findings/only.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>

namespace blackout {
namespace {

namespace fs = std::filesystem;

class Only : public ::testing::Test {
 protected:
  void SetUp() override {
    fs::remove_all(folder_);
    fs::create_directories(folder_ / "src" / "deep");
    fs::create_directories(folder_ / "src2");
  }
  void TearDown() override { fs::remove_all(folder_); }
  std::string path(const char* name) const { return (folder_ / name).string(); }
  OnlyFilter filter(const char* name) const {
    auto made = OnlyFilter::make({path(name)});
    EXPECT_TRUE(made.has_value());
    return made ? *made : OnlyFilter();
  }
  fs::path folder_ = fs::canonical(fs::temp_directory_path()) / ("blackout-only-" + std::to_string(getpid()));
};

TEST_F(Only, KeepsWhatIsAtOrUnderAPath) {
  for (const char* name : {"src", "src/"}) {
    OnlyFilter f = filter(name);
    EXPECT_TRUE(f.keepsFile(path("src/a.c")));
    EXPECT_TRUE(f.keepsFile(path("src/deep/a.c")));
    EXPECT_TRUE(f.keepsFile(path("src")));
    EXPECT_FALSE(f.keepsFile(path("a.c")));
    EXPECT_FALSE(f.keepsFile(""));
  }
  EXPECT_TRUE(filter("..").keepsFile(path("src/a.c")));
}

// Its name only begins in the same way.
TEST_F(Only, ASiblingIsNotUnderIt) {
  EXPECT_FALSE(filter("src").keepsFile(path("src2/a.c")));
  EXPECT_FALSE(filter("src").keepsFile(path("src.c")));
  EXPECT_FALSE(filter("src/deep").keepsFile(path("src/a.c")));
}

TEST_F(Only, AFindingIsKeptByAnyFrameOfItsPlaces) {
  Finding f = makeFinding(FindingKind::IdleFence);
  NumberedPlace place;
  place.stack = {{"persist", path("lib/persist.c"), 3, 1, "", false}, {"put", path("src2/put.c"), 9, 1, "", false}};
  f.places = {place};
  EXPECT_FALSE(filter("src").keeps(f));
  EXPECT_TRUE(filter("src2").keeps(f));
  EXPECT_TRUE(OnlyFilter().keeps(f)) << "without --only";
}

}  // namespace
}  // namespace blackout
