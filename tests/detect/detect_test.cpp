// The table of detectors and how it is switched.
#include <set>

#include "judged_program.h"

namespace blackout::test {
namespace {

TEST(Detectors, EachIsNamedAfterItsKindOfFinding) {
  std::set<std::string_view> names;
  for (const Detector& d : detectors()) {
    EXPECT_TRUE(findingKindNamed(d.name).has_value()) << d.name;
    EXPECT_FALSE(d.help.empty());
    EXPECT_TRUE(names.insert(d.name).second);
    EXPECT_NE(detectHelp().find(d.name), std::string::npos);
  }
}

TEST(Detectors, OnlyOverwrittenIsOffByDefault) {
  for (const Detector& d : detectors()) EXPECT_EQ(d.onByDefault, d.name != "overwritten-unpersisted") << d.name;
}

TEST(Detectors, AreSwitchedByName) {
  auto names = [](std::vector<std::string> words) { return detectorNames(*parseDetectOptions(words), true); };
  EXPECT_EQ(names({"none"}), std::vector<std::string>{});
  EXPECT_EQ(names({"none", "idle-fence"}), std::vector<std::string>{"idle-fence"});
  EXPECT_EQ(names({"all"}).size(), detectors().size());
  EXPECT_EQ(names({}).size() + 1, detectors().size());
  EXPECT_EQ(names({"overwritten-unpersisted"}).size(), detectors().size());
  EXPECT_EQ(names({"-idle-fence"}).size() + 2, detectors().size());
}

TEST(Detectors, AnUnknownNameIsRefusedWithTheNamesThatExist) {
  std::vector<std::string> words{"-idle-fences"};
  auto options = parseDetectOptions(words);
  ASSERT_FALSE(options.has_value());
  EXPECT_TRUE(options.error().sentence.starts_with(
      "no detector is called 'idle-fences'; there are: all, none, cross-failure-race"));
}

TEST(Detectors, BlindLeavesOnlyWhatTheTraceItselfSays) {
  DetectOptions options = *parseDetectOptions(std::vector<std::string>{"all"});
  options.blind = true;
  EXPECT_EQ(detectorNames(options, true), std::vector<std::string>{"store-outside"});
}

TEST(Detectors, FindNothingInACleanProgram) {
  JudgedProgram p;
  for (std::uint64_t i = 0; i < 10; ++i) {
    p.opBegin(1, "put");
    p.store(1, 64 * i, 1);
    p.persist(64 * i);
    p.store(1, 64 * i + 8, 1);
    p.clflush(1, 64 * i);
    p.mfence(1);
    p.opEnd(1);
  }
  DetectOptions all = *parseDetectOptions(std::vector<std::string>{"all"});
  EXPECT_TRUE(detect(p.index(), all).empty());
}

TEST(Detectors, GiveTheWorstFirstAndAlwaysTheSame) {
  JudgedProgram p;
  p.sfence(1);
  p.sfence(1);
  p.clwb(1, 64);
  p.store(1, 0, 1);
  auto once = detect(p.index());
  ASSERT_EQ(once.size(), 3U);
  EXPECT_EQ(once[0].kind, FindingKind::NeverPersisted);
  EXPECT_EQ(once[1].kind, FindingKind::CleanFlush);
  EXPECT_EQ(once[2].kind, FindingKind::IdleFence);
  EXPECT_EQ(once, detect(p.index()));
}

}  // namespace
}  // namespace blackout::test
