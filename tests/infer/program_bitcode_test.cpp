// Records of kept bitcode as they may come: several, with padding, of another version, damaged, cut short.
#include "infer/program_bitcode.h"

#include <gtest/gtest.h>

#include <cstring>
#include <filesystem>
#include <fstream>

#include "events/contract.h"
#include "infer/compile.h"
#include "sample_record.h"

namespace blackout {
namespace {

ProgramBitcode read(const std::string& section) {
  ProgramBitcode program;
  addRecords(program, {section.data(), section.size()}, "prog");
  return program;
}

TEST(ProgramBitcode, RecordsFollowOneAnotherWithZerosBetween) {
  ProgramBitcode p =
      read(sampleRecord("a.c", "first") + std::string(16, '\0') + sampleRecord("b.c", std::string(1000, 'x')));
  ASSERT_EQ(p.units.size(), 2u);
  EXPECT_EQ(p.units[0].source, "a.c");
  EXPECT_EQ(p.units[0].bitcode, "first");
  EXPECT_EQ(p.units[0].holder, "prog");
  EXPECT_EQ(p.units[1].bitcode, std::string(1000, 'x'));
  EXPECT_TRUE(p.notes.empty());
}

TEST(ProgramBitcode, TheSameUnitTwiceIsOne) {
  EXPECT_EQ(read(sampleRecord("a.c", "same") + sampleRecord("a.c", "same")).units.size(), 1u);
}

TEST(ProgramBitcode, AnotherVersionIsLeftOutByNameAndTheRestCounts) {
  ProgramBitcode p =
      read(sampleRecord("old.c", "x", BLACKOUT_BITCODE_VERSION + 1) +
           sampleRecord("other.c", "x", BLACKOUT_BITCODE_VERSION, LLVM_VERSION_MAJOR + 1) + sampleRecord("new.c", "y"));
  ASSERT_EQ(p.units.size(), 1u);
  EXPECT_EQ(p.units[0].source, "new.c");
  ASSERT_EQ(p.notes.size(), 2u);
  EXPECT_NE(p.notes[0].find("old.c is left out"), std::string::npos) << p.notes[0];
  EXPECT_NE(p.notes[0].find("another version"), std::string::npos);
  EXPECT_NE(p.notes[1].find("other.c is left out"), std::string::npos);
}

TEST(ProgramBitcode, ADamagedRecordIsLeftOutAndTheRestCounts) {
  std::string bad = sampleRecord("bad.c", std::string(500, 'q'));
  bad[sizeof(blackout_bitcode) + 5 + 3] ^= 1;
  ProgramBitcode p = read(bad + sampleRecord("good.c", "y"));
  ASSERT_EQ(p.units.size(), 1u);
  EXPECT_EQ(p.units[0].source, "good.c");
  ASSERT_EQ(p.notes.size(), 1u);
  EXPECT_NE(p.notes[0].find("bad.c"), std::string::npos);
}

TEST(ProgramBitcode, ASizeThatIsTooLargeEndsTheSection) {
  std::string all = sampleRecord("a.c", "text");
  for (std::size_t keep = sizeof(blackout_bitcode); keep < all.size() - 8; keep += 8) {
    ProgramBitcode p = read(all.substr(0, keep));
    EXPECT_TRUE(p.units.empty());
    EXPECT_EQ(p.notes.size(), 1u);
  }
}

// A claim of many bytes must not be believed before they are there.
TEST(ProgramBitcode, AClaimOfManyBytesIsNotBelieved) {
  std::string all = sampleRecord("a.c", "text");
  std::uint64_t huge = ~std::uint64_t{0} >> 1;
  std::memcpy(all.data() + offsetof(blackout_bitcode, unpacked), &huge, sizeof huge);
  ProgramBitcode p = read(all);
  EXPECT_TRUE(p.units.empty());
  EXPECT_EQ(p.notes.size(), 1u);
}

TEST(ProgramBitcode, ALostMagicIsSaidOnce) {
  std::string bad = sampleRecord("bad.c", std::string(500, 'q'));
  bad[0] = 'X';
  ProgramBitcode p = read(bad + sampleRecord("good.c", "y"));
  EXPECT_EQ(p.units.size(), 1u);
  EXPECT_EQ(p.notes.size(), 1u);
}

TEST(ProgramBitcode, FewBytesDontAskForMuchMemory) {
  ProgramBitcode p = read(sampleRecord("bomb.c", std::string(50 << 20, 'x')));
  EXPECT_TRUE(p.units.empty());
  EXPECT_EQ(p.notes.size(), 1u);
}

TEST(ProgramBitcode, AFileOfNoKnownKindIsAnError) {
  ProgramBitcode p;
  auto added = addBitcode(p, "/etc/passwd");
  ASSERT_FALSE(added);
  EXPECT_NE(added.error().sentence.find("is not a program"), std::string::npos);
  EXPECT_FALSE(addBitcode(p, "/nonexistent"));
}

// A C compiler compiles what is named as C++, and one of C++ everything.
TEST(CompileCommands, TheLanguageIsThatOfTheCompilerOrOfTheFile) {
  std::string path = testing::TempDir() + "commands." + std::to_string(getpid()) + ".json";
  std::ofstream(path) << R"([{"directory": "/d", "file": "a.cc", "arguments": ["clang", "-c", "a.cc"]},
                             {"directory": "/d", "file": "b.c", "arguments": ["clang++", "-c", "b.c"]},
                             {"directory": "/d", "file": "c.c", "command": "clang -c c.c"}])";
  auto jobs = readCompileCommands(path);
  std::filesystem::remove(path);
  ASSERT_TRUE(jobs) << jobs.error().sentence;
  ASSERT_EQ(jobs->size(), 3u);
  EXPECT_TRUE((*jobs)[0].cxx);
  EXPECT_TRUE((*jobs)[1].cxx);
  EXPECT_FALSE((*jobs)[2].cxx);
}

}  // namespace
}  // namespace blackout
