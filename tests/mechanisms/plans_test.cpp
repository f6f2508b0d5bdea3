// Crash plans: all feasible, two for each unprotected store, and those that test the mechanisms whatever the
// description says of them.
#include "mechanisms/plans.h"

#include <set>

#include "described_program.h"
#include "explore/space_memory.h"

namespace blackout::test {
namespace {

constexpr const char* kFlag = R"(
[journal.undo]
area = { at = "&lane.place", size = 16 }
entry = { target = "lane.place", size = 8, data = "lane.old" }
commit = { field = "lane.valid" }
)";

class Plans : public ::testing::Test {
 public:
  struct Program;

 protected:
  void SetUp() override {
    p.type("lane", 128, {{"valid", 0, 8}, {"place", 64, 8}, {"old", 72, 8}});
    p.setDurable("lane.valid", 0, 0);
  }
  void transaction() {
    p.set("lane.place", 64, 2048);
    p.set("lane.old", 72, 0);
    p.persist(64);
    p.setDurable("lane.valid", 0, 1);
    p.store(1, 2048, 7, 8);
    if (unprotected) p.store(1, 3072, 8, 8);
    p.clwb(1, 2048);
    p.clwb(1, 3072);
    p.sfence(1);
    p.setDurable("lane.valid", 0, 0);
  }
  // What the chosen bytes hold after each plan at each point.
  std::set<Bytes> states(const PlanOptions& options = {}) {
    Phases phases = p.check(kFlag);
    EXPECT_TRUE(phases.violations.empty());
    const Index& index = p.index();
    std::vector<EventNo> points = index.points(PointsMode::Enough);
    TrackedBytes tracked = TrackedBytes::of(index);
    Baseline baseline(index, tracked, points);
    FirstCrash first(baseline);
    CrashPlans plans(index, phases, points, options);
    std::set<Bytes> out;
    for (PointNo point : idRange<PointNo>(points.size())) {
      CrashSpace space(first, point);
      for (std::uint64_t n = 0; n < plans.count(space); ++n) {
        Restriction r = plans.restriction(space, n);
        Bytes bytes;
        for (std::uint64_t offset : {0, 2048, 3072}) {
          TrackedNo w = tracked.find(lineOf(p.at(offset)));
          if (w == TrackedBytes::kNone) {
            bytes.push_back(0);
            continue;
          }
          const UncertainLine& line = space.line(w);
          std::uint32_t version = r.unnamed == Unrestricted::Newest ? line.newest : 0;
          for (const auto& [named, allowed] : r.allowed) {
            EXPECT_EQ(allowed.size(), 1U);
            EXPECT_LT(allowed.front(), space.line(named).versions.size());
            if (named == w) version = allowed.front();
          }
          if (line.versions.size() > 1)
            EXPECT_TRUE(index.isFeasible(tracked.line(w), points[point.value()], line.versions[version].version));
          bytes.push_back(static_cast<int>(line.versions[version].bytes[0]));
        }
        out.insert(bytes);
      }
    }
    counted = plans.figures();
    return out;
  }
  DescribedProgram p;
  bool unprotected = false;
  CrashPlans::Figures counted;
};

// Four unprotected stores in flight at once, to four lines: of one piece of work; or the first two in the background,
// by another thread, or left over by an operation that ended.
struct Plans::Program {
  enum Work { One, OtherThread, EarlierOperation } work = One;
  DescribedProgram p;
  std::set<Bytes> states(const PlanOptions& options) {
    for (std::uint64_t i = 0; i < 4; ++i) {
      if (work == EarlierOperation && i % 2 == 0) p.opBegin(1);
      p.store(work == OtherThread && i < 2 ? ThreadNo(2) : ThreadNo(1), 1024 + 64 * i, 5 + i, 8);
      if (work == EarlierOperation && i == 1) p.opEnd(1);
    }
    for (std::uint64_t i = 0; i < 4; ++i) p.clwb(1, 1024 + 64 * i);
    p.sfence(1);
    if (work == EarlierOperation) p.opEnd(1);
    Phases phases;
    const Index& index = p.index();
    phases.tags.resize(index.stores().size());
    std::vector<EventNo> points = index.points(PointsMode::Enough);
    TrackedBytes tracked = TrackedBytes::of(index);
    Baseline baseline(index, tracked, points);
    FirstCrash first(baseline);
    CrashPlans plans(index, phases, points, options);
    std::set<Bytes> out;
    for (PointNo point : idRange<PointNo>(points.size())) {
      CrashSpace space(first, point);
      for (std::uint64_t n = 0; n < plans.count(space); ++n) {
        Restriction r = plans.restriction(space, n);
        Bytes bytes;
        for (std::uint64_t i = 0; i < 4; ++i) {
          TrackedNo w = tracked.find(lineOf(p.at(1024 + 64 * i)));
          std::uint32_t version = r.unnamed == Unrestricted::Newest ? space.line(w).newest : 0;
          for (const auto& [named, allowed] : r.allowed)
            if (named == w) version = allowed.front();
          bytes.push_back(static_cast<int>(space.line(w).versions[version].bytes[0]));
        }
        out.insert(bytes);
      }
    }
    return out;
  }
};

// The log is intact and what it protects is changed: a restart must roll it back. So a store that a description
// protects wrongly is met in any case.
TEST_F(Plans, TestTheMechanism) {
  transaction();
  auto found = states();
  EXPECT_TRUE(found.contains({1, 7, 0}));  // in place, before the log is reclaimed
  EXPECT_TRUE(found.contains({1, 0, 0}));  // the commit kept, nothing in place
  EXPECT_TRUE(found.contains({0, 7, 0}));  // reclaimed
  EXPECT_LT(counted.plans, counted.forAll + 1);
}

TEST_F(Plans, TwoForEachUnprotectedStore) {
  unprotected = true;
  transaction();
  auto found = states();
  EXPECT_TRUE(found.contains({1, 0, 8}));  // only it
  EXPECT_TRUE(found.contains({1, 7, 0}));  // all but it
}

// Of the two stores only both, and all but both: states that two plans for each do not have.
TEST_F(Plans, PairsOfUnprotectedStores) {
  auto run = [](bool pairs) {
    Plans::Program program;
    return program.states({.pairs = pairs});
  };
  EXPECT_FALSE(run(false).contains({5, 6, 0, 0}));
  EXPECT_TRUE(run(true).contains({5, 6, 0, 0}));
}

// The background alone, and all but it.
TEST_F(Plans, BackgroundWritesWithAndWithout) {
  auto run = [](Plans::Program::Work work) {
    Plans::Program program;
    program.work = work;
    return program.states({});
  };
  const Bytes with{5, 6, 0, 0}, without{0, 0, 7, 8};
  auto one = run(Plans::Program::One);
  EXPECT_FALSE(one.contains(with));
  EXPECT_FALSE(one.contains(without));
  for (auto work : {Plans::Program::OtherThread, Plans::Program::EarlierOperation}) {
    auto found = run(work);
    EXPECT_TRUE(found.contains(with));
    EXPECT_TRUE(found.contains(without));
  }
}

}  // namespace
}  // namespace blackout::test
