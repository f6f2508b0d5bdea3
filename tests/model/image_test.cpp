// Images: the files that a crash leaves, with the size, name and content that they had at the
// point, for one crash and for a crash in recovery.
#include <gtest/gtest.h>

#include "tiny_program.h"

namespace blackout::test {
namespace {

int byteAt(const FileImage& file, std::uint64_t offset) {
  std::byte b{};
  file.bytes.read(offset, {&b, 1});
  return static_cast<int>(b);
}

TEST(Image, HasTheSizeThatTheFileHadAtThePoint) {
  TinyProgram p(100);
  EventNo grow = p.range(EventKind::FileSize, 1, 0, 5000);
  EventNo after = p.event(EventKind::Lfence);
  EXPECT_EQ(buildImage(CrashLevel(grow, UnnamedLines::Least), p.index())->files.at(0).size, 100U);
  EXPECT_EQ(buildImage(CrashLevel(after, UnnamedLines::Least), p.index())->files.at(0).size, 5000U);
}

TEST(Image, AFileOfTheProgramExistsFromItsCreationToItsRemoval) {
  TinyProgram p;
  FileNo made = p.writer.file("/made", 64, false);
  EventNo stored = p.writer.event(EventKind::Store, 1, pmAddr(made, 0), 1, 1);
  p.writer.event(EventKind::FileUnlink, 1, pmAddr(made, 0));
  EventNo after = p.event(EventKind::Lfence);
  EXPECT_EQ(buildImage(CrashLevel(4, UnnamedLines::Least), p.index())->files.size(), 2U);  // its FileNew is event 3
  EXPECT_EQ(buildImage(CrashLevel(3, UnnamedLines::Least), p.index())->files.size(), 1U);
  EXPECT_NE(buildImage(CrashLevel(stored, UnnamedLines::Least), p.index())->find("/made"), nullptr);
  EXPECT_EQ(buildImage(CrashLevel(after, UnnamedLines::Least), p.index())->find("/made"), nullptr);
}

TEST(Image, AFileFromBeforeIsThereFromTheBeginning) {
  TinyProgram p;
  FileNo late = p.writer.file("/late", 64, true);
  p.writer.fileData(pmAddr(late, 0), "xyz");
  auto image = buildImage(CrashLevel(0, UnnamedLines::Least), p.index());
  ASSERT_NE(image->find("/late"), nullptr);
  EXPECT_EQ(image->find("/late")->size, 64U);
  EXPECT_EQ(byteAt(*image->find("/late"), 1), 'y');
}

TEST(Image, HasTheNameThatTheFileHadAtThePoint) {
  TinyProgram p;
  EventNo rename = p.writer.blob(EventKind::FileRename, 1, p.at(0), "/b");
  EXPECT_NE(buildImage(CrashLevel(rename, UnnamedLines::Least), p.index())->find("/pool"), nullptr);
  EXPECT_NE(buildImage(CrashLevel(p.end(), UnnamedLines::Least), p.index())->find("/b"), nullptr);
}

TEST(Image, AShrunkFileNeverGetsItsBytesBack) {
  TinyProgram p;
  p.store(1, 70, 1);  // uncertain when the file shrinks
  p.store(1, 60, 2);
  p.range(EventKind::FileSize, 1, 0, 65);
  p.range(EventKind::FileSize, 1, 0, 4096);
  EXPECT_EQ(p.statesAtEnd({70, 60}), (States{{0, 0}, {0, 2}}));
  EXPECT_EQ(p.statesOver(PointsMode::Enough, {70, 60}), p.statesOver(PointsMode::All, {70, 60}));
}

TEST(Image, ZeroedBytesAreSettledAndOthersAreNot) {
  TinyProgram p;
  p.store(1, 0, 0x0101, 2);
  p.range(EventKind::FileZero, 1, 1, 1);
  EXPECT_EQ(p.statesAtEnd({0, 1}), (States{{0, 0}, {1, 0}}));
  TinyProgram again;
  again.store(1, 0, 1);
  again.range(EventKind::FileZero, 1, 0, 64);
  again.store(1, 0, 2);
  EXPECT_EQ(again.statesAtEnd({0}), (States{{0}, {2}}));
}

TEST(Image, ZeroingReachesLinesWithoutStores) {
  TinyProgram p;
  p.writer.fileData(p.at(0), std::string(4096, 'x'));
  p.range(EventKind::FileZero, 1, 100, 1000);
  p.store(1, 0, 1);
  EXPECT_EQ(p.statesAtEnd({99, 100, 1099, 1100, 0}), (States{{'x', 0, 0, 'x', 'x'}, {'x', 0, 0, 'x', 1}}));
}

TEST(Image, RefusesWhatIsNotFeasible) {
  TinyProgram p;
  p.store(1, 0, 1);
  EventNo flush = p.clflush(1, 0);
  p.store(1, 8, 2);
  LineNo line = lineOf(p.at(0));
  EventNo end = p.end();
  EXPECT_FALSE(buildImage(CrashLevel(end, UnnamedLines::Least, {{line, {0, {}}}}), p.index()).has_value())
      << "a guaranteed store is missing";
  EXPECT_FALSE(buildImage(CrashLevel(flush, UnnamedLines::Least, {{line, {2, {}}}}), p.index()).has_value())
      << "a store from the future";
  EXPECT_FALSE(buildImage(CrashLevel(end, UnnamedLines::Least, {{line, {0, {0}}}}), p.index()).has_value())
      << "not the longest prefix";
  EXPECT_FALSE(buildImage(CrashLevel(end, UnnamedLines::Least, {{line + 5, {1, {}}}}), p.index()).has_value())
      << "a line without stores";
  EXPECT_TRUE(buildImage(CrashLevel(end, UnnamedLines::Least, {{line, {2, {}}}}), p.index()).has_value());
  EXPECT_FALSE(buildImage(CrashState{}, {}).has_value());
}

TEST(Image, RecoveryAddsItsStoresToWhatTheFirstCrashLeft) {
  TinyProgram p;
  p.store(1, 0, 1);
  p.store(1, 8, 1);
  LineNo line = lineOf(p.at(0));
  TinyProgram recovery;
  recovery.store(1, 16, 3);
  recovery.clflush(1, 16);  // guarantees recovery's store; it doesn't settle which content was under it
  recovery.store(1, 24, 4);
  const Index& first = p.index();
  const Index& second = recovery.index();
  const Index* both[] = {&first, &second};
  States states;
  for (const CrashLevel& one : allLevels(first, p.end())) {
    for (const CrashLevel& two : allLevels(second, recovery.end())) {
      auto image = buildImage(CrashState{one, two}, both);
      ASSERT_TRUE(image.has_value());
      const FileImage& f = image->files.at(0);
      states.insert({byteAt(f, 0), byteAt(f, 8), byteAt(f, 16), byteAt(f, 24)});
    }
  }
  EXPECT_EQ(states, (States{{0, 0, 3, 0}, {1, 0, 3, 0}, {1, 1, 3, 0}, {0, 0, 3, 4}, {1, 0, 3, 4}, {1, 1, 3, 4}}));
  LineBytes under{};
  EXPECT_EQ(second.versionsOf(line, recovery.end(), &under).versions.size(), 2U);
}

TEST(Image, RecoveryMustKnowTheFilesThatAreThere) {
  TinyProgram p;
  TinyProgram other(4096, true, "/other");
  const Index* both[] = {&p.index(), &other.index()};
  auto image = buildImage(CrashState{CrashLevel(0, UnnamedLines::Least), CrashLevel(0, UnnamedLines::Least)}, both);
  ASSERT_FALSE(image.has_value());
  EXPECT_NE(image.error().sentence.find("/other"), std::string::npos);
}

TEST(Versions, StopAtTheLimitAndSaySo) {
  TinyProgram p;
  for (unsigned round = 0; round < 3; ++round)
    for (std::uint64_t unit = 0; unit < 8; ++unit) p.nt(1, 8 * unit, round + 1);
  LineVersions versions = p.index("nt-order=any").versionsOf(lineOf(p.at(0)), p.end());
  EXPECT_FALSE(versions.complete);
  EXPECT_EQ(versions.downSets, kVersionLimit);
  EXPECT_EQ(versions.versions.front().version, Version{});
  EXPECT_EQ(versions.versions.back().version, (Version{24, {}}));  // the newest is there all the same
}

}  // namespace
}  // namespace blackout::test
