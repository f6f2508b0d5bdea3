// The points that are enough, event by event, and Yat's count.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "events/trace.h"
#include "tiny_program.h"

namespace blackout::test {
namespace {

std::vector<EventNo> enough(TinyProgram& p, std::string_view options = "") {
  return p.index(options).points(PointsMode::Enough);
}

TEST(Points, BeforeEachEventThatGuaranteesSomethingNew) {
  TinyProgram p;
  p.store(1, 0, 1);
  p.clwb(1, 0);
  EventNo fence = p.sfence(1);
  p.clwb(1, 0);
  p.sfence(1);  // completes nothing new
  p.store(1, 64, 1);
  EventNo flush = p.clflush(1, 64);
  EXPECT_EQ(enough(p), (std::vector<EventNo>{fence, flush}));
}

TEST(Points, OnlyIfAStoreCameSince) {
  TinyProgram p;
  p.store(1, 0, 1);
  p.store(1, 64, 1);
  p.clwb(1, 0);
  p.clwb(2, 64);
  EventNo first = p.sfence(1);
  p.sfence(2);  // narrows further, but nothing new has come
  EXPECT_EQ(enough(p), (std::vector<EventNo>{first}));
}

TEST(Points, AtTheEndIfThereIsNews) {
  TinyProgram p;
  p.store(1, 0, 1);
  EXPECT_EQ(enough(p), (std::vector<EventNo>{p.trace().end()}));
}

// "put(k) unflushed, acknowledged; then delete(k)" must be seen to lose k.
TEST(Points, BeforeAnOperationBegins) {
  TinyProgram p;
  EventNo put = p.opBegin(1, "put");
  p.store(1, 0, 1);
  p.opEnd(1);
  EventNo remove = p.opBegin(1, "delete");
  p.store(1, 0, 0);
  p.opEnd(1);
  EXPECT_EQ(enough(p), (std::vector<EventNo>{put, remove, p.trace().end()}));
}

TEST(Points, AnOperationEndIsNews) {
  TinyProgram p;
  EventNo begin = p.opBegin(1);
  p.store(1, 0, 1);
  EventNo flush = p.clflush(1, 0);
  p.opEnd(1);  // no store since the flush, but an acknowledgement
  EXPECT_EQ(enough(p), (std::vector<EventNo>{begin, flush, p.trace().end()}));
}

TEST(Points, BeforeAChangeOfAFile) {
  TinyProgram p;
  p.store(1, 0, 1);
  EventNo size = p.range(EventKind::FileSize, 1, 0, 8192);
  EventNo name = p.writer.blob(EventKind::FileRename, 1, p.at(0), "/new");
  EventNo gone = p.range(EventKind::FileUnlink, 1, 0, 0);
  EXPECT_EQ(enough(p), (std::vector<EventNo>{size, name, gone, p.trace().end()}));
}

// Nothing is stored after the file has grown, yet the larger file must be seen.
TEST(Points, AChangeOfAFileIsNews) {
  TinyProgram p;
  p.store(1, 0, 1);
  EventNo flush = p.clflush(1, 0);
  p.range(EventKind::FileSize, 1, 0, 8192);
  EXPECT_EQ(enough(p), (std::vector<EventNo>{flush, p.trace().end()}));
}

TEST(Points, TheStateBeforeTheProgramIsSeen) {
  TinyProgram p(4096, false);
  auto points = enough(p);
  ASSERT_EQ(points.size(), 3U);  // no file; an empty file; a file with its size
  EXPECT_EQ(points.front().value(), 0U);
}

TEST(Points, AllIsEveryEventAndTheEnd) {
  TinyProgram p;
  p.store(1, 0, 1);
  p.sfence(1);
  EXPECT_EQ(p.index().points(PointsMode::All).size(), p.trace().eventCount() + 1);
}

TEST(Points, OnlyInsideTheRegionOfInterest) {
  TinyProgram p;
  p.store(1, 0, 1);
  p.clflush(1, 0);
  EventNo begin = p.event(EventKind::RoiBegin);
  p.store(1, 0, 2);
  EventNo flush = p.clflush(1, 0);
  p.store(1, 0, 3);
  EventNo end = p.event(EventKind::RoiEnd);
  p.store(1, 0, 4);
  p.clflush(1, 0);
  EXPECT_EQ(enough(p), (std::vector<EventNo>{flush, end}));
  auto all = p.index().points(PointsMode::All);
  EXPECT_EQ(all, (std::vector<EventNo>{begin + 1, flush, flush + 1, end}));
}

TEST(Points, NoneWhereTheyAreSkipped) {
  TinyProgram p;
  p.store(1, 0, 1);
  EventNo begin = p.event(EventKind::SkipPointsBegin);
  p.clflush(1, 0);
  p.store(1, 0, 2);
  p.clflush(1, 0);
  EventNo end = p.event(EventKind::SkipPointsEnd, 2);  // whichever thread says so
  p.store(1, 64, 1);
  EventNo flush = p.clflush(1, 64);
  EXPECT_EQ(enough(p), (std::vector<EventNo>{begin, flush}));
  auto all = p.index().points(PointsMode::All);
  EXPECT_TRUE(std::find(all.begin(), all.end(), begin) != all.end());
  for (EventNo n : all) EXPECT_TRUE(n <= begin || n > end) << n;
  EXPECT_TRUE(std::find(all.begin(), all.end(), end + 1) != all.end());
}

// What was stored inside is still news: the first point behind the region sees it.
TEST(Points, NewsOfASkippedPartCarriesOver) {
  TinyProgram p;
  EventNo begin = p.event(EventKind::SkipPointsBegin);
  p.store(1, 0, 1);
  p.event(EventKind::SkipPointsEnd);
  EXPECT_EQ(enough(p), (std::vector<EventNo>{begin, p.trace().end()}));
}

TEST(Points, SkippedPartsNestAndAnEndTooManyIsNone) {
  TinyProgram p;
  p.event(EventKind::SkipPointsEnd);
  p.store(1, 0, 1);
  EventNo begin = p.event(EventKind::SkipPointsBegin);
  p.event(EventKind::SkipPointsBegin);
  p.event(EventKind::SkipPointsEnd);
  p.store(1, 0, 2);
  p.clflush(1, 0);
  p.event(EventKind::SkipPointsEnd);
  p.store(1, 0, 3);
  EventNo flush = p.clflush(1, 0);
  EXPECT_EQ(enough(p), (std::vector<EventNo>{begin, flush}));
}

TEST(Points, AnExtraPointNeedsNoNews) {
  TinyProgram p;
  p.store(1, 0, 1);
  EventNo flush = p.clflush(1, 0);
  EventNo first = p.event(EventKind::ExtraPoint);
  EventNo second = p.event(EventKind::ExtraPoint);
  EXPECT_EQ(enough(p), (std::vector<EventNo>{flush, first, second}));
}

TEST(Points, AnExtraPointIsNoneOutsideSkippedOrCompleted) {
  TinyProgram p;
  p.event(EventKind::ExtraPoint);
  p.event(EventKind::RoiBegin);
  EventNo inside = p.event(EventKind::ExtraPoint);
  p.event(EventKind::SkipPointsBegin);
  p.event(EventKind::ExtraPoint);
  p.event(EventKind::SkipPointsEnd);
  p.event(EventKind::RoiEnd);
  p.event(EventKind::ExtraPoint);
  p.event(EventKind::RoiBegin);
  EventNo again = p.event(EventKind::ExtraPoint);
  p.event(EventKind::Complete);
  p.event(EventKind::ExtraPoint);
  EXPECT_EQ(enough(p), (std::vector<EventNo>{inside, again}));
}

TEST(Points, NoneBehindTheCompletion) {
  TinyProgram p;
  p.store(1, 0, 1);
  EventNo complete = p.event(EventKind::Complete);
  p.store(1, 0, 2);
  p.clflush(1, 0);
  EXPECT_EQ(enough(p), (std::vector<EventNo>{complete}));
  EXPECT_EQ(p.index().points(PointsMode::All).back(), complete);
}

// Whoever marks a region only when all is over has not made what came before it outside.
TEST(Points, ARegionBehindTheCompletionIsNone) {
  TinyProgram p;
  p.store(1, 0, 1);
  EventNo flush = p.clflush(1, 0);
  EventNo complete = p.event(EventKind::Complete);
  p.event(EventKind::RoiBegin);
  EXPECT_EQ(enough(p), (std::vector<EventNo>{flush}));
  EXPECT_EQ(p.index().points(PointsMode::All).back(), complete);
}

TEST(Points, ARegionsEndWithoutABeginIsNone) {
  TinyProgram p;
  p.event(EventKind::RoiEnd);
  p.store(1, 0, 1);
  EventNo flush = p.clflush(1, 0);
  auto points = enough(p);
  EXPECT_TRUE(std::find(points.begin(), points.end(), flush) != points.end());
}

TEST(StateCount, IsTheProductOverLinesOfTheirDownSets) {
  TinyProgram p;
  for (int i = 0; i < 3; ++i) p.store(1, 0, 7);  // equal contents count too: eager enumeration tries them
  p.store(1, 64, 1);
  Cursor cursor(p.index());
  cursor.moveTo(p.trace().end());
  EXPECT_NEAR(cursor.log10States(), std::log10(4.0 * 2.0), 1e-9);
}

TEST(StateCount, IsSummedOverPoints) {
  TinyProgram p;
  p.store(1, 0, 1);
  p.clflush(1, 0);
  p.store(1, 64, 1);
  p.store(1, 64, 1);
  const Index& index = p.index();
  EXPECT_NEAR(log10StatesOverPoints(index, index.points(PointsMode::Enough)), std::log10(2.0 + 3.0), 1e-9);
}

TEST(StateCount, DoesNotOverflow) {
  TinyProgram p(1 << 20);
  for (std::uint64_t line = 0; line < 4000; ++line) p.store(1, 64 * line, 1);
  const Index& index = p.index();
  EXPECT_NEAR(log10StatesOverPoints(index, index.points(PointsMode::Enough)), 4000 * std::log10(2.0), 1e-3);
}

TEST(Cursor, ReportsTheLinesThatChanged) {
  TinyProgram p;
  p.store(1, 0, 1);
  p.store(1, 64, 1);
  EventNo flush = p.clflush(1, 64);
  p.store(1, 128, 1);
  Cursor cursor(p.index());
  LineNo first = lineOf(p.at(0));
  cursor.moveTo(flush);
  EXPECT_EQ(std::vector(cursor.changed().begin(), cursor.changed().end()), (std::vector<LineNo>{first, first + 1}));
  EXPECT_EQ(cursor.uncertainLines(), (std::vector<LineNo>{first, first + 1}));
  cursor.moveTo(p.trace().end());
  EXPECT_EQ(std::vector(cursor.changed().begin(), cursor.changed().end()), (std::vector<LineNo>{first + 1, first + 2}));
  EXPECT_EQ(cursor.uncertainLines(), (std::vector<LineNo>{first, first + 2}));
  EXPECT_EQ(cursor.openLines(), cursor.uncertainLines());
}

TEST(Cursor, ASilentStoreLeavesTheLineSettled) {
  TinyProgram p;
  p.store(1, 0, 0);
  Cursor cursor(p.index());
  cursor.moveTo(p.trace().end());
  EXPECT_EQ(cursor.openLines().size(), 1U);
  EXPECT_TRUE(cursor.uncertainLines().empty());
}

}  // namespace
}  // namespace blackout::test
