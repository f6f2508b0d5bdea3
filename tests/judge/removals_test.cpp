// Statements that go: only where all that the run does in them is wasted, and nothing is guaranteed later without them.
#include "judge/removals.h"

#include <gtest/gtest.h>

#include "binary/symbolizer.h"
#include "detect/detect.h"
#include "events/trace.h"
#include "model/left_out.h"
#include "tiny_program.h"

namespace blackout::test {
namespace {

// Calls as the sites have them: everything is inlined.
class InlinedCalls : public Stacks {
 public:
  std::vector<Frame> at(const Trace& trace, StackId where) override {
    return framesOf(trace.site(trace.callStack(where)->site)->sources.front());
  }
  std::vector<Frame> endOf(const Trace&, const Outcome&) override { return {}; }
};

struct Calls : TinyProgram {
  // A statement in a line of main, which calls a function of pm.h.
  StackId in(std::uint32_t line, SiteKind kind, std::uint64_t id, std::uint32_t inner) {
    Site site;
    site.id = id;
    site.kind = kind;
    site.sources = {{id, {{"persist", "/pm.h", inner, 1, 0}, {"main", "/main.c", line, 3, 0}}}};
    return writer.where(writer.site(site));
  }
  void storeIn(std::uint32_t line, std::uint64_t offset, std::uint64_t value, ThreadNo t = 1) {
    writer.event(EventKind::Store, t, at(offset), value, 8, in(line, SiteKind::Store, 100 + line, 1));
  }
  void persistIn(std::uint32_t line, std::uint64_t offset, ThreadNo t = 1) {
    writer.event(EventKind::Clwb, t, at(offset), 0, 0, in(line, SiteKind::Clwb, 200 + line, 2));
    writer.event(EventKind::Sfence, t, 0, 0, 0, in(line, SiteKind::Sfence, 300 + line, 3));
  }
  // The lines of main that can go.
  std::vector<std::uint32_t> removable() {
    std::vector<Finding> findings = detect(index(), {});
    InlinedCalls stacks;
    for (Finding& f : findings)
      if (f.places.front().where != 0) f.places.front().stack = stacks.at(trace(), f.places.front().where);
    findRemovals(findings, index(), stacks);
    std::vector<std::uint32_t> lines;
    for (const Finding& f : findings)
      for (const Fix& fix : f.fixes) {
        EXPECT_EQ(fix.where, Fix::Where::Remove);
        EXPECT_EQ(fix.at.front().file, "/main.c") << "the instruction in pm.h is everybody's";
        flushes = fix.flushes;
        fences = fix.fences;
        lines.push_back(fix.at.front().line);
      }
    return lines;
  }
  std::uint64_t flushes = 0, fences = 0;
};

TEST(Removals, ACallThatPersistsAgain) {
  Calls p;
  for (int i = 0; i < 3; ++i) {
    p.storeIn(1, 64 * i, 5);
    p.persistIn(2, 64 * i);
    p.persistIn(3, 64 * i);
  }
  EXPECT_EQ(p.removable(), std::vector<std::uint32_t>{3});
  EXPECT_EQ(p.flushes, 3U);
  EXPECT_EQ(p.fences, 3U);
}

TEST(Removals, NotIfItWasOfUseOnce) {
  Calls p;
  p.storeIn(1, 0, 5);
  p.persistIn(2, 0);
  p.persistIn(3, 0);
  p.storeIn(1, 64, 5);
  p.persistIn(3, 64);
  EXPECT_TRUE(p.removable().empty());
}

TEST(Removals, NotIfItStores) {
  Calls p;
  p.storeIn(1, 0, 5);
  p.persistIn(2, 0);
  p.persistIn(3, 0);
  p.storeIn(3, 128, 5);
  p.persistIn(4, 128);
  EXPECT_TRUE(p.removable().empty());
}

TEST(Removals, NotIfSomethingHasNoPlace) {
  Calls p;
  p.storeIn(1, 0, 5);
  p.persistIn(2, 0);
  p.persistIn(3, 0);
  p.clwb(1, 0);
  p.sfence(1);
  EXPECT_TRUE(p.removable().empty());
}

// A flush that another thread repeats, and fences first, is what makes the store durable.
TEST(Removals, LeftOutEventsChangeGuarantees) {
  TinyProgram p;
  p.store(1, 0, 1);
  p.clwb(1, 0);
  EventNo again = p.clwb(2, 0);
  p.sfence(2);
  EventNo last = p.sfence(1);
  p.clwb(1, 0);
  EventNo idle = p.sfence(1);
  EXPECT_FALSE(sameGuarantees(p.index(), *withLeftOut(p.index(), {again})));
  EXPECT_TRUE(sameGuarantees(p.index(), *withLeftOut(p.index(), {last})));
  EXPECT_TRUE(sameGuarantees(p.index(), *withLeftOut(p.index(), {last, idle})));
}

}  // namespace
}  // namespace blackout::test
