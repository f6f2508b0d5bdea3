// Wasted flushes and fences; those that a client request only announces guarantee, are no waste, and make none of the
// instructions beside them.
#include <gtest/gtest.h>

#include "tiny_program.h"

namespace blackout::test {
namespace {

class Wastes : public testing::Test {
 protected:
  Wastes() {
    Site site;
    site.id = 0x11;
    site.kind = SiteKind::Request;
    site.sources = {{0x11, {{"persist", "/src/persist.c", 7, 5, 0}}}};
    announced_ = p.writer.where(p.writer.site(site));
    site.id = 0x12;
    site.kind = SiteKind::Clwb;
    real_ = p.writer.where(p.writer.site(site));
  }
  EventNo flush(bool announced) {
    return p.writer.event(EventKind::Clwb, 1, p.at(0), 0, 0, announced ? announced_ : real_);
  }
  EventNo fence(bool announced) {
    return p.writer.event(EventKind::Sfence, 1, 0, 0, 0, announced ? announced_ : real_);
  }
  std::vector<std::pair<EventNo, WasteKind>> wastes(std::string_view options = "") {
    std::vector<std::pair<EventNo, WasteKind>> out;
    for (const Waste& w : p.index(options).wastes()) out.emplace_back(w.at, w.kind);
    return out;
  }
  using List = std::vector<std::pair<EventNo, WasteKind>>;

  static constexpr bool kAnnounced = true;
  static constexpr bool kReal = false;
  TinyProgram p;
  StackId announced_ = 0;
  StackId real_ = 0;
};

TEST_F(Wastes, AnAnnouncementGuarantees) {
  p.store(1, 0, 1);
  flush(kAnnounced);
  fence(kAnnounced);
  EXPECT_EQ(p.statesAtEnd({0}), (States{{1}}));
  EXPECT_EQ(wastes(), List{});
}

TEST_F(Wastes, AnAnnouncementIsNone) {
  flush(kAnnounced);  // of a clean line
  fence(kAnnounced);
  flush(kAnnounced);
  flush(kAnnounced);
  fence(kAnnounced);
  fence(kAnnounced);
  EXPECT_EQ(wastes(), List{});
  EXPECT_EQ(wastes("model=eadr"), List{});
}

TEST_F(Wastes, BehindTheInstruction) {
  p.store(1, 0, 1);
  flush(kReal);
  flush(kAnnounced);
  fence(kReal);
  fence(kAnnounced);
  EXPECT_EQ(wastes(), List{});
}

TEST_F(Wastes, BeforeTheInstruction) {
  p.store(1, 0, 1);
  flush(kAnnounced);
  flush(kReal);
  fence(kAnnounced);
  fence(kReal);
  EXPECT_EQ(wastes(), List{});
}

TEST_F(Wastes, ALineThatWasAnnouncedDurableMayStillBeFlushed) {
  p.store(1, 0, 1);
  flush(kAnnounced);
  fence(kAnnounced);
  flush(kReal);
  fence(kReal);
  EXPECT_EQ(wastes(), List{});
}

TEST_F(Wastes, ARealFenceCompletesAnAnnouncedFlush) {
  p.store(1, 0, 1);
  flush(kAnnounced);
  fence(kReal);
  EXPECT_EQ(p.statesAtEnd({0}), (States{{1}}));
  EXPECT_EQ(wastes(), List{});
}

// What the instructions waste by themselves is still told, and by its own name.
TEST_F(Wastes, OfInstructionsAreToldBesideAnnouncements) {
  flush(kAnnounced);
  fence(kAnnounced);
  EventNo clean = flush(kReal);
  p.store(1, 0, 1);
  flush(kReal);
  flush(kAnnounced);
  EventNo again = flush(kReal);
  fence(kReal);
  fence(kAnnounced);
  EventNo idle = fence(kReal);
  EXPECT_EQ(wastes(),
            (List{{clean, WasteKind::CleanFlush}, {again, WasteKind::AgainFlush}, {idle, WasteKind::IdleFence}}));
}

// A fence has work to do once for each non-temporal store.
TEST_F(Wastes, AFenceAfterTheFenceOfANonTemporalStoreIsIdle) {
  p.nt(1, 0, 1);
  fence(kReal);
  EventNo idle = fence(kReal);
  p.nt(1, 0, 2);
  fence(kReal);
  EXPECT_EQ(wastes(), (List{{idle, WasteKind::IdleFence}}));
}

}  // namespace
}  // namespace blackout::test
