// Calls into trusted objects: which events are inside, which points are left, what can be trusted.
#include "detect/trusted.h"

#include <rapidcheck.h>

#include "judge/point_choice.h"
#include "judged_program.h"

namespace blackout::test {
namespace {

// A program at 0x1000, a library at 0x10000, another one at 0x20000, libc at 0x30000. None is instrumented, so that
// frames alone tell where an event was made: site tables need files (tests/check/trust.test).
class Calls : public JudgedProgram {
 public:
  Calls() {
    writer.module({"/home/me/app", 0, 0x1000, 0x2000, false});
    writer.module({"/opt/lib/libmap.so.1", 0, 0x10000, 0x11000, false});
    writer.module({"/opt/lib/libother.so", 0, 0x20000, 0x21000, false});
    writer.module({"/lib/libc.so.6", 0, 0x30000, 0x31000, false});
    site_ = writer.site(Site{.id = 1, .kind = SiteKind::Store, .size = 8, .sources = {}, .type = ""});
  }
  // Return addresses, innermost first.
  StackId stack(const std::vector<std::uint64_t>& frames) { return writer.where(site_, frames); }
  // One step that a crash can tell: a store, made durable. Returns its first event.
  EventNo step(StackId where, std::uint64_t offset, ThreadNo t = 1) {
    EventNo n = storeAt(where, offset, 1, 8, t);
    flushAt(where, offset, EventKind::Clwb, t);
    fenceAt(where, EventKind::Sfence, t);
    return n;
  }
  std::vector<EventNo> points(std::vector<std::string> patterns = {}) {
    const Index& i = index();
    auto trusted = Trusted::of(i.trace(), patterns);
    EXPECT_TRUE(trusted) << trusted.error().sentence;
    PointChoice choice;
    if (!patterns.empty()) choice.trusted = &*trusted;
    EXPECT_EQ(choice.whole(), patterns.empty());
    return *choosePoints(i, choice);
  }
  std::string refused(const std::string& pattern) {
    auto trusted = Trusted::of(trace(), {pattern});
    EXPECT_FALSE(trusted) << pattern;
    return trusted ? std::string() : trusted.error().sentence;
  }

 private:
  SiteNo site_ = 0;
};

constexpr std::uint64_t kMain = 0x1100;
constexpr std::uint64_t kMainElsewhere = 0x1200;
constexpr std::uint64_t kLibrary = 0x10100;
constexpr std::uint64_t kLibraryDeeper = 0x10200;
constexpr std::uint64_t kOther = 0x20100;
constexpr std::uint64_t kLibc = 0x30100;

TEST(Trusted, IsInsideIfTheObjectIsAnywhereOnTheStack) {
  Calls p;
  StackId library = p.stack({kLibrary, kMain, kLibc});
  StackId deep = p.stack({kOther, kLibraryDeeper, kLibrary, kMain, kLibc});
  StackId calledBack = p.stack({kMainElsewhere, kLibrary, kMain, kLibc});
  StackId own = p.stack({kMain, kLibc});
  StackId other = p.stack({kOther, kMain, kLibc});
  EventNo a = p.storeAt(library, 0);
  EventNo b = p.storeAt(own, 0);
  auto trusted = Trusted::of(p.trace(), {"libmap.so.1"});
  ASSERT_TRUE(trusted);
  for (StackId w : {library, deep, calledBack}) EXPECT_TRUE(trusted->insideAt(w));
  for (StackId w : {own, other, StackId{0}}) EXPECT_FALSE(trusted->insideAt(w));
  EXPECT_TRUE(trusted->inside(a));
  EXPECT_FALSE(trusted->inside(b));
  EXPECT_FALSE(trusted->trustedSite(1));
  EXPECT_EQ(trusted->objects(), std::vector<std::string>{"/opt/lib/libmap.so.1"});
}

// A return address is behind its call, which may be the last instruction of the object.
TEST(Trusted, ReturnAddressesAreBehindTheirCalls) {
  Calls p;
  StackId last = p.stack({0x11000});
  StackId before = p.stack({0x10000});
  p.storeAt(last, 0);
  auto trusted = Trusted::of(p.trace(), {"libmap*"});
  ASSERT_TRUE(trusted);
  EXPECT_TRUE(trusted->insideAt(last));
  EXPECT_FALSE(trusted->insideAt(before));
}

TEST(Trusted, OnePointPerCallBeforeItsFirstEvent) {
  Calls p;
  StackId own = p.stack({kMain, kLibc});
  StackId inner = p.stack({kLibrary, kMain, kLibc});
  StackId deeper = p.stack({kLibraryDeeper, kLibrary, kMain, kLibc});
  EventNo before = p.step(own, 0);
  EventNo first = p.step(inner, 64);
  EventNo second = p.step(deeper, 128);
  EventNo third = p.step(inner, 192);
  EventNo after = p.step(own, 256);
  // Each step has its point before the fence, two events after its store.
  EXPECT_EQ(p.points(), (std::vector<EventNo>{before + 2, first + 2, second + 2, third + 2, after + 2}));
  EXPECT_EQ(p.points({"libmap.so.1"}), (std::vector<EventNo>{before + 2, first, after + 2}));
  EXPECT_EQ(p.points({"libother.so"}), p.points());
}

TEST(Trusted, ACallThatOrdersNothingHasNoPoint) {
  Calls p;
  StackId own = p.stack({kMain, kLibc});
  p.storeAt(p.stack({kLibrary, kMain, kLibc}), 0);
  EventNo after = p.step(own, 64);
  EXPECT_EQ(p.points({"libmap.so.1"}), (std::vector<EventNo>{after + 2}));
}

TEST(Trusted, CallsAreToldApartByTheirPlaceAndByWhatIsInBetween) {
  Calls p;
  StackId own = p.stack({kMain, kLibc});
  StackId here = p.stack({kLibrary, kMain, kLibc});
  StackId there = p.stack({kLibrary, kMainElsewhere, kLibc});
  EventNo a = p.step(here, 0);
  EventNo b = p.step(there, 64);
  EventNo c = p.step(here, 128);
  p.step(here, 192);  // the same place, and nothing of the caller's: one call
  p.storeAt(own, 256);
  EventNo d = p.step(here, 256);
  auto points = p.points({"libmap.so.1"});
  EXPECT_EQ(points, (std::vector<EventNo>{a, b, c, d, p.end()}));
}

// The caller forgets to flush, and the library commits: only behind the call is there the one without the other.
TEST(Trusted, WhatACallLeftIsSeenBehindIt) {
  auto without = [](Calls& p, EventNo point) { return p.statesAt(point, {0, 64}).contains(Bytes{0, 1}); };
  Calls last;
  last.storeAt(last.stack({kMain, kLibc}), 0);
  last.step(last.stack({kLibrary, kMain, kLibc}), 64);
  auto points = last.points({"libmap.so.1"});
  EXPECT_TRUE(std::any_of(points.begin(), points.end(), [&](EventNo n) { return without(last, n); }));
  // Flushed too late: this fence alone would be no point. What orders nothing (a read) does not take its place.
  Calls late;
  StackId own = late.stack({kMain, kLibc});
  late.storeAt(own, 0);
  EventNo call = late.step(late.stack({kLibrary, kMain, kLibc}), 64);
  late.writer.event(EventKind::Load, 1, late.at(0), 1, 8, own);
  late.flushAt(own, 0);
  EventNo fence = late.fenceAt(own);
  EXPECT_EQ(late.points(), std::vector<EventNo>{call + 2});
  EXPECT_EQ(late.points({"libmap.so.1"}), (std::vector<EventNo>{call, fence}));
  EXPECT_TRUE(without(late, fence));
  EXPECT_FALSE(without(late, call));
}

TEST(Trusted, NoPointIsAddedWhereNoCrashIsWanted) {
  Calls p;
  StackId own = p.stack({kMain, kLibc});
  StackId here = p.stack({kLibrary, kMain, kLibc});
  p.step(here, 0);
  EventNo begin = p.event(EventKind::RoiBegin);
  EventNo call = p.step(here, 64);
  EventNo end = p.event(EventKind::RoiEnd);
  p.fenceAt(own);
  p.step(here, 128);
  auto points = p.points({"libmap.so.1"});
  EXPECT_EQ(points, (std::vector<EventNo>{call, end}));
  EXPECT_LT(begin, points.front());
}

TEST(Trusted, AnExtraPointIsKept) {
  Calls p;
  StackId here = p.stack({kLibrary, kMain, kLibc});
  EventNo first = p.step(here, 0);
  EventNo extra = p.event(EventKind::ExtraPoint);
  p.step(here, 64);
  EXPECT_EQ(p.points({"libmap.so.1"}), (std::vector<EventNo>{first, extra, p.end()}));
}

// Whatever a crash outside of calls can leave is left at one of the points that remain.
TEST(Trusted, NoStateOutsideOfCallsIsLost) {
  EXPECT_TRUE(rc::check([](const std::vector<std::uint32_t>& genes) {
    Calls p;
    std::vector<StackId> wheres = {p.stack({kMain, kLibc}), p.stack({kLibrary, kMain, kLibc}),
                                   p.stack({kLibrary, kMainElsewhere, kLibc})};
    std::vector<EventNo> outside;
    const std::vector<std::uint64_t> offsets = {0, 64, 128};
    std::uint64_t value = 0;
    for (std::size_t i = 0; i < genes.size() && i < 24; ++i) {
      std::uint32_t gene = genes[i];
      StackId w = wheres[gene % 3];
      std::uint64_t offset = offsets[(gene >> 4) % 3];
      EventNo n = 0;
      switch ((gene >> 8) % 4) {
        case 0:
          n = p.storeAt(w, offset, ++value % 100, 1);
          break;
        case 1:
          n = p.flushAt(w, offset);
          break;
        case 2:
          n = p.fenceAt(w);
          break;
        case 3:
          n = p.flushAt(w, offset, EventKind::Clflush);
          break;
      }
      // Just before an event of the caller's no call is under way.
      if (w == wheres[0]) outside.push_back(n);
    }
    outside.push_back(p.end());
    States left;
    for (EventNo n : p.points({"libmap.so.1"}))
      for (const Bytes& state : p.statesAt(n, offsets)) left.insert(state);
    for (EventNo n : outside)
      for (const Bytes& state : p.statesAt(n, offsets)) RC_ASSERT(left.contains(state));
  }));
}

TEST(Trusted, MarksOfOperationsTellCallsApart) {
  Calls p;
  StackId here = p.stack({kLibrary, kMain, kLibc});
  std::vector<EventNo> expected;
  for (std::uint64_t i = 0; i < 3; ++i) {
    EventNo begin = p.opBegin(1);
    EventNo call = p.step(here, 64 * i);
    p.opEnd(1);
    expected.push_back(begin);
    expected.push_back(call);
  }
  expected.push_back(p.end());
  EXPECT_EQ(p.points({"libmap.so.1"}), expected);
}

// What has no place belongs to the call around it, and not to the one before it.
TEST(Trusted, EventsWithoutAPlace) {
  Calls inside;
  StackId here = inside.stack({kLibrary, kMain, kLibc});
  EventNo first = inside.storeAt(here, 0);
  inside.persist(0);
  inside.step(here, 64);
  EXPECT_EQ(inside.points({"libmap.so.1"}), (std::vector<EventNo>{first, inside.end()}));
  Calls after;
  here = after.stack({kLibrary, kMain, kLibc});
  first = after.step(here, 0);
  EventNo own = after.store(1, 64, 1);
  after.persist(64);
  after.storeAt(after.stack({kMain, kLibc}), 128);
  auto points = after.points({"libmap.so.1"});
  EXPECT_EQ(points, (std::vector<EventNo>{first, own + 2, after.end()}));
}

TEST(Trusted, ThreadsAreInTheirOwnCalls) {
  Calls p;
  StackId here = p.stack({kLibrary, kMain, kLibc});
  StackId own = p.stack({kMain, kLibc});
  EventNo a = p.storeAt(here, 0, 1, 8, 1);
  EventNo b = p.step(own, 64, 2);
  p.flushAt(here, 0);
  p.fenceAt(here);
  p.step(here, 128, 1);
  EXPECT_EQ(p.points({"libmap.so.1"}), (std::vector<EventNo>{a, b + 2, p.end()}));
}

TEST(Trusted, AnEventThatIsNamedIsAPointEvenInside) {
  Calls p;
  EventNo first = p.step(p.stack({kLibrary, kMain, kLibc}), 0);
  auto trusted = Trusted::of(p.trace(), {"libmap.so.1"});
  ASSERT_TRUE(trusted);
  auto choice = parsePointChoice(std::to_string(first.value() + 1) + "-" + std::to_string(first.value() + 1));
  ASSERT_TRUE(choice);
  choice->trusted = &*trusted;
  EXPECT_EQ(*choosePoints(p.index(), *choice), std::vector<EventNo>{first + 1});
}

TEST(Trusted, IsNamedByEndsOfPathsAndGlobs) {
  Calls p;
  for (const char* pattern : {"libmap.so.1", "lib/libmap.so.1", "/opt/lib/libmap.so.1", "libmap*", "*/libm?p.so.1"}) {
    auto trusted = Trusted::of(p.trace(), {pattern, "libother.so", "libother*"});
    ASSERT_TRUE(trusted) << pattern;
    EXPECT_EQ(trusted->objects(), (std::vector<std::string>{"/opt/lib/libmap.so.1", "/opt/lib/libother.so"}));
  }
}

TEST(Trusted, WhatCantBeTrusted) {
  Calls p;
  EXPECT_EQ(p.refused("libmap.so"),
            "--trust libmap.so: the program loaded nothing of that name; there are: libmap.so.1, libother.so");
  EXPECT_EQ(p.refused(""), "--trust : the program loaded nothing of that name; there are: libmap.so.1, libother.so");
  EXPECT_NE(p.refused("app").find("app is the program itself"), std::string::npos);
  EXPECT_NE(p.refused("*").find("app is the program itself"), std::string::npos);
  EXPECT_NE(p.refused("libc.so.6").find("libc.so.6 is underneath everything"), std::string::npos);
  JudgedProgram alone;
  auto trusted = Trusted::of(alone.trace(), {"x"});
  ASSERT_FALSE(trusted);
  EXPECT_NE(trusted.error().sentence.find("it has no libraries that could be trusted"), std::string::npos);
}

TEST(Trusted, AnInstrumentedObjectThatIsGone) {
  Calls p;
  p.writer.module({"/no/such/libgone.so", 0, 0x40000, 0x41000, true});
  EXPECT_NE(p.refused("libgone.so").find("can't determine which code is in it"), std::string::npos);
}

}  // namespace
}  // namespace blackout::test
